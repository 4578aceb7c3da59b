package request

import (
	"slices"

	"nvpeak/sampler"
)

// place finds the seat's GPU; the zero key: not known.
func (t *Tracker) place(p *process, s *seat) sampler.GPUKey {
	on := slices.DeleteFunc(slices.Clone(t.listed[p.pid]), func(key sampler.GPUKey) bool { return p.takenBy(s, key) })
	there := func(key sampler.GPUKey) bool {
		return key != sampler.GPUKey{} && !p.takenBy(s, key) && (len(on) == 0 || slices.Contains(on, key))
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

// takenBy says whether a seat is not on that GPU since another device of the process is: where the process begins to use a second one,
// the newest list may still have the first alone.
func (p *process) takenBy(s *seat, key sampler.GPUKey) bool {
	return key != sampler.GPUKey{} && slices.ContainsFunc(p.seats, func(o *seat) bool { return o.at == key && o.apart(s) })
}
