package explain

import (
	"slices"

	"nvpeak/sampler"
)

// noBatchMatters: a batch of one fails like any other, and two fifths of the GPU or more and 1 GiB are not this allocator's (own threshold), which is
// more than its context. What others hold is the part that no batch changes.
func (f *job) noBatchMatters() bool {
	return f.triedBatch() == 1 && f.told(sampler.ToldTried+"batch") && f.history == nil && len(f.others) == 0 && !f.onHost() && f.numbers() && !f.othersMatter() &&
		f.elsewhere.Or(0) > max(sampler.GiB, partOf(f.total.Or(0), 0.4))
}

// bothFail: a script that trains and one that does not are both refused by the driver, without a figure. They do different things, on the same GPU.
func (f *job) bothFail() bool {
	kind := func(k kinds) bool {
		return slices.ContainsFunc(f.context.Scripts, func(name string) bool { return programNamed([]string{name}).is(k) })
	}
	return f.event.Kind == sampler.KindCUDAError && !f.numbers() && f.history == nil && !f.onHost() && len(f.context.Functions) == 0 && kind(training) && kind(running)
}
