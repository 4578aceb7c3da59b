package request

import (
	"slices"

	"nvpeak/sampler"
)

// place finds the seat's GPU; the zero key: not known.
func (t *Tracker) place(p *process, s *seat) sampler.GPUKey {
	on := t.listed[p.pid]
	there := func(key sampler.GPUKey) bool {
		return key != sampler.GPUKey{} && (len(on) == 0 || slices.Contains(on, key))
	}
	key := t.ordinals.Key(&p.who, s.key.device)
	if t.partly() { // a list with one GPU says nothing of the others, and many programs ask for as much at the same time
		switch {
		case key != sampler.GPUKey{} && (!t.watched[key] || there(key)):
			return key
		case slices.Contains(on, s.elected):
			return s.elected
		}
		return sampler.GPUKey{}
	}
	switch {
	case there(key) && !(there(s.elected) && s.against(key) >= overrule):
		return key
	case there(s.elected):
		return s.elected
	case len(on) == 1:
		return on[0]
	case len(on) == 0:
		return t.ordinals.Only()
	}
	return sampler.GPUKey{}
}
