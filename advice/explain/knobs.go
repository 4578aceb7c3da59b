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
	sourceTabby     = "https://github.com/TabbyML/tabby/pull/727"
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
	{"tgi", FixLimitRequests, "--max-batch-prefill-tokens", "2048", "text-generation-launcher --model-id MODEL --max-input-length 1024 --max-batch-prefill-tokens 2048", sourceTGI},
	{"tgi", FixShortenContext, "--max-total-tokens", "4096", "text-generation-launcher --model-id MODEL --max-input-length 3072 --max-total-tokens 4096", sourceTGI},
	{"tensorrt-llm", FixLimitRequests, "--max_num_tokens", "2048", "trtllm-serve MODEL --max_num_tokens 2048 --max_batch_size 32", sourceTRTLLM},
	{"tensorrt-llm", FixShortenContext, "--max_seq_len", "8192", "trtllm-serve MODEL --max_seq_len 8192", sourceTRTLLM},
	{"lmdeploy", FixLimitRequests, "--max-batch-size", "32", "lmdeploy serve api_server MODEL --max-batch-size 32", sourceLMD},
	{"lmdeploy", FixShortenContext, "--session-len", "8192", "lmdeploy serve api_server MODEL --session-len 8192", sourceLMD},
	{"triton", FixLimitRequests, "", "", "instance_group [ { count: 1 } ]  max_batch_size: 8  # config.pbtxt", sourceTriton},
	{"llama-reference", FixLimitRequests, "--max_batch_size", "2", "torchrun --nproc_per_node 1 example.py --max_batch_size 2 --max_seq_len 512", sourceMetaLlama},
	{"llama-reference", FixShortenContext, "--max_seq_len", "512", "torchrun --nproc_per_node 1 example.py --max_seq_len 512", sourceMetaLlama},
	{"ollama", FixShortenContext, "num_ctx", "4096", "/set parameter num_ctx 4096", sourceOllama},
	{"ollama", FixLimitRequests, "", "", "OLLAMA_NUM_PARALLEL=1 OLLAMA_MAX_LOADED_MODELS=1 ollama serve", sourceOllama},
	{"tabby", FixLimitRequests, "--parallelism", "1", "tabby serve --model MODEL --device cuda --parallelism 1", sourceTabby},
	{"chat-ui", FixShortenContext, "", "", "Max context (max_seq_len, truncation_length): 1024  # in the settings", sourceChatUI},
	{"llama.cpp", FixShortenContext, "--ctx-size", "4096", "llama-server -m MODEL --ctx-size 4096", sourceLlama},
	{"llama.cpp", FixLimitRequests, "--parallel", "1", "llama-server -m MODEL --parallel 1", sourceLlama},
}

// shortNames are other names of the options of knobs, as plain ones.
var shortNames = map[string][]string{
	"llama.cpp --ctx-size": {"c", "n_ctx", "contextsize", "context"}, "llama.cpp --parallel": {"np"}, "vllm --tensor-parallel-size": {"tp"},
	"sglang --tp": {"tp_size", "tensor_parallel_size"},
}

// names are those under which a command may have the option.
func (k knob) names() []string {
	return append([]string{command.PlainName(k.option)}, shortNames[k.program+" "+k.option]...)
}

// spelled is an option of llama.cpp as the program calls it that is made from it.
func (f *failure) spelled(k knob) knob {
	switch {
	case k.program == "ollama" && k.option != "":
		set, _ := f.ollamaSets()
		none := len(f.numbersInForce("num_ctx")) == 0
		k.plain = set + k.option + " " + k.value
		if none && !f.told(sampler.ToldOldOllama) {
			k.plain += "  " + f.comment("do.if_more_context")
		}
	case k.program != "llama.cpp" || k.fix != FixShortenContext:
	case f.tool != nil && f.tool.Name == "KoboldCpp":
		k.option, k.plain = "--contextsize", "koboldcpp --contextsize "+k.value
	case f.shows(sampler.ShowsLlamaPython) && !f.shows(sampler.ShowsLlamaServer):
		k.option, k.plain = "", "Llama(…, n_ctx="+strconv.Itoa(min(shortestContext, f.below("ctx_size", 2*shortestContext)/2))+")  "+f.comment("do.fewer_tokens")
	}
	return k
}

// shortestContext is what the binding of llama.cpp for Python takes where nothing is set. Below it there is little to win (own threshold).
// https://github.com/abetlen/llama-cpp-python/blob/main/llama_cpp/llama.py
const shortestContext = 512

// shortest: so short a context is in force that its cache is next to nothing.
func (f *failure) shortest() bool {
	return f.layered() && f.below("ctx_size", 2*shortestContext) <= shortestContext
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
	return combined && (f.class.class == classAllocator || f.reported() && f.triedShare()) && len(f.context.Functions) == 0 && !f.onHost() && !f.impossible() && (!f.othersMatter() || f.littleElsewhere()) &&
		!(f.loadingWeights() && f.numbers()) && !f.told(sampler.ToldNotLoaded) && !f.overweight() && !f.readsPictures() && !f.buildsEngine()
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
	if list := f.lessOfTGI(); list != "" && !set {
		return []string{plain + " " + list}
	}
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
		return []string{f.agreed(text)}
	}
	return []string{plain}
}

// fewTokens of a batch are few enough for most GPUs beside weights (own threshold).
const fewTokens = 8192

// totalRefused: TGI says that the cache for all tokens together did not fit, beside a prefill that is named after it.
func (f *failure) totalRefused() bool {
	return f.program.name == "tgi" && indexOf(f.event.Text, "total tokens with") >= 0
}

// withTotal tells TGI how many tokens all requests may have together, which it otherwise infers from what is free after the largest
// prefill: half of what the text has set. It is no less than that prefill, nor than one request.
func (f *failure) withTotal() string {
	most := min(fewTokens, f.below("max_batch_total_tokens", 2*fewTokens)/2)
	for _, v := range f.numbersInForce("max_total_tokens", "max_batch_prefill_tokens") {
		most = max(most, int(v))
	}
	if text, ok := f.command.WithOption("--max-batch-total-tokens", strconv.Itoa(most)); ok && f.runsServer() {
		return text
	}
	return shares["tgi"].plain + " --max-batch-total-tokens " + strconv.Itoa(most)
}

// defaultInput is how long an input of TGI may be where nothing is set and the model takes as much: https://github.com/huggingface/text-generation-inference/blob/main/docs/source/reference/launcher.md
const defaultInput = 4095

// agreed is a command of TGI with an input that is shorter than all tokens of a request, and no longer than a prefill, as it demands. The
// older name of the option is known to all versions.
func (f *failure) agreed(text string) string {
	if f.program.name != "tgi" {
		return text
	}
	c := command.Parse(text)
	most := math.Inf(1)
	for option, part := range map[string]float64{"max_total_tokens": 0.75, "max_batch_prefill_tokens": 1} {
		if a, set := c.Find(option); set {
			if n, err := strconv.ParseFloat(a.Value, 64); err == nil {
				most = min(most, max(1, math.Floor(n*part)))
			}
		}
	}
	for _, name := range []string{"max_input_length", "max_input_tokens"} {
		if edited, _, ok := c.WithNumber(func(v float64) float64 { return min(v, most) }, name); ok {
			return edited
		}
	}
	if !c.HasPlain("max_input_length", "max_input_tokens") && most < defaultInput {
		if edited, ok := c.WithOption("--max-input-length", plainNumber(most)); ok {
			return edited
		}
	}
	return text
}

// lessOfTGI are its limits at two thirds of those that the text names, in the order that it demands: an input is no longer than a
// prefill, and shorter than all tokens. "" where none is named.
func (f *failure) lessOfTGI() string {
	const none = 1 << 30
	option, input := "--max-input-length", f.below("max_input_length", none)
	if input == none {
		option, input = "--max-input-tokens", f.below("max_input_tokens", none)
	}
	if f.program.name != "tgi" || input == none || input < 600 {
		return ""
	}
	total := f.below("max_total_tokens", input+input/4)
	less := input * 2 / 3 / 100 * 100
	total = less + max(100, total-input)
	return option + " " + strconv.Itoa(less) + " --max-total-tokens " + strconv.Itoa(total) + " --max-batch-prefill-tokens " + strconv.Itoa(total)
}

// valueOf is what to set an option to: half of what the text names for it, and no more tokens than the cache has room for.
func (f *failure) valueOf(k knob) string {
	if n := f.visibleCount(); k.fix == FixShardOrOffload && n > 1 {
		return strconv.Itoa(n)
	}
	most, err := strconv.Atoi(k.value)
	if err != nil {
		return k.value
	}
	if k.program == "ollama" && f.told(sampler.ToldOldOllama) {
		most = f.usualContext() / 2 // as that is in force unless more is set
	}
	most = min(most, f.below(command.PlainName(k.option), 2*most)/2)
	if room, is := f.event.Extra["kv_cache_tokens"].(int); is && k.fix == FixShortenContext {
		most = min(most, room)
	}
	if fits := f.contextThatFits(); fits > 0 && k.fix == FixShortenContext {
		most = fits
	}
	return strconv.Itoa(max(1, most))
}

const (
	// fitsShare of what was free is left for the cache; buffers of the computation take the rest (own estimate).
	fitsShare = 0.8
	// contextStep: a number of tokens that people type.
	contextStep = 1024
)

// contextThatFits is how many tokens the cache of llama.cpp has room for where it was refused, of which it takes the same for each;
// where what was free is not known, half of what was asked for. Never more than the model was trained with. 0: not known.
func (f *failure) contextThatFits() int {
	a, _ := f.command.Find(knob{program: "llama.cpp", option: "--ctx-size"}.names()...)
	asked, err := strconv.Atoi(a.Value)
	if err != nil {
		const none = 1 << 30
		asked = f.below("ctx_size", none) % none
	}
	if f.program.name != "llama.cpp" || !f.told(sampler.ToldFullCache) || asked <= 0 {
		return 0
	}
	fits := asked / 2
	if need, free := f.requested.Or(0), f.free.Or(0); need > 0 && free > 0 && free < need {
		fits = int(float64(asked) * fitsShare * float64(free) / float64(need))
	}
	return min(fits, f.context.TrainedContext.Or(fits)) / contextStep * contextStep
}

// lower sets the option in a command, to half of what it has where that is less.
func (k knob) lower(c command.Line) (text string, ok bool) {
	most, err := strconv.ParseFloat(k.value, 64)
	if err != nil {
		most = math.Inf(1)
	}
	if text, _, ok = c.WithLess(func(v float64) float64 { return min(max(1, math.Floor(v/2)), most) }, k.names()...); ok {
		return text, true
	}
	if !math.IsInf(most, 1) && c.HasPlain(k.names()...) {
		return "", false // it has so little already
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
	if f.reported() && f.program.name == "vllm" && f.phase() == sampler.PhaseLoading {
		return true // no request and no cache was there, as is said
	}
	return (f.phase() == sampler.PhaseLoading || f.inFunction("create_weights") || f.told(sampler.ToldNotLoaded)) && f.class.class == classAllocator && !f.inFunction("profile_run", "determine_num_available_blocks", "capture", "warmup", "_dummy_run", "initialize_kv_cache")
}

// loadsOnOneOfSeveral: a server reads its weights into one GPU where several are shown, or all of them are more than one has, and nothing says that it
// divides the model.
func (f *failure) loadsOnOneOfSeveral() bool {
	return f.hasKnob(FixShardOrOffload) && (f.loadingWeights() || f.outweighs()) && (f.told(sampler.ToldGPUs) || f.shows(sampler.ShowsSecondGPU)) && !f.dividesModel() && !f.spread() && f.event.Rank.Or(0) == 0 && len(f.job.ranks()) < 2
}

// dividesModel: the server divides its model over GPUs. A command that starts it says so itself: a sentence may name the option that it lacks.
func (f *failure) dividesModel() bool {
	k := f.knob(FixShardOrOffload)
	if k != nil && f.command.Known && f.runsServer() {
		return f.command.HasPlain(k.names()...)
	}
	return slices.ContainsFunc([]string{"--tensor-parallel-size", "tensor_parallel_size", "--num-shard", "--tp"}, func(option string) bool { return f.told(sampler.ToldInForce + option) })
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
		if less := f.lessOfTGI(); less != "" && !(f.command.Known && f.runsServer()) {
			return []string{shares["tgi"].plain + " " + less}
		}
		value := f.valueOf(k)
		k = f.spelled(k)
		k.value, k.plain = value, strings.Replace(k.plain, k.option+" "+k.value, k.option+" "+value, 1)
		half := func(v float64) float64 {
			if fits := float64(f.contextThatFits()); k.fix == FixShortenContext && fits > 0 && fits < v {
				return fits
			}
			return float64(max(1, int(v)/2))
		}
		if text, _, ok := f.command.WithLess(half, k.names()...); ok && k.option != "" {
			return []string{f.agreed(text)}
		}
		if text, ok := f.command.WithOption(k.option, k.value); ok && strings.HasPrefix(k.option, "-") && f.runsServer() {
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

// spent: the options of the program for what a fix does have the least number that there is.
func (f *failure) spent(fix string) bool {
	known := false
	for _, k := range knobs {
		if k.program != f.program.name || k.fix != fix || k.option == "" {
			continue
		}
		known = true
		if !slices.ContainsFunc(k.names(), func(name string) bool { n, set := f.inForce(name); return set && n <= 1 }) {
			return false
		}
	}
	return known
}

// ownCommands are the programs and images that take the options of a server.
var ownCommands = map[string][]string{
	"vllm":         {"vllm", "vllm-openai", "vllm.entrypoints"},
	"sglang":       {"sglang", "sglang.launch_server"},
	"tgi":          {"text-generation-launcher", "text-generation-inference"},
	"tensorrt-llm": {"trtllm-serve"},
	"lmdeploy":     {"lmdeploy"},
	"tabby":        {"tabby"},
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
