package oomlog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// What lines far from a failure may say of the run. A new form is one row.

// factWords mark lines worth keeping until a failure asks for them.
var factWords = []string{
	"param", "optim", "batch size", "batch_size", "batch-size", "batchsize", " batch=", "bs=", "bs =", "world_size", "world size", "nproc", "num_processes",
	"pytorch version", "pytorch 1.", "pytorch 2.", "torch version", "torch==", "torch-", "torch:", "tensorflow version", "jaxlib", "llm engine (v",
	"alloc_conf", "cuda_visible_devices", "xla_", "tf_force_gpu", "pytorch_mps", "nccl_",
	"precision", "dtype", "bf16", "fp16", "nvidia ", "geforce", "tesla ", "quadro", " rtx ",
	"load_in_", "nf4", "int8", "jax", "mxnet", "paddlepaddle", "sglang", "vllm==", "ollama_", "ggml_cuda_", "vllm_", "flags_", "ray_memory", "malloc_arena",
	"cublas_workspace", "cuda_module", "cuda_launch", "cuda_device_order", "srun ", "mpirun ", "fairseq-train", "lightning run", "samples per gpu", "mixed_precision",
	"windows", "wsl", "$ ./", "# ./", "torchrun", "python ", "python3 ", "accelerate launch", "deepspeed", "vllm serve", "launch_server", "yolo ", "tensor_parallel_size",
	"launching web ui", "commandline_args", "created device", "created tensorflow device", "bfcallocator", "n_ctx_train", "finished with value", "trial ", "kept ", "keeping ", "spilled", "fold ", "fold_", "fold=", "fold:",
}

type factRow struct {
	re  *lazy
	set func(c *sampler.LogContext, value string, groups []string)
}

func fact(text string, set func(c *sampler.LogContext, value string, groups []string)) factRow {
	return factRow{pattern(text), set}
}

func setInt(field func(c *sampler.LogContext) *sampler.Opt[int]) func(*sampler.LogContext, string, []string) {
	return func(c *sampler.LogContext, value string, _ []string) { *field(c) = number(value).Else(*field(c)) }
}

func batchSize(c *sampler.LogContext) *sampler.Opt[int] { return &c.BatchSize }
func worldSize(c *sampler.LogContext) *sampler.Opt[int] { return &c.WorldSize }

// setText keeps the first value: logs say such things once, at the start.
func setText(field func(c *sampler.LogContext) *string) func(*sampler.LogContext, string, []string) {
	return func(c *sampler.LogContext, value string, _ []string) {
		if f := field(c); *f == "" {
			*f = strings.TrimSpace(value)
		}
	}
}

// setPoolLimit keeps what one GPU gives; those of a machine are mostly alike.
func setPoolLimit(unit sampler.Bytes) func(*sampler.LogContext, string, []string) {
	return func(c *sampler.LogContext, value string, _ []string) {
		if v, ok := sampler.Amount(value, unit); ok && !c.PoolLimit.Known() {
			c.PoolLimit = sampler.Some(v)
		}
	}
}

// setSpilled keeps the most.
func setSpilled(c *sampler.LogContext, value string, _ []string) {
	if v, err := sampler.ParseBytes(value); err == nil && v > c.Spilled.Or(0) {
		c.Spilled = sampler.Some(v)
	}
}

func precision(value string) func(*sampler.LogContext, string, []string) {
	return func(c *sampler.LogContext, _ string, _ []string) { c.Precision = value }
}

// setParameters keeps the largest count: "trainable params: … || all params: …".
func setParameters(c *sampler.LogContext, value string, groups []string) {
	if n := parameterCount(value, groups); n > c.Parameters.Or(0) {
		c.Parameters = sampler.Some(n)
	}
}

func setTrained(c *sampler.LogContext, value string, groups []string) {
	if n := parameterCount(value, groups); n > 0 {
		c.Trained = sampler.Some(n)
	}
}

// parameterCount is a number of parameters, whose unit is the last group; 0 where it can be none.
func parameterCount(value string, groups []string) uint64 {
	factor := 1.0
	switch strings.ToUpper(groups[len(groups)-1]) {
	case "K":
		factor = 1e3
	case "M":
		factor = 1e6
	case "B", "G":
		factor = 1e9
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64)
	if n := uint64(f * factor); err == nil && f*factor < 1e15 && n >= 1000 {
		return n
	}
	return 0
}

var factRows = []factRow{
	fact(`(?i)\bspilled\b[^\d\n]{0,40}?(\d[\d.]{0,11} ?[KMGT]i?B)\b()`, setSpilled),                // Dask, RMM
	fact(`(?i)\btrainable params: ?([\d,]+) \|\| all params()`, setTrained),                        // PEFT
	fact(`(?i)^\W*(\d[\d,]*(?:\.\d+)?)\s?([KMB]?)\s+trainable params\b`, setTrained),               // Lightning
	fact(`(?i)^\W*trainable params(?:eters)?\s*:\s*(\d[\d,]*(?:\.\d+)?)\s?([KMB]?)\b`, setTrained), // Keras, torchinfo, and Lightning since 2.5
	fact(`(?i)\boptim(?:izer)?(?:_?name|_?type)?['"]?\s*[:=]\s*['"]?((?:\w*adam|adafactor|\w*lion|\w*sgd)\w*)()`, setText(func(c *sampler.LogContext) *string { return &c.Optimizer })),
	fact(`(?i)\ball params: ?([\d,]+(?:\.\d+)?)()`, setParameters),
	fact(`(?i)\b(\d[\d,]{3,}|\d+(?:\.\d+)?)\s?([KMB]?)\s+(?:\w+ ){0,2}(?:params|parameters)\b`, setParameters),
	fact(`(?i)\b(?:(?:num(?:ber)?|total|trainable|trained|model|#)[ _.]*(?:of )?(?:\w+ )?)+(?:params?|parameters)\b(?: count)?[^\d\n]{0,24}?[:=(]\s*(\d[\d,]*(?:\.\d+)?)\s?([KMB]?)`, setParameters),
	fact(`(?i)\bparam(?:eter)?s?(?: count|\(M\))?\s*[:=]\s*(\d[\d,]*(?:\.\d+)?)\s?([KMB]?)\b`, setParameters),
	// A word before it that is no number leaves the batch of training as it is.
	fact(`(?i)(?:\b(?:\w+_)?(eval|val|valid|validation|test|dev|global|effective)[ _-])?(?:batch[ _-]?size(?:[ _](?:per[ _](?:device|gpu|replica|card)|train))?|`+
		`samples per gpu)['"]?(?: ?/ ?[^\x00-\x7f]+)?\s*(?:[:=]=?|`+
		`\s(?:(?:of|to|is|was|as|at|set|reduced|lowered|changed|down|even|just|only|small|low)\s){0,4}|\s?(?:已经?)?(?:设置?|改|调整?|降低?|减[小少]?)(?:为|成|到|至|了)\s?|`+
		`["'\x60]? and ["'\x60]?\w+["'\x60]? to\s)\s*\[?(\d{1,6})\b`, setInt(batchSize)),
	fact(`(?i)\bbatch[ _-]?size (?:(?:is|of|to|as|set|reduced|down|even|just|only) ){0,4}one\b()`, func(c *sampler.LogContext, _ string, _ []string) { c.BatchSize = sampler.Some(1) }),
	fact(`(?i)\bbatch[ _-]?size from \d{1,6} (?:down )?to (\d{1,6})\b()`, setInt(batchSize)),
	fact(`(?i)\bmicro[_ -]batch[_ -]size['"]?\s*[:=]\s*(\d{1,6})\b()`, setInt(batchSize)), // what is processed at once, of a larger batch_size beside it
	fact(`(?i)\s-{0,2}batch=(\d{1,6})\b|--batch (\d{1,6})\b|\s-b (\d{1,5})\b|\bbs ?= ?(\d{1,5})\b`, setInt(batchSize)),
	fact(`(?i)\b(?:global|effective)[ _-](?:train[ _-])?batch[ _-]?size['"]?\s*[:=]\s*(\d{1,6})\b()`, setInt(func(c *sampler.LogContext) *sampler.Opt[int] { return &c.GlobalBatch })),
	fact(`(?i)\bdata[ _-]parallel[ _-]size['"]?\s*[:=]\s*(\d{1,5})\b()`, setInt(func(c *sampler.LogContext) *sampler.Opt[int] { return &c.Replicas })),
	fact(`\bTrial (\d{1,5}) (?:finished with value\b|pruned\b|[Cc]omplete(?:d\b| \[))()`, setInt(func(c *sampler.LogContext) *sampler.Opt[int] { return &c.Trials })), // Optuna, KerasTuner
	fact(`(?i)\b(?:kept|keeping) (\d{1,4}) (?:fold )?(?:models|estimators|learners)\b()`, func(c *sampler.LogContext, value string, _ []string) {
		if c.Trials = number(value); !slices.Contains(c.Told, sampler.ToldModelsKept) {
			c.Told = append(slices.Clone(c.Told), sampler.ToldModelsKept)
		}
	}),
	fact(`(?i)^\W*fold[ _=:]{1,2}(\d{1,3})\b|\bfold[ _=:]{1,2}(\d{1,3}) ?(?:/|of) ?\d{1,3}\b`, setInt(func(c *sampler.LogContext) *sampler.Opt[int] { return &c.Fold })),
	fact(`\bn_ctx_train\s*(?:=|\()\s*(\d{3,8})\b()`, setInt(func(c *sampler.LogContext) *sampler.Opt[int] { return &c.TrainedContext })),
	fact(`(?i)world[ _-]?size['"]?\s*[:= ]\s*(\d{1,5})\b|--num_processes[= ](\d+)`, setInt(worldSize)),
	fact(`(?i)--nproc[_-]per[_-]node[= ](\d{1,3})\b|tensor[_-]parallel[_-]size[= ](\d{1,3})\b|-tp[= ](\d{1,3})\b`, func(c *sampler.LogContext, value string, _ []string) {
		c.WorldSize = c.WorldSize.Else(number(value))
	}),
	fact(`\bCreated (?:TensorFlow )?device \S{1,80}GPU:\d+ with (\d{3,8}) MB memory()`, setPoolLimit(sampler.MiB)),
	fact(`\bXLA backend allocating (\d{7,15}) bytes on device \d+ for BFCAllocator()`, setPoolLimit(1)),
	fact(`(?i)\b(?:py)?torch(?:[ _]version|\.__version__)?['"]?(?:==|[ :=-]{1,3}|\s)v?([0-3]\.\d+(?:\.\d+)?(?:[.+\w]*\w)?)`, setText(func(c *sampler.LogContext) *string { return &c.FrameworkVersion })),
	fact(`(?i)\b(?:tensorflow|jaxlib|jax|paddlepaddle(?:-gpu)?|mxnet|vllm|sglang)(?: version)?['"]?(?:==|[ :=-]{1,3}|\s)v?(\d+\.\d+(?:\.\d+)?[+\w]*)|LLM engine \(v(\d[\w.+]*)\)`, setText(func(c *sampler.LogContext) *string { return &c.FrameworkVersion })),
	fact(`(?i)(?:precision|dtype|autocast|amp[ _]?(?:mode|dtype)?|mixed_precision|--)['"]?\s*[:= ]?\s*['"]?(?:torch\.)?(?:bf16|bfloat16)|\bbf16['"]?\s*[:=]\s*true|--bf16\b`, precision("bf16")),
	fact(`(?i)(?:precision|dtype|amp[ _]?(?:mode|dtype)?|mixed_precision|--)['"]?\s*[:= ]?\s*['"]?(?:torch\.)?(?:fp16|float16|half\b|16-mixed|16\b)|\bfp16['"]?\s*[:=]\s*true|--fp16\b|Automatic Mixed Precision`, precision("fp16")),
	fact(`(?i)(?:precision|dtype|--)['"]?\s*[:= ]\s*['"]?(?:torch\.)?(?:fp32|float32|32\b|32-true)`, precision("fp32")),
	fact(`(?i)load_in_8bit['"]?\s*[:= ]\s*true|\bint8\b.{0,20}quant|quantization=['"]?int8`, precision("int8")),
	fact(`(?i)load_in_4bit['"]?\s*[:= ]\s*true|\bnf4\b`, precision("nf4")),
	fact(`\b((?:NVIDIA |Tesla |GeForce |Quadro |TITAN )(?:GeForce |RTX |GTX |Tesla |TITAN |Quadro |GRID |`+
		`Graphics )*[A-Z]{0,4}\d{1,5}[A-Za-z0-9]*(?:[ -](?:Ti|SUPER|Super|Ada|Generation|Laptop|GPU|SXM\d?|PCIe|PCIE|NVL|HBM\w+|Max-Q|D|\d{1,3}GB|MIG))*)`, setText(func(c *sampler.LogContext) *string { return &c.GPUName })),
	fact(`^\s*(?:\S*[$#%>]\s|`+
		`\+\s)?((?:[A-Z_]+=\S+\s+)*(?:(?:\S*/)?python[\d.]*\s+(?:-\S+\s+)*\S+|torchrun\s|accelerate launch\s|deepspeed\s+-|deepspeed\s+\S+\.py|vllm serve\s|`+
		`yolo\s+(?:\w+\s+)*\w+=|srun\s|mpirun\s+(?:-|/|\w+[._/]|\w+\s+-)|fairseq-train\s|lightning run).*)$`, setText(func(c *sampler.LogContext) *string { return &c.Command })),
	fact(`^\s*\S{0,60}[$#]\s(\./[\w./+-]+(?:\s.*)?)$`, func(c *sampler.LogContext, value string, _ []string) { // of a program that was compiled
		c.Command = cmp.Or(c.Command, value)
	}),
	fact(`(?i)\b(?:cmd|command(?: line)?)\s*[:=]\s*((?:\S*/)?(?:python|torchrun|accelerate|deepspeed|vllm)\S*\s.*)$`, setText(func(c *sampler.LogContext) *string { return &c.Command })),
	fact(`(?i)\b(?:os|operating system|platform)(?: version| name)?\W{1,6}(?:microsoft )?windows\b|^\W{0,4}(?:microsoft )?windows[ -]?(?:10|11|server)\b()`, func(c *sampler.LogContext, _ string, _ []string) {
		c.Environment["OS"] = "Windows_NT" // as Windows itself sets it
	}),
	fact(`(?i)(?:\b(not|never|without|no|don['’]t|isn['’]t|instead of|outside)\b[^.\n]{0,16})?(?:\bwsl ?2\b|microsoft-standard-wsl|/mnt/wsl/|`+
		`(?:\b(?:on|in|inside|under|use|using|with|via|within|through|running|latest) (?:windows )?|^[\W\d]*)wsl\b)`, func(c *sampler.LogContext, denied string, _ []string) {
		if denied == "" {
			c.Environment["WSL_DISTRO_NAME"] = "?" // which one is not said
		}
	}),
	fact(`(?:Launching Web UI with arguments: ?|\bCOMMANDLINE_ARGS=["']?)((?:--[\w-]+[ =]?[^"']*)?)`, func(c *sampler.LogContext, value string, _ []string) {
		c.Server = cmp.Or(c.Server, "webui")
		c.Command = cmp.Or(c.Command, strings.TrimSpace("python launch.py "+value)) // which prints that line
	}),
	fact(`Command '\[(.*?)\]' (?:returned|died)`, func(c *sampler.LogContext, value string, _ []string) {
		if c.Command == "" {
			c.Command = strings.NewReplacer(`', '`, " ", `'`, "").Replace(value)
		}
	}),
}

// ownClause is a clause of PyTorch's message, as people retype it.
var ownClause = pattern(`(?i)\b(?:allocated|reserved|reserved in total) by PyTorch\b`)

// environment finds variables that change where memory goes.
var environment = pattern(`\b((?:PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF|PYTORCH_NO_CUDA_MEMORY_CACHING|PYTORCH_MPS_\w+|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|CUDA_LAUNCH_BLOCKING|` +
	`CUDA_MODULE_LOADING|XLA_(?:PYTHON_)?CLIENT_\w+|XLA_FLAGS|TF_FORCE_GPU_ALLOW_GROWTH|TF_GPU_ALLOCATOR|NCCL_(?:MAX_NCHANNELS|BUFFSIZE|CUMEM_ENABLE)|` +
	`CUBLAS_WORKSPACE_CONFIG|OLLAMA_\w+|GGML_CUDA_\w+|VLLM_\w*MEM\w*|FLAGS_\w*mem\w*|RAY_memory_\w+|` +
	`MALLOC_ARENA_MAX))(?:["']\])?\s?=\s?["']?([^\s"'\x60,]+(?:,\d{1,2}\b)*)`)

// statement is what a line says of the run, and where it goes.
type statement struct {
	set    func(c *sampler.LogContext, value string, groups []string)
	value  string
	groups []string
}

// findFacts applies the rows that say something of the whole run to a line.
func findFacts(text part) (found []statement) {
	if text.ask(question{asks: stating}, func() [][]int { return answer(mayState(text.text)) }) == nil {
		return nil
	}
	for i := range factRows {
		r := &factRows[i]
		at := r.re.findIn(text)
		if at == nil {
			continue
		}
		value := ""
		for _, g := range at[1:] {
			if g != "" {
				value = g
				break
			}
		}
		found = append(found, statement{r.set, value, at})
	}
	for _, at := range environment.allIn(text, 8, true) {
		groups := groups(text.text, at)
		found = append(found, statement{setVariable, strings.Trim(groups[2], `"',;)`), groups})
	}
	return found
}

// mayState says that a text is not a failure's own words, which say nothing of the run.
func mayState(text string) bool {
	return !strings.Contains(text, "try setting") && !strings.Contains(text, "consider passing") && !strings.Contains(text, "maybe the environment variable") && !strings.Contains(text, "Tried to allocate") &&
		!strings.Contains(text, "to disable upper limit") && !ownClause.MatchString(text)
}

func setVariable(c *sampler.LogContext, value string, groups []string) {
	c.Environment[groups[1]] = value
}
