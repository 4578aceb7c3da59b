package explain

import (
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// MeasuredText says in a sentence what the allocator inside a process measured of fragmentation when it refused a
// tensor; empty where it measured too little.
func MeasuredText(r *sampler.RefusedTensor, words lang.Catalog) string {
	if r == nil {
		return ""
	}
	id := r.Fragmentation()
	if id == "" {
		return ""
	}
	return words.Say("measured."+id, "need", r.Requested, "unallocated", r.Unallocated().Or(0), "largest", r.LargestFree.Or(0), "free", r.GPUFree.Or(0))
}

// measured is what was measured of fragmentation at this failure; empty: nothing.
func (f *facts) measured() string {
	if r := f.event.Refused; r != nil && r.Of(f.requested) && !f.onHost() {
		return r.Fragmentation()
	}
	return ""
}

// notFragmented: by measure.
func (f *facts) notFragmented() bool {
	m := f.measured()
	return m == sampler.MeasuredWhole || m == sampler.MeasuredLittle
}

// withHeld is that, with what tensors held before where that was more.
func (f *failure) withHeld(text string) string {
	if !f.heldMore() {
		return f.withMeasured(text)
	}
	return f.withMeasured(text) + f.words.Say("detail.space") + f.words.Say("why.held_more", "most", gib(f.context.MostAllocated.Or(0)), "sum", gib(f.allocated.Or(0)+f.requested.Or(0)))
}

// withMeasured is a piece of evidence, with what was measured.
func (f *failure) withMeasured(text string) string {
	if f.measured() == "" {
		return text
	}
	return text + f.words.Say("detail.space") + MeasuredText(f.event.Refused, f.words)
}
