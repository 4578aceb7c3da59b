package advice

import (
	"slices"
	"strconv"
	"strings"
)

// argument is one option of a command line: "--name value", "--name=value", "name=value" or "NAME value".
type argument struct {
	name   string // as typed, with its dashes
	plain  string // by plainName
	value  string
	at     int  // index of the word that holds the value
	name0  int  // index of the word that holds the name
	joined bool // "name=value" in one word
	sure   bool // the value is known: nothing in it is left to the shell
}

// plainName makes names comparable: no dashes, underscores only, lower case, no path "a.b.".
func plainName(s string) string {
	s = strings.TrimLeft(s, "-+~")
	s = s[strings.LastIndexByte(s, '.')+1:]
	return strings.ToLower(strings.ReplaceAll(s, "-", "_"))
}

// arguments are the options of the training command in their order. A lone "--flag" has no value.
func (c commandLine) arguments() []argument { return c.options }

func (c commandLine) readArguments() []argument {
	if !c.ok {
		return nil
	}
	var list []argument
	for i := c.first; i < c.last; i++ {
		w := c.words[i]
		name, value, joined := strings.Cut(w.value, "=")
		switch {
		case joined && plainName(name) != "" && i > c.first:
			list = append(list, argument{name, plainName(name), value, i, i, true, !w.expands})
		case strings.HasPrefix(w.value, "-") && len(w.value) > 1:
			a := argument{name: w.value, plain: plainName(w.value), at: i, name0: i}
			if i+1 < c.last && (!strings.HasPrefix(c.words[i+1].value, "-") || isNumber(c.words[i+1].value)) {
				a.value, a.at, a.sure = c.words[i+1].value, i+1, !c.words[i+1].expands
			}
			list = append(list, a)
		case i+1 < c.last && isNumber(c.words[i+1].value) && strings.Contains(w.value, "."):
			list = append(list, argument{w.value, plainName(w.value), c.words[i+1].value, i + 1, i, false, true}) // SOLVER.IMS_PER_BATCH 16
		}
	}
	return list
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// find is the option with one of these names, the first name first; of one name the last
// option, as argparse has it.
func (c commandLine) find(names ...string) (argument, bool) {
	return c.findWhere(func(argument) bool { return true }, names...)
}

// findWhere is find among the options that pass a test.
func (c commandLine) findWhere(test func(argument) bool, names ...string) (argument, bool) {
	list := c.arguments()
	for _, name := range names {
		for _, a := range slices.Backward(list) {
			if a.plain == name && test(a) {
				return a, true
			}
		}
	}
	return argument{}, false
}

// switchedOn says whether a yes-or-no option with one of these names is on:
// "--bf16", "--bf16 true", "bf16=True". known is false when the command does not say.
func (c commandLine) switchedOn(names ...string) (on, known bool) {
	a, found := c.find(names...)
	if !found {
		return false, false
	}
	switch strings.ToLower(a.value) {
	case "false", "0", "no", "off", "none", "null", "disable", "disabled":
		return false, true
	}
	return true, true
}

// batchNames are the options that set the training batch of one device, best known first.
var batchNames = []string{"per_device_train_batch_size", "per_gpu_train_batch_size", "train_micro_batch_size_per_gpu",
	"micro_batch_size", "micro_batch_size_per_gpu", "device_batch_size", "batch_size_per_gpu", "batch_size_per_device",
	"train_batch_size", "batch_size_train", "train_bs", "batch_size", "batchsize", "batch", "bs", "samples_per_gpu",
	"ims_per_batch", "max_sentences", "max_tokens"}

// evalBatchNames are the options that set the batch of validation.
var evalBatchNames = []string{"per_device_eval_batch_size", "per_gpu_eval_batch_size", "eval_batch_size", "val_batch_size",
	"validation_batch_size", "valid_batch_size", "test_batch_size", "batch_size_valid", "batch_size_val", "val_batch", "eval_bs", "val_bs",
	"max_tokens_valid"}

// accumulationNames are the options that set gradient accumulation.
var accumulationNames = []string{"gradient_accumulation_steps", "gradient_accumulate_steps", "grad_accum_steps",
	"gradient_accumulation", "grad_accumulation_steps", "accumulation_steps", "accumulate_grad_batches", "accum_iter",
	"accum_steps", "grad_accum", "update_freq", "iter_size", "accumulate"}

// batchArgument finds the option that sets the training batch.
func (c commandLine) batchArgument() (argument, int, bool) {
	a, found := c.findWhere(func(a argument) bool { return !ofEvaluation(a.name) }, batchNames...)
	if !found || !strings.HasPrefix(a.name, "-") && !a.joined && a.plain != "ims_per_batch" {
		a, found = c.shortBatch()
	}
	if a.plain == "max_tokens" && c.style() != styleFairseq {
		return argument{}, 0, false // elsewhere the length of a generated answer
	}
	n, err := strconv.Atoi(a.value)
	return a, n, found && a.sure && err == nil && n > 0
}

// ofEvaluation: the option's path names validation, as in "data.val.batch_size".
func ofEvaluation(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), ".") {
		switch strings.TrimLeft(part, "-+~") {
		case "val", "valid", "validation", "eval", "evaluation", "test", "val_loader", "val_dataloader", "val_dataset":
			return true
		}
	}
	return false
}

// evalBatchArgument finds the option that sets the batch of validation.
func (c commandLine) evalBatchArgument() (argument, bool) {
	if a, found := c.find(evalBatchNames...); found {
		return a, true
	}
	return c.findWhere(func(a argument) bool { return ofEvaluation(a.name) }, "batch_size", "batch", "bs")
}

func (c commandLine) shortBatch() (argument, bool) {
	for _, a := range slices.Backward(c.arguments()) {
		if a.name == "-b" || a.name == "-bs" {
			return a, true
		}
	}
	return argument{}, false
}

// The ways training commands name their options.
const (
	styleArgparse    = "argparse"
	styleTrainer     = "hugging face trainer"
	styleUltralytics = "ultralytics"
	styleYOLOv5      = "yolov5"
	styleLightning   = "lightning"
	styleMegatron    = "megatron"
	styleDeepSpeed   = "deepspeed"
	styleFairseq     = "fairseq"
	styleHydra       = "hydra"
	styleNone        = ""
)

// style is whose options the command uses.
func (c commandLine) style() string { return c.styled }

// readStyle recognises the style; one row per style, the first that fits.
func (c commandLine) readStyle() string {
	if !c.ok {
		return styleNone
	}
	for _, row := range styles {
		if row.fits(c) {
			return row.name
		}
	}
	return styleNone
}

var styles = []struct {
	name string
	fits func(commandLine) bool
}{
	{styleUltralytics, func(c commandLine) bool {
		return c.runs("yolo", "ultralytics") || c.bare("imgsz") || c.bare("batch") && (c.bare("data") || c.bare("model"))
	}},
	{styleYOLOv5, func(c commandLine) bool {
		return c.has("--weights") && (c.has("--img") || c.has("--img-size") || c.has("--imgsz")) && (c.has("--data") || c.has("--hyp"))
	}},
	{styleFairseq, func(c commandLine) bool {
		return c.runs("fairseq-train", "fairseq_cli/train.py") || c.has("--update-freq") || c.has("--max-tokens") && c.has("--arch")
	}},
	{styleTrainer, func(c commandLine) bool {
		return c.hasPlain("per_device_train_batch_size", "per_device_eval_batch_size")
	}},
	{styleMegatron, func(c commandLine) bool { return c.has("--micro-batch-size") && c.has("--global-batch-size") }},
	{styleLightning, func(c commandLine) bool {
		return c.prefixed("--trainer.") || c.prefixed("--data.") || c.hasPlain("accumulate_grad_batches")
	}},
	{styleDeepSpeed, func(c commandLine) bool {
		_, _, batch := c.batchOnly()
		return c.deepspeedConfig() != "" && !batch
	}},
	{styleHydra, func(c commandLine) bool { return c.dotted() }},
	{styleArgparse, func(c commandLine) bool {
		return slices.ContainsFunc(c.part(), func(w word) bool { return strings.HasPrefix(w.value, "-") })
	}},
}

// batchOnly is batchArgument without asking for the style.
func (c commandLine) batchOnly() (argument, int, bool) {
	a, found := c.find(batchNames[:len(batchNames)-1]...)
	n, err := strconv.Atoi(a.value)
	return a, n, found && err == nil && n > 0
}

func (c commandLine) any(test func(name string) bool) bool {
	return slices.ContainsFunc(c.arguments(), func(a argument) bool { return test(a.name) })
}

func (c commandLine) has(name string) bool { return c.any(func(n string) bool { return n == name }) }

func (c commandLine) hasPlain(names ...string) bool { _, found := c.find(names...); return found }

func (c commandLine) prefixed(p string) bool {
	return c.any(func(n string) bool { return strings.HasPrefix(n, p) })
}

// bare says whether "name=value" stands without dashes.
func (c commandLine) bare(name string) bool {
	return slices.ContainsFunc(c.arguments(), func(a argument) bool { return a.joined && a.name == name })
}

// dotted says whether "a.b=c" or "+a=c" overrides stand without dashes.
func (c commandLine) dotted() bool {
	return slices.ContainsFunc(c.arguments(), func(a argument) bool {
		return a.joined && !strings.HasPrefix(a.name, "-") && !strings.Contains(a.name, "/")
	})
}

// deepspeedConfig is the DeepSpeed configuration file the command names.
func (c commandLine) deepspeedConfig() string {
	a, found := c.find("deepspeed_config", "deepspeed")
	if found && strings.HasSuffix(a.value, ".json") {
		return a.value
	}
	return ""
}
