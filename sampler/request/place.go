package request

import (
	"slices"

	"nvpeak/sampler"
)

// place finds the seat's GPU; the zero key: not known.
func (t *Tracker) place(p *process, s *seat) sampler.GPUKey {
	best, votes := s.elected()
	on := t.listed[p.pid]
	key := t.ordinals.Key(&p.who, s.key.device)
	if t.partly() { // a list with one GPU says nothing of the others, and many programs ask for as much at the same time
		switch {
		case key != sampler.GPUKey{} && (!t.watched[key] || len(on) == 0 || slices.Contains(on, key)):
			return key
		case votes > 0 && slices.Contains(on, best):
			return best
		}
		return sampler.GPUKey{}
	}
	there := func(key sampler.GPUKey) bool { return len(on) == 0 || slices.Contains(on, key) }
	known := key != sampler.GPUKey{} && there(key)
	need := enough
	if known {
		need = max(overrule, overruleTimes*s.votes[key])
	}
	if votes >= need && there(best) {
		return best
	}
	switch {
	case known:
		return key
	case len(on) == 1:
		return on[0]
	case votes > 0 && there(best):
		return best
	case len(on) == 0:
		return t.ordinals.Only()
	}
	return sampler.GPUKey{}
}
