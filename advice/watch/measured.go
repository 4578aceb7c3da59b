package watch

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// measuredWithin is how far apart the moments can be at which a log and an allocator tell of one failure.
const measuredWithin = 30 * time.Second

// refusedOf is the tensor that an allocator on the GPU has refused, if it is the one that a failure is of; p is the
// process that failed where that is known. nil: nothing was told.
func (g *gpu) refusedOf(p *proc, e *sampler.OOMEvent, now time.Time) (found *sampler.RefusedTensor) {
	if p != nil { // which may be gone
		return p.refusedAs(e, now)
	}
	for _, q := range g.procs {
		if r := q.refusedAs(e, now); r != nil && (found == nil || r.Time.After(found.Time)) {
			found = r
		}
	}
	return found
}

// refusedAs is the same of one process.
func (p *proc) refusedAs(e *sampler.OOMEvent, now time.Time) *sampler.RefusedTensor {
	a := p.process.Allocator
	if a == nil || a.LastOOM == nil || !a.LastOOM.Of(e.Requested) || now.Sub(a.LastOOM.Time).Abs() > measuredWithin {
		return nil
	}
	return a.LastOOM
}

// measure explains failures again of which a snapshot has told more than the log that was ahead of it.
func (w *Watch) measure() {
	for i := range w.failures {
		o := &w.failures[i]
		if !o.logged || o.dead || w.clock.Now-o.at > measuredWithin.Seconds() || o.event.Refused != nil && o.event.Refused.Fragmentation() != "" {
			continue
		}
		g, p, _ := w.ownerOf(o.event, o.at)
		if g == nil {
			continue
		}
		if r := g.refusedOf(p, &o.event, w.clock.Last); r != nil && r.Fragmentation() != "" {
			o.event.Refused = r
			o.explained = explain.Explain(w.Incident(o.event))
		}
	}
}
