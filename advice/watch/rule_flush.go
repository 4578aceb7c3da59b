package watch

import (
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

var ruleFlush = Rule{
	Code:  sampler.AlertFlush,
	Level: sampler.LevelWarning,
	Reason: "When the GPU is full the allocator gives its cache back and asks again, before it gives up, which is seen at the driver, " +
		"counted by the allocator or guessed from falls: https://docs.pytorch.org/docs/stable/notes/cuda.html",
	HoldFor:    0,
	ClearAfter: 30 * time.Second,
	check:      checkFlush,
}

func checkFlush(f *Facts) []finding {
	if !f.live() {
		return nil
	}
	g := f.gpu
	out := seenFlushes(f)
	if len(out) > 0 {
		return out
	}
	for _, p := range g.procs {
		if f.now-p.retried <= flushSpan && p.retryRun >= flushesNeeded {
			n := p.retryRun
			out = append(out, finding{pid: p.pid, level: sampler.LevelWarning, render: func(f *Facts) message { return renderRetries(f, p, n) }})
		}
	}
	if len(out) > 0 || g.heard() {
		return out
	}
	if g.near.recent(f.now) {
		near := g.near
		lived := g.livedThrough(near.pid, near.count, f.now)
		return []finding{{pid: near.pid, id: 2, level: nearLevel(lived), render: func(f *Facts) message { return renderNear(f, near, lived) }}}
	}
	if p := g.largest(); p != nil && givesBack(p.process) {
		return nil
	}
	n, since, largest := g.flush.recent(f.now)
	if n < flushesNeeded {
		return checkRising(f)
	}
	return []finding{{level: sampler.LevelWarning, render: func(f *Facts) message { return renderFlushes(f, n, since, largest) }}}
}

// livedThrough says whether earlier runs of a process have lived through so many near misses.
func (g *gpu) livedThrough(pid, count int, now float64) bool {
	p := g.withPID(pid)
	return p != nil && count <= p.close.count && g.lately.livedThrough(p, now)
}

// nearLevel: what earlier runs have lived through is said, but is no warning.
func nearLevel(lived bool) string {
	if lived {
		return sampler.LevelNotice
	}
	return sampler.LevelWarning
}

func renderNear(f *Facts, near nearMisses, lived bool) message {
	g, words := f.gpu, f.words
	said := []any{"gpu", g.last.Label(), "n", near.count, "ago", words.Span(f.now - near.last), "span", words.Span(f.now - near.first), "deepest", size(near.deepest)}
	text := words.Say("alert.flush.near", said...)
	if near.count > 1 {
		text = words.Say("alert.flush.near_times", said...)
	}
	lowest := math.Max(0, g.lowest.last(f.now, lowestSeconds))
	h := hypothetical{gpu: g, proc: g.largest(), free: lowest, need: lowest + near.deepest, guess: true, phase: sampler.PhaseTraining,
		causes: certain(explain.CauseTooBig, explain.CauseFragmentation)}
	if g.spiking(h.proc, f.now, near.deepest/2) {
		h = h.inSpikes()
		h.causes = certain(explain.CauseValidationSpike, explain.CauseTooBig)
	}
	m := message{
		text:     text,
		evidence: []string{words.Say("alert.flush.back", said...), words.Say("alert.lowest_free", "free", sizeFree(lowest))},
		numbers:  map[string]float64{"near_misses": float64(near.count), "deepest_fall_bytes": bytesOf(near.deepest)},
		advice:   h.fixes(words),
	}
	if lived {
		m.evidence = append(m.evidence, words.Say("alert.flush.lived"))
	}
	return m
}

// checkRising: the cache gives back less each time, because more and more of its segments
// are partly in use.
func checkRising(f *Facts) []finding {
	if !f.gpu.flush.rising(f.now) {
		return nil
	}
	fl := f.gpu.flush
	return []finding{{id: 1, level: sampler.LevelWarning, render: func(f *Facts) message { return renderRising(f, fl) }}}
}

func renderFlushes(f *Facts, n int, since, largest float64) message {
	g, words := f.gpu, f.words
	return message{
		text: words.Say("alert.flush", "gpu", g.last.Label(), "n", n, "span", words.Span(f.now-since)),
		evidence: []string{
			words.Say("alert.flush.falls", "n", n, "largest", size(largest)),
			words.Say("alert.lowest_free", "free", sizeFree(math.Max(0, g.lowest.last(f.now, lowestSeconds)))),
		},
		numbers: map[string]float64{"flushes": float64(n), "largest_bytes": bytesOf(largest)},
		advice: hypothetical{gpu: g, proc: g.only(), free: g.free, need: g.free + largest, guess: true, phase: sampler.PhaseTraining,
			causes: certain(explain.CauseFragmentation, explain.CauseTooBig)}.fixes(words),
	}
}

func renderRising(f *Facts, fl flushes) message {
	g, words := f.gpu, f.words
	bottom, before := fl.bottoms[len(fl.bottoms)-1], fl.bottoms[len(fl.bottoms)-2]
	stuck := 0.0
	if fl.falls >= len(fl.bottoms) {
		stuck = bottom - fl.bottoms[0]
	}
	return message{
		text: words.Say("alert.flush.rising", "gpu", g.last.Label(), "n", fl.falls),
		evidence: []string{words.Say("alert.flush.bottoms", "before", size(before), "bottom", size(bottom)),
			words.Say("alert.flush.partly")},
		numbers: map[string]float64{"falls": float64(fl.falls), "bottom_bytes": bytesOf(bottom)},
		advice: hypothetical{gpu: g, proc: g.only(), free: g.usable - bottom, need: g.usable - before, guess: true, stuck: stuck, phase: sampler.PhaseTraining,
			causes: certain(explain.CauseFragmentation)}.fixes(words),
	}
}

func renderRetries(f *Facts, p *proc, n int) message {
	g, words := f.gpu, f.words
	return message{
		text:     words.Say("alert.flush.retries", "gpu", g.last.Label(), "process", f.pid(p), "n", n),
		evidence: []string{words.Say("alert.flush.counter", "all", p.retries, "n", n)},
		numbers:  map[string]float64{"retries": float64(n)},
		advice: hypothetical{gpu: g, proc: p, free: g.free, need: g.free + flushLeast, guess: true, phase: sampler.PhaseTraining,
			causes: certain(explain.CauseFragmentation, explain.CauseTooBig)}.fixes(words),
	}
}
