package request

// Functions of libcuda call one another: cuMemAllocAsync may ask the pool of its stream by cuMemAllocFromPoolAsync, of which alone is told then. A pool that
// the driver has made by itself no call has named.

// Within takes that the call which a thread was answered last was made within one of the function of number Call.Size, on the stream Call.Other: the pool
// that it asked, Call.Address, is of the GPU of that stream.
func (t *Tracker) Within(c Call) {
	if c.Size >= uint64(len(Functions)) {
		return
	}
	c.Function = int(c.Size) //nolint:gosec // below the number of functions
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.processes[c.PID]
	if p == nil || p.over {
		return
	}
	device, known := p.handles[p.home(&c, t.several(p))]
	if was, named := p.handles[c.Address]; !known || named && was == device || len(p.handles) >= maxHandles {
		return
	}
	p.handles[c.Address] = device
	for _, s := range p.seats {
		if s.key.device < 0 && s.key.handle == c.Address {
			s.key = seatKey{device: device}
			s.at, s.guessed = t.place(p, s)
		}
	}
	t.join(p)
}
