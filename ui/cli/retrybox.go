package cli

import (
	"time"

	"nvpeak/sampler"
)

// boxRetry says which try of a run a black box is of.
type boxRetry struct {
	Run     string      `json:"run"` // the name of its first box
	Try     int         `json:"try"`
	Most    int         `json:"most"`    // tries at the most
	Changed string      `json:"changed"` // against what was typed
	Outcome *boxOutcome `json:"outcome"` // in the newest box: how the run ended
}

// boxOutcome is how the last try of a run ended, of which there may be no box.
type boxOutcome struct {
	Try      int                        `json:"try"`
	End      time.Time                  `json:"end"`
	ExitCode int                        `json:"exit_code"`
	Changed  string                     `json:"changed"`
	GPU      string                     `json:"gpu"`
	Before   sampler.Opt[sampler.Bytes] `json:"peak_before_bytes"` // of the first try
	Peak     sampler.Opt[sampler.Bytes] `json:"peak_bytes"`
	Headroom sampler.Opt[sampler.Bytes] `json:"headroom_bytes"`
}

func (o *boxOutcome) fill(f peakFigures) {
	o.GPU, o.Before, o.Peak = f.gpu, f.before, f.after
	if f.after.Known() {
		o.Headroom = sampler.Some(f.left)
	}
}

// outcome notes the end of the run, and says whether there is a box to note it in.
func (b *blackBox) outcome(o boxOutcome) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil || b.removed || b.meta.Retry == nil {
		return false
	}
	b.meta.Retry.Outcome = &o
	return b.writeMeta() == nil
}
