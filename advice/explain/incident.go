package explain

import "nvpeak/sampler"

// Incident is all that is known of a failed run. Only Events is needed.
type Incident struct {
	Events            []sampler.OOMEvent      `json:"events"`
	Command           string                  `json:"command"`             // the command line of the job, as typed
	Environment       map[string]string       `json:"environment"`         // its variables that concern memory
	GPUName           string                  `json:"gpu_name"`            // "NVIDIA A100-SXM4-80GB"
	ComputeCapability string                  `json:"compute_capability"`  // "8.0"; empty: taken from the name
	History           *History                `json:"history"`             // from a recording, when there is one
	Histories         []*History              `json:"histories"`           // the same for each event; nil, or too short: History
	Snapshots         []sampler.TorchSnapshot `json:"snapshots,omitempty"` // memory snapshots of PyTorch
	Devices           []*sampler.TorchDevice  `json:"-"`                   // what one shows of the GPU of each event; nil, or too short: nothing
	Alerts            []sampler.Alert         `json:"alerts"`              // that were open just before the failure
	Files             []string                `json:"files"`               // the log of each event, where there are several; the events are then in the order of time
	Omitted           int                     `json:"omitted"`             // further events of the run, which are only counted
	Lang              string                  `json:"lang"`                // of package lang; others give English
}

// History is what a recording shows of the failing process and its GPU. All amounts are
// those just before the failure unless said otherwise; what was not seen is absent.
type History struct {
	GPU          sampler.Opt[int]           `json:"gpu"` // its index, as nvidia-smi counts; a message has it as the program does
	Total        sampler.Opt[sampler.Bytes] `json:"total_bytes"`
	Free         sampler.Opt[sampler.Bytes] `json:"free_bytes"`
	Process      sampler.Opt[sampler.Bytes] `json:"process_bytes"`      // by the failing process
	Sole         bool                       `json:"sole_gpu,omitempty"` // no other GPU of the machine is seen
	Unattributed sampler.Opt[sampler.Bytes] `json:"unattributed_bytes"` // used, but by no process the driver names
	Others       []Neighbor                 `json:"others"`             // other processes on the GPU
	Mixed        bool                       `json:"mixed,omitempty"`    // it is not known which of the processes failed: it may be one of Others
	Peaks        []sampler.Bytes            `json:"peak_bytes"`         // largest use of the process per stretch (epoch, plateau), oldest first
	Kept         []sampler.Bytes            `json:"kept_bytes"`         // what stayed each time the cache of the process was emptied, oldest first
	Age          sampler.Opt[float64]       `json:"age_seconds"`        // how long the process had been running
	Peers        []sampler.Bytes            `json:"peer_bytes"`         // usual use of the same job's processes on each of its other GPUs
	PeerPeaks    []sampler.Bytes            `json:"peer_peak_bytes"`    // their largest of late
	Alike        *Alike                     `json:"alike,omitempty"`
	HostGrown    sampler.Opt[sampler.Bytes] `json:"host_grown_bytes"` // host memory that the main process gained since it was first seen
	HostLost     sampler.Opt[sampler.Bytes] `json:"host_lost_bytes"`  // host memory that the machine lost in the same time
}

// Alike are requests of one size that the failing process was granted one after another, and gave none of them back, until the next was refused.
type Alike struct {
	Bytes    sampler.Bytes `json:"bytes"` // of each
	Count    int           `json:"count"`
	Seconds  float64       `json:"seconds"`  // from the first to the refusal
	Computed float64       `json:"computed"` // seconds in which it also used the GPU's processors
}

// Neighbor is another process on the GPU.
type Neighbor struct {
	PID     int           `json:"pid"`
	Bytes   sampler.Bytes `json:"bytes"`
	Name    string        `json:"name"`
	User    string        `json:"user"`
	Command string        `json:"command"`
	Same    bool          `json:"same,omitempty"` // it is of the same job as the failing process
	Arrived bool          `json:"arrived"`        // it came, or grew to this size, after the failing run had started
}
