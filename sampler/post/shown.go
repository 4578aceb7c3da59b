package post

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// shown is by what names code, commands, paths and sentences have what concrete advice is about.
var shown = []struct {
	name  string
	words *lazy
}{
	{sampler.ShowsTransformers, lazily(`\.from_pretrained\(|(?:^|[^-\w])transformers\b|\bAuto(?:Model|Tokenizer)\w*`)},
	{sampler.ShowsTrainer, lazily(`\bTrainingArguments\b|(?i:\bseq2seq ?trainer\b)|--per_device_(?:train|eval)_batch_size\b|\bcompute_metrics\b|transformers/trainer`)},
	{sampler.ShowsDiffusers, lazily(`\bdiffusers\b|\b\w*DiffusionPipeline\b|\bStableDiffusion\w*Pipeline\b|\bpipe\.(?:enable_|to\(|unet|vae)|\bpipeline_\w+\.py`)},
	{sampler.ShowsOwnPipe, lazily(`(?m)^\W*\w+\s*=\s*\w*Pipeline\w*\.from_(?:pretrained|single_file)\(`)},
	{sampler.ShowsApp, lazily(`(?i)\bgradio[-_ ]?(?:app|interface|demo|ui|web|page|server|version)\w*|\bgradio[\w-]*\.py\b|[/\\]gradio[/\\]|\b(?:the|in|with|via|using|through) (?:\w+ )?gradio\b|\b(?:web_demo|app)\.py\b|\bweb[- ]demo\b`)},
	{sampler.ShowsCorrelation, lazily(`(?i)\b(?:local|global|all[-_ ]pairs)[-_ ]correlations?\b|\b(?:correlation|cost)[-_ ]volumes?\b|\bcorr_volume\b|\b(?:dense|feature|stereo|image) match(?:ing|er)\b|\boptical flow\b`)},
	{sampler.ShowsGradients, lazily(`(?i)` + followsGradients + `|\bautograd\.grad\(|\b(?:loss|clip|classifier)[- ]guid(?:ance|ed)\b`)},
	{sampler.ShowsRollout, lazily(`(?i)\bvllm_mode["']?[\s=:]{1,4}["']?colocate\b|\bvllm[_-]gpu[_-]memory[_-]utilization\b|\b(?:grpo|rloo)_trainer\.py(?s:.*)\bvllm/`)},
	{sampler.ShowsTorch, lazily(`(?m)\.backward\(|\boptimi[sz]er\w*\.(?:step|zero_grad)\(|^\W*(?:import|from) torch\b|\bnn\.Module\b|\b\w*model\w*\.(?:eval|train|cuda|to|forward)\(|` +
		`\btorch\.(?:tensor|load|save|no_grad|nn|zeros|ones|cat|stack|device|inference_mode|cuda\.empty_cache)\b|\.ipynb\b`)},
	{sampler.ShowsLoader, lazily(`\bDataLoader\(|\bnum_workers ?= ?[1-9]|\b\w*(?:val\w*|test|eval|train|data)_?loaders?\b`)},
	{sampler.ShowsLibrary, lazily(`(?i)\b(?:detectron2|mm(?:det\w*|seg\w*|cv|engine|pose)|ultralytics|yolov?(?:5|8|11)\w*|(?:pytorch[-_ ])?lightning|sentence[-_ ]?transformers?|mteb|` +
		`fastai|espnet\w*|fairseq|nemo|speechbrain|spacy|cellpose|xturing|llama[-_ ]?factory|axolotl|kohya\w*|chainer\w*)\b`)},
	{sampler.ShowsAdapters, lazily(`(?i)(?:\b|_)q?loras?(?:\b|_)|\bpeft\b|\badapters?\b`)},
	{sampler.ShowsFSDP, lazily(`(?i)\bfsdp\w*|\bfully_?shard\w*`)},
	{sampler.ShowsDeepSpeed, lazily(`(?i)\bdeepspeed\b|\bzero[-_ ]?(?:stage[-_ ]?)?[123]\b|\bds_(?:z\w+_)?(?:offload_)?config|\bsigkill_handler\b`)},
	{sampler.ShowsRanks, lazily(`(?i)\btorchrun\b|\btorch[./]distributed\b|\b(?:local[-_ ])?rank\b|\bnn/parallel/distributed|\bDistributedDataParallel\b|\bDDP\b|\bnproc_per_node\b|` +
		`\baccelerate launch\b|\bmpi(?:exec|run)\b|\bworld_size\b|\bnum_processes\b|\bMULTI_GPU\b`)},
	{sampler.ShowsCheckpoint, lazily(`(?i)\btorch\.load\b|\bload_state_dict\b|\bcheckpoints?\b|\bckpt\w*|\.(?:pth|pt|ckpt)\b|\bresum(?:e|es|ed|ing)\b`)},
	{sampler.ShowsSaves, lazily(`\btorch\.save\b|\bstate_dict\b`)},
	{sampler.ShowsAttention, lazily(`(?i)\battentions?\b|\w*attn\w*|\bq ?@ ?[kv]\b|\bxformers\b|\bsdpa\b`)},
	{sampler.ShowsContainer, lazily(`(?i)\bdocker\w*|\bcontainers?\b|\bcontainer_name\b|\bpodman\b|\bkubernetes\b|\bk8s\b|\bkubectl\b|\bsingularity\b`)},
	{sampler.ShowsKubernetes, lazily(`(?i)\bkubernetes\b|\bk8s\b|\bkubectl\b|\bemptyDir\b|\bopenshift\b|\b(?:the|an?|my|our|all|these|\d+) pods?\b|\bpods? (?:is|are|was|were|gets?|got|restart\w*|crash\w*|of)\b|\bdeployment\.ya?ml\b`)},
	{sampler.ShowsNotebook, lazily(`(?i)\bjupyter\w*|\b\w*notebooks?\b|\.ipynb\b|\bcolab\w*|\bkaggle\b|\bipykernel\b|<ipython-input|\bCell In ?\[|(?m:^-+> ?\d+ )`)},
	{sampler.ShowsLinux, lazily(`(?im)\b(?:ubuntu|linux|debian|centos|fedora|wsl2?|sudo|dmesg|sbatch|slurm|colab|kaggle|docker|kubernetes|aws|gcp|oom[-_ ]killer)\b|` +
		`(?:^|[\s"'(=\x60])/(?:home|root|usr|opt|data|mnt|content|workspace|app|gpfs|nfs|scratch|tmp|local\w*|py|nvme|env)/|\bjetson\b`)},
	{sampler.ShowsServe, lazily(`(?i)\bvllm serve\b|\bapi_server\b|\bsglang\.launch_server\b|\btext-generation-launcher\b|\btrtllm-serve\b|\blmdeploy serve\b|` +
		`--(?:gpu-memory-utilization|max-model-len|mem-fraction-static|max-num-seqs)\b`)},
	{sampler.ShowsEngine, lazily(`\bfrom (?:vllm|sglang) import\b|\bimport sglang\b|\bLLM\(|\bEngine\(`)},
	{sampler.ShowsArguments, lazily(`\b(?:gpu_memory_utilization|max_model_len|mem_fraction_static) *=`)},
	{sampler.ShowsColab, lazily(`(?im)\bcolab\w*|\bkaggle\b|(?:^|[\s"'(=\x60])/content/\w`)}, // where its notebooks run
	{sampler.ShowsLlamaServer, lazily(`\bllama-(?:server|cli|bench)\b`)},
	{sampler.ShowsLlamaPython, lazily(`\bfrom llama_cpp\b|\bimport llama_cpp\b|\bLlama\(|\bllama_cpp/|(?s)\bllama[-_]cpp[-_]python\b.*\bn_(?:gpu_layers|ctx)\b|` +
		`\bn_(?:gpu_layers|ctx)\b.*llama[-_]cpp[-_]python|(?i)\b(?:in|with|using|use|through) llama[-_]cpp[-_]python\b|^\W*llama-cpp-python\b`)},
	{sampler.ShowsModelOption, lazily(`--model[ =]|--compute_type\b`)},
	{sampler.ShowsChunks, lazily(`(?i)\b(?:fastfold|openfold)\b|--chunk_size\b`)},
	{sampler.ShowsPipeline, lazily(`\bpipeline\(|\bautomatic[-_]speech[-_]recognition\b|\bimport pipeline\b`)},
	{sampler.ShowsJAX, lazily(`(?m)^\W*(?:import|from) jax\b|\bjnp\.|\bjax\.(?:jit|vmap|pmap|grad|lax|numpy|random)\b`)},
	{sampler.ShowsArrayFile, lazily(`\b(?:np|numpy)\.(?:load|fromfile|memmap)\b|\.np[yz]\b|\bmmap_mode\b`)},
	{sampler.ShowsXGBoost, lazily(`\b(?:xgboost|xgb)\.\w+|\bXGB\w+\(|\b\w*DMatrix\b`)},
	{sampler.ShowsSDScripts, lazily(`(?i)\bkohya\w*|\bsd[-_]scripts\b|\b(?:sdxl_)?train_network\b|--cache_latents\b`)},
	{sampler.ShowsPieces, lazily(`(?i)\bsentencepiece\w*|\bspm_train\b`)},
	{sampler.ShowsParquet, lazily(`(?i)\bread_parquet\b|\.parquet\b`)},
	{sampler.ShowsTFData, lazily(`\btf\.data\.|\.shuffle\(`)},
	{sampler.ShowsOldTF, lazily(`\btf\.Session\b|client/session\.py|\bsess(?:ion)?\.run\b|\(see above for traceback\)|task:0/gpu:0|device \(/gpu:\d|\btf\.contrib\b|` +
		`(?i:\btensorflow(?:[-_]gpu)?[ =v]*1\.\d)|(?m:^\W*[IWEF] tensorflow/)`)},
	{sampler.ShowsSecondGPU, lazily(`(?i)\bGPU[ :#]?[1-9]\d?\b|\bcuda:[1-9]\b|\bgpu=[1-9]|\bCUDA_VISIBLE_DEVICES\W{0,6}(?:\d,)*[1-9]|\b(?:multiple|several|multi)[- ]?GPUs?\b|(?m:^\|\s+[1-9]\s+\w+ )`)},
	{sampler.ShowsReplay, lazily(`\b(?:memory|buffer|replay\w*)\.(?:append|push|add|store)\(`)},
	{sampler.ShowsMainPy, lazily(`\bmain\.py\b`)},
	{sampler.ShowsInvokePy, lazily(`\binvoke\.py\b`)},
	{sampler.ShowsExamplePy, lazily(`\bexample\w*\.py\b`)},
	{sampler.ShowsHeadless, lazily(`(?i)--headless\b|\bisaac\w*|\blegged_gym\b`)},
	{sampler.ShowsBuild, lazily(`\bcmake\b|\bGGML_CUDA\b|\bLLAMA_CUBLAS\b|(?m:^\W*make\b)`)},
	{sampler.ShowsFewBits, lazily(`(?i)\bbitsandbytes[/\\](?:nn|autograd)[/\\]|\bload_in_[48]bit *= *True\b|\bbits *= *[248]\b|\bquantize\([48]\)|--load[-_](?:in[-_])?[48][-_]?bit\b|\bload_[48]bit *= *True\b|` +
		`\b\w*[48]bit_(?:low_ram|quant)\w*|\bmodel_4bit\b|\b(?:gptq|awq|qlora|bnb-4bit|gguf|exl2|nf4)\b|\bQ[2-8]_(?:K|[01])|--quantization\b|\b\w+_int[48]\b|` +
		`\b\d{1,3}b(?:[-_]\w+)*[-_ ](?:int[48]|[48]-?bits?|fp8|w[48]a(?:8|16))\b|\bint[48] (?:model|version|weights)\b`)},
	{sampler.ShowsFourBits, lazily(`(?i)\bload_(?:in_)?4bit *= *True\b|\bbits *= *[24]\b|\bquantize\(4\)|--load[-_](?:in[-_])?4[-_]?bit\b|\b\w*4bit_(?:low_ram|quant)\w*|\bmodel_4bit\b|` +
		`\b(?:gptq|awq|qlora|bnb-4bit)\b|\b\d{1,3}b(?:[-_]\w+)*[-_ ](?:int4|4-?bits?|w4a(?:8|16))\b|\bint4 (?:model|version|weights)\b`)},
	{sampler.ShowsSixteenBits, lazily(`\b(?:torch_)?dtype *= *torch\.b?float16\b|\.half\(\)|\.bfloat16\(\)|--dtype[ =](?:half|b?float16)\b`)},
	{sampler.ShowsSession, lazily(`\bException during initialization\b`)},
	{sampler.ShowsCached, lazily(`\b[KMG]i?B cached?(?: by PyTorch)?\)`)},
	{sampler.ShowsTextUI, lazily(`(?i)\boobabooga\b|\btext-generation-webui\b`)},
	{sampler.ShowsBeforeNoGrad, lazily(`\bpytorch_1(?:4|51|520|521|522|523)\d+\b|\bvolatile *= *True\b`)},
}

// numbered are settings of servers for how much lies on the GPU, with their numbers.
var numbered = lazily(`(?i)\b(num_envs|num_gpu|num_ctx|ngl|n[-_]gpu[-_]layers|ctx[-_]size|max[-_]model[-_]len|max[-_]num[-_]seqs|context[-_]length|session[-_]len|` +
	`max[-_]input[-_](?:length|tokens)|max[-_]total[-_]tokens|max[-_]batch[-_](?:prefill|total)[-_]tokens|max_seq_len|max_num_tokens|` +
	`chunked[-_]prefill[-_]size|max_new_tokens)\b["'\x60]?(?:[^\w\n]{1,4}| (?:(?:is|are|was|of|set|already|down|to|only|just) ){1,4})(\d{1,3}(?:,\d{3})+|\d{1,7})\b`)

// workersSaid is the number of data loader workers, as settings and people have it: "num_workers=1", "the number of workers is 1". Without any is another
// matter: ToldWorkersOff.
var workersSaid = lazily(`(?i)\b(?:(?:dataloader[-_])?num[-_]workers|n[-_]workers|data ?loader workers|(?:number|num|count) of (?:the )?(?:data ?loader )?workers)["'\x60]?(?: ?[:=] ?| )(?:(?:is|are|was|of|set|already|down|to|only|just) ){0,4}([1-9]\d?)(?:[^\w.]|\.\D|\.?$)|` +
	`(?:num[-_]?workers?)["'\x60]?(?:已经?|都)?(?:设置?|调整?|改|降)?(?:为|到|成|至|是) ?([1-9]\d?)(?:\D|$)`)

// pictureSides are those of the pictures of the latent diffusion code, and how many it makes at once.
var pictureSides = lazily(`--(H|W|n_samples)[ =](\d{1,5})\b`)

// fractions are settings of servers for their share of the GPU, with one or more values of it; layersOn is how many of a model's layers
// llama.cpp put there, as it prints it.
var (
	fractions = lazily(`(?i)\b((?:vllm_)?gpu[-_]memory[-_]utilization|mem[-_]fraction[-_]static|cuda[-_]memory[-_]fraction|kv_cache_free_gpu_mem(?:ory)?_fraction|` +
		`cache[-_]max[-_]entry[-_]count)\b["'\x60]?[^\w\n.]{0,4}(?:(?:to|of|at|from|is|was|values?|set)\W+){0,2}((?:0?\.\d{1,3}|` +
		`1\.0)(?:(?:\s*[、,/~→-]+\s*(?:and |or |to )?|\s+(?:and|or|to|then)\s+)0?\.\d{1,3}){0,9})`)
	jaxShare = lazily(`\bXLA_PYTHON_CLIENT_MEM_FRACTION["'\x60]?[^\w\n.]{1,4}(\d{0,2}\.?\d{1,3})\b`)
	oneOf    = lazily(`0?\.\d{1,3}|1\.0`)
	layersOn = lazily(`\boffloaded (\d{1,3})/\d{1,3} layers to GPU|\bgpulayers[= ](\d{1,3})\b`)
	cells    = lazily(`\b(?:n_ctx|kv_size|contextsize) *= *(\d{2,7})\b|--context(?:[-_]?size)?[ =](\d{2,7})\b`)
)

// layersSaid and contextSaid are these settings as people call them, with the number in front or behind, of a context also in thousands; "33/35 layers"
// and "context: 156.00 MiB" are others.
var (
	layersSaid = lazily(`(?i)(?:^|[^\w/.])(\d{1,3}) (?:gpu|offload(?:ed|ing)?)[- ]layers\b|(?:^|[^\w/.])(\d{1,3}) layers (?:are |is |offloaded )?(?:on|to|onto|in) (?:the |my )?(?:gpu|vram|card)\b|` +
		`\b(?:gpu|offload(?:ed|ing)?)[- ]layers?["'\x60]?(?: ?[:=] ?| )(?:(?:is|are|to|at|of|set|only|just) ){0,3}(\d{1,3})\b`)
	contextSaid = lazily(`(?i)\b(\d{1,3}k|\d{3,7})[ -](?:tokens? )?(?:of )?(?:context|ctx)\b|\b(?:context|ctx)(?:[ -]?(?:size|length|window))?["'\x60]?(?: ?[:=] ?| )(?:(?:is|are|to|at|of|set|only|just) ){0,3}(\d{1,3}k|\d{3,7})(?:\.?\s*$|\.?\n|\.?\s+(?-i:[^MGK\s])|[,;:)\]"'\x60])`)
)

// thousands are a number in them.
var thousands = lazily(`(?i)^(\d+)k$`)

// oldMain is a command of llama.cpp by the name that its program had when it put no layers on the GPU unless told to; setsLayers tells it.
var (
	oldMain    = lazily(`(?m)(?:^|\s)(?:\./)?(?:build/bin/)?main (?:[^\n]* )?-m \S+[^\n]*`)
	setsLayers = lazily(`(?:^|\s)(?:-ngl|--n-gpu-layers|--gpu-layers)\b`)
)

// hostRoom are options for how much of the machine's memory a job or a container has.
var hostRoom = lazily(`(?i)(?:^|[\s"'\x60])(--mem|--memory|--shm-size)[ =]+["']?(\d{1,9})(?:\.\d+)?[ ]?([kmgt]?)i?b?\b`)

// roomSaid is the memory of a machine that somebody says his job was given, of which less was not enough either. That of a GPU is another.
var roomSaid = lazily(`(?i)\b(?:used?|using|request(?:ed|ing)?|ask(?:ed|ing) for|allocat(?:ed|ing)|reserv(?:ed|ing)|assign(?:ed|ing)|gave|giv(?:en|ing)|set|tried|with|have|has|had|even)(?: (?:it|the|a|an|job|node|up|to|of|about|over))* ` +
	`(\d{1,4}(?:\.\d)?) ?([GT])i?B?(?: of)?(?: (?:(?:cpu|system|host|main|node) )?(?:memory|ram|mem)\b| for (?:the |my )?cpu\b)`)

// shmRoom is what a text says that shared memory has.
var shmRoom = lazily(`(?i)(?:/dev/shm|shm[- ]size|shared memory|共享内存|共有メモリ)[^\n.。\d]{0,24}?(\d{1,4}) ?g(?:i?b)?\b`)

// rooms are these options with their GiB: Slurm counts in MiB where no unit is told (https://slurm.schedmd.com/sbatch.html#OPT_mem), Docker in bytes.
func rooms(c *sampler.LogContext, text string) {
	for _, at := range hostRoom.FindAllStringSubmatch(text, 8) {
		unit := strings.ToLower(at[3])
		if unit == "" {
			unit = map[string]string{"--mem": "m"}[strings.ToLower(at[1])]
		}
		n, err := strconv.ParseFloat(at[2], 64)
		if scale := map[string]float64{"": 1 << 30, "k": 1 << 20, "m": 1 << 10, "g": 1, "t": 1.0 / 1024}[unit]; err == nil {
			c.Told = append(c.Told, fmt.Sprintf("%s%s %.0f", sampler.ToldInForce, strings.ToLower(at[1]), n/scale))
		}
	}
	for _, at := range roomSaid.FindAllStringSubmatch(text, 8) {
		if n, err := strconv.ParseFloat(at[1], 64); err == nil && n > 0 {
			room := fmt.Sprintf("%.0f", n*map[string]float64{"g": 1, "t": 1024}[strings.ToLower(at[2])])
			c.Told = append(c.Told, sampler.ToldInForce+"--mem "+room, sampler.ToldInForce+"--memory "+room)
		}
	}
	for _, at := range shmRoom.FindAllStringSubmatch(text, 8) {
		c.Told = append(c.Told, sampler.ToldInForce+"/dev/shm "+at[1])
	}
}

// inLog are the settings of llama.cpp by what its log prints or people tell, under the names that its options and those of Ollama have.
func inLog(c *sampler.LogContext, text string) {
	layers, contexts := []string{"num_gpu", "ngl", "n_gpu_layers", "gpulayers", "gpu_layers"}, []string{"num_ctx", "ctx_size", "n_ctx"}
	for _, row := range []struct {
		words *lazy
		names []string
	}{{layersOn, layers}, {layersSaid, layers}, {cells, contexts}, {contextSaid, contexts}} {
		if at := row.words.FindAllStringSubmatch(text, 8); len(at) > 0 {
			number := thousands.ReplaceAllString(strings.Join(at[len(at)-1][1:], ""), "${1}000")
			for _, name := range row.names {
				c.Told = append(c.Told, sampler.ToldInForce+name+" "+number)
			}
		}
	}
	rooms(c, text)
	if main := oldMain.FindString(text); main != "" && !setsLayers.MatchString(text) && llamaReads.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldInForce+"ngl 0")
	}
	if at := jaxShare.FindAllStringSubmatch(text, 8); len(at) > 0 {
		c.Told = append(c.Told, sampler.ToldInForce+"XLA_PYTHON_CLIENT_MEM_FRACTION "+at[len(at)-1][1])
	}
	for _, at := range fractions.FindAllStringSubmatch(text, 8) {
		for _, value := range oneOf.FindAllStringSubmatch(at[2], 10) {
			c.Told = append(c.Told, sampler.ToldInForce+strings.ReplaceAll(strings.ToLower(at[1]), "-", "_")+" "+value[0])
		}
	}
}

// sinceNoGrad is PyTorch from 0.4 on, which only speaks of what was before.
var sinceNoGrad = lazily(`(?i)\b(?:py)?torch(?:[ =]*(?:version)?[ =v]*)(?:0\.4|[1-9]\.\d)|\bno_grad\b`)

// settable are settings that advice can name, as code and commands have them. One that a text has is in force.
var settable = []string{"load_in_8bit=True", "load_in_4bit=True", "low_cpu_mem_usage=True", `device_map="auto"`, "pin_memory=False", "num_workers=0", "--lowvram", "--medvram", "--novram",
	"--gradient_checkpointing", "--cache_latents", "TF_FORCE_GPU_ALLOW_GROWTH=true", "XLA_PYTHON_CLIENT_PREALLOCATE=false", "TF_FORCE_UNIFIED_MEMORY=1",
	"TF_GPU_ALLOCATOR=cuda_malloc_async", "ExtMemQuantileDMatrix", "QuantileDMatrix", "attention_slicing", "model_cpu_offload", "sequential_cpu_offload", "vae_tiling", "flash_attention_2", "sw_device", "GGML_CUDA_NO_PINNED=1", "LocalCUDACluster",
	"export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0", `os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"]="0.0"`, "XLA_PYTHON_CLIENT_ALLOCATOR=platform", "--tensor-parallel-size", "tensor_parallel_size", "--num-shard", "--tp", "--free_gpu_mem", "--n_samples 1", "--max_batch_size 1", "--parallel 1", "+= loss.item()", "eval_accumulation_steps", "--ipc=host", "vllm_enable_sleep_mode", "sleep_level"}

// precise is the precision of molecular dynamics with what is no more than mixed in force.
// https://docs.openmm.org/latest/userguide/library/04_platform_specifics.html
var precise = lazily(`(?i)\b(?:Cuda)?Precision\b["']?(?: ?[=:,] ?| is )["']?(?:mixed|single)\b`)

// proposed is what TensorFlow's and XLA's own message has before a setting that may help: nobody has set it yet.
const proposed = `the environment variable "`

// windowsToo is Windows by its version in a sentence, or a path on any drive; withinWindows is the Linux that runs in it and has
// its own commands.
var (
	windowsToo    = lazily(`(?i)\bon a windows\b|\bwin(?:dows)? ?(?:7|8|1[01])\b|\bMSVC\b|\b[a-z]:\\\w`)
	withinWindows = lazily(`(?i)\bWSL ?2?\b|/mnt/c/`)
)

// addShown puts into a context what a text shows, and what is set in it.
func addShown(c *sampler.LogContext, text string, tool *tools.Tool) {
	c.Told = append(c.Told, sampler.ToldShort)
	for _, row := range shown {
		if row.words.MatchString(text) && !(row.name == sampler.ShowsBeforeNoGrad && sinceNoGrad.MatchString(text)) {
			c.Told = append(c.Told, sampler.ToldShows+row.name)
		}
	}
	is := func(what string) bool { return what == sampler.ToldWindows }
	switch known := slices.ContainsFunc(c.Told, is); {
	case withinWindows.MatchString(text):
		c.Told = append(slices.DeleteFunc(c.Told, is), sampler.ToldWSL)
	case !known && windowsToo.MatchString(text):
		c.Told = append(c.Told, sampler.ToldWindows)
	}
	if tool == nil && divided.MatchString(text) {
		tool = tools.Named("Darknet")
	}
	if tool != nil {
		addTool(c, text, tool)
	}
	for _, at := range numbered.FindAllStringSubmatch(text, 8) {
		c.Told = append(c.Told, sampler.ToldInForce+strings.ReplaceAll(strings.ToLower(at[1]), "-", "_")+" "+strings.ReplaceAll(at[2], ",", ""))
	}
	for _, at := range pictureSides.FindAllStringSubmatch(text, 8) {
		c.Told = append(c.Told, sampler.ToldInForce+strings.ToLower(at[1])+" "+at[2])
	}
	for _, at := range workersSaid.FindAllStringSubmatch(text, 8) {
		c.Told = append(c.Told, sampler.ToldInForce+"num_workers "+at[1]+at[2])
	}
	if oneWindow.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldInForce+"sw_batch_size=1")
	}
	if precise.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldInForce+"precision mixed")
	}
	inLog(c, text)
	plain := strings.NewReplacer(" = ", "=", `'`, `"`).Replace(text)
	for _, s := range settable {
		at := strings.Index(plain, s)
		if at >= 0 && !wordByte(plain, at-1) && !wordByte(plain, at+len(s)) && !strings.HasSuffix(plain[:at], proposed) {
			c.Told = append(c.Told, sampler.ToldInForce+s)
		}
	}
}

// oneWindow is a call of MONAI that runs one window at a time, by the place of its argument or its name.
// https://docs.monai.io/en/stable/inferers.html
var oneWindow = lazily(`\bsliding_window_inference\(\s*[^,()]+(?:\([^()]*\))?,\s*(?:\([^()]*\)|\[[^\]]*\]|[^,()\[]+(?:\([^()]*\))?),\s*1\s*,|\bsw_batch_size\s*=\s*1\b`)

// addTool puts into a context the program of others that a text names, t, and which of its switches are set.
func addTool(c *sampler.LogContext, text string, t *tools.Tool) {
	c.Told = append(c.Told, sampler.ToldTool+t.Name)
	for line := range strings.Lines(continued.ReplaceAllString(text, " ")) {
		line = strings.TrimSpace(strings.TrimLeft(line, "$>#!%` "))
		if first, rest, _ := strings.Cut(line, " "); c.Command == "" && optionIn.MatchString(" "+rest) && tools.In(first) == t {
			c.Command = strings.TrimRight(line, "`")
		}
	}
	plain := strings.ReplaceAll(text, "-", "_")
	for _, l := range t.Levers {
		if less(plain, l.Type) || lacks(text, t, l.Type) {
			c.Told = append(c.Told, sampler.ToldInForce+l.Type)
			continue
		}
		if fewerPixels(text, l.Type) {
			c.Told = append(c.Told, sampler.ToldInForce+l.Type)
			continue
		}
		if at := strings.Index(text, l.Type); at >= 0 && !wordByte(text, at-1) && !wordByte(text, at+len(l.Type)) {
			c.Told = append(c.Told, sampler.ToldInForce+l.Type)
		}
	}
}

// area is an option for width and height.
var area = lazily(`(--\w+)[ =]["']?(\d{2,4}) ?[x*×] ?(\d{2,4})\b`)

// fewerPixels says whether a text sets what a lever is about to as many pixels already, or fewer.
func fewerPixels(text, lever string) bool {
	most := area.FindStringSubmatch(strings.Join(strings.Fields(lever), " "))
	if most == nil {
		return false
	}
	pixels := func(at []string) int {
		w, _ := strconv.Atoi(at[2])
		h, _ := strconv.Atoi(at[3])
		return w * h
	}
	for _, at := range area.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), 16) {
		if at[1] == most[1] && pixels(at) <= pixels(most) {
			return true
		}
	}
	return false
}

// optionIn is an option in a line: a dash between words is none.
var optionIn = lazily(`\s--?[A-Za-z]`)

// lacking are levers that a program has not in the version that a text names, by the begin of the program's name and the lever.
var lacking = []struct {
	tool, lever string
	words       *lazy
}{
	{"", "train_dataloader.", oldMM}, {"", "val_dataloader.", oldMM}, {"MM", "--amp", oldMM}, {"MM", "scale=", oldMM}, {"MM", "gpu_assign_thr", firstMM},
	{"LMDeploy", "--", oldLMDeploy},
	{"Boltz", "--max_parallel_samples", boltz1}, {"Boltz", "--max_msa_seqs", boltz1}, {"Boltz", "--subsample_msa", boltz1},
	{"Wan", "--task t2v-1.3B", wan22}, {"Wan", "--size 832*480", wan22},
}

// oldLMDeploy is LMDeploy before 0.2, whose cache is a number of sequences in a file beside the model.
var oldLMDeploy = lazily(`(?i)\blmdeploy\b[^\d\n]{0,16}\b0\.[01]\.\d|\bllama_triton_example\b`)

// boltz1 is Boltz before its second version, with which these came (main.py of v0.3.2 and v2.0.0).
var boltz1 = lazily(`(?i)\bboltz-?1\b|\bboltz\b(?:[^\w\n]|\bversion\b|\bis\b|\bpredict\b|\S+\.(?:ya?ml|fasta)\b){1,8}v?[01]\.\d`)

// wan22 is Wan of a version that has other tasks and sizes than the one before.
var wan22 = lazily(`(?i)\bwan ?-?2\.2\b|\bti2v\b`)

// lacks says whether a text names a version of a program without a lever.
func lacks(text string, t *tools.Tool, lever string) bool {
	for _, row := range lacking {
		if strings.HasPrefix(t.Name, row.tool) && strings.HasPrefix(lever, row.lever) && row.words.MatchString(text) {
			return true
		}
	}
	return false
}

// oldMM are OpenMMLab's programs of before 2022, whose loaders are set by other names.
var oldMM = lazily(`(?i)\b(?:imgs_per_gpu|mmdet/core/|mmcv[/\\]runner[/\\])|\b(?:py)?torch\W{1,4}(?:version\W{1,3})?(?:0\.\d|1\.[0-4])\b|` +
	`\bmm(?:action2?|det\w*|seg\w*|pose|cls)\W{1,4}v?(?:0\.\d|2\.\d)|\b(?:samples|videos)_per_gpu\b`)

// firstMM are those before their second version, of which there are many copies under other names.
var firstMM = lazily(`\b(?:imgs_per_gpu|batch_processor|_non_dist_train)\b`)

// setting is a setting with a number, as levers have it.
var setting = lazily(`^["'-]*([A-Za-z_][\w.-]*)["']?(\s*:?[=: ]\s*)[(\[]?(\d+(?:\.\d+)?)(?:(?:, ?\d+)*[)\]])?$`)

// less says whether a text, with _ for -, sets what a lever is about to its number already, or below: each of several settings.
func less(text, lever string) bool {
	if parts := strings.Fields(lever); len(parts) > 1 && strings.Count(lever, "=") == len(parts) {
		return !slices.ContainsFunc(parts, func(part string) bool { return !less(text, part) })
	}
	at := setting.FindStringSubmatch(lever)
	if at == nil {
		return false
	}
	most, err := strconv.ParseFloat(at[3], 64)
	name := strings.ReplaceAll(at[1], "-", "_")
	for rest := text; err == nil; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		begins := !wordByte(rest, i-1)
		rest = rest[i+len(name):]
		if value := setTo.FindStringSubmatch(rest[:min(len(rest), 56)]); value != nil && begins {
			if set, err := strconv.ParseFloat(value[1], 64); err == nil && (set == most || set < most != spacing.MatchString(name)) {
				return true
			}
		}
	}
	return false
}

// spacing is a setting that makes the job smaller the larger it is.
var spacing = lazily(`(?i)voxel_size$|grid_size$|stride$|downsample\w*$|subdivisions$`)

// setTo is a number behind the name of a setting.
var setTo = lazily(`^["'\x60\s=:]*(?:(?:to|of|is|was|at|as|the|my|even|only|just|option|value|set|\w+_\w+)\b[\s=:]*){0,6}[(\["'\x60]*(\d+(?:\.\d+)?)\b`)

// wordByte says whether a letter or a digit stands there.
func wordByte(s string, at int) bool {
	return at >= 0 && at < len(s) && (s[at] >= '0' && s[at] <= '9' || s[at]|0x20 >= 'a' && s[at]|0x20 <= 'z')
}
