package explain

import "nvpeak/sampler"

// fixesLast are asked where no other fix promises anything: each cause has something that can be done about it, in whatever program.
var fixesLast = []fixRow{
	{id: FixCapSampleSize, source: "https://github.com/graphdeco-inria/gaussian-splatting/issues/587",
		kinds: ownCode | running, lives: map[string]float64{CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.corrupt() || f.beyondRAM() },
		variant: func(*failure) string { return "absurd" },
		do:      func(f *failure) []string { return []string{f.comment("do.log_size")} }},
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, lives: map[string]float64{CauseDataSpike: 0.9},
		when:    func(f *failure) bool { return f.phase() != sampler.PhaseLoading && !f.corrupt() },
		variant: func(*failure) string { return "told" },
		do:      func(f *failure) []string { return []string{f.comment("do.log_size"), f.comment("do.bucket")} }},
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode | running, lives: map[string]float64{CauseLeak: 0.8},
		variant: func(*failure) string { return "tool" },
		do:      doBetweenJobs},
	{id: FixRebalanceRanks, source: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",
		kinds: ownCode | running, lives: map[string]float64{CauseImbalance: 0.8},
		variant: func(*failure) string { return "spread" },
		do:      func(f *failure) []string { return []string{f.comment("do.say.own_gpu"), f.comment("do.spread_parts")} }},
	{id: FixSmallerInput, source: sourceAnatomy,
		kinds: ownCode | running, lives: map[string]float64{CauseTooBig: 0.8, CauseValidationSpike: 0.8, CauseDataSpike: 0.8, CauseFragmentation: 0.7, CauseOversubscribed: 0.8, CauseHostMemory: 0.7, CauseUnknown: 0.5},
		variant: func(*failure) string { return "last" },
		do:      func(f *failure) []string { return f.lessInput() }},
	{id: FixRecordRun, source: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		kinds: ownCode | running, lives: map[string]float64{CauseOtherProcess: 0.5, CauseUnattributed: 0.5, CauseMemoryLimit: 0.5, CausePreallocation: 0.5, CauseSharedMemory: 0.5, CauseUnknown: 0.4},
		do: func(f *failure) []string {
			if !f.ofNVIDIA() {
				return []string{f.comment("do.watch_it")}
			}
			return []string{"nvpeak run --record run.jsonl -- COMMAND"}
		}},
}

// lastOf is what is left against the surest cause of which anything is.
func (f *failure) lastOf(causes []sampler.Cause) []scored {
	for _, c := range causes {
		for _, row := range fixesLast {
			if f.program.is(row.kinds) && row.lives[c.ID] > 0 && (row.when == nil || row.when(f)) && !(f.onHost() != hostCause(c.ID) && c.ID != CauseUnknown) {
				return []scored{{row: row, score: row.lives[c.ID]}}
			}
		}
	}
	return nil
}

// doBetweenJobs is what is left to whoever runs a program that keeps memory and whose lines are not his.
func doBetweenJobs(f *failure) []string {
	return []string{f.comment("do.restart_between"), f.comment("do.watch_memory")}
}
