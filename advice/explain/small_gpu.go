package explain

import "nvpeak/sampler"

// smallGPU says of a GPU that few programs of these days are made for that it is one.
func (f *failure) smallGPU() []string {
	if f.triedGPU() || f.tinyGPU() || f.smallGPUSpent() || !f.total.Known() || f.total.Or(0) > 9*sampler.GiB/2 || f.history != nil || f.othersMatter() {
		return nil
	}
	return []string{f.comment("do.small_gpu", "total", gib(f.total.Or(0)))}
}

// smallForRunning: a model that only runs may run on the CPU as well, where a GPU is as small as that (own threshold).
func (f *failure) smallForRunning() bool {
	return f.program.is(evaluation|inference|imageTool) && f.total.Known() && f.total.Or(0) <= 17*sampler.GiB/4 && !f.onHost() && !f.tinyGPU() && f.event.Kind == sampler.KindCUDA && f.history == nil
}

// smallAnyway: few programs of these days run in that, whatever is made smaller (own threshold).
func (f *failure) smallAnyway() bool {
	return !f.triedGPU() && f.total.Known() && f.total.Or(0) <= 17*sampler.GiB/8 && !f.tinyGPU() && !f.onHost() && f.event.Kind == sampler.KindCUDA && f.history == nil && !f.othersMatter()
}

// asksGPU: what GPU it takes is asked, or all that is left of the batch is one sample, so that a larger GPU belongs to what is named.
func (f *failure) asksGPU() bool {
	if _, is := f.work(); is {
		return false // its row says what it is about
	}
	small := f.saidTotal() > 0 && f.saidTotal() <= 8*sampler.GiB && !f.total.Known() && f.program.is(undecided|running)
	return (f.told(sampler.ToldAsksGPU) || f.told(sampler.ToldAsExample) || (f.oneSample() || f.triedSize() || small) && f.onlyMessage()) && !f.triedGPU() && !f.onHost() && f.history == nil && !f.numbers() && !f.told(sampler.ToldGrowth) && !f.othersMatter()
}
