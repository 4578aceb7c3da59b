package explain

import (
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// fixesTools turn the knobs of servers.
var fixesTools = []fixRow{
	{id: FixCapPreallocation, source: sourceTGI,
		kinds: server, cost: 0.01,
		lives: map[string]float64{CausePreallocation: 0.97, CauseTooBig: 0.95, CauseUnknown: 0.8, CauseFragmentation: 0.8},
		when: func(f *failure) bool {
			return f.program.name == "tgi" && f.told(sampler.ToldLargerRuns) && !f.onHost() && !f.loadingWeights()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "tokens" },
		do: func(f *failure) []string {
			share := f.withShare("tgi", func(v float64) float64 { return float64(int(v*100+0.5)-10) / 100 })
			return []string{f.withTotal() + "  " + f.comment("do.tgi_total"), share[0] + "  " + f.comment("do.or")}
		}},
	{id: FixLimitRequests, source: sourceTGI,
		kinds: server, cost: 0.01,
		lives:   map[string]float64{CausePreallocation: 0.97, CauseTooBig: 0.95, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.totalRefused() && !f.told(sampler.ToldLargerRuns) },
		reach:   always(1),
		variant: func(f *failure) string { return "tgi_total" },
		do:      func(f *failure) []string { return []string{f.withTotal()} }},
	{id: FixLimitRequests, source: sourceVLLM,
		kinds: server, cost: 0.03,
		lives: map[string]float64{CausePreallocation: 0.95, CauseTooBig: 0.85, CauseDataSpike: 0.9, CauseFragmentation: 0.7, CauseUnknown: 0.6},
		when:  func(f *failure) bool { return f.takesLess() && !f.told(sampler.ToldLargerRuns) },
		reach: always(0.95),
		variant: func(f *failure) string {
			if f.triedShare() && f.program.name != "tgi" {
				return f.program.name + "_share"
			}
			if f.program.name == "vllm" && !f.graphsOn() {
				return "vllm_eager"
			}
			return f.program.name
		},
		do: func(f *failure) []string {
			list := f.turnAll(FixShortenContext, FixLimitRequests)
			if f.program.name == "vllm" && f.triedShare() {
				if f.graphsOn() {
					list[0] = withoutGraphs(list[0])
				}
				return list
			}
			if f.program.name == "sglang" && f.triedShare() {
				if text, ok := command.Parse(list[0]).WithOption("--cuda-graph-max-bs", "8"); ok {
					list[0] = text
				}
				return append(list, "--quantization fp8  "+f.comment("do.or_fewer_bits"))
			}
			share := f.withShare(f.program.name, func(v float64) float64 { return float64(int(v*100+0.5)-10) / 100 })
			if f.program.name == "sglang" {
				return append(share, list[0]+"  "+f.comment("do.or"))
			}
			if f.graphsOn() {
				list = append(list, withoutGraphs(share[0])+"  "+f.comment("do.no_graphs"))
			} else {
				list = append(list, share[0]+"  "+f.comment("do.or"))
			}
			if f.fitsAfterReuse() && f.unallocated.Or(0) >= f.requested.Or(0) && !f.expandable() && !f.beforeExpandable() {
				list = append(list, doExpandable(f)[0]+"  "+f.comment("do.unused_segments"))
			}
			return list
		}},
	{id: FixLimitRequests, source: sourceVLLM,
		kinds: server, cost: 0.08,
		lives: map[string]float64{CausePreallocation: 0.7, CauseTooBig: 0.7, CauseDataSpike: 0.9, CauseFragmentation: 0.6, CauseUnknown: 0.4},
		when: func(f *failure) bool {
			return f.hasKnob(FixLimitRequests) && !f.spent(FixLimitRequests) && f.class.kind != sampler.KindKVCache && f.class.kind != sampler.KindStartupFree
		},
		reach: func(f *failure) float64 {
			if f.buildsEngine() {
				return 1 // its buffers are made for the largest batch that it was built for, when it is loaded
			}
			if f.loadingWeights() {
				return 0.1
			}
			if f.overweight() {
				return 0.3 // no cache leaves room for such weights
			}
			if f.layered() && !f.told(sampler.ToldParallel) {
				return 0.5 // one request at a time is the default of most
			}
			if f.program.name == "llama-reference" {
				return 1 // 32 sequences, unless told otherwise
			}
			return 0.95
		},
		variant: func(f *failure) string {
			if f.buildsEngine() {
				return "engine"
			}
			if f.program.name == "vllm" && !f.takesLess() {
				return "" // fewer requests alone
			}
			return f.program.name
		},
		do: func(f *failure) []string {
			if text, _, ok := f.command.WithLess(func(v float64) float64 { return max(1, float64(int(v/4))) }, "max_batch_size"); ok && f.buildsEngine() {
				if shorter, _, ok := command.Parse(text).WithLess(func(v float64) float64 { return max(512, float64(int(v/4))) }, "max_input_len"); ok {
					text = shorter
				}
				return []string{text}
			}
			list := f.turnKnobs(FixLimitRequests)
			if f.program.name == "llama-reference" {
				return f.fewerPrompts(list)
			}
			if f.readsPictures() && f.graphsOn() {
				list[0] = withoutGraphs(list[0])
			}
			if f.readsPictures() {
				list = append(list, `vllm serve MODEL --limit-mm-per-prompt '{"image": 1, "video": 0}'  `+f.comment("do.pictures"))
			}
			return list
		}},
	{id: FixCapPreallocation, source: "https://github.com/ggml-org/llama.cpp/pull/6017",
		kinds: server, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.95},
		when:    func(f *failure) bool { return f.computeBuffer() },
		variant: func(f *failure) string { return "copies" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{"cmake -B build -DGGML_CUDA=ON -DGGML_SCHED_MAX_COPIES=1 && cmake --build build",
				"llama-server -m MODEL --parallel 1 --ubatch-size 256  " + f.comment("do.or"), "llama-server -m MODEL --split-mode none  " + f.comment("do.one_gpu")}
		}},
	{id: FixCapPreallocation, source: "https://docs.nvidia.com/deeplearning/tensorrt/latest/performance/best-practices.html",
		kinds: ownCode | imageTool, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.8},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindTensorRT && (f.program.name == "" || f.program.is(imageTool)) && !f.inExecutionProvider()
		},
		variant: func(f *failure) string { return "workspace" },
		reach: func(f *failure) float64 {
			if f.told(sampler.ToldBuilder) && f.batch() == 0 && !f.namesSize() {
				return 1 // its workspace is what the ways that it tries ask for
			}
			return 0.65
		},
		do: func(f *failure) []string {
			if f.told(sampler.ToldBuilder) && !f.numbers() && !f.atHand() && !f.command.Runs("trtexec") { // a program of others builds it
				return []string{"nvidia-smi  " + f.comment("do.who_holds"), f.comment("do.builder_workspace")}
			}
			return []string{"nvidia-smi  " + f.comment("do.who_holds"), "trtexec --onnx=MODEL.onnx --memPoolSize=workspace:1024  " + f.comment("do.workspace"),
				"config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)  " + f.comment("do.or")}
		}},
	{id: FixLimitRequests, source: "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/model_management.html",
		kinds: server, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.loadsAllModels() },
		reach:   always(1),
		variant: func(f *failure) string { return "models" },
		do: func(f *failure) []string {
			return []string{f.comment("do.models_by_name"), f.comment("do.small_engines")}
		}},
	{id: FixRaiseLimit, source: "https://onnxruntime.ai/docs/execution-providers/TensorRT-ExecutionProvider.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.93, CauseUnknown: 0.7, CauseMemoryLimit: 0.95, CauseLeak: 0.5, CauseDataSpike: 0.6},
		when:    func(f *failure) bool { return f.inExecutionProvider() },
		variant: func(f *failure) string { return "provider" },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.while_it_runs") + "\n" + f.comment("do.more_workspace"), f.comment("do.one_engine")}
		}},
	{id: FixCapPreallocation, source: "https://relion.readthedocs.io/en/latest/Reference/Using-RELION.html",
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.7, CauseUnknown: 0.6, CauseFragmentation: 0.6},
		when:  func(f *failure) bool { return f.event.Framework == "relion" },
		variant: func(f *failure) string {
			if f.oneWorker() {
				return "relion_one"
			}
			return "relion"
		},
		reach: always(1),
		do: func(f *failure) []string {
			list := []string{"relion_refine_mpi … --free_gpu_memory 1000", "mpirun -n 2 relion_refine_mpi … --pad 1  " + f.comment("do.fewer_ranks")}
			if f.oneWorker() {
				list[1] = "relion_refine_mpi … --pad 1  " + f.comment("do.pad")
			}
			if f.fillsWithNoise() {
				list = append([]string{"relion_refine_mpi … --zero_mask  " + f.comment("do.zero_mask")}, list...)
			}
			if f.severalGPUs() && !f.oneWorker() {
				list = append([]string{"relion_refine_mpi … --gpu 0:1  " + f.comment("do.ranks_over_gpus")}, list...)
			}
			return list
		}},
	{id: FixShardOrOffload, source: "https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html",
		kinds: server, cost: 0.02, // the other GPUs are there, and the answers are the same
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.loadsOnOneOfSeveral() },
		reach:   always(1),
		variant: func(f *failure) string { return "server" },
		do: func(f *failure) []string {
			lines := f.turnKnobs(FixShardOrOffload)
			if strings.HasSuffix(lines[0], " N") {
				lines[0] += "  " + f.comment("do.how_many_gpus")
			}
			return lines
		}},
	{id: FixShortenContext, source: sourceChatUI,
		kinds: server, cost: 0.02, // a setting, and the chat grows until it is reached
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.6, CauseDataSpike: 0.9, CauseLeak: 0.6},
		when: func(f *failure) bool {
			return f.program.name == "chat-ui" && f.phase() != sampler.PhaseLoading && !f.onHost()
		},
		reach: always(1),
		do:    func(f *failure) []string { return f.turnKnobs(FixShortenContext) }},
	{id: FixShortenContext, source: sourceLlama,
		kinds: server, cost: 0.02, // the weights were there, and the cache follows the tokens alone
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.85},
		when:  func(f *failure) bool { return f.told(sampler.ToldFullCache) && f.layered() && !f.onHost() },
		reach: always(1),
		do: func(f *failure) []string {
			lines := f.turnKnobs(FixShortenContext)
			if f.program.name == "llama.cpp" {
				lines = append(lines, "--cache-type-k q8_0 --cache-type-v q8_0 --flash-attn on  "+f.comment("do.cache_bits"))
			}
			return lines
		}},
	{id: FixShortenContext, source: sourceVLLM,
		kinds: server, cost: 0.1,
		lives: map[string]float64{CauseTooBig: 0.7, CausePreallocation: 0.5, CauseMemoryLimit: 0.6, CauseDataSpike: 0.9, CauseFragmentation: 0.5, CauseUnknown: 0.35},
		when: func(f *failure) bool {
			return f.hasKnob(FixShortenContext) && f.class.kind != sampler.KindStartupFree && !f.refusedPinned() && !f.shortest()
		},
		reach: func(f *failure) float64 {
			if f.loadingWeights() && f.program.reserves() {
				return 0.1
			}
			if f.overweight() {
				return 0.3
			}
			return 0.9
		},
		do: func(f *failure) []string { return f.turnKnobs(FixShortenContext) }},
}

// fewerPrompts says what goes with a smaller cache of Meta's code: it refuses more prompts at once than the cache has room for, and its examples give
// several. In the first version the number is in the code of the example, which has no option for it.
// https://github.com/meta-llama/llama/commit/e6145a0
func (f *failure) fewerPrompts(list []string) []string {
	list[0] += "  " + f.comment("do.prompts_at_once")
	if f.shows(sampler.ShowsExamplePy) && !f.command.HasPlain("max_batch_size") {
		list = append(list, "ModelArgs(max_seq_len=512, max_batch_size=2)  "+f.comment("do.no_such_option"))
	}
	return list
}

// oneWorker: RELION was started with no more processes than the one that leads and one that works, so there are no fewer to have.
func (f *failure) oneWorker() bool {
	a, found := f.command.Find("np", "n")
	return found && (a.Value == "1" || a.Value == "2")
}

// fillsWithNoise: the command of RELION has what it always has, and not the option without which it fills what lies outside of the mask with noise, for
// which it takes memory beside its share.
// https://github.com/3dem/relion/blob/master/src/ml_optimiser.cpp
func (f *failure) fillsWithNoise() bool {
	return f.command.HasPlain("particle_diameter") && !f.command.HasPlain("zero_mask")
}

// loadsAllModels: TensorRT was refused memory while Triton loads an engine, which it does at start with all of its models.
func (f *failure) loadsAllModels() bool {
	return f.program.name == "triton" && !f.onHost() && (f.phase() == sampler.PhaseLoading || indexOf(f.event.Text, "in allocate") >= 0)
}
