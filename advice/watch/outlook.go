package watch

import (
	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Outlook is what the past of a GPU says of its next minutes, whether or not an alert is open.
type Outlook struct {
	ByDesign string                     // a program that fills the GPU on purpose and holds most of it; empty: none
	Spike    sampler.Opt[sampler.Bytes] // highest use that the spikes of a process take the GPU to, of late
	Due      sampler.Opt[float64]       // seconds to the next of them, where they come regularly; 0: it is due, or has begun
	pid      int                        // whose spikes they are
}

// mostHeld, of what is used: who holds that much makes the GPU what it is.
const mostHeld = 0.5

// Outlook of a GPU; ok is false for an unknown one.
func (w *Watch) Outlook(key sampler.GPUKey) (o Outlook, ok bool) {
	g := w.find(key)
	if g == nil {
		return o, false
	}
	if now := w.clock.Now; g.ahead.tick != g.tick || g.ahead.at != now {
		g.ahead = ahead{g.tick, now, g.outlook(now)}
	}
	return g.ahead.Outlook, true
}

// ahead is the outlook until the next snapshot: a picture asks for it several times, and there are several pictures.
type ahead struct {
	tick uint64
	at   float64
	Outlook
}

const (
	// spikeMargin, of the GPU, is how much too large a spike is taken to be where the last ones have just fitted.
	spikeMargin = 0.02
	// aheadFixSeconds is how long the fixes for spikes stay as they are: they change with the job.
	aheadFixSeconds = 60
)

// aheadFixes are what an alert would advise if the next spike of a process did not fit.
type aheadFixes struct {
	at    float64
	pid   int
	fixes []sampler.Advice
}

// SpikeFixes are what to do about the spikes of the outlook of a GPU, before there is an alert, and whose they are; nil where
// there are none.
func (w *Watch) SpikeFixes(key sampler.GPUKey) (fixes []sampler.Advice, pid int) {
	o, ok := w.Outlook(key)
	top, spikes := o.Spike.Value()
	if !ok || !spikes {
		return nil, 0
	}
	g, now := w.find(key), w.clock.Now
	p := g.withPID(o.pid)
	if p == nil {
		return nil, 0
	}
	if kept := g.aheadFixes; kept.pid != o.pid || kept.fixes == nil || now-kept.at >= aheadFixSeconds || now < kept.at {
		free := max(0, g.usable-g.used)
		need := max(0, top.MiB()-g.used, free+spikeMargin*g.total)
		h, _ := g.spikeFailure(p, need, free, need-free, func(q *proc) float64 { return q.series.Value })
		g.aheadFixes = aheadFixes{now, o.pid, h.fixes(lang.For(w.lang))}
	}
	return g.aheadFixes.fixes, o.pid
}

func (g *gpu) outlook(now float64) (o Outlook) {
	if p := g.largest(); p != nil && p.series.Value > mostHeld*g.used {
		if pre, yes := explain.Preallocates(*p.process); yes {
			o.ByDesign = pre.Program
		}
	}
	for _, p := range g.procs {
		if p.tick != g.tick {
			continue
		}
		most, due, dueKnown := p.spikes(now, g.total)
		if most == 0 {
			continue
		}
		top := bytesOf(max(0, g.used-p.series.Value) + most)
		if b, known := o.Spike.Value(); known && float64(b) >= top {
			continue
		}
		o.Spike, o.Due, o.pid = sampler.Some(sampler.Bytes(top)), sampler.Opt[float64]{}, p.pid
		if dueKnown {
			o.Due = sampler.Some(due)
		}
	}
	return o
}

// spikes are the highest top of the spikes of a process of late, in MiB, 0 where it has none; and in how many seconds they
// are due. A validation with several is one, or its period would be the time between these.
func (p *proc) spikes(now, total float64) (most, due float64, known bool) {
	pt, ok := p.series.Pattern(now, total)
	if ok && pt.Count >= series.SpikesNeeded {
		most, due = pt.Most, pt.Due(now)
		due, known = max(due, 0), pt.Regular && due > -pt.Period/2
	}
	if b, ok := p.series.Bursts(now); ok && b.Brief() {
		if most == 0 {
			most = b.Most
		}
		due, known = b.Due(now)
	}
	return most, due, known
}
