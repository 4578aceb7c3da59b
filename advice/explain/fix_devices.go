package explain

import "nvpeak/sampler"

// What is known of the job has no part in it: it runs on a GPU that was not meant, or there are too many of it.
var (
	causesDevices = []causeRow{
		{id: "told", cause: CauseUnknown, form: "wrong_gpu", reason: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",
			when:       func(f *failure) bool { return f.told(sampler.ToldWrongGPU) && !f.onHost() },
			confidence: always(0.85),
			evidence:   func(f *failure) string { return f.words.Say("why.another_gpu") }},
		{id: "told", cause: CauseUnknown, form: "own_many", reason: "https://docs.nvidia.com/deploy/mps/index.html",
			when:       func(f *failure) bool { return f.ownMany() },
			confidence: always(0.8),
			evidence:   func(f *failure) string { return f.words.Say("why.own_many") }},
	}
	fixesDevices = []fixRow{
		{id: FixStopOtherProcess, source: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",
			kinds: ownCode | running, cost: 0,
			lives:   map[string]float64{CauseUnknown: 0.97, CauseTooBig: 0.97, CauseOtherProcess: 0.97, CauseFragmentation: 0.97, CauseImbalance: 0.9},
			when:    func(f *failure) bool { return f.told(sampler.ToldWrongGPU) && !f.onHost() },
			reach:   always(1.2),
			variant: func(f *failure) string { return "wrong_gpu" },
			do: func(f *failure) []string {
				meant := f.chosenGPUs()
				if meant == anyGPU {
					meant = "1"
				}
				return []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=" + meant + " …  " + f.comment("do.other_gpu_number"), f.comment("do.before_cuda")}
			}},
		{id: FixStopOtherProcess, source: "https://cuda.juliagpu.org/stable/usage/multigpu/",
			kinds: ownCode | running, cost: 0,
			lives: map[string]float64{CauseOtherProcess: 0.98, CauseUnknown: 0.9, CauseTooBig: 0.9},
			when: func(f *failure) bool {
				return f.roomyGPU() != "" && !f.onHost() && f.onFirstGPU() && !f.ranks() && !f.told(sampler.ToldGrowth)
			},
			reach:   always(1.1),
			variant: func(f *failure) string { return "roomy" },
			pairs:   func(f *failure) []any { return []any{"gpu", f.roomyGPU()} },
			do: func(f *failure) []string {
				if f.language() != "julia" {
					return []string{f.comment("do.take_gpu", "gpu", f.roomyGPU())}
				}
				return []string{"CUDA.device!(" + f.roomyGPU() + ")  " + f.comment("do.first_of_all"), "nvidia-smi  " + f.comment("do.who_holds")}
			}},
		{id: FixStopOtherProcess, source: "https://cuda.juliagpu.org/stable/usage/multigpu/",
			kinds: ownCode | running, cost: 0, work: true,
			lives:   map[string]float64{CauseImbalance: 0.98},
			when:    func(f *failure) bool { return f.language() == "julia" && f.told(sampler.ToldFirstGPU) && !f.onHost() },
			reach:   always(1.1),
			variant: func(f *failure) string { return "julia_workers" },
			do:      func(f *failure) []string { return []string{f.comment("do.one_gpu_each"), f.comment("do.device_first")} }},
		{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/mps/index.html",
			kinds: ownCode | running, cost: 0,
			lives:   map[string]float64{CauseUnknown: 0.95, CauseTooBig: 0.9, CauseOtherProcess: 0.97},
			when:    func(f *failure) bool { return f.ownMany() },
			reach:   always(1.1),
			variant: func(f *failure) string { return "own_many" },
			do: func(f *failure) []string {
				return []string{f.comment("do.fewer_processes"), f.comment("do.one_model")}
			}},
	}
)

// onFirstGPU: nothing chooses another GPU than the first.
func (f *failure) onFirstGPU() bool {
	a, found := f.command.Find(gpuOptions...)
	chosen := f.chosenGPUs()
	return (chosen == anyGPU || chosen == "0") && (!found || a.Value == "0" || a.Value == "cuda")
}

// ownMany: several processes of one's own fill the GPU, as is said, and they are neither ranks nor what reads data.
func (f *failure) ownMany() bool {
	return f.told(sampler.ToldOwnMany) && !f.ranks() && !f.told(sampler.ToldGPUs) && !f.told(sampler.ToldLoader) && !f.onHost() && !f.numbers() && f.history == nil
}
