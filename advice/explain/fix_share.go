package explain

import (
	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// fixesShare change how much a program takes of the GPU before it needs it.
var fixesShare = []fixRow{
	{id: FixCapPreallocation, source: "https://amrex-codes.github.io/amrex/docs_html/GPU.html",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CausePreallocation: 0.95, CauseOtherProcess: 0.5},
		when:    func(f *failure) bool { return f.arenaAtStart() },
		reach:   always(1),
		variant: func(f *failure) string { return "amrex" },
		do:      func(f *failure) []string { return []string{"amrex.the_arena_init_size=0  " + f.comment("do.arena")} }},
	{id: FixCapPreallocation, source: sourceJAX,
		kinds: ownCode | imageTool, cost: 0.05,
		lives: map[string]float64{CausePreallocation: 0.9, CauseOtherProcess: 0.5},
		when: func(f *failure) bool {
			return f.preallocator() != "" || f.outside.Or(0) > 3*sampler.GiB
		},
		variant: func(f *failure) string {
			if f.ownShare() {
				return "own"
			}
			return f.preallocator()
		},
		pairs: func(f *failure) []any { return []any{"library", f.library()} },
		reach: always(0.9),
		saves: func(f *failure) (span, bool) {
			hold := max(f.outside.Or(0), f.othersHold())
			return span{0, hold}, hold > 0
		},
		do: doCapPreallocation},
	{id: FixCapPreallocation, source: sourceJAX,
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CausePreallocation: 0.9, CauseUnknown: 0.4},
		when:    func(f *failure) bool { return f.ownPoolHoldsIt() },
		variant: func(f *failure) string { return "own" },
		pairs:   func(f *failure) []any { return []any{"library", f.library()} },
		reach:   always(0.95),
		do: func(f *failure) []string {
			if f.event.Framework == "tensorflow" {
				return []string{"export TF_FORCE_GPU_ALLOW_GROWTH=true", "nvidia-smi  " + f.comment("do.who_holds")}
			}
			return f.growingJAX()
		}},
	{id: FixCapPreallocation, source: "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CausePreallocation: 0.95, CauseTooBig: 0.3},
		when:    func(f *failure) bool { return f.wholeShare() },
		reach:   always(1),
		variant: func(f *failure) string { return "share" },
		do: func(f *failure) []string {
			if f.told(sampler.ToldInForce + "allow_growth") {
				return []string{"config.gpu_options.per_process_gpu_memory_fraction = 0.8  " + f.comment("do.tf1_session")}
			}
			return []string{"config.gpu_options.per_process_gpu_memory_fraction = 0.8  " + f.comment("do.tf1_session"), "config.gpu_options.allow_growth = True  " + f.comment("do.or"),
				"tf.config.experimental.set_memory_growth(gpu, True)  " + f.comment("do.tf2")}
		}},
	{id: FixCapPreallocation, source: sourceVLLM,
		kinds: server, cost: 0,
		lives: map[string]float64{CauseOtherProcess: 0.99, CausePreallocation: 0.97, CauseUnknown: 0.6},
		when: func(f *failure) bool {
			return f.told(sampler.ToldServers) && f.program.reserves() && !f.shareSpent() && !f.onHost()
		},
		reach:   always(1), // who holds the rest is meant to be there
		variant: func(f *failure) string { return f.program.name },
		do:      doCapPreallocation},
	{id: FixCapPreallocation, source: "https://github.com/EleutherAI/lm-evaluation-harness/issues/2698",
		kinds: server | evaluation, cost: 0,
		lives: map[string]float64{CausePreallocation: 0.98, CauseTooBig: 0.9, CauseDataSpike: 0.9, CauseUnknown: 0.8},
		when: func(f *failure) bool {
			return f.program.name == "vllm" && f.told(sampler.ToldLogprobs) && f.class.class == classAllocator && !f.onHost() && !f.shareSpent() && !f.loadingWeights()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "logprobs" },
		do: func(f *failure) []string { // the logits of all tokens of a step are beside the share: it is to be clearly smaller
			return append(f.withShare("vllm", func(v float64) float64 { return max(leastShare, float64(int(v*100+0.5)-20)/100) }), f.comment("do.fewer_logits"))
		}},
	{id: FixCapPreallocation, source: sourceVLLM,
		kinds: server, cost: 0.05,
		lives:   map[string]float64{CausePreallocation: 0.9, CauseTooBig: 0.8, CauseDataSpike: 0.8, CauseFragmentation: 0.6, CauseOtherProcess: 0.6, CauseUnknown: 0.5},
		when:    func(f *failure) bool { return f.program.reserves() && !f.shareSpent() },
		variant: func(f *failure) string { return f.program.name },
		reach: func(f *failure) float64 {
			if f.impossible() || f.loadingWeights() || f.prefillsAtStart() || f.overweight() || f.outweighs() || f.dryRun() || indexOf(f.event.Text, "Not enough memory to handle") >= 0 || f.class.kind == sampler.KindKVCache || f.class.kind == sampler.KindStaticPool {
				return 0.1 // it does not come to the cache, or the cache is too small already
			}
			if f.buildsEngine() {
				return 0.5
			}
			if f.shortContext() && !f.numbers() && !f.othersMatter() && !f.told(sampler.ToldLarger) {
				return 0.7 // whoever sets so short a context is out of memory before there is a cache
			}
			if f.inFunction("wake_up") && f.biggestOther().Arrived {
				return 0.6 // that came while it slept, and may take more than a smaller share leaves
			}
			if f.readsPictures() {
				return 0.6 // the encoder takes the pictures of all requests at once, whatever the share
			}
			return 0.95
		},
		do: doCapPreallocation},
}

// shares are the options of servers for the part of the GPU that they take.
var shares = map[string]struct {
	option, plain string
	usual         float64
}{
	"vllm":         {"--gpu-memory-utilization", "vllm serve MODEL", 0.9},
	"sglang":       {"--mem-fraction-static", "python -m sglang.launch_server --model-path MODEL", 0.85},
	"tgi":          {"--cuda-memory-fraction", "text-generation-launcher --model-id MODEL", 1},
	"tensorrt-llm": {"--kv_cache_free_gpu_memory_fraction", "trtllm-serve MODEL", 0.9},
	"lmdeploy":     {"--cache-max-entry-count", "lmdeploy serve api_server MODEL", 0.8},
}

// leastShare of the GPU is still enough for a server to hold a model of its size (own threshold).
const leastShare = 0.4

// shareSpent: a share so small was tried that no smaller one leaves a server what it needs.
func (f *failure) shareSpent() bool {
	row, known := shares[f.program.name]
	return known && f.shareInForce(row.option, row.usual, func(float64) float64 { return 0 }) <= leastShare
}

// withShare is the typed command with the server's share changed, or an example.
func (f *failure) withShare(server string, change func(float64) float64) []string {
	row := shares[server]
	if text, _, ok := f.command.WithNumber(change, command.PlainName(row.option)); ok {
		return []string{text}
	}
	value := plainNumber(change(f.shareInForce(row.option, row.usual, change)))
	if text, ok := f.command.WithOption(row.option, value); ok && f.program.name == server && f.runsServer() {
		return []string{text}
	}
	if text := f.inCall(server, row.option, value); text != "" {
		return []string{text}
	}
	return []string{row.plain + " " + row.option + " " + value}
}

// ownShare: the share that JAX took in advance is that of the program that failed, and nothing tells of another library or process.
func (f *failure) ownShare() bool {
	return f.preallocator() == "jax" && f.library() == "JAX" && !f.othersMatter()
}

// growingJAX lets JAX take memory as it needs it, or less of it: a little less than its usual three quarters where it is what is
// run, and a third where it only reads data for another library. https://docs.jax.dev/en/latest/gpu_memory_allocation.html
func (f *failure) growingJAX() []string {
	share := ".30"
	if f.library() == "JAX" {
		share = ".60"
	}
	return []string{"export XLA_PYTHON_CLIENT_PREALLOCATE=false", "export XLA_PYTHON_CLIENT_MEM_FRACTION=" + share + "  " + f.comment("do.or")}
}

func doCapPreallocation(f *failure) []string {
	name := f.preallocator()
	if name == "lmdeploy" && f.told(sampler.ToldOldLMDeploy) {
		return []string{f.comment("do.cache_entries")}
	}
	if name == "lmdeploy" && !f.command.Known {
		return []string{"pipeline(MODEL, backend_config=TurbomindEngineConfig(cache_max_entry_count=0.2))", "lmdeploy serve api_server MODEL --cache-max-entry-count 0.2  " + f.comment("do.or")}
	}
	if _, known := shares[name]; known {
		if share, ok := f.freeShare(); ok {
			return f.withShare(name, func(float64) float64 { return share })
		}
		if f.told(sampler.ToldWideShare) && !f.numbers() { // which is what is wrong: the usual one runs
			return f.withShare(name, func(float64) float64 { return min(0.9, shares[name].usual) })
		}
		return f.withShare(name, func(v float64) float64 { return float64(int(v*100+0.5)-10) / 100 })
	}
	if name == "tensorflow" {
		return []string{"export TF_FORCE_GPU_ALLOW_GROWTH=true"}
	}
	return f.growingJAX()
}
