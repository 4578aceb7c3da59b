package watch

import (
	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// heard says whether each request of who holds most of the GPU is seen: then nothing is guessed from falls.
func (g *gpu) heard() bool {
	p := g.largest()
	return p != nil && p.asking.heard && !g.door.Deaf(p.pid)
}

// seenFlushes are the near misses that the driver's functions saw. One as a program starts is a notice: its first
// steps choose algorithms.
func seenFlushes(f *Facts) (out []finding) {
	if !f.gpu.asks {
		return nil
	}
	for _, p := range f.gpu.procs {
		fl := &p.asking.flushed
		if p.tick != f.gpu.tick || !fl.recent(f.now) {
			continue
		}
		lived := f.gpu.livedThrough(p.pid, fl.n, f.now)
		out = append(out, finding{pid: p.pid, id: seenID, level: nearLevel(lived || fl.n == fl.start), recurs: true, render: func(f *Facts) message { return renderSeen(f, p, lived) }})
	}
	return out
}

// seenID tells near misses that were seen from those that are guessed.
const seenID = 3

func renderSeen(f *Facts, p *proc, lived bool) message {
	words, fl := f.words, p.asking.flushed
	r := fl.newest
	said := []any{"gpu", f.gpu.last.Label(), "process", f.pid(p), "n", fl.n, "size", r.Bytes.Needed(), "freed", fl.deepest, "ago", words.Span(f.now - fl.last), "span", words.Span(max(f.now-fl.first, 1))}
	m := message{numbers: map[string]float64{"near_misses": float64(fl.n), "deepest_fall_bytes": float64(fl.deepest)}}
	h := hypothetical{gpu: f.gpu, proc: p, free: f.gpu.free, need: f.gpu.free + max(r.Bytes, fl.deepest).MiB(), phase: sampler.PhaseTraining,
		causes: certain(explain.CauseTooBig, explain.CauseFragmentation)}
	switch {
	case fl.n > 1:
		m.text = words.Say("alert.flush.seen_times", said...)
	case r.Bytes == 0 || piece(&r) || fl.deepest == 0: // a pool was trimmed: how much it gave back is not known
		m.text = words.Say("alert.flush.seen_piece", said...)
	default:
		m.text = words.Say("alert.flush.seen", said...)
	}
	if r.Bytes > 0 {
		m.evidence = append(m.evidence, driverRefused(f, &r, false))
		m.numbers["requested_bytes"] = float64(r.Bytes)
	}
	if free, ok := r.Free.Value(); ok {
		m.numbers["free_bytes"] = float64(free)
		if !piece(&r) {
			h.free, h.need = free.MiB(), r.Bytes.MiB()
		}
	}
	if fl.cost > 0 {
		m.evidence = append(m.evidence, words.Say("alert.flush.cost", "span", words.Lasted(fl.cost)))
		m.numbers["cost_s"] = fl.cost
	}
	if lived {
		m.evidence = append(m.evidence, words.Say("alert.flush.lived"))
	}
	if f.gpu.spiking(p, f.now, r.Bytes.MiB()/2) {
		h = h.inSpikes()
		h.causes = certain(explain.CauseValidationSpike, explain.CauseTooBig)
	}
	m.advice = h.fixes(words)
	return m
}
