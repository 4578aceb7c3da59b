package watch

import (
	"slices"

	"nvpeak/sampler"
)

// endWith takes the time left of the rank that comes first: it ends the job, whatever the others have left. Where one of
// them cannot be told, the job's cannot.
func (found *finding) endWith(f *Facts, p *proc) {
	var first *gpu
	at := *f
	for _, o := range f.gpus {
		if o == f.gpu || o.figures != f.now {
			continue
		}
		at.gpu = o
		for _, q := range o.procs {
			if q.tick != o.tick || q.pid != p.pid && !sameJob(p, q) {
				continue
			}
			other, grows := processGrowth(&at, q)
			if grows && sooner(other.eta, found.eta) {
				first, found.eta = o, other.eta
			}
		}
	}
	if first == nil {
		return
	}
	render, eta := found.render, found.eta
	found.render = func(f *Facts) message {
		m := render(f)
		line := f.words.Say("alert.growth.first", "gpu", first.last.Label())
		if seconds, known := eta.Value(); known {
			line = f.words.Say("alert.growth.first_in", "gpu", first.last.Label(), "eta", f.words.Span(seconds))
		}
		m.evidence = slices.Insert(m.evidence, 0, line)
		return m
	}
}

// soonerShare: ranks that fill their GPUs alike do so at one time.
const soonerShare = 0.9

// sooner says whether one time left comes before another. One that is not known may be any moment.
func sooner(a, b sampler.Opt[float64]) bool {
	x, known := a.Value()
	y, other := b.Value()
	return other && (!known || x < soonerShare*y)
}
