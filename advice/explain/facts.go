package explain

import (
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// facts is what happened: the event, what the log and the recording show around it, and the
// arithmetic of its amounts. Amounts that cannot be are dropped (rule R0) before anything reads them.
type facts struct {
	event     sampler.OOMEvent
	context   sampler.LogContext
	history   *History
	snapshot  *sampler.TorchDevice // of PyTorch's allocator, taken at the failure
	file      string               // the log it is from; empty: the only one
	siblings  []sampler.OOMEvent   // all events of the run
	class     kindRow
	program   program         // that failed
	tool      *tools.Tool     // that many run, and that failed; nil: it is none that is known
	toolTyped bool            // the command begins with its name
	alerts    []sampler.Alert // that were open just before
	notes     []note          // sentinels and the like

	requested, total, free, allocated, unallocated, process amount
	// outside is what this process holds beside its allocator; elsewhere what is neither free
	// nor of this process. ownInside: elsewhere includes the outside of this process.
	outside, elsewhere amount
	ownInside          bool
	others             []Neighbor
	mixed              bool // the failing process may be one of the others
}

// note is a sentence about the event, not rendered yet.
type note struct {
	id    string
	pairs []any
}

type amount = sampler.Opt[sampler.Bytes]

// ContextTypical is what one process costs on a GPU before its first tensor. 0.3 to 0.6 GiB
// with CUDA 12, up to 1.8 GiB before. https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md
const ContextTypical = 600 * sampler.MiB

// contextOld is the same for the versions before CUDA 12 loaded kernels only when they are used.
const contextOld = 1200 * sampler.MiB

func (f *facts) note(id string, pairs ...any) {
	f.notes = append(f.notes, note{id, pairs})
}
