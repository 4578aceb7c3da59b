package explain

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// knob is an option of a server with which it takes less.
type knob struct {
	program string
	fix     string // what it does
	option  string
	value   string // to set; a number that the command has is halved instead
	plain   string // to type where there is no command
	source  string
}

const (
	sourceVLLM      = "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html"
	sourceSGLang    = "https://docs.sglang.io/advanced_features/hyperparameter_tuning.html"
	sourceTGI       = "https://huggingface.co/docs/text-generation-inference/reference/launcher"
	sourceTRTLLM    = "https://nvidia.github.io/TensorRT-LLM/reference/memory.html"
	sourceTriton    = "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/model_configuration.html"
	sourceMetaLlama = "https://github.com/meta-llama/llama/blob/main/README.md"
	sourceLlama     = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"
	sourceChatUI    = "https://github.com/oobabooga/text-generation-webui/wiki/03-%E2%80%90-Parameters-Tab"
	sourceOllama    = "https://docs.ollama.com/faq"
	sourceLMD       = "https://lmdeploy.readthedocs.io/en/latest/api/cli.html"
)

// knobs are the options of servers, per program and fix the first one counts most.
var knobs = []knob{
	{"vllm", FixLimitRequests, "--max-num-seqs", "64", "vllm serve MODEL --max-num-seqs 64", sourceVLLM},
	{"vllm", FixShortenContext, "--max-model-len", "8192", "vllm serve MODEL --max-model-len 8192", sourceVLLM},
	{"vllm", FixShardOrOffload, "--tensor-parallel-size", "N", "vllm serve MODEL --tensor-parallel-size N", "https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html"},
	{"sglang", FixShardOrOffload, "--tp", "N", "python -m sglang.launch_server --model-path MODEL --tp N", "https://docs.sglang.io/advanced_features/server_arguments.html"},
	{"tgi", FixShardOrOffload, "--num-shard", "N", "text-generation-launcher --model-id MODEL --num-shard N", sourceTGI},
	{"tensorrt-llm", FixShardOrOffload, "--tp_size", "N", "trtllm-serve MODEL --tp_size N", sourceTRTLLM},
	{"lmdeploy", FixShardOrOffload, "--tp", "N", "lmdeploy serve api_server MODEL --tp N", sourceLMD},
	{"sglang", FixLimitRequests, "--chunked-prefill-size", "2048", "python -m sglang.launch_server --model-path MODEL --chunked-prefill-size 2048 --max-running-requests 32", sourceSGLang},
	{"sglang", FixShortenContext, "--context-length", "8192", "python -m sglang.launch_server --model-path MODEL --context-length 8192", sourceSGLang},
	{"tgi", FixLimitRequests, "--max-batch-prefill-tokens", "2048", "text-generation-launcher --model-id MODEL --max-batch-prefill-tokens 2048", sourceTGI},
	{"tgi", FixShortenContext, "--max-total-tokens", "4096", "text-generation-launcher --model-id MODEL --max-input-tokens 3072 --max-total-tokens 4096", sourceTGI},
	{"tensorrt-llm", FixLimitRequests, "--max_num_tokens", "2048", "trtllm-serve MODEL --max_num_tokens 2048 --max_batch_size 32", sourceTRTLLM},
	{"tensorrt-llm", FixShortenContext, "--max_seq_len", "8192", "trtllm-serve MODEL --max_seq_len 8192", sourceTRTLLM},
	{"lmdeploy", FixLimitRequests, "--max-batch-size", "32", "lmdeploy serve api_server MODEL --max-batch-size 32", sourceLMD},
	{"lmdeploy", FixShortenContext, "--session-len", "8192", "lmdeploy serve api_server MODEL --session-len 8192", sourceLMD},
	{"triton", FixLimitRequests, "", "", "instance_group [ { count: 1 } ]  max_batch_size: 8  # config.pbtxt", sourceTriton},
	{"llama-reference", FixLimitRequests, "--max_batch_size", "1", "torchrun --nproc_per_node 1 example.py --max_batch_size 1 --max_seq_len 512", sourceMetaLlama},
	{"llama-reference", FixShortenContext, "--max_seq_len", "512", "torchrun --nproc_per_node 1 example.py --max_seq_len 512", sourceMetaLlama},
	{"ollama", FixShortenContext, "", "", "/set parameter num_ctx 4096", sourceOllama},
	{"ollama", FixLimitRequests, "", "", "OLLAMA_NUM_PARALLEL=1 OLLAMA_MAX_LOADED_MODELS=1 ollama serve", sourceOllama},
	{"chat-ui", FixShortenContext, "", "", "Max context (max_seq_len, truncation_length): 1024  # in the settings", sourceChatUI},
	{"llama.cpp", FixShortenContext, "--ctx-size", "4096", "llama-server -m MODEL --ctx-size 4096", sourceLlama},
	{"llama.cpp", FixLimitRequests, "--parallel", "1", "llama-server -m MODEL --parallel 1", sourceLlama},
}

// fixesTools are the knobs of servers.
var fixesTools = []fixRow{
	{id: FixLimitRequests, source: sourceVLLM,
		kinds: server, cost: 0.03,
		lives: map[string]float64{CausePreallocation: 0.95, CauseTooBig: 0.85, CauseDataSpike: 0.9, CauseFragmentation: 0.7, CauseUnknown: 0.6},
		when:  func(f *failure) bool { return f.takesLess() },
		reach: always(0.95),
		variant: func(f *failure) string {
			if f.program.name == "vllm" && !f.graphsOn() {
				return "vllm_eager"
			}
			return f.program.name
		},
		do: func(f *failure) []string {
			list := f.turnAll(FixShortenContext, FixLimitRequests)
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
			return f.hasKnob(FixLimitRequests) && f.class.kind != sampler.KindKVCache && f.class.kind != sampler.KindStartupFree
		},
		reach: func(f *failure) float64 {
			if f.loadingWeights() {
				return 0.1
			}
			if f.overweight() {
				return 0.3 // no cache leaves room for such weights
			}
			if f.layered() && !f.told(sampler.ToldParallel) {
				return 0.5 // one request at a time is the default of most
			}
			if f.buildsEngine() {
				return 1 // its buffers are made for the largest batch that it was built for
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
			return f.program.name
		},
		do: func(f *failure) []string {
			if text, _, ok := f.command.WithNumber(func(v float64) float64 { return max(1, float64(int(v/4))) }, "max_batch_size"); ok && f.buildsEngine() {
				if shorter, _, ok := command.Parse(text).WithNumber(func(v float64) float64 { return max(512, float64(int(v/4))) }, "max_input_len"); ok {
					text = shorter
				}
				return []string{text}
			}
			list := f.turnKnobs(FixLimitRequests)
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
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.6, CauseUnknown: 0.5},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindTensorRT && f.program.name == "" && !f.inExecutionProvider()
		},
		variant: func(f *failure) string { return "workspace" },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.who_holds"), "trtexec --onnx=MODEL.onnx --memPoolSize=workspace:1024  " + f.comment("do.workspace"),
				"config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)  " + f.comment("do.or")}
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
		lives:   map[string]float64{CauseTooBig: 0.7, CauseUnknown: 0.6, CauseFragmentation: 0.6},
		when:    func(f *failure) bool { return f.event.Framework == "relion" },
		variant: func(f *failure) string { return "relion" },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{"relion_refine_mpi … --free_gpu_memory 1000", "mpirun -n 2 relion_refine_mpi … --pad 1  " + f.comment("do.fewer_ranks")}
		}},
	{id: FixShardOrOffload, source: "https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html",
		kinds: server, cost: 0.02, // the other GPUs are there, and the answers are the same
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.loadsOnOneOfSeveral() },
		reach:   always(1),
		variant: func(f *failure) string { return "server" },
		do: func(f *failure) []string {
			lines := f.turnKnobs(FixShardOrOffload)
			lines[0] += "  " + f.comment("do.how_many_gpus")
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
	{id: FixShortenContext, source: sourceVLLM,
		kinds: server, cost: 0.1,
		lives: map[string]float64{CauseTooBig: 0.7, CausePreallocation: 0.5, CauseMemoryLimit: 0.6, CauseDataSpike: 0.9, CauseFragmentation: 0.5, CauseUnknown: 0.35},
		when:  func(f *failure) bool { return f.hasKnob(FixShortenContext) && f.class.kind != sampler.KindStartupFree },
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

// withoutGraphs is a command of vLLM, or its call in a script, with CUDA graphs turned off.
func withoutGraphs(line string) string {
	if call, is := strings.CutSuffix(line, ")"); is {
		return call + ", enforce_eager=True)"
	}
	if text, ok := command.Parse(line).WithOption("--enforce-eager", ""); ok {
		return text
	}
	return line
}

// largestBuffer is more than the buffer for the computation of llama.cpp takes in a setting that works.
const largestBuffer = 32 * sampler.GiB

// computeBuffer: llama.cpp asks for a buffer for its computation that no weights are in, and that is out of
// all proportion.
func (f *failure) computeBuffer() bool {
	caller, _ := f.event.Extra["caller"].(string)
	return f.program.name == "llama.cpp" && f.requested.Or(0) > largestBuffer && strings.Contains(caller, "gallocr_reserve")
}

// shortContext: the context of a server is set, and to little already (own threshold: 4096 tokens).
func (f *failure) shortContext() bool {
	a, set := f.command.Find("max_model_len")
	n, err := strconv.Atoi(a.Value)
	return set && err == nil && n <= 4096
}

// takesLess: a server is out of memory, and nothing tells in which of its parts. Shorter contexts, fewer requests, a smaller
// share and no CUDA graphs each leave room, and are set in one line.
func (f *failure) takesLess() bool {
	_, combined := lessOf[f.program.name]
	return combined && f.class.class == classAllocator && len(f.context.Functions) == 0 && !f.onHost() && !f.impossible() && (!f.othersMatter() || f.littleElsewhere()) &&
		!(f.loadingWeights() && f.numbers()) && !f.overweight() && !f.readsPictures() && !f.buildsEngine()
}

// lessOf are the servers whose settings for less memory are set in one line.
var lessOf = map[string]bool{"vllm": true, "sglang": true, "tgi": true}

// buildsEngine: the command builds an engine of TensorRT-LLM, whose largest batch is set then.
func (f *failure) buildsEngine() bool {
	return f.program.name == "tensorrt-llm" && f.command.HasPlain("max_batch_size") && (f.command.HasPlain("max_input_len", "max_output_len", "max_seq_len"))
}

// turnAll is the typed command with the options of several fixes set, or an example.
func (f *failure) turnAll(fixes ...string) []string {
	text, set := f.command.Text, f.command.Known && f.runsServer()
	plain := shares[f.program.name].plain
	for _, k := range knobs {
		if k.program != f.program.name || !slices.Contains(fixes, k.fix) {
			continue
		}
		k.value = f.valueOf(k)
		plain += " " + k.option + " " + k.value
		if edited, ok := k.lower(command.Parse(text)); ok && set {
			text = edited
		}
	}
	if set {
		return []string{text}
	}
	return []string{plain}
}

// valueOf is what to set an option to: half of what the text names for it, and no more tokens than the cache has room for.
func (f *failure) valueOf(k knob) string {
	most, err := strconv.Atoi(k.value)
	if err != nil {
		return k.value
	}
	most = min(most, f.below(command.PlainName(k.option), 2*most)/2)
	if room, is := f.event.Extra["kv_cache_tokens"].(int); is && k.fix == FixShortenContext {
		most = min(most, room)
	}
	return strconv.Itoa(max(1, most))
}

// lower sets the option in a command, to half of what it has where that is less.
func (k knob) lower(c command.Line) (text string, ok bool) {
	most, err := strconv.ParseFloat(k.value, 64)
	if err != nil {
		most = math.Inf(1)
	}
	if text, _, ok = c.WithNumber(func(v float64) float64 { return min(max(1, math.Floor(v/2)), most) }, command.PlainName(k.option)); ok {
		return text, true
	}
	return c.WithOption(k.option, k.value)
}

// graphsOn: the CUDA graphs of vLLM are on, as far as the command tells.
func (f *failure) graphsOn() bool {
	return f.program.name == "vllm" && !f.command.HasPlain("enforce_eager")
}

// dryRun: vLLM tries how much the largest batch needs, before it takes its share for the cache. Fewer requests
// and shorter contexts make that batch smaller; the share does not.
func (f *failure) dryRun() bool {
	return f.program.name == "vllm" && f.inFunction("profile_run", "determine_num_available_blocks", "determine_available_memory") && !f.inFunction("capture")
}

// readsPictures: vLLM's encoder of pictures was at work, which is tried with as many of them as the longest context holds.
func (f *failure) readsPictures() bool {
	return f.program.name == "vllm" && (f.inFunction("multimodal", "vision", "visual", "image", "encoder") || f.inCode("vision_", "pixel_values", "image_embeds"))
}

// loadingWeights: the server was still reading the model, so nothing about requests matters yet.
func (f *failure) loadingWeights() bool {
	if indexOf(f.event.Text, "could not be created: Model") >= 0 {
		return true // TensorRT-LLM says it
	}
	if f.program.name == "llama-reference" {
		return false // it makes its cache before it reads the weights
	}
	return f.phase() == sampler.PhaseLoading && f.class.class == classAllocator && !f.inFunction("profile_run", "determine_num_available_blocks", "capture", "warmup", "_dummy_run", "initialize_kv_cache")
}

// loadsOnOneOfSeveral: a server reads its weights into one GPU where several are shown, and nothing says that it divides the model.
func (f *failure) loadsOnOneOfSeveral() bool {
	set := slices.ContainsFunc([]string{"--tensor-parallel-size", "tensor_parallel_size", "--num-shard", "--tp"}, func(option string) bool { return f.told(sampler.ToldInForce + option) })
	return f.hasKnob(FixShardOrOffload) && f.loadingWeights() && (f.told(sampler.ToldGPUs) || f.shows(sampler.ShowsSecondGPU)) && !set && !f.spread() && f.event.Rank.Or(0) == 0 && len(f.job.ranks()) < 2
}

// knob is the first option of the program that does what a fix says; nil: it has none.
func (f *facts) knob(fix string) *knob {
	i := slices.IndexFunc(knobs, func(k knob) bool { return k.program == f.program.name && k.fix == fix })
	if i < 0 {
		return nil
	}
	return &knobs[i]
}

func (f *facts) hasKnob(fix string) bool { return f.knob(fix) != nil }

// turnKnobs is the typed command with the option set, or an example.
func (f *failure) turnKnobs(fix string) (list []string) {
	for _, k := range knobs {
		if k.program != f.program.name || k.fix != fix {
			continue
		}
		value := f.valueOf(k)
		k.value, k.plain = value, strings.Replace(k.plain, k.option+" "+k.value, k.option+" "+value, 1)
		half := func(v float64) float64 { return float64(max(1, int(v)/2)) }
		if text, _, ok := f.command.WithNumber(half, command.PlainName(k.option)); ok && k.option != "" {
			return []string{text}
		}
		if text, ok := f.command.WithOption(k.option, k.value); ok && k.option != "" && f.runsServer() {
			if _, err := strconv.Atoi(k.value); err == nil {
				return []string{text}
			}
		}
		if text := f.inCall(k.program, k.option, k.value); text != "" {
			return []string{text}
		}
		list = append(list, k.plain)
	}
	return list
}

// ownCommands are the programs and images that take the options of a server.
var ownCommands = map[string][]string{
	"vllm":         {"vllm", "vllm-openai", "vllm.entrypoints"},
	"sglang":       {"sglang", "sglang.launch_server"},
	"tgi":          {"text-generation-launcher", "text-generation-inference"},
	"tensorrt-llm": {"trtllm-serve"},
	"lmdeploy":     {"lmdeploy"},
	"llama.cpp":    {"llama-server", "llama-cli", "llama-bench"},
}

// runsServer: the command is that of the server itself. A script that uses it as a library does not have its options.
func (f *failure) runsServer() bool {
	names, limited := ownCommands[f.program.name]
	return !limited || slices.ContainsFunc(f.command.Words(), func(w string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(w, name) })
	})
}

// calls are how scripts make the engine of a server.
var calls = map[string]string{"vllm": "vllm.LLM", "sglang": "sglang.Engine"}

// inCall sets an option where a script makes the engine; "" where there is no such script.
func (f *failure) inCall(server, option, value string) string {
	call := calls[server]
	if call == "" || !f.command.Known || f.program.name != server || f.runsServer() || option == "" {
		return ""
	}
	return call + "(…, " + command.PlainName(option) + "=" + value + ")"
}

// inExecutionProvider: TensorRT runs within ONNX Runtime, which makes its engines and sets their workspace.
func (f *facts) inExecutionProvider() bool {
	return f.event.Kind == sampler.KindTensorRT && !f.onHost() && f.told(sampler.ToldProvider)
}
