package watch

import (
	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Outlook is what the past of a GPU says of its next minutes, whether or not an alert is open.
type Outlook struct {
	ByDesign string                     // a program that fills the GPU on purpose and holds most of it; empty: none
	Spike    sampler.Opt[sampler.Bytes] // highest use that the spikes of a process take the GPU to, of late
	Due      sampler.Opt[float64]       // seconds to the next of them, where they come regularly; 0: it is due, or has begun
}

// mostHeld, of what is used: who holds that much makes the GPU what it is.
const mostHeld = 0.5

// Outlook of a GPU; ok is false for an unknown one.
func (w *Watch) Outlook(key sampler.GPUKey) (o Outlook, ok bool) {
	g := w.find(key)
	if g == nil {
		return o, false
	}
	now := w.clock.Now
	if p := g.largest(); p != nil && p.series.Value > mostHeld*g.used {
		if pre, yes := explain.Preallocates(*p.process); yes {
			o.ByDesign = pre.Program
		}
	}
	for _, p := range g.procs {
		pt, spikes := p.series.Pattern(now, g.total)
		if !spikes || p.tick != g.tick || pt.Count < 2 {
			continue
		}
		top := bytesOf(max(0, g.used-p.series.Value) + pt.Most)
		if b, known := o.Spike.Value(); known && float64(b) >= top {
			continue
		}
		o.Spike, o.Due = sampler.Some(sampler.Bytes(top)), sampler.Opt[float64]{}
		if due := pt.Due(now); pt.Regular && due > -pt.Period/2 {
			o.Due = sampler.Some(max(due, 0))
		}
	}
	return o, true
}
