package watch

import (
	"slices"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

var ruleNeed = Rule{
	Code:  sampler.AlertNeed,
	Level: sampler.LevelWarning,
	Reason: "What somebody typed, or an allocator was refused, is more than the least that was free in the last minute, " +
		"even with what the process can reuse; or what a process asks for again and again, and gives back, is more than " +
		"was free since it did; or a run of a command needs more than there is, by what others of it needed with smaller numbers in it.",
	HoldFor:    2 * time.Second,
	ClearAfter: 10 * time.Second,
	check:      checkNeed,
}

func checkNeed(f *Facts) []finding {
	if !f.live() {
		return nil
	}
	return append(askedFor(f), sweepNeeds(f)...)
}

// askedFor is the need that somebody typed, or a process asked for.
func askedFor(f *Facts) []finding {
	g := f.gpu
	if _, ok := f.needs.of(g); !ok {
		if need, _, ok := g.requested(f.now); !ok || !need.Again {
			return nil
		}
	}
	fit := f.needs.asked(g, f.now)
	if fit.Short == 0 {
		return nil
	}
	pid := 0
	if n, _ := fit.Need.Value(); n.Again && g.spiking(g.withPID(n.PID.Or(0)), f.now, n.Bytes.MiB()/2) {
		return nil // the rule of repeated spikes sees it as well, and tells when it comes
	}
	if n, _ := fit.Need.Value(); n.Source == NeedRefused && f.died(n.PID.Or(0)) {
		return nil // who asked for it is gone, and what a new one will need is more than that
	}
	if n, _ := fit.Need.Value(); n.Source == NeedRefused || n.Source == NeedAsked {
		pid = n.PID.Or(0)
	}
	return []finding{{pid: pid, level: sampler.LevelWarning, render: func(f *Facts) message { return renderNeed(f) }}}
}

// died says whether a failure of late is told of this GPU after which a program did not go on: that of a process, as far as both are known.
func (f *Facts) died(pid int) bool {
	return slices.ContainsFunc(f.failures, func(o failure) bool {
		of, _ := o.key()
		return o.placed && o.gpu == f.gpu.key && !o.event.Recovered && f.now-o.at <= failureSeconds && (pid == 0 || of == 0 || of == pid)
	})
}

func renderNeed(f *Facts) message {
	fit, words := f.needs.fit(f.gpu, f.now), f.words
	need, _ := fit.Need.Value()
	lowest := fit.WorstFree.Or(0)
	m := message{
		text:     words.Say("alert.need_does_not_fit", "gpu", fit.Label, "need", need.Bytes.Needed(), "free", lowest.Few(), "short", fit.Short.Needed()),
		evidence: []string{words.Say("alert.need_does_not_fit.need", "need", need.Bytes.Needed(), "source", need.Source.In(words))},
		numbers:  map[string]float64{"need_bytes": float64(need.Bytes), "worst_free_bytes": float64(lowest), "short_bytes": float64(fit.Short)},
	}
	if v, ok := fit.Free.Value(); ok {
		m.evidence = append(m.evidence, words.Say("alert.need_does_not_fit.free", "free", v.Few()))
		m.numbers["free_bytes"] = float64(v)
	}
	if v, ok := fit.Reusable.Value(); ok {
		m.evidence = append(m.evidence, words.Say("alert.need_does_not_fit.reusable", "free", v.Few()))
		m.numbers["reusable_bytes"] = float64(v)
	}
	m.evidence = append(m.evidence, heldBy(f, fit.Holders)...)
	if big := f.gpu.others(need.PID.Or(0)); len(big) > 0 {
		m.evidence = append(m.evidence, preallocated(f, big[0])...)
	}
	m.advice = needFailure(f, fit, need, lowest).fixes(words)
	if there := elsewhere(f, need); there != nil {
		m.evidence = append(m.evidence, roomOn(f, there, need)...)
		m.advice = withFirst(runOn(there, words), m.advice)
	} else {
		m.evidence = append(m.evidence, roomOn(f, mostRoom(f, need), need)...)
	}
	return m
}

// needFailure is how the need would fail. Who asks is most likely the job that holds most: it is never in
// its own way, and where its peak is a spike that comes again, that spike is what to make smaller.
func needFailure(f *Facts, fit Fit, need Need, lowest sampler.Bytes) hypothetical {
	g := f.gpu
	h := hypothetical{gpu: g, proc: g.wants(need), need: need.Bytes.MiB(), free: lowest.MiB(), causes: certain(explain.CauseTooBig)}
	spiking := g.spiking(h.proc, f.now, fit.Short.MiB()/2)
	if spiking {
		h = h.inSpikes()
	}
	listed, hidden := g.strangers(h.proc)
	switch short := fit.Short.MiB(); {
	case listed+hidden < short && spiking:
		h.causes = certain(explain.CauseValidationSpike, explain.CauseTooBig)
	case listed+hidden < short:
	case listed < short && hidden > listed:
		h.causes = certain(explain.CauseUnattributed)
	case spiking:
		h.causes = certain(explain.CauseOtherProcess, explain.CauseValidationSpike)
	default:
		h.causes = certain(explain.CauseOtherProcess)
	}
	return h
}

// mostRoom is the other GPU that had most room of late, if that is enough for the need.
func mostRoom(f *Facts, need Need) (best *gpu) {
	most := need.Bytes.MiB()
	for _, g := range f.gpus {
		if free := g.lowest.last(f.now, lowestSeconds); g != f.gpu && g.seen == f.now && g.key.Host == f.gpu.key.Host && g.runs() && free >= most {
			best, most = g, free
		}
	}
	return best
}

// roomOn is a line of evidence about the room on a GPU; nil: there is none.
func roomOn(f *Facts, g *gpu, need Need) []string {
	if g == nil {
		return nil
	}
	return []string{f.words.Say("alert.need_does_not_fit.elsewhere", "gpu", g.last.Label(), "need", need.Bytes.Needed(), "free", sizeFree(g.lowest.last(f.now, lowestSeconds)))}
}

// heldBy is a line of evidence for each of the three largest holders.
func heldBy(f *Facts, list []Holder) []string {
	var out []string
	for _, h := range list[:min(3, len(list))] {
		if h.Kind == HolderUnattributed {
			out = append(out, f.words.Say("alert.unattributed_holds", "held", h.Bytes))
			continue
		}
		process := f.words.Say("alert.pid", "pid", h.PID, "who", f.who(h.Name, h.User))
		out = append(out, f.words.Say("alert.holds", "process", process, "held", h.Bytes))
	}
	return out
}

// preallocated is a line of evidence about a process that took its memory on purpose.
func preallocated(f *Facts, p *proc) []string {
	pre, known := explain.Preallocates(*p.process)
	if !known || !p.series.Flat(f.gpu.total) {
		return nil
	}
	return []string{f.words.Say("alert.preallocated", "program", pre.Program, "takes", f.words.Say("prealloc."+pre.ID), "knob", pre.Knob)}
}
