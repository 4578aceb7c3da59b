package request

import (
	"slices"

	"nvpeak/sampler"
)

// Two seats of a process may turn out to be on one GPU later, as a pool that the driver made by itself: the most that they have held
// together is then told by what each of them held when.

// step is what a tally holds from then on.
type step struct {
	tally *tally
	live  sampler.Bytes
}

// maxSteps of a process are kept: they are needed until its seats are placed, for some seconds.
const maxSteps = 2048

// mixed says whether seats of the process may turn out to be on one GPU.
func (p *process) mixed() bool {
	return slices.ContainsFunc(p.seats, func(s *seat) bool { return s.key.device < 0 }) &&
		slices.ContainsFunc(p.seats, func(s *seat) bool { return s.tally != p.seats[0].tally })
}

// keepsSteps begins to keep the steps of a process, or ends it, when its seats have changed.
func (p *process) keepsSteps() {
	if !p.mixed() {
		p.steps, p.stepping, p.forgot = nil, false, false
		return
	}
	if p.stepping {
		return
	}
	p.stepping = true
	for _, s := range p.seats {
		p.step(s.tally)
	}
}

// step notes what a tally holds now.
func (p *process) step(t *tally) {
	switch {
	case !p.stepping:
	case len(p.steps) < maxSteps:
		p.steps = append(p.steps, step{t, t.live})
	default:
		p.forgot = true
	}
}

// together is the most that two tallies have held at one time, as far as the steps tell, which are those of the first one from then
// on; lower: it may have been more.
func (p *process) together(t, gone *tally) (most sampler.Bytes, lower bool) {
	var live, other sampler.Bytes
	for i := range p.steps {
		switch x := &p.steps[i]; x.tally {
		case t:
			live = x.live
		case gone:
			other = x.live
		default:
			continue
		}
		p.steps[i] = step{t, live + other}
		most = max(most, live+other)
	}
	most = max(most, t.peak, gone.peak, t.live+gone.live)
	return most, p.forgot && most < t.peak+gone.peak
}
