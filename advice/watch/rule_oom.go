package watch

import (
	"math"
	"slices"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

var ruleOOM = Rule{
	Code:  sampler.AlertOOM,
	Level: sampler.LevelCritical,
	Reason: "An out-of-memory failure in the followed log, a request that the driver refused to a process that then ended, one " +
		"counted by the allocator inside a process, or to be guessed from a process that ended at its peak with the GPU full.",
	HoldFor:    0,
	ClearAfter: time.Second,
	Silences:   []string{sampler.AlertFlush},
	Own:        true, // the near misses of others go on
	check:      checkOOM,
}

func checkOOM(f *Facts) []finding {
	out := reportedFailures(f)
	if f.gpu == nil {
		return out
	}
	g := f.gpu
	if last, n := g.endings(f.now, f.printed); n > 0 {
		level := sampler.LevelNotice
		if n > 1 {
			level = sampler.LevelWarning
		}
		out = append(out, finding{id: -2, level: level, render: func(f *Facts) message { return renderEnding(f, last, n) }})
	}
	for _, p := range g.procs {
		if slices.ContainsFunc(out, func(d finding) bool { return d.pid == p.pid && d.id == deathID }) {
			continue // it has died of that
		}
		if f.now-p.refused <= failureSeconds {
			level := sampler.LevelWarning
			if g.asks && p.asking.heard && math.Abs(p.asking.tried-p.refused) <= retrySeconds {
				level = sampler.LevelNotice // the driver refused it, too: whether it dies of that will be seen
			}
			out = append(out, finding{pid: p.pid, id: deathID, level: level, render: func(f *Facts) message { return renderCounted(f, p) }})
		} else if n, since := g.keepsFailing(p, f.now); n > 0 && len(out) == 0 {
			out = append(out, finding{pid: p.pid, id: deathID, level: sampler.LevelNotice, render: func(f *Facts) message { return renderGoesOn(f, p, n, since) }})
		}
	}
	return out
}

// printed says whether a log has a failure of this GPU from shortly before or after a process ended, which was no guess then, or of a rank on another GPU
// at that moment: a launcher stops the other ranks, however full their GPUs are.
func (f *Facts) printed(at float64) bool {
	return slices.ContainsFunc(f.failures, func(o failure) bool {
		if o.event.Line == 0 || o.event.Recovered || !o.placed {
			return false
		}
		return o.gpu == f.gpu.key && math.Abs(o.at-at) <= printedSeconds || o.gpu != f.gpu.key && o.event.Rank.Known() && math.Abs(o.at-at) <= endingSeconds
	})
}

func reportedFailures(f *Facts) []finding {
	var out []finding
	for i := range f.failures {
		o := &f.failures[i]
		if f.now-o.at > failureSeconds || o.placed != (f.gpu != nil) || f.gpu != nil && f.gpu.key != o.gpu {
			continue
		}
		times, last := diedAgain(f.failures, i, f.now)
		if !last {
			continue
		}
		level := sampler.LevelCritical
		if o.event.Recovered {
			level = sampler.LevelNotice
		}
		failed := *o
		pid, id := o.key()
		out = append(out, finding{pid: pid, id: id, level: level, completes: true, render: func(f *Facts) message {
			m := renderFailure(f, &failed)
			if times > 1 {
				m.text += f.words.Say("alert.oom.again", "times", f.words.Count("times", times))
				m.numbers["times"] = float64(times)
			}
			return m
		}})
	}
	return out
}

// diedAgain is how often the program of a death has died so of late; last: this time is the newest, which stands for all but those that nobody has
// been told of before.
func diedAgain(list []failure, i int, now float64) (times int, last bool) {
	a := &list[i]
	if !a.dead || a.death.command == "" {
		return 1, true
	}
	for j := range list {
		b := &list[j]
		if !b.dead || b.gpu != a.gpu || b.death.command != a.death.command || b.death.user != a.death.user || now-b.at > failureSeconds {
			continue
		}
		if j != i && list[max(i, j)].beside(&list[min(i, j)]) {
			continue
		}
		switch {
		case j <= i:
			times++
		case b.at > a.at:
			return 0, false
		}
	}
	return times, true
}

// beside says whether a death is that of another process of the same program, and not of the one that took its place: it had begun by then.
func (o *failure) beside(before *failure) bool {
	start, known := o.death.start.Value()
	return known && before.death.Time.After(start)
}

func renderFailure(f *Facts, o *failure) message {
	g, words := f.gpu, f.words
	m := message{text: words.Say("alert.oom"), numbers: map[string]float64{}}
	switch {
	case g != nil:
		m.text = words.Say("alert.oom.gpu", "gpu", g.last.Label())
	case o.event.MemoryKind == sampler.MemoryHost:
		m.text = words.Say("alert.oom.host")
	}
	asked, known := sampler.Plausible(o.event.Requested)
	free, freeKnown := sampler.Plausible(o.event.GPUFree)
	if freeKnown {
		m.numbers["free_bytes"] = float64(free)
	}
	if known {
		m.numbers["requested_bytes"] = float64(asked)
		if freeKnown {
			m.text += words.Say("alert.oom.refused_free", "size", asked.Needed(), "free", words.Rough(free.Few(), o.event.GPUFreeAbout))
		} else {
			m.text += words.Say("alert.oom.refused", "size", asked.Needed())
		}
	}
	if o.event.Recovered {
		m.text += words.Say("alert.oom.went_on")
	}
	if o.event.Line > 0 {
		m.evidence = append(m.evidence, lineOfLog(f, o.event.Line))
	}
	if o.death.PID != 0 {
		o.death.tell(f, o.logged, &m)
	}
	for _, e := range o.explained.Events {
		detail := e.Detail
		if known && freeKnown && e.Beyond != "" { // the first line has the rest
			detail = e.Beyond
		}
		if detail != "" {
			m.evidence = append(m.evidence, detail)
		}
	}
	if !o.dead { // what the driver saw says the same in its own words
		for _, cause := range o.explained.Causes[:min(1, len(o.explained.Causes))] {
			m.evidence = append(m.evidence, cause.Evidence...)
		}
	}
	m.advice = o.explained.Advice[:min(maxFixes, len(o.explained.Advice))]
	return m
}

func renderCounted(f *Facts, p *proc) message {
	m := message{
		text:     f.words.Say("alert.oom.counted", "gpu", f.gpu.last.Label(), "process", f.pid(p)),
		evidence: []string{howToExplain(f), f.words.Count("alert.oom.counter", int(p.refusals))},
		numbers:  map[string]float64{"ooms": float64(p.refusals)},
	}
	a := p.process.Allocator
	if a == nil || a.LastOOM == nil {
		return m
	}
	said := []any{"gpu", f.gpu.last.Label(), "process", f.pid(p), "size", a.LastOOM.Requested.Needed()}
	m.text = f.words.Say("alert.oom.counted_size", said...)
	if free, ok := sampler.Plausible(a.LastOOM.GPUFree); ok {
		m.text = f.words.Say("alert.oom.counted_free", append(said, "free", free.Few())...)
		m.numbers["free_bytes"] = float64(free)
	}
	m.numbers["requested_bytes"] = float64(a.LastOOM.Requested)
	if largest, ok := a.LastOOM.LargestFree.Value(); ok {
		m.numbers["largest_free_bytes"] = float64(largest)
	}
	if text := explain.MeasuredText(a.LastOOM, f.words); text != "" {
		m.evidence = append(m.evidence, text)
	}
	return m
}

func renderEnding(f *Facts, e ending, n int) message {
	process := f.words.Say("alert.pid", "pid", e.pid, "who", f.who(e.name, e.user))
	m := message{
		text:     f.words.Say("alert.oom.ended", "gpu", f.gpu.last.Label(), "process", process),
		evidence: []string{howToExplain(f), f.words.Say("alert.oom.held", "held", size(e.held), "free", sizeFree(e.free))},
		numbers:  map[string]float64{"held_bytes": bytesOf(e.held), "free_bytes": bytesOf(e.free), "endings": float64(n)},
	}
	if e.wanted > 0 {
		m.text = f.words.Say("alert.oom.cut_short", "gpu", f.gpu.last.Label(), "process", process)
		m.evidence[1] = f.words.Say("alert.oom.wanted", "wanted", sizeNeeded(e.wanted), "room", sizeFree(e.free))
		m.numbers["wanted_bytes"] = bytesOf(e.wanted)
	}
	if e.flushes.falls > 0 { // it was foretold
		before := renderRising(f, e.flushes)
		m.evidence = append(m.evidence[1:], before.evidence...)
		m.advice = before.advice
	}
	if n > 1 {
		m.text = f.words.Say("alert.oom.ended_times", "gpu", f.gpu.last.Label(), "process", process, "n", n)
	}
	return m
}
