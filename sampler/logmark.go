package sampler

import "time"

// Kinds of a LogMark.
const (
	MarkEpoch      = "epoch"
	MarkTraining   = PhaseTraining
	MarkValidation = PhaseValidation
	MarkSaving     = PhaseSaving
	MarkAllocator  = "allocator" // a reading of the allocator
	MarkStage      = "stage"     // one of a few parts of the run
	MarkStep       = "step"      // each of a followed log; of one that is read later the first and one that is ten beyond it
)

// LogMark is a line of a training log that says where the run stands.
type LogMark struct {
	Kind      string
	Line      int            // from 1
	Time      Opt[time.Time] // absent: the log has no time near it
	N         Opt[int]       // number of the epoch, stage or step, as printed
	Of        int            // stages in all
	Label     string         // of a stage, in lower case
	GPU       Opt[int]       // CUDA ordinal, as printed
	Allocated Opt[Bytes]
	Reserved  Opt[Bytes]
}
