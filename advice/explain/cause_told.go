package explain

import (
	"nvpeak/sampler"
)

// wordsAlone is as sure as a size can make that the job is too big where no amount stands beside it: possible, and likelier than what nobody knows.
const wordsAlone = 0.58

// sourceDAG is what Ethereum says of the data set that a miner keeps.
const sourceDAG = "https://ethereum.org/developers/docs/consensus-mechanisms/pow/mining/mining-algorithms/ethash"

// causesTold are about what whoever wrote the text says of the failure (package post). They are weaker than
// the arithmetic of a message, and often all there is.
var causesTold = []causeRow{
	{id: "told", cause: CauseTooBig, reason: sourceDAG,
		when: func(f *failure) bool {
			w, is := f.work()
			return is && w.name == sampler.WorkMining && !f.onHost() && !f.numbers() && f.history == nil && !f.oneBuffer()
		},
		confidence: func(f *failure) float64 {
			if f.pageFileShort() || f.onWindows() || f.told(sampler.ToldGPUs) || f.told(sampler.ToldUpdate) {
				return 0.5 // or the page file, of which each GPU takes some, or what another version keeps beside it
			}
			return 0.68
		},
		evidence: func(f *failure) string { return f.words.Say("why.dag") }},
	{id: "arena", cause: CausePreallocation, reason: "https://amrex-codes.github.io/amrex/docs_html/GPU.html",
		when:       func(f *failure) bool { return f.arenaAtStart() },
		confidence: always(0.62),
		evidence:   func(f *failure) string { return f.words.Say("why.arena") }},
	{id: "told", cause: CauseHostMemory, reason: "https://github.com/ethereum-mining/ethminer/issues/150",
		when:       func(f *failure) bool { return f.pageFileShort() },
		confidence: always(0.7),
		evidence:   func(f *failure) string { return f.words.Say("why.miner_commits") }},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return f.told(sampler.ToldGrowth) && !f.onHost() && !f.impossible() },
		confidence: func(f *failure) float64 {
			if f.differInLength() {
				return 0.6
			}
			if f.objectsDiffer() {
				return 0.58
			}
			if f.resizes() {
				return 0.4 // it rises with each larger size
			}
			return f.unlessOthers(0.72)
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_growth") }},
	{id: "told", cause: CauseDataSpike, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.told(sampler.ToldGrowth) && f.differInLength() },
		confidence: always(0.68),
		evidence: func(f *failure) string {
			if f.told(sampler.ToldSpeech) {
				return f.words.Say("why.told_lengths")
			}
			return f.words.Say("why.told_instances")
		}},
	{id: "told", cause: CauseDataSpike, reason: "https://mmdetection.readthedocs.io/en/latest/notes/faq.html",
		when:       func(f *failure) bool { return f.objectsDiffer() },
		confidence: always(0.58),
		evidence:   func(f *failure) string { return f.words.Say("why.told_instances") }},
	{id: "told", cause: CauseLeak, reason: "https://github.com/huggingface/sentence-transformers/issues/522",
		when: func(f *failure) bool { return f.keepsOutputs() },
		confidence: func(f *failure) float64 {
			if f.encodesToGPU() {
				return 0.93 // holes are what pieces of many lengths leave between those that stay
			}
			return 0.66
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_results") }},
	{id: "told", cause: CauseUnknown, reason: "https://github.com/scverse/scvi-tools/issues/3057",
		when:       func(f *failure) bool { return f.predictsAll() },
		confidence: always(0.92), // what is all there by then is not one batch
		evidence:   func(f *failure) string { return f.words.Say("why.told_predicts") }},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/tutorials/intermediate/reinforcement_q_learning.html",
		when: func(f *failure) bool {
			return f.told(sampler.ToldReplay) && !f.onHost() && f.inTraining() && f.event.Kind != sampler.KindXLA // which makes it whole at the start
		},
		confidence: func(f *failure) float64 {
			if f.numbers() {
				return f.unlessOthers(0.72)
			}
			return 0.64
		},
		evidence: func(f *failure) string {
			if f.told(sampler.ToldPlays) {
				return f.words.Say("why.plays")
			}
			return f.words.Say("why.told_replay")
		}},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return f.toldLate() },
		confidence: func(f *failure) float64 {
			if f.told(sampler.ToldVaries) {
				return 0.35
			}
			if f.program.is(running) || f.told(sampler.ToldEpochs) && !f.told(sampler.ToldPixels) {
				return 0.6 // each input is like those before, or was there before
			}
			return 0.4
		},
		evidence: func(f *failure) string { return f.orLarger() }},
	{id: "told", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool { return f.toldLate() },
		confidence: func(f *failure) float64 {
			if f.differInLength() {
				return 0.62 // the longer the likelier, in each batch
			}
			if f.squared() {
				return 0.3
			}
			return 0.5 // or a leak that nobody has looked for
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_late") }},
	{id: "told", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return f.told(sampler.ToldVaries) && f.saidLate() && !f.squared() && f.phase() != sampler.PhaseValidation && f.phase() != sampler.PhaseSaving
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.69) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_varies") }},
	{id: "told", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.toldSpikes() },
		confidence: always(0.68),
		evidence:   func(f *failure) string { return f.words.Say("why.told_spikes") }},
	{id: "told", cause: CauseLeak, reason: sourceEpochEnd,
		when:       func(f *failure) bool { return f.keptForEpochEnd() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.72) },
		evidence:   func(f *failure) string { return f.words.Say("why.epoch_end") }},
	{id: "told", cause: CauseUnknown, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.smallerModelFails() },
		confidence: always(0.72), // the size alone is less
		evidence:   func(f *failure) string { return f.words.Say("why.smaller_fails") }},
	{id: "told", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.impossible() && f.told(sampler.ToldLate) && !f.splats() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.told_late") }},
	{id: "told", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.toldLarger() && !f.program.is(running|undecided) },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.72) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_larger") }},
	{id: "told", cause: CauseTooBig, reason: "https://huggingface.co/docs/diffusers/optimization/memory",
		when:       func(f *failure) bool { return f.toldLarger() && f.program.is(running|undecided) }, // who runs a model chose the size of its input
		confidence: always(0.65),
		evidence:   func(f *failure) string { return f.words.Say("why.told_larger") }},
	{id: "told", cause: CauseDataSpike, reason: sourceAnatomy,
		when: func(f *failure) bool { return f.longSamples() && !f.told(sampler.ToldGrowth) },
		confidence: func(f *failure) float64 {
			if f.oneSample() {
				return 0.6 // no other stood beside it
			}
			return f.unlessOthers(0.7)
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_long") }},
	{id: "told", cause: CauseTooBig, reason: sourceAnatomy,
		when: func(f *failure) bool {
			return f.told(sampler.ToldSmallGPU) && !f.onHost() && !f.numbers() && !f.told(sampler.ToldGrowth) && !f.toldLate()
		},
		confidence: always(0.64),
		evidence:   func(f *failure) string { return f.words.Say("why.told_small_gpu") }},
	{id: "told", cause: CauseOtherProcess, reason: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		when:       func(f *failure) bool { return f.told(sampler.ToldFirstLayer) && !f.onHost() },
		confidence: always(0.72),
		evidence:   func(f *failure) string { return f.words.Say("why.told_first_layer") }},
	{id: "states", cause: CauseTooBig, reason: "https://arxiv.org/abs/1910.02054",
		when: func(f *failure) bool { return f.toldStates() > partOf(f.saidTotal(), mostlyStates) },
		confidence: func(f *failure) float64 {
			if f.toldStates() > partOf(f.saidTotal(), 0.9) {
				return 0.9
			}
			return 0.8
		},
		evidence: func(f *failure) string {
			return f.words.Say("why.told_states", "states", gib(f.toldStates()), "total", gib(f.saidTotal()))
		}},
	{id: "told", cause: CauseTooBig, reason: "https://deepspeed.readthedocs.io/en/latest/zero3.html",
		when:       func(f *failure) bool { return f.told(sampler.ToldOutsized) && !f.onHost() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.told_outsized") }},
	{id: "told", cause: CauseTooBig, reason: "https://docs.rapids.ai/api/cudf/stable/user_guide/",
		when:       func(f *failure) bool { return f.told(sampler.ToldDataLarger) && !f.onHost() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_data_larger") }},
	{id: "index", cause: CauseOtherProcess, reason: "https://github.com/facebookresearch/faiss/wiki/Faiss-on-the-GPU",
		when:       func(f *failure) bool { return f.littleIndex() },
		confidence: always(0.66),
		evidence: func(f *failure) string {
			return f.words.Say("why.little_index", "need", printed(f.requested.Or(0)), "total", gib(f.saidTotal()))
		}},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.leftByFirst() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.66) },
		evidence:   func(f *failure) string { return f.words.Say("why.left_by_first") }},
	{id: "load", cause: CauseTooBig, reason: "https://github.com/SYSTRAN/faster-whisper/blob/master/README.md",
		when:       func(f *failure) bool { return f.loadsWhisper() },
		confidence: always(0.64),
		evidence:   func(f *failure) string { return f.words.Say("why.told_loads") }},
	{id: "share", cause: CausePreallocation, reason: sourceVLLM,
		when: func(f *failure) bool {
			return f.told(sampler.ToldWideShare) && f.program.reserves() && !f.onHost() && !f.numbers()
		},
		confidence: always(0.75),
		evidence:   func(f *failure) string { return f.words.Say("why.told_wide_share") }},
	{id: "told", cause: CauseUnknown, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.loopsOn() },
		confidence: always(0.72), // the size of one is less
		evidence:   func(f *failure) string { return f.words.Say("why.told_loop") }},
	{id: "told", cause: CauseTooBig, reason: sourceOffload,
		when:       func(f *failure) bool { return f.movedFirst() },
		confidence: always(0.75), // it stands in the code
		evidence:   func(f *failure) string { return f.words.Say("why.moved_first") }},
	{id: "warmup", cause: CauseTooBig, reason: sourceTGI,
		when:       func(f *failure) bool { return f.prefillsAtStart() },
		confidence: always(0.75),
		evidence:   func(f *failure) string { return f.words.Say("why.prefill") }},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.keptFromFirst() },
		confidence: always(0.82),
		evidence:   func(f *failure) string { return f.words.Say("why.told_next") }},
	{id: "caffe", cause: CauseTooBig, reason: "https://caffe.berkeleyvision.org/tutorial/solver.html",
		when: func(f *failure) bool {
			return f.event.Framework == "caffe" && !f.onHost() && !f.told(sampler.ToldWorked)
		},
		confidence: always(0.62),
		evidence:   func(f *failure) string { return f.words.Say("why.caffe") }},
	{id: "told", cause: CauseTooBig, reason: "https://huggingface.co/docs/diffusers/optimization/memory",
		when:       func(f *failure) bool { return f.toldSized() },
		confidence: always(wordsAlone), // of public threads that name a size nearly all, where the GPU is small
		evidence:   func(f *failure) string { return f.words.Say("why.told_sized") }},
	{id: "told", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.ranWithLess() },
		confidence: always(0.76), // it is measured, by whoever writes
		evidence:   func(f *failure) string { return f.words.Say("why.ran_with", "before", f.ranWith()) }},
	{id: "told", cause: CauseTooBig, reason: sourceAnatomy,
		when: func(f *failure) bool {
			return f.told(sampler.ToldLargerGPU) && !f.onHost() && !f.numbers() && !f.told(sampler.ToldGrowth)
		},
		confidence: always(0.74),
		evidence:   func(f *failure) string { return f.words.Say("why.larger_gpu_ran") }},
	{id: "told", cause: CauseImbalance, reason: sourceRanks,
		when:       func(f *failure) bool { return f.told(sampler.ToldFirstGPU) && !f.onHost() && !f.numbers() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.told_first_gpu") }},
	{id: "told", cause: CauseImbalance, reason: "https://huggingface.co/docs/accelerate/usage_guides/big_modeling",
		when:       func(f *failure) bool { return f.oneHoldsAll() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.told_one_gpu") }},
	{id: "told", cause: CauseImbalance, reason: "https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",
		when:       func(f *failure) bool { return f.unlikeGPU() != "" && !f.onHost() && !f.numbers() },
		confidence: always(0.75),
		evidence:   func(f *failure) string { return f.words.Say("why.told_unlike", "gpu", f.unlikeGPU()) }},
	{id: "start", cause: CauseOtherProcess, reason: "https://www.tensorflow.org/guide/gpu",
		when:       func(f *failure) bool { return f.takenAtStart() > 0 },
		confidence: always(0.8),
		evidence: func(f *failure) string {
			id := "why.taken_at_start"
			if f.event.Kind == sampler.KindJulia {
				id = "why.taken_at_list"
			}
			return f.words.Say(id, "free", gib(f.extra("gpu_free_bytes").Or(0)), "total", gib(f.startTotal()))
		}},
	{id: "told", cause: CauseOtherProcess, reason: sourceOrphans,
		when:       func(f *failure) bool { return f.deadHolds() },
		confidence: always(0.85), // it is seen, and nothing that runs explains it
		evidence:   func(f *failure) string { return f.words.Say("why.told_dead") }},
	{id: "told", cause: CauseOtherProcess, reason: sourceMessage,
		when: func(f *failure) bool {
			return f.told(sampler.ToldHeld) && !f.waitsForCollector() && !f.onHost() && !f.numbers() && !f.hugeRequest()
		},
		confidence: always(0.8), // it is seen, not supposed
		evidence:   func(f *failure) string { return f.words.Say("why.told_held") }},
	{id: "told", cause: CauseOtherProcess, reason: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",
		when:       func(f *failure) bool { return f.told(sampler.ToldOtherGPUs) && !f.onHost() && !f.numbers() },
		confidence: always(0.64),
		evidence:   func(f *failure) string { return f.words.Say("why.told_other_gpus") }},
	{id: "told", cause: CauseOtherProcess, reason: sourceMessage,
		when: func(f *failure) bool {
			return f.told(sampler.ToldShared) && !f.onHost() && !f.numbers() && !f.corrupt() && !f.hugeRequest()
		},
		confidence: func(f *failure) float64 {
			if f.toldLate() {
				return 0.5 // or its own, which had long been running
			}
			if f.layered() {
				return 0.75 // whose layers were counted to fit into what was free
			}
			return 0.62
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_shared") }},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.told(sampler.ToldGraph) && !f.onHost() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_graph") }},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when: func(f *failure) bool {
			return f.told(sampler.ToldKeeps) && !f.onHost() && !f.context.FirstStep && f.phase() != sampler.PhaseLoading && f.phase() != sampler.PhaseSaving
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.69) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_keeps") }},
	{id: "told", cause: CauseDataSpike, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.toldSame() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_same") }},
	{id: "told", cause: CauseLeak, form: "each", reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.told(sampler.ToldLoadsEach) && !f.onHost() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.86) },
		evidence:   func(f *failure) string { return f.words.Say("why.told_each") }},
	{id: "told", cause: CauseTooBig, form: "checkpoint", reason: "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
		when: func(f *failure) bool { return f.toldCheckpoint() },
		confidence: func(f *failure) float64 {
			if f.numbers() {
				return f.unlessOthers(0.8)
			}
			return 0.64
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_checkpoint") }},
	{id: "context", cause: CauseOtherProcess, reason: "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__PRIMARY__CTX.html",
		when:       func(f *failure) bool { return f.makesContext() },
		confidence: always(0.75),
		evidence:   func(f *failure) string { return f.words.Say("why.context") }},
	{id: "start", cause: CauseOtherProcess, reason: sourceMessage,
		when:       func(f *failure) bool { return f.failedBuilding() || f.refusedVariables() },
		confidence: always(0.62),
		evidence:   func(f *failure) string { return f.words.Say("why.building") }},
	{id: "told", cause: CauseFragmentation, reason: sourceNotes,
		when:       func(f *failure) bool { return f.told(sampler.ToldSegments) && !f.onHost() && !f.numbers() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.told_segments") }},
	{id: "told", cause: CauseFragmentation, reason: sourceNotes,
		when:       func(f *failure) bool { return f.toldUnallocated() },
		confidence: always(0.64),
		evidence:   func(f *failure) string { return f.words.Say("why.told_unallocated") }},
	{id: "told", cause: CauseTooBig, reason: "https://huggingface.co/docs/diffusers/optimization/memory",
		when:       func(f *failure) bool { return f.told(sampler.ToldDecoding) && !f.onHost() && !f.numbers() },
		confidence: always(0.65),
		evidence:   func(f *failure) string { return f.words.Say("why.told_decoding") }},
	{id: "told", cause: CauseUnknown, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.ranBefore() },
		confidence: always(0.72), // size alone does not change from one day to another
		evidence:   func(f *failure) string { return f.words.Say("why.told_worked") }},
	{id: "told", cause: CauseUnknown, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.told(sampler.ToldElsewhere) && !f.onHost() },
		confidence: always(0.72), // the size alone is the same there
		evidence:   func(f *failure) string { return f.words.Say("why.told_elsewhere") }},
	{id: "told", cause: CauseUnknown, reason: sourceAnatomy,
		when: func(f *failure) bool {
			return (f.told(sampler.ToldBackend) || f.told(sampler.ToldNamed)) && !f.onHost() && !f.numbers()
		},
		confidence: always(0.72), // as above
		evidence: func(f *failure) string {
			if f.told(sampler.ToldBackend) {
				return f.words.Say("why.told_backend")
			}
			return f.words.Say("why.told_named")
		}},
	{id: "told", cause: CauseUnknown, form: "estimate", reason: "https://github.com/ollama/ollama/issues/5359",
		when:       func(f *failure) bool { return f.misjudged() },
		confidence: always(0.75), // it could offload more of a model that is merely large
		evidence:   func(f *failure) string { return f.words.Say("why.told_estimate") }},
	{id: "told", cause: CauseUnknown, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.triedGPU() },
		confidence: always(0.72), // what is too big for one fits a larger one, and what is kept fills any
		evidence:   func(f *failure) string { return f.words.Say("why.told_any_gpu") }},
	{id: "told", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.fillsAnyGPU() },
		confidence: always(0.55),
		evidence:   func(f *failure) string { return f.words.Say("why.told_any_gpu") }},
	{id: "told", cause: CauseUnknown, form: "version", reason: sourceAnatomy,
		when: func(f *failure) bool {
			return f.told(sampler.ToldUpdate) && !f.onHost() && (!f.numbers() || f.ranBeforeUpdate())
		},
		confidence: func(f *failure) float64 {
			if f.reported() || f.numbers() {
				return 0.72 // size alone does not change with a version
			}
			return 0.66
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_update") }},
	{id: "told", cause: CauseTooBig, reason: sourceAnatomy,
		when: func(f *failure) bool {
			plain := !f.numbers() && !f.requested.Known() && f.onlyMessage() && f.program.is(training|undecided) && !f.told(sampler.ToldWorked) && !f.told(sampler.ToldUpdate) && f.phase() == ""
			return (f.reported() || plain && f.told(sampler.ToldOne)) && !f.onHost() && f.inTraining() && f.batch() == 1 && !f.told(sampler.ToldGrowth) && !f.toldLate()
		},
		confidence: func(f *failure) float64 {
			if f.littleAtOnce() {
				return wordsAlone
			}
			return 0.62
		},
		evidence: func(f *failure) string { return f.words.Say("why.batch_of_one") }},
	{id: "told", cause: CauseTooBig, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.reported() && !f.onHost() && f.class.cause == "" },
		confidence: always(0.5), // the commonest of all causes, and nothing speaks against it
		evidence:   func(f *failure) string { return f.words.Say("why.reported") }},
}
