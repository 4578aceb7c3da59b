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
