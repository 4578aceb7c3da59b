package command

import (
	"slices"
	"strconv"
	"strings"
)

// Argument is one option of a command line: "--name value", "--name=value", "name=value" or "NAME value".
type Argument struct {
	name   string // as typed, with its dashes
	Plain  string // by plainName
	Value  string
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

// Arguments are the options of the training command in their order. A lone "--flag" has no value.
func (c Line) Arguments() []Argument { return c.options }

func (c Line) readArguments() []Argument {
	if !c.Known {
		return nil
	}
	var list []Argument
	for i := c.first; i < c.last; i++ {
		w := c.words[i]
		name, value, joined := strings.Cut(w.value, "=")
		switch {
		case joined && plainName(name) != "" && i > c.first:
			list = append(list, Argument{name, plainName(name), value, i, i, true, !w.expands})
		case strings.HasPrefix(w.value, "-") && len(w.value) > 1:
			a := Argument{name: w.value, Plain: plainName(w.value), at: i, name0: i}
			if i+1 < c.last && (!strings.HasPrefix(c.words[i+1].value, "-") || isNumber(c.words[i+1].value)) {
				a.Value, a.at, a.sure = c.words[i+1].value, i+1, !c.words[i+1].expands
			}
			list = append(list, a)
		case i+1 < c.last && isNumber(c.words[i+1].value) && strings.Contains(w.value, "."):
			list = append(list, Argument{w.value, plainName(w.value), c.words[i+1].value, i + 1, i, false, true}) // SOLVER.IMS_PER_BATCH 16
		}
	}
	return list
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// Find is the option with one of these names, the first name first; of one name the last
// option, as argparse has it.
func (c Line) Find(names ...string) (Argument, bool) {
	return c.findWhere(func(Argument) bool { return true }, names...)
}

// findWhere is find among the options that pass a test.
func (c Line) findWhere(test func(Argument) bool, names ...string) (Argument, bool) {
	list := c.Arguments()
	for _, name := range names {
		for _, a := range slices.Backward(list) {
			if a.Plain == name && test(a) {
				return a, true
			}
		}
	}
	return Argument{}, false
}

// SwitchedOn says whether a yes-or-no option with one of these names is on:
// "--bf16", "--bf16 true", "bf16=True". known is false when the command does not say.
func (c Line) SwitchedOn(names ...string) (on, known bool) {
	a, found := c.Find(names...)
	if !found {
		return false, false
	}
	switch strings.ToLower(a.Value) {
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

// BatchArgument finds the option that sets the training batch.
func (c Line) BatchArgument() (Argument, int, bool) {
	a, found := c.findWhere(func(a Argument) bool { return !ofEvaluation(a.name) }, batchNames...)
	if !found || !strings.HasPrefix(a.name, "-") && !a.joined && a.Plain != "ims_per_batch" {
		a, found = c.shortBatch()
	}
	if a.Plain == "max_tokens" && c.Style() != StyleFairseq {
		return Argument{}, 0, false // elsewhere the length of a generated answer
	}
	n, err := strconv.Atoi(a.Value)
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

// EvalBatchArgument finds the option that sets the batch of validation.
func (c Line) EvalBatchArgument() (Argument, bool) {
	if a, found := c.Find(evalBatchNames...); found {
		return a, true
	}
	return c.findWhere(func(a Argument) bool { return ofEvaluation(a.name) }, "batch_size", "batch", "bs")
}

func (c Line) shortBatch() (Argument, bool) {
	for _, a := range slices.Backward(c.Arguments()) {
		if a.name == "-b" || a.name == "-bs" {
			return a, true
		}
	}
	return Argument{}, false
}

// The ways training commands name their options.
const (
	styleArgparse    = "argparse"
	StyleTrainer     = "hugging face trainer"
	StyleUltralytics = "ultralytics"
	StyleYOLOv5      = "yolov5"
	StyleLightning   = "lightning"
	StyleMegatron    = "megatron"
	styleDeepSpeed   = "deepspeed"
	StyleFairseq     = "fairseq"
	styleHydra       = "hydra"
	styleNone        = ""
)

// Style is whose options the command uses.
func (c Line) Style() string { return c.styled }

// readStyle recognises the style; one row per style, the first that fits.
func (c Line) readStyle() string {
	if !c.Known {
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
	fits func(Line) bool
}{
	{StyleUltralytics, func(c Line) bool {
		return c.Runs("yolo", "ultralytics") || c.bare("imgsz") || c.bare("batch") && (c.bare("data") || c.bare("model"))
	}},
	{StyleYOLOv5, func(c Line) bool {
		return c.has("--weights") && (c.has("--img") || c.has("--img-size") || c.has("--imgsz")) && (c.has("--data") || c.has("--hyp"))
	}},
	{StyleFairseq, func(c Line) bool {
		return c.Runs("fairseq-train", "fairseq_cli/train.py") || c.has("--update-freq") || c.has("--max-tokens") && c.has("--arch")
	}},
	{StyleTrainer, func(c Line) bool {
		return c.HasPlain("per_device_train_batch_size", "per_device_eval_batch_size")
	}},
	{StyleMegatron, func(c Line) bool { return c.has("--micro-batch-size") && c.has("--global-batch-size") }},
	{StyleLightning, func(c Line) bool {
		return c.Prefixed("--trainer.") || c.Prefixed("--data.") || c.HasPlain("accumulate_grad_batches")
	}},
	{styleDeepSpeed, func(c Line) bool {
		_, _, batch := c.batchOnly()
		return c.DeepspeedConfig() != "" && !batch
	}},
	{styleHydra, func(c Line) bool { return c.dotted() }},
	{styleArgparse, func(c Line) bool {
		return slices.ContainsFunc(c.part(), func(w word) bool { return strings.HasPrefix(w.value, "-") })
	}},
}

// batchOnly is batchArgument without asking for the style.
func (c Line) batchOnly() (Argument, int, bool) {
	a, found := c.Find(batchNames[:len(batchNames)-1]...)
	n, err := strconv.Atoi(a.Value)
	return a, n, found && err == nil && n > 0
}

func (c Line) any(test func(name string) bool) bool {
	return slices.ContainsFunc(c.Arguments(), func(a Argument) bool { return test(a.name) })
}

func (c Line) has(name string) bool { return c.any(func(n string) bool { return n == name }) }

func (c Line) HasPlain(names ...string) bool { _, found := c.Find(names...); return found }

func (c Line) Prefixed(p string) bool {
	return c.any(func(n string) bool { return strings.HasPrefix(n, p) })
}

// bare says whether "name=value" stands without dashes.
func (c Line) bare(name string) bool {
	return slices.ContainsFunc(c.Arguments(), func(a Argument) bool { return a.joined && a.name == name })
}

// dotted says whether "a.b=c" or "+a=c" overrides stand without dashes.
func (c Line) dotted() bool {
	return slices.ContainsFunc(c.Arguments(), func(a Argument) bool {
		return a.joined && !strings.HasPrefix(a.name, "-") && !strings.Contains(a.name, "/")
	})
}

// DeepspeedConfig is the DeepSpeed configuration file the command names.
func (c Line) DeepspeedConfig() string {
	a, found := c.Find("deepspeed_config", "deepspeed")
	if found && strings.HasSuffix(a.Value, ".json") {
		return a.Value
	}
	return ""
}
