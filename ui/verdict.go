package ui

import (
	"math"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// verdict is one sentence on a GPU: what is nearest to its end, or why nothing is; and that the need fits, where it does.
func (v *view) verdict(g *sampler.GPU) piece {
	p := v.outcome(g)
	if need, ok := v.fitting(g); ok && p.text != "" {
		p.text = pick(p.role == theme.Dim, need+"; "+p.text, p.text+"; "+need)
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
			return v.words.Say("verdict.fits", "need", need.Bytes), true
		}
	}
	return "", false
}

func (v *view) outcome(g *sampler.GPU) piece {
	m := &g.Memory
	total, used := m.PlausibleTotal().Or(0), m.Used.Or(0)
	worst, known := m.WorstFree.Value()
	if !known || total == 0 || v.outlook == nil || !m.Used.Known() {
		return piece{}
	}
	if p, ok := v.alerted(g); ok {
		return p
	}
	o, _ := v.outlook(g.Key())
	program := v.byDesign(g)
	level := theme.Level(100-percent(worst, total), gpuLevels)
	say := func(role theme.Role, id string, pairs ...any) piece {
		return piece{role, v.words.Say("verdict."+id, pairs...)}
	}
	switch {
	case program != "":
		return say(theme.Dim, "by_design", "program", program, "free", worst.String())
	case o.Spike.Known() && o.Spike.Or(0) > used:
		usable, spike := total.Less(m.Reserved.Or(0)), o.Spike.Or(0)
		left := usable.Less(spike)
		if peak := m.Peak; peak != nil && max(spike, peak.Bytes)-min(spike, peak.Bytes) <= peak.Bytes/samePeak && spike <= usable {
			left = worst // they are what the peak was: one figure for both
		}
		p := say(pick(level == theme.Ok, theme.Dim, level), "peaks", "free", left.Few())
		if spike > usable {
			p = say(theme.Critical, "short", "short", (spike - usable).Few())
		}
		if due, ok := o.Due.Value(); ok {
			p.text += v.words.Say("verdict.next", "span", until(due))
		}
		return p
	case len(g.Processes) == 0 && percent(used, total) < idlePercent:
		return say(theme.Dim, "idle", "free", m.PlausibleFree().Or(worst).String())
	}
	if still := v.stillFor(g); still >= time.Minute {
		return say(pick(level == theme.Ok, theme.Dim, level), "flat", "span", since(still), "free", worst.Few())
	}
	return say(pick(level == theme.Ok, theme.Dim, level), "worst", "free", worst.Few())
}

// byDesign is the program that fills a GPU on purpose, and has.
func (v *view) byDesign(g *sampler.GPU) string {
	if v.outlook == nil || percent(g.Memory.Used.Or(0), g.Memory.PlausibleTotal().Or(0)) < gpuLevels[0] {
		return ""
	}
	o, _ := v.outlook(g.Key())
	return o.ByDesign
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
// spike does not fit.
func (v *view) alerted(g *sampler.GPU) (p piece, ok bool) {
	for _, a := range v.alerts {
		if a.Key != g.Key() || !a.GPU.Known() {
			continue
		}
		eta, known := a.ETA.Value()
		span := until(eta)
		switch {
		case a.Kind == sampler.AlertGrowth && known:
			return piece{levelRole(a.Level), v.words.Say("verdict.filling", "span", span)}, true
		case a.Kind == sampler.AlertRepeatSpike && a.Numbers["short_bytes"] > 0:
			p := piece{levelRole(a.Level), v.words.Say("verdict.short", "short", sampler.Bytes(a.Numbers["short_bytes"]).Few())}
			if known {
				p.text += v.words.Say("verdict.next", "span", span)
			}
			return p, true
		}
	}
	return p, false
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
