package explain

import (
	"slices"

	"nvpeak/sampler"
)

// plausible drops what is no amount: sentinels near 2^64 and above.
func (f *facts) plausible(v amount) amount {
	if b, known := v.Value(); known && b >= sampler.MaxPlausible {
		f.note("note.sentinel")
		return amount{}
	}
	return v
}

// mostReserved of a GPU is so much that what else there is cannot be why a request was refused: messages for GPUs of Intel do not say what was
// free (own threshold).
const mostReserved = 0.9

// amounts does the arithmetic of the message (rules R0 to R2).
func (f *facts) amounts(grows bool) {
	e := f.event
	f.requested, f.total, f.free = f.plausible(e.Requested), f.plausible(e.GPUTotal), f.plausible(e.GPUFree)
	f.allocated, f.unallocated, f.process = f.plausible(e.Allocated), f.plausible(e.ReservedUnallocated), f.plausible(e.ProcessInUse)
	f.requested = f.requested.Else(f.extra("derived_requested_bytes")) // TensorFlow prints the shape
	if _, need := f.shape(); need > 0 && f.extra("pool_limit_bytes").Known() {
		f.requested = f.requested.Else(sampler.Some(need)) // older versions print no type, which is mostly one of 32 bits
	}
	if f.absurd() {
		f.requested = amount{}
	}
	if b, known := e.Requested.Value(); known && b >= sampler.MaxPlausible {
		f.note("note.corrupt_size")
	}
	if r, known := f.plausible(e.Reserved).Value(); known && !f.unallocated.Known() && f.allocated.Known() {
		f.unallocated = sampler.Some(r.Less(f.allocated.Or(0)))
	}
	if left := f.total.Or(0).Less(f.reserved()); !f.free.Known() && !e.Reserved.Known() && f.unallocated.Known() && f.requested.Or(0) > left && f.reserved() >= partOf(f.total.Or(sampler.MaxPlausible), mostReserved) {
		f.free, f.event.GPUFreeAbout = sampler.Some(left), true
	}
	if f.process.Known() && f.process.Or(0) == 0 && f.allocated.Or(0) > 0 {
		f.process = amount{}
		f.note("note.zero_process")
	}
	f.findOthers()
	f.fromHistory(grows)
	if f.process.Known() && f.process.Or(0) < f.reserved() {
		f.process = amount{} // less than its own allocator holds: not of this process
	}
	if p, known := f.process.Value(); known && f.allocated.Known() && f.unallocated.Known() {
		f.outside = sampler.Some(p.Less(f.reserved()))
	}
	f.findElsewhere()
}

// findOthers sorts the "Process N" clauses. In a container the driver gives host pids, so the
// failing process can be among them: it is the one whose size fits its allocator.
func (f *facts) findOthers() {
	own := -1
	if !f.process.Known() && f.reserved() > 0 {
		for i, p := range f.event.OtherProcesses {
			low, high := f.reserved().Less(64*sampler.MiB), f.reserved()+5*sampler.GiB/2
			// More than what others can have beside this process' allocator: it is this process.
			sole := f.total.Known() && f.free.Known() && p.Bytes >= low && p.Bytes+f.reserved() > f.total.Or(0).Less(f.free.Or(0))+512*sampler.MiB
			if (sole || p.Bytes >= low && p.Bytes <= high) && p.Bytes < sampler.MaxPlausible && (own < 0 || p.Bytes > f.event.OtherProcesses[own].Bytes) {
				own = i
			}
		}
	}
	if all := f.event.OtherProcesses; !f.process.Known() && f.reserved() == 0 && len(all) == 1 && f.total.Known() && f.free.Known() &&
		all[0].Bytes+ContextTypical/2 > f.total.Or(0).Less(f.free.Or(0)) {
		own = 0 // a message that was cut: nothing is left that this process could have but that
	}
	for i, p := range f.event.OtherProcesses {
		switch {
		case i == own:
			f.process = sampler.Some(p.Bytes)
			f.note("note.self_by_size", "pid", p.PID, "size", gib(p.Bytes))
		case p.Bytes >= sampler.MaxPlausible:
			f.note("note.sentinel")
		case p.Bytes > 0:
			f.others = append(f.others, Neighbor{PID: p.PID, Bytes: p.Bytes})
		}
	}
}

// fromHistory fills in what the message left out from the recording.
func (f *facts) fromHistory(grows bool) {
	h := f.history
	if h == nil || f.event.MemoryKind == sampler.MemoryHost {
		return
	}
	if !f.total.Known() {
		f.total = f.plausible(h.Total)
		if !f.aside(h.Free, grows) {
			f.free = f.plausible(h.Free)
		}
	}
	f.process = f.process.Else(f.plausible(h.Process))
	if len(h.Others) > 0 && len(f.others) <= len(h.Others) {
		f.others = append([]Neighbor(nil), h.Others...)
		f.mixed = h.Mixed && !f.takeOwn()
	}
}

// aside: what a recording shows as free was not free to the allocator that refused. One with a pool gives out what is in it,
// whatever lies beside it; and of others a request that would have fitted shows that the figure is of another moment, or that
// they asked the driver for a larger piece.
func (f *facts) aside(free amount, grows bool) bool {
	switch f.event.Kind {
	case sampler.KindTensorFlow, sampler.KindXLA:
		if !grows {
			return !f.shareRefused() && !f.outsidePool()
		}
		return f.requested.Known() && f.requested.Or(0) <= free.Or(0)
	case sampler.KindRMMPool:
		return true
	case sampler.KindORT, sampler.KindCuPy, sampler.KindRMM, sampler.KindPaddle, sampler.KindMXNet:
		return f.requested.Known() && f.requested.Or(0) <= free.Or(0)
	}
	return false
}

// takeOwn finds the failing process among the others, by the size that the message tells.
func (f *facts) takeOwn() bool {
	own, size := -1, f.process.Or(f.reserved())
	for i, p := range f.others {
		if size > 0 && p.Bytes+64*sampler.MiB >= size && p.Bytes <= size+5*sampler.GiB/2 && (own < 0 || p.Bytes > f.others[own].Bytes) {
			own = i
		}
	}
	if own < 0 {
		return false
	}
	f.process = f.process.Else(sampler.Some(f.others[own].Bytes))
	f.others = slices.Delete(f.others, own, own+1)
	return true
}

// cutBehindTensors: the message of PyTorch 2 ends with its tensors, so that what it holds beside them is not told.
func (f *facts) cutBehindTensors() bool {
	return !f.unallocated.Known() && indexOf(f.event.Text, "allocated memory") >= 0 && indexOf(f.event.Text, "allocated by PyTorch") >= 0
}

// findElsewhere is rule R1.
func (f *facts) findElsewhere() {
	total, known := f.total.Value()
	free, freeKnown := f.free.Value()
	named := sampler.Bytes(0)
	for _, p := range f.others {
		named += p.Bytes
	}
	switch {
	case f.oversubscribed() || !known || !freeKnown:
		if named > 0 {
			f.elsewhere = sampler.Some(named)
		}
	case f.process.Known():
		f.elsewhere = sampler.Some(total.Less(free).Less(f.process.Or(0)))
	case f.allocated.Known() && !f.cutBehindTensors():
		f.elsewhere, f.ownInside = sampler.Some(total.Less(free).Less(f.reserved())), true
	}
}
