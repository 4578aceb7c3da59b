package report

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Exit is the end of a job as a recording shows it: a process is listed no more, or, where
// no processes are listed, most of the memory is gone from one snapshot to the next.
type Exit struct {
	Time  time.Time // of the last snapshot with it
	T     float64   // the same, in seconds
	GPU   int
	PID   int           // 0: not known
	Bytes sampler.Bytes // what it held last
	Used  sampler.Bytes // of the GPU, then
	Full  float64       // share of the GPU's usable memory that was in use at most within the last snapshot, 0..1
}

// exit is an Exit with what was known of the process just before.
type exit struct {
	Exit
	key      sampler.GPUKey
	process  sampler.Process
	incident explain.Incident
	open     []sampler.Alert // that were open then
	rose     bool            // the GPU was fuller at the end than it usually was
}
