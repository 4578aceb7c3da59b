package torchsnap

import (
	"strings"

	"nvpeak/sampler"
)

// frameKind is what file and function say of a frame.
type frameKind struct {
	python     bool // no C++
	own        bool // outside of torch, of installed packages and of Python itself
	validation bool
	optimizer  bool
	module     bool // a module of torch runs
	calledBack bool // within a step of an optimizer it is no longer the optimizer that runs
	cache      bool // keys and values of the tokens so far are kept
	generates  bool // tokens are made one by one
	parted     bool // a part of the model is run by itself, and once more in the backward pass
	loads      bool // weights are loaded
}

var (
	// libraryFile is a file that whoever trains has not written.
	libraryFile = sampler.Pattern{Source: `(?i)/(?:site|dist)-packages/|/lib(?:64)?/python\d|/python\d+(?:\.\d+)?/lib/|^<frozen |^<string>|^<eval_with_key>|/torchinductor|` +
		`(?:^|/)torch/(?:_[a-z]|nn/|optim/|autograd/|utils/|cuda/|amp/|distributed/|fx/|jit/|backends/|functional\.py|storage\.py|serialization\.py)`}
	// validationName is a function that validates.
	validationName = sampler.Pattern{Source: `(?i)^_*(?:run_|do_|on_|log_|perform_)?(?:eval|evaluate|evaluation|evaluating|validate|validation|validating|valid|val|test|` +
		`testing)(?:_(?:step|epoch|loop|batch|model|one_epoch|set|dataset|fn|func|all|run|pass|phase|metrics))*_*$|validation_|evaluate|validate|` +
		`(?:^|_)(?:val|eval)_loss|` +
		`^_*(?:compute|calc|calculate|get|measure)_(?:val|valid|eval|dev|test)_(?:m?iou|m?ap|acc|accuracy|loss(?:es)?|scores?|metrics?|bleu|wer|cer|ppl|` +
		`perplexity|f1|auc|preds?|predictions?|logits)$|^estimate_loss$|^(?:predict|benchmark|inference|infer|score|dev|model)_(?:val|valid|eval|dev|test)$`}
	// validationFile is a file that somebody wrote to validate with.
	validationFile = sampler.Pattern{Source: `(?i)/(?:eval|evaluate|evaluation|evaluator|validate|validation|validator)\.py$`}
	// validationTrainer is a frame of a library that trains, where it validates: its name, or its file.
	validationTrainer = sampler.Pattern{Source: `(?i)/(?:lightning|pytorch_lightning|transformers|trl|fastai|mmengine|mmcv|ultralytics|detectron2|composer|megatron|nemo|keras|sentence_transformers|setfit|anomalib|nnunetv2|monai)/` +
		`(?:.*/(?:evaluation_loop|validator|val)\.py:|` +
		`.*:_*(?:do_epoch_|run_)?(?:evaluate|evaluation|validate|validation|val|eval)(?:_and_print_results|_step|_loop|_epoch|_forward)*$|` +
		`.*:(?:prediction_(?:step|loop)|inference_on_dataset)$)`}
	// cacheOf is a frame, file and function, of a cache of keys and values, which grows with each token by design.
	cacheOf = sampler.Pattern{Source: `(?i)/cache_utils\.py:|:.*(?:past_?key|kv_?cache|key_?value_?cache|with_cache|update_cache)|:DynamicCache`}
	// generation is a frame in which tokens are made one by one.
	generation = sampler.Pattern{Source: `(?i)/(?:transformers|optimum|unsloth)/(?:.*/)?generation/[^/]*:|` +
		`:_*(?:stream_)?generate(?:_(?:text|tokens?|completion|response|answer|once|ids|sequence))?$|:_*(?:greedy|beam|contrastive)_(?:search|decode)$|` +
		`:_*(?:sample|decode)_(?:next_)?tokens?$|:_*(?:decode|decoding|generate|generation)_(?:step|one|next)$|` +
		`:_*(?:incremental|autoregressive|ar)_(?:decode|decoding|generate|step)$|:_*next_token$`}
	// trainingName is a function that trains.
	trainingName = sampler.Pattern{Source: `(?i)train|fit|tune|stage|warm_?up|phase`}
	// optimizerFile is a module of optimizers, optimizerOwn one that somebody wrote, optimizerName a function that makes the state.
	optimizerFile = sampler.Pattern{Source: `(?i)(?:^|/)(?:optim|optimizers?)/`}
	optimizerOwn  = sampler.Pattern{Source: `(?i)/(?:optim|optimizers?|adamw?|lion|adafactor|sgd)\.py$`}
	optimizerName = sampler.Pattern{Source: `(?i)^_*(?:init|initialize|create|allocate|setup)_\w*optimizer_states?$|^_*(?:init|initialize)_(?:optim|optimizer)_states?$`}
	// checkpoint is a file that runs parts of a model with activation checkpointing: PyTorch's, DeepSpeed's, Megatron's, FairScale's.
	checkpoint = sampler.Pattern{Source: `(?i)(?:^|/)torch/utils/checkpoint\.py$|/activation_checkpointing/|/checkpoint_(?:wrapper|activations)\.py$|/tensor_parallel/random\.py$`}
	// loading is a function that loads weights, not data: each tensor by itself, with what it was converted from.
	loading = sampler.Pattern{Source: `(?i)^_*(?:load|restore|resume)(?:_all|_files?|_from\w*)?$|from_pretrained|` +
		`^_*(?:load|restore|resume|read|get|convert|quantize|materialize|put|stream|copy)_\w*(?:models?|weights?|state_?dict|checkpoints?|ckpt|shards?|params?|` +
		`parameters|tensors?|layers?|loras?|adapters?|safetensors)(?:_\w+)?$`}
	// closure is a frame of what an optimizer is given to call in its step.
	closure = sampler.Pattern{Source: `(?i)(?:^|/)torch/autograd/(?:__init__|graph|function)\.py:|:[^:/]*closure[^:/]*$`}
)

// Patterns are the rules for frames as regular expressions, which Python reads as well: the reporter inside a process
// goes by them, too.
func Patterns() map[string]string {
	return map[string]string{"library": libraryFile.Get().String(), "validation": validationName.Get().String(),
		"optimizer": optimizerFile.Get().String(), "optimizer_own": optimizerOwn.Get().String(), "closure": closure.Get().String(), "cache": cacheOf.Get().String(), "generation": generation.Get().String()}
}

func kindOfFrame(file, name string) frameKind {
	file = strings.ReplaceAll(file, `\`, "/")
	k := frameKind{python: sampler.TorchSite{File: file}.Python()}
	k.own = k.python && !libraryFile.Get().MatchString(file)
	k.validation = k.own && (validationName.Get().MatchString(name) || validationFile.Get().MatchString(file)) || k.python && !k.own && validationTrainer.Get().MatchString(file+":"+name)
	k.optimizer = k.python && (!k.own && optimizerFile.Get().MatchString(file) || optimizerOwn.Get().MatchString(file) || optimizerName.Get().MatchString(name))
	k.calledBack = k.python && closure.Get().MatchString(file+":"+name)
	k.cache = k.python && cacheOf.Get().MatchString(file+":"+name)
	k.generates = k.python && generation.Get().MatchString(file+":"+name)
	k.loads = k.python && loading.Get().MatchString(name)
	k.parted = k.python && checkpoint.Get().MatchString(file)
	k.module = !k.own && strings.Contains(file, "torch/nn/modules/")
	return k
}
