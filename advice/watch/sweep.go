package watch

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// sweepLeast earlier runs are needed; sweepAlike of what the two before a run lead to, or more, it has needed, else it
// levels off, or something else than that number counts.
const (
	sweepLeast = 3
	sweepAlike = 0.9
)

// sweepRun is a run of a command and the number in which it differs from others.
type sweepRun struct {
	number, peak float64 // MiB
}

// sweep is what the newest run of a command needs by earlier ones that differ in one number alone, such as the batch or the size of the pictures, and
// needed more with each larger one: at least as much more for each further unit as the last did.
type sweep struct {
	runs   []sweepRun // by their numbers
	number float64
	need   float64 // MiB; 0: the earlier ones tell nothing
}

func (l *lately) sweep(p *sampler.Process, now float64) (s sweep) {
	own, place := strings.Fields(p.Command), -1
	for i := range l {
		r := &l[i]
		if r.command == p.Command || r.died || now-r.at > latelySeconds || !likeRun(p, r) {
			continue
		}
		at, v := otherNumber(own, strings.Fields(r.command))
		if at < 0 || place >= 0 && at != place {
			return s
		}
		place = at
		s.runs = append(s.runs, sweepRun{v, r.peak.value})
	}
	if len(s.runs) < sweepLeast {
		return s
	}
	slices.SortFunc(s.runs, func(a, b sweepRun) int { return cmp.Compare(a.number, b.number) })
	s.runs = s.runs[len(s.runs)-sweepLeast:]
	s.number, _ = numberOf(own[place])
	first, second, third := s.runs[0], s.runs[1], s.runs[2]
	rises := second.peak > first.peak && third.peak > second.peak && third.peak >= sweepAlike*lead(first, second, third.number)
	if rises && s.number > third.number {
		s.need = lead(second, third, s.number)
	}
	return s
}

// lead is where a line through two runs leads.
func lead(a, b sweepRun, number float64) float64 {
	return b.peak + (b.peak-a.peak)/(b.number-a.number)*(number-b.number)
}

// otherNumber is the only argument in which two commands differ, and the number there in the other; -1: they differ in none, in more, or in something else.
func otherNumber(own, other []string) (at int, number float64) {
	at = -1
	if len(own) != len(other) {
		return at, 0
	}
	for i := range own {
		if own[i] == other[i] {
			continue
		}
		v, ok := numberOf(other[i])
		if _, here := numberOf(own[i]); at >= 0 || !ok || !here {
			return -1, 0
		}
		at, number = i, v
	}
	return at, number
}

// numberOf is the number that an argument is, or has behind its name: "64", "--batch-size=64".
func numberOf(argument string) (float64, bool) {
	v, err := strconv.ParseFloat(argument[strings.LastIndexByte(argument, '=')+1:], 64)
	return v, err == nil && v > 0 && !math.IsInf(v, 1)
}

// sweepNeeds are the processes that need more than there is, as far as earlier runs of their commands tell.
func sweepNeeds(f *Facts) (out []finding) {
	g := f.gpu
	for _, p := range g.procs {
		if p.tick != g.tick {
			continue
		}
		if p.swept != g.runEnded { // else no other run has ended since
			p.swept, p.sweep = g.runEnded, g.lately.sweep(p.process, f.now)
		}
		if room := g.usable - g.besides(p); p.sweep.need > room+g.total*spikeSlack {
			out = append(out, finding{pid: p.pid, id: sweepID, level: sampler.LevelWarning, render: func(f *Facts) message { return renderSweep(f, p) }})
		}
	}
	return out
}

// sweepID tells what a run of a sweep needs from what was asked for.
const sweepID = 4

func renderSweep(f *Facts, p *proc) message {
	words, s, room := f.words, p.sweep, f.gpu.usable-f.gpu.besides(p)
	plain := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	m := message{
		text:    words.Say("alert.sweep", "gpu", f.gpu.last.Label(), "process", f.pid(p), "number", plain(s.number), "need", size(s.need), "free", sizeFree(room)),
		numbers: map[string]float64{"need_bytes": bytesOf(s.need), "free_bytes": bytesOf(room), "short_bytes": bytesOf(s.need - room)},
		advice: hypothetical{gpu: f.gpu, proc: p, need: s.need - p.series.Value, free: room - p.series.Value, guess: true, phase: sampler.PhaseTraining,
			causes: certain(explain.CauseTooBig)}.fixes(words),
	}
	for _, r := range s.runs {
		m.evidence = append(m.evidence, words.Say("alert.sweep.run", "number", plain(r.number), "peak", size(r.peak)))
	}
	return m
}
