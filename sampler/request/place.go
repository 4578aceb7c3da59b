package request

import (
	"slices"

	"nvpeak/sampler"
)

// place finds the seat's GPU; the zero key: not known.
func (t *Tracker) place(p *process, s *seat) sampler.GPUKey {
	best, votes := s.elected()
	on := t.listed[p.pid]
	if votes >= enough && (len(on) == 0 || slices.Contains(on, best)) {
		return best
	}
	key := t.ordinals.Key(&p.who, s.key.device)
	switch {
	case key != sampler.GPUKey{} && (len(on) == 0 || slices.Contains(on, key)):
		return key
	case len(on) == 1:
		return on[0]
	case votes > 0:
		return best
	case len(on) == 0:
		return t.ordinals.Only()
	}
	return sampler.GPUKey{}
}
