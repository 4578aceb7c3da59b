package tape

import (
	"time"

	"nvpeak/sampler"
)

// Header is the first line of a recording, and of every part of a rotated one. It comes
// again in the middle when the GPUs of the machine change.
type Header struct {
	Type             string                     `json:"type"` // "header"
	Schema           int                        `json:"schema"`
	Program          string                     `json:"program"` // "nvpeak 1.0.0"
	Time             time.Time                  `json:"time"`    // the clock base: every "t" counts seconds from here
	Even             bool                       `json:"even"`    // every "t" goes on evenly, whatever was done to the clock
	Host             string                     `json:"host"`
	Driver           string                     `json:"driver"`
	CUDA             string                     `json:"cuda"`
	IntervalSeconds  float64                    `json:"interval_s"`        // between snapshots
	MemorySeconds    float64                    `json:"memory_interval_s"` // between readings of the memory
	SnapshotsSeconds float64                    `json:"snapshot_every_s"`  // between complete snapshots; ticks are in between
	Redacted         bool                       `json:"redacted"`          // secrets in command lines are left out
	Part             int                        `json:"part"`              // from 1; a rotated recording has several
	Need             sampler.Opt[sampler.Bytes] `json:"need_bytes"`        // of the next allocation, as whoever recorded had set it
	GPUs             []Device                   `json:"gpus"`              // their places are the keys of "mem" lines
}

// Device is what a header says of one GPU.
type Device struct {
	Index             int                        `json:"index"`
	UUID              string                     `json:"uuid"`
	PCI               string                     `json:"pci"`
	Name              string                     `json:"name"`
	MIG               *sampler.MIG               `json:"mig"`
	ComputeCapability sampler.Opt[string]        `json:"compute_capability"`
	Total             sampler.Opt[sampler.Bytes] `json:"total_bytes"`
	Reserved          sampler.Opt[sampler.Bytes] `json:"reserved_bytes"`
	SharedWithHost    bool                       `json:"shared_with_host"`
}

// Kinds of events. Callers may add their own.
const (
	KindOOM          = "oom"
	KindXID          = "xid"
	KindProcessStart = "process_start"
	KindProcessEnd   = "process_end"
	KindGPULost      = "gpu_lost"       // a GPU began to give no figures
	KindGPUBack      = "gpu_back"       // and gives figures again
	KindGap          = "gap"            // nothing was recorded for a while
	KindBackwards    = "time_backwards" // the clock was set back
	KindForwards     = "time_forwards"  // the clock was set forward
	KindNeed         = "need"           // the need was changed; absent: taken back
)

// Event is something that happened at one time.
type Event struct {
	Type string                     `json:"type"` // "event"
	Time time.Time                  `json:"time"`
	T    sampler.Opt[float64]       `json:"t,omitzero"` // where Time does not tell it: the clock was set
	Kind string                     `json:"kind"`
	GPU  sampler.Opt[int]           `json:"gpu"` // place among the GPUs of the header
	PID  sampler.Opt[int]           `json:"pid"`
	XID  sampler.Opt[uint64]        `json:"xid"`
	Dur  sampler.Opt[float64]       `json:"duration_s"`
	Text string                     `json:"text"`
	OOM  *sampler.OOMEvent          `json:"oom"`
	Need sampler.Opt[sampler.Bytes] `json:"need_bytes,omitzero"` // of KindNeed
}

// Reading is one change of the memory.
type Reading struct {
	Device int // place among the GPUs of the header
	Used   sampler.Bytes
}

// End is the last line of a recording that was closed, or of a part.
type End struct {
	Type      string        `json:"type"` // "end"
	Time      time.Time     `json:"time"`
	Reason    string        `json:"reason"` // "closed", "rotated"
	Duration  float64       `json:"duration_s"`
	Snapshots int           `json:"snapshots"`
	Readings  int           `json:"readings"` // changes of the memory
	Lost      int           `json:"lost_bytes"`
	Peaks     []DevicePeak  `json:"peaks"`
	Processes []ProcessPeak `json:"process_peaks"`
}

// DevicePeak is the most memory used of one GPU in the whole recording, all parts.
type DevicePeak struct {
	GPU  int          `json:"gpu"` // place among the GPUs of the header
	UUID string       `json:"uuid"`
	Peak sampler.Peak `json:"peak"`
}

// ProcessPeak is the most memory of one process on one GPU.
type ProcessPeak struct {
	GPU   int                    `json:"gpu"`
	PID   int                    `json:"pid"`
	Start sampler.Opt[time.Time] `json:"start_time"`
	Name  string                 `json:"name"`
	Peak  sampler.Peak           `json:"peak"`
}

// Record is one line. Exactly one of its pointers and Readings is set.
type Record struct {
	Line     int // from 1
	Size     int // of the line, in bytes
	Time     time.Time
	Header   *Header
	Readings []Reading // valid until the next call of Next
	Snapshot *sampler.Snapshot
	Event    *Event
	End      *End
}
