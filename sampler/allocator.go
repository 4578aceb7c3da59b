package sampler

import "time"

// Allocator is what the allocator inside a process reports of itself.
type Allocator struct {
	Allocated     Bytes          `json:"allocated_bytes"`
	Reserved      Bytes          `json:"reserved_bytes"`
	Unallocated   Bytes          `json:"unallocated_bytes"` // reserved less allocated
	InactiveSplit Bytes          `json:"inactive_split_bytes"`
	LargestFree   Opt[Bytes]     `json:"largest_free_bytes"` // the largest block that it can give out without the driver
	Retries       int            `json:"retries"`
	OOMs          int            `json:"ooms"`
	PeakAllocated Bytes          `json:"peak_allocated_bytes"`
	PeakReserved  Bytes          `json:"peak_reserved_bytes"`
	LastOOM       *RefusedTensor `json:"last_oom"` // the newest; nil: none was seen
}

// RefusedTensor is a request that an allocator could not fulfil, and what its cache was like at that moment. What
// it could return to the driver by then it has returned.
type RefusedTensor struct {
	Time          time.Time  `json:"time"`
	Requested     Bytes      `json:"requested_bytes"`
	GPUFree       Opt[Bytes] `json:"gpu_free_bytes"`
	Allocated     Opt[Bytes] `json:"allocated_bytes"`
	Reserved      Opt[Bytes] `json:"reserved_bytes"`
	LargestFree   Opt[Bytes] `json:"largest_free_bytes"`
	InactiveSplit Opt[Bytes] `json:"inactive_split_bytes"` // free, but cut from segments that are partly in use
	FreeSegments  Opt[Bytes] `json:"free_segments_bytes"`  // free, in segments that nobody uses
}

// Of is whether a failure that asked for that much, as a log prints it with two decimals, can be this one.
func (r *RefusedTensor) Of(requested Opt[Bytes]) bool {
	size, known := requested.Value()
	return known && max(size, r.Requested)-min(size, r.Requested) <= max(size, r.Requested)/100
}

// Unallocated is what the allocator had reserved and given to nobody.
func (r *RefusedTensor) Unallocated() Opt[Bytes] {
	if reserved, ok := r.Reserved.Value(); ok && r.Allocated.Known() {
		return Some(reserved.Less(r.Allocated.Or(0)))
	}
	if split, ok := r.InactiveSplit.Value(); ok && r.FreeSegments.Known() {
		return Some(split + r.FreeSegments.Or(0))
	}
	return Opt[Bytes]{}
}

// What was measured of fragmentation when a tensor was refused.
const (
	MeasuredBroken = "broken" // there was enough that nobody used, but in blocks that are too small: that is why
	MeasuredWhole  = "whole"  // a free block could have held it: that is not why
	MeasuredLittle = "little" // all that was free, of the GPU as well, was too little: that is not why
	MeasuredPieces = "pieces" // what the allocator and the GPU had free would have been enough together only
)

// Fragmentation is one of them; empty: not enough was measured.
func (r *RefusedTensor) Fragmentation() string {
	largest, measured := r.LargestFree.Value()
	unallocated, known := r.Unallocated().Value()
	switch {
	case r.Requested == 0 || !measured || !known:
		return ""
	case largest >= r.Requested:
		return MeasuredWhole
	case unallocated >= r.Requested:
		return MeasuredBroken
	case !r.GPUFree.Known():
		return ""
	case unallocated+r.GPUFree.Or(0) < r.Requested:
		return MeasuredLittle
	}
	return MeasuredPieces
}

// Inside is who hears from allocators inside processes.
type Inside interface {
	// Apply fills in what they report.
	Apply(s *Snapshot)
	// Refused has something to receive when a tensor was refused.
	Refused() <-chan struct{}
}

func (a *Allocator) retimed(by func(time.Time) time.Time) *Allocator {
	if a == nil || a.LastOOM == nil {
		return a
	}
	c, oom := *a, *a.LastOOM
	oom.Time = by(oom.Time)
	c.LastOOM = &oom
	return &c
}
