package sampler

// Same says whether two events can be one failure that was printed, or read, twice: of the same kind, rank and
// request, with no figure that says otherwise.
func (e *OOMEvent) Same(o *OOMEvent) bool {
	return e.Kind == o.Kind && e.Rank == o.Rank && e.Requested == o.Requested && !e.PID.Contradicts(o.PID) && !e.Contradicts(o)
}

// SameInLog says whether two events are one failure of one log that was read twice: followed while it was
// recorded, and read later.
func (e *OOMEvent) SameInLog(o *OOMEvent) bool {
	return e.Same(o) && (e.Line == o.Line && e.Line > 0 || e.Text == o.Text)
}

// SameInLogs says whether two logs tell of one failure: all its numbers agree, and there are some.
func (e *OOMEvent) SameInLogs(o *OOMEvent) bool {
	numbers := e.Requested.Known() && e.GPUFree.Known() || e.PID.Known()
	return numbers && e.Same(o) && e.PID == o.PID && e.Text == o.Text
}

// Contradicts says whether two events print different values for a figure of the GPU.
func (e *OOMEvent) Contradicts(o *OOMEvent) bool {
	return e.GPUIndex.Contradicts(o.GPUIndex) || e.otherRequest(o) || e.GPUTotal.Contradicts(o.GPUTotal) ||
		e.GPUFree.Contradicts(o.GPUFree) || e.ProcessInUse.Contradicts(o.ProcessInUse) || e.Allocated.Contradicts(o.Allocated) ||
		e.ReservedUnallocated.Contradicts(o.ReservedUnallocated) || e.Reserved.Contradicts(o.Reserved) ||
		e.PrivatePools.Contradicts(o.PrivatePools)
}

// otherRequest says whether the requests differ by more than rounding. TensorFlow, XLA and ggml print a request once
// rounded ("1.13GiB") and once in bytes, NCCL its shared memory once with and once without its head.
func (e *OOMEvent) otherRequest(o *OOMEvent) bool {
	if !e.Requested.Contradicts(o.Requested) {
		return false
	}
	switch e.Kind {
	case KindXLA, KindTensorFlow, KindGGML, KindShm:
		x, y := float64(e.Requested.Or(0)), float64(o.Requested.Or(0))
		return x < y*0.995 || x > y*1.005
	}
	return true
}
