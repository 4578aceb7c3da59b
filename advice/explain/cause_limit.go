package explain

import (
	"cmp"
	"strconv"

	"nvpeak/sampler"
)

// causesLimit: the GPU had the memory, or there is no such memory (R3's sibling R8).
var causesLimit = []causeRow{
	{id: "R4", cause: CauseMemoryLimit, reason: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html",
		when: func(f *failure) bool { return !f.onHost() && f.limited() && !f.beyondMachine() },
		confidence: func(f *failure) float64 {
			if f.event.Kind == sampler.KindMPS && f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] == "" {
				return 0.5 // what the machine can give, unless somebody has set less
			}
			return 0.93
		},
		evidence: func(f *failure) string {
			if f.held() == 0 && !f.requested.Known() {
				return f.words.Say("why.limit_only", "allowed", gib(f.event.MemoryLimit.Allowed.Or(0)))
			}
			return f.words.Say("why.limit", "allowed", gib(f.event.MemoryLimit.Allowed.Or(0)), "held", gib(f.held()), "need", printed(f.requested.Or(0)))
		}},
	{id: "R4", cause: CauseMemoryLimit, reason: "https://github.com/jhc13/taggui/issues/188",
		when: func(f *failure) bool {
			return f.refusedThoughFree() && !f.limited() && !f.workersDecide() && !f.halfRefused()
		},
		confidence: func(f *failure) float64 {
			switch {
			case f.roundShare():
				return 0.6
			case f.onWindows():
				return 0.3
			case !f.onLinux() && !f.wideRequest():
				return 0.45 // no share that people set lies between what was held and what was asked for
			}
			return 0.5
		},
		evidence: func(f *failure) string {
			if !f.numbers() {
				return f.words.Say("why.told_free")
			}
			return f.words.Say("why.refused", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))))
		}},
	{id: "R4", cause: CauseHostMemory, reason: "https://github.com/pytorch/pytorch/issues/40002",
		when: func(f *failure) bool {
			return f.refusedThoughFree() && !f.limited() && !f.onLinux() && !f.workersDecide() && !f.halfRefused()
		},
		confidence: func(f *failure) float64 {
			switch {
			case f.roundShare():
				return 0.4
			case f.onWindows():
				return 0.65
			case f.wideRequest():
				return 0.45
			}
			return 0.5
		},
		evidence: func(f *failure) string { return f.words.Say("why.commit") }},
	{id: "workers", cause: CauseHostMemory, reason: "https://github.com/pytorch/pytorch/issues/12831",
		when: func(f *failure) bool { return f.workersDecide() },
		confidence: func(f *failure) float64 {
			if f.onWindows() {
				return 0.75
			}
			return 0.62 // or each of them makes a context on the GPU
		},
		evidence: func(f *failure) string { return f.words.Say("why.told_workers") }},
	{id: "share", cause: CauseMemoryLimit, reason: sourceJAX,
		when:       func(f *failure) bool { return f.event.Kind == sampler.KindXLA && !f.takesEach() && f.smallShare() > 0 },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.small_share", "share", int(100*f.smallShare()+0.5)) }},
	{id: "share", cause: CauseMemoryLimit, reason: sourceJAX,
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindXLA && !f.takesEach() && !f.outsidePool() && !f.triedShare() && indexOf(f.event.Text, "in memory space") < 0 && f.environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "" && f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] == ""
		},
		confidence: always(0.45),
		evidence:   func(f *failure) string { return f.words.Say("why.jax_share") }},
	{id: "pool", cause: CausePreallocation, reason: sourceJAX,
		when:       func(f *failure) bool { return f.outsidePool() },
		confidence: always(0.8),
		evidence:   func(f *failure) string { return f.words.Say("why.outside_pool") }},
	{id: "pool", cause: CausePreallocation, reason: sourceJAX,
		when: func(f *failure) bool { return f.ownPoolHoldsIt() },
		confidence: func(f *failure) float64 {
			if f.masked() {
				return 0.55 // or a cuDNN of another version, of which it says the same
			}
			return 0.7
		},
		evidence: func(f *failure) string { return f.words.Say("why.own_pool", "library", f.library()) }},
	{id: "R8", cause: CauseOversubscribed, reason: "https://github.com/pytorch/pytorch/issues/122057",
		when:       func(f *failure) bool { return !f.onHost() && f.oversubscribed() },
		confidence: always(0.92),
		evidence: func(f *failure) string {
			return f.words.Say("why.oversubscribed", "allocated", gib(f.allocated.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "kind", cause: CauseMemoryLimit, reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when:       func(f *failure) bool { return f.class.cause == CauseMemoryLimit && !f.longerThanCache() },
		confidence: func(f *failure) float64 { return f.class.confidence },
		evidence: func(f *failure) string {
			if f.event.Kind == sampler.KindKVCache {
				return f.cacheText()
			}
			return f.words.Say("why." + f.class.kind)
		}},
	{id: "kind", cause: CauseMemoryLimit, form: "context", reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when:       func(f *failure) bool { return f.longerThanCache() },
		confidence: func(f *failure) float64 { return f.class.confidence },
		evidence:   func(f *failure) string { return f.cacheText() }},
	{id: "kind", cause: CauseOtherProcess, reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when:       func(f *failure) bool { return f.class.cause == CauseOtherProcess },
		confidence: func(f *failure) float64 { return f.class.confidence },
		evidence:   func(f *failure) string { return f.startupText() }},
	{id: "kind", cause: CausePreallocation, reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when: func(f *failure) bool {
			return f.class.cause == CausePreallocation || f.program.reserves() && !f.buildsEngine() && f.class.class == classAllocator && !f.loadingWeights() && !f.impossible() && !f.overweight() && !f.prefillsAtStart()
		},
		confidence: func(f *failure) float64 {
			if f.servesLittle() {
				return 0.8
			}
			return max(f.class.confidence, 0.7)
		},
		evidence: func(f *failure) string { return f.words.Say("why.warmup_oom") }},
}

// prefillsAtStart: TGI tries the largest prefill that it may get before it gives the cache what is left, and that is too much already.
// https://huggingface.co/docs/text-generation-inference/reference/launcher#maxbatchprefilltokens
func (f *facts) prefillsAtStart() bool {
	return f.program.name == "tgi" && f.class.class == classAllocator && f.inFunction("warmup") && !f.onHost()
}

// servesLittle: a server that has taken its share was up, and a request found no room for little (own threshold: a twentieth of the GPU). Weights
// and the largest batch that it tries at start had fitted.
func (f *failure) servesLittle() bool {
	return f.program.reserves() && f.phase() == sampler.PhaseInference && f.numbers() && f.requested.Or(0) < partOf(f.total.Or(0), 0.05) && f.history == nil && !f.othersMatter()
}

// largestJAX is the share of the GPU that doRaiseLimit lets JAX take.
const largestJAX = 0.95

// fitsLargerShare: beside all that JAX was allowed, and what others hold, the GPU has room for what was refused.
func (f *failure) fitsLargerShare() bool {
	total, known := f.total.Value()
	if f.event.Kind != sampler.KindXLA || f.onHost() || f.takesEach() || !known || !f.requested.Known() || f.smallShare() == 0 {
		return false
	}
	return max(f.process.Or(0), partOf(total, f.smallShare()))+f.requested.Or(0)+f.othersHold() <= partOf(total, largestJAX)
}

// smallShare is the share of the GPU that JAX was allowed, where that is at most the half; 0 otherwise.
func (f *failure) smallShare() float64 {
	share, err := strconv.ParseFloat(cmp.Or(f.environment["XLA_PYTHON_CLIENT_MEM_FRACTION"], f.environment["XLA_CLIENT_MEM_FRACTION"]), 64)
	if err != nil || !(share > 0 && share <= 0.5) || f.triedShare() {
		return 0
	}
	return share
}

// longerThanCache: a server has a cache, and says that the longest request it allows does not fit into it.
func (f *facts) longerThanCache() bool {
	room := f.count("kv_cache_tokens")
	return f.event.Kind == sampler.KindKVCache && room > 0 && f.count("max_seq_len") > room
}
