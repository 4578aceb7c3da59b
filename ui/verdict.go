package ui

import (
	"math"
	"slices"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// sentence is what is nearest to the end of a GPU, or why nothing is, in a form in which several GPUs may share it.
type sentence struct {
	role  theme.Role
	id    string        // of the words; empty: there is nothing to say
	size  sampler.Bytes // that it names
	pairs []any         // what else it names
	due   sampler.Opt[float64]
}

// few is a size that it names, in few digits: what is missing, or what is left.
func (s *sentence) few(size sampler.Bytes) string {
	if s.id == "short" || s.id == "lacks" {
		return size.Needed()
	}
	return size.Few()
}

// text is the sentence with a size, or a range of sizes.
func (v *view) sentenceText(s sentence, size string) string {
	text := v.words.Say("verdict."+s.id, append([]any{"free", size}, s.pairs...)...)
	if due, ok := s.due.Value(); ok && due <= 0 {
		text += v.words.Say("verdict.due")
	} else if ok {
		text += v.words.Say("verdict.next", "span", until(due))
	}
	return text
}

// verdict is one sentence on a GPU: what is nearest to its end, or why nothing is; and that the need fits, where it does.
func (v *view) verdict(g *sampler.GPU) piece {
	if p, ok := v.verdicts[g]; ok {
		return p
	}
	if v.verdicts == nil {
		v.verdicts = make(map[*sampler.GPU]piece, len(v.snap.GPUs))
	}
	p := v.verdictOf(g, v.outcome(g))
	if neverKnown(g) {
		p = piece{theme.Critical, v.words.Reason(g.Error.Or(""))}
	}
	v.verdicts[g] = p
	return p
}

func (v *view) verdictOf(g *sampler.GPU, s sentence) piece {
	if s.id == "" {
		return piece{}
	}
	p := piece{s.role, v.sentenceText(s, s.few(s.size))}
	if need, ok := v.fitting(g); ok {
		p.text = pick(p.role == theme.Dim, need+v.words.Say("list.semicolon")+p.text, p.text+v.words.Say("list.semicolon")+need)
	}
	return p
}

// fitting says that the need fits on a GPU, if it does with room to spare: where it is short or nearly so, the advice is
// about that. Of what was refused it says nothing: it fits as soon as who asked for it has died of it.
func (v *view) fitting(g *sampler.GPU) (text string, ok bool) {
	for i := range v.fits {
		f := &v.fits[i]
		need, _ := f.Need.Value()
		if need.Source != watch.NeedTyped { // nobody has asked whether it fits
			continue
		}
		if fits, known := f.Fits(); f.gpu == g && known && fits && !f.Near() && need.Bytes > 0 {
			return v.words.Say("verdict.fits", "need", need.Bytes.Needed()), true
		}
	}
	return "", false
}

// outcome is the sentence on a GPU.
func (v *view) outcome(g *sampler.GPU) sentence {
	if s, ok := v.outcomes[g]; ok {
		return s
	}
	if v.outcomes == nil {
		v.outcomes = make(map[*sampler.GPU]sentence, len(v.snap.GPUs))
	}
	s := v.outcomeOfGPU(g, false)
	if v.whole != nil && s.role != theme.Critical { // the next snapshot is soon enough: sentences must not come and go with each spike
		if i := slices.IndexFunc(v.snap.GPUs, func(h sampler.GPU) bool { return h.Key() == g.Key() }); i >= 0 && v.whole.GPUs[i].Key() == g.Key() {
			s = v.outcomeOfGPU(&v.whole.GPUs[i], false)
		}
	}
	v.outcomes[g] = s
	return s
}

// outcomeOfGPU makes it. danger: nothing is said of a GPU that is in none, which costs less than to look for how long its
// use has not moved.
func (v *view) outcomeOfGPU(g *sampler.GPU, danger bool) sentence {
	m := &g.Memory
	total, used := m.PlausibleTotal().Or(0), m.Used.Or(0)
	worst, known := m.WorstFree.Value()
	if !known || total == 0 || v.outlook == nil || !m.Used.Known() {
		return sentence{}
	}
	if s, ok := v.alerted(g); ok {
		return s
	}
	o, _ := v.outlook(g.Key())
	program := v.byDesign(g)
	role := func(left sampler.Bytes) theme.Role {
		level := theme.Level(100-percent(left, total), gpuLevels)
		return pick(level == theme.Ok, theme.Dim, level)
	}
	spike, spikes := o.Spike.Value()
	switch {
	case program != "":
		return sentence{role: theme.Dim, id: "by_design", size: worst, pairs: []any{"program", program}}
	case spikes && spike+spike/samePeak >= used:
		spike = max(spike, used) // it is in one
		usable := total.Less(m.Reserved.Or(0))
		left := usable.Less(spike)
		if peak := m.Peak; peak != nil && max(spike, peak.Bytes)-min(spike, peak.Bytes) <= peak.Bytes/samePeak && spike <= usable {
			left = worst // they are what the peak was: one figure for both
		}
		if spike > usable {
			return sentence{role: theme.Critical, id: "short", size: spike - usable, due: o.Due}
		}
		return sentence{role: role(left), id: "peaks", size: left, due: o.Due}
	case percent(used, total) < idlePercent && !slices.ContainsFunc(g.Processes, computes):
		return sentence{role: theme.Dim, id: "idle", size: m.PlausibleFree().Or(worst)}
	}
	if danger && role(worst) != theme.Critical {
		return sentence{}
	}
	if still := v.stillFor(g); still >= time.Minute {
		return sentence{role: role(worst), id: "flat", size: worst, pairs: []any{"span", since(still)}}
	}
	return sentence{role: role(worst), id: "worst", size: worst}
}

// computes says whether a process does more than draw a desktop.
func computes(p sampler.Process) bool { return p.Type != "graphics" }

// byDesign is the program that fills a GPU on purpose, and has.
func (v *view) byDesign(g *sampler.GPU) string {
	if v.outlook == nil || percent(g.Memory.Used.Or(0), g.Memory.PlausibleTotal().Or(0)) < gpuLevels[0] {
		return ""
	}
	program, ok := v.programs[g]
	if !ok {
		o, _ := v.outlook(g.Key())
		if v.programs == nil {
			v.programs = map[*sampler.GPU]string{}
		}
		program = o.ByDesign
		v.programs[g] = program
	}
	return program
}

// idlePercent of its memory is what the driver and a desktop take.
const idlePercent = 3

// unusedColumns are those in which a GPU is looked at for whether it was used.
const unusedColumns = 30

// unused says whether nobody has held memory of a GPU over the time of the plots.
func (v *view) unused(g *sampler.GPU) bool {
	total, used := g.Memory.Total.Or(0), g.Memory.Used
	if len(g.Processes) > 0 || g.Error.Known() || !used.Known() || percent(used.Or(0), total) >= idlePercent || g.Utilization.GPU.Or(0) > 0 {
		return false
	}
	s := v.history.GPU(g.Key())
	if s == nil {
		return true
	}
	for _, x := range s.Plot("memory.used").Columns(v.now(), v.plot.span/unusedColumns, unusedColumns) {
		if x >= idlePercent/100.0*total.MiB() {
			return false
		}
	}
	return true
}

// samePeak: within that part of the peak the spikes of a GPU are as high as it.
const samePeak = 40

// alerted is what an open alert says of the next minutes of a GPU, in its figures: that it fills up, or that its next
// spike, or what a process will need, does not fit.
func (v *view) alerted(g *sampler.GPU) (s sentence, ok bool) {
	for _, a := range v.alerts {
		if a.Key != g.Key() || !a.GPU.Known() {
			continue
		}
		eta, known := a.ETA.Value()
		switch {
		case a.Kind == sampler.AlertGrowth && known:
			return sentence{role: levelRole(a.Level), id: "filling", pairs: []any{"span", until(eta)}}, true
		case a.Kind == sampler.AlertRepeatSpike && a.Numbers["short_bytes"] > 0:
			return sentence{role: levelRole(a.Level), id: "short", size: sampler.Bytes(a.Numbers["short_bytes"]), due: a.ETA}, true
		case a.Kind == sampler.AlertNeed && a.PID.Known() && a.Numbers["short_bytes"] > 0:
			return sentence{role: levelRole(a.Level), id: "lacks", size: sampler.Bytes(a.Numbers["short_bytes"])}, true
		}
	}
	return s, false
}

// until is how long it is until something happens: a second at least, for "in ~now" is nothing one says.
func until(seconds float64) string {
	return since(max(time.Duration(seconds*float64(time.Second)), time.Second))
}

// stillSpans are the times for which use may have been the same, and stillShare of the GPU what is no move.
var stillSpans = []time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

const (
	stillShare   = 0.01
	stillColumns = 30
)

// stillFor is for how long use has not moved, as one of stillSpans; 0: it has. A GPU at work is done
// with after the first.
func (v *view) stillFor(g *sampler.GPU) (still time.Duration) {
	s := v.history.GPU(g.Key())
	if s == nil {
		return 0
	}
	used, room := s.Plot("memory.used"), stillShare*g.Memory.Total.Or(0).MiB()
	for _, span := range stillSpans {
		step := span / stillColumns
		low, high := math.Inf(1), math.Inf(-1)
		from := len(v.figures)
		v.figures = s.UsedMin.AppendColumns(used.AppendColumns(v.figures, v.now(), step, stillColumns), v.now(), step, stillColumns)
		for _, x := range v.figures[from:] {
			low, high = min(low, x), max(high, x) // NaN, where it was not watched, stays NaN
		}
		if !(high-low <= room) {
			break
		}
		still = span
	}
	return still
}

// outlooks tells what the past of a GPU says of its next minutes.
type outlooks func(sampler.GPUKey) (watch.Outlook, bool)
