package explain

import "nvpeak/sampler"

// mostOverMetal: own threshold.
const mostOverMetal = 1.05

// overMetal is what was held of Apple's memory with what was asked for, in parts of what its allocator may take; 0: not known.
// That is more than the machine has, so a little over it can be swapped, and much more cannot.
func (f *facts) overMetal() float64 {
	l := f.event.MemoryLimit
	if f.event.Kind != sampler.KindMPS || l == nil || l.Allowed.Or(0) == 0 {
		return 0
	}
	return float64(f.allocated.Or(0)+f.extra("other_allocations_bytes").Or(0)+f.requested.Or(0)) / float64(l.Allowed.Or(0))
}

// littleOverMetal: and what its tensors hold is most of it. Where the rest is more, that is of the program too, and grows with the input.
func (f *job) littleOverMetal() bool {
	own := f.allocated.Or(0) >= f.extra("other_allocations_bytes").Or(0) || f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] != ""
	return f.overMetal() > 0 && f.overMetal() <= mostOverMetal && own
}

// beyondMachine: the limit is above the memory of the machine, which is that of Apple's GPU, so that a higher one gives no more.
func (f *job) beyondMachine() bool {
	l := f.event.MemoryLimit
	if f.event.Kind != sampler.KindMPS || l == nil {
		return false
	}
	size, told := f.saidRAM()
	return told && l.Allowed.Or(0) >= size
}

func (f *facts) farOverMetal() bool { return f.overMetal() > mostOverMetal }
