package explain

import "nvpeak/sampler"

// card is the picture of the GPU at the moment of failure.
func (f *failure) card() *Card {
	total, known := f.total.Value()
	free, freeKnown := f.free.Value()
	if !known || !freeKnown || f.oversubscribed() || free > total || total == 0 {
		return nil
	}
	c := Card{Total: total, Free: free, Need: f.requested.Or(0)}
	rest := total - free
	take := func(want sampler.Bytes) sampler.Bytes {
		got := min(want, rest)
		rest -= got
		return got
	}
	c.Allocated = take(f.allocated.Or(0))
	c.Unallocated = take(f.unallocated.Or(0))
	c.Beyond = f.reserved().Less(c.Allocated + c.Unallocated)
	if p, ok := f.process.Value(); ok {
		c.OutsideKnown = true
		c.Outside = take(p.Less(f.reserved()))
	}
	c.Others = rest
	return &c
}
