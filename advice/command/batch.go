package command

import (
	"slices"
	"strconv"
	"strings"
)

// BatchArgument finds the option that sets the training batch.
func (c Line) BatchArgument() (Argument, int, bool) {
	training := func(a Argument) bool { return !ofEvaluation(a.name) }
	a, found := c.findWhere(training, deviceBatchNames...)
	if !found {
		a, found = c.microBatch()
	}
	if !found {
		a, found = c.findWhere(training, batchNames...)
	}
	if !found || !strings.HasPrefix(a.name, "-") && !a.joined && !upper(a.name) {
		a, found = c.shortBatch()
	}
	if a.Plain == "max_tokens" && c.Style() != StyleFairseq {
		return Argument{}, 0, false // elsewhere the length of a generated answer
	}
	n, err := strconv.Atoi(a.Value)
	return a, n, found && err == nil && n > 0 && !c.several(a)
}

// SharedBy is the number of GPUs that the batch of the command is divided over, where its program counts it for all of them
// and the command names them; else 1.
func (c Line) SharedBy() int {
	if gpus, known := c.numberOfGPUs(); known {
		if _, batch, ok := c.BatchArgument(); ok && batch == gpus {
			return gpus // one for each, or else each has as many: half of it may be none
		}
	}
	a, found := c.Find("device")
	if !found || c.Style() != StyleYOLOv5 && c.Style() != StyleUltralytics {
		return 1
	}
	gpus := strings.Split(strings.Trim(a.Value, "[]()'\""), ",")
	if slices.ContainsFunc(gpus, func(n string) bool { return !isNumber(n) }) {
		return 1
	}
	return len(gpus)
}

// numberOfGPUs is that of several on which the command says that it runs.
func (c Line) numberOfGPUs() (n int, known bool) {
	a, found := c.Find("n_gpus", "num_gpus", "ngpus", "n_gpu", "num_gpu", "gpus")
	n, err := strconv.Atoi(a.Value)
	return n, found && err == nil && n > 1
}

// upper: it is written as yacs has it, "TRAIN.BATCH_SIZE_PER_GPU 32".
func upper(name string) bool { return name == strings.ToUpper(name) }

// several: more numbers follow, and which of them is the batch is not known.
func (c Line) several(a Argument) bool {
	next := a.at + 1
	return !a.joined && strings.HasPrefix(a.name, "-") && next < c.last && c.words[next].value[:min(1, len(c.words[next].value))] != "-" && isNumber(c.words[next].value)
}

// microBatch finds an option of another name that is the training batch of one device, as in
// "actor.ppo_micro_batch_size_per_gpu".
func (c Line) microBatch() (Argument, bool) {
	for _, a := range slices.Backward(c.Arguments()) {
		has := func(part string) bool { return strings.Contains("_"+a.Plain+"_", "_"+part+"_") }
		size := has("bs") || has("bsz") || has("batch") && has("size")
		other := ofEvaluation(a.name) || slices.ContainsFunc([]string{"eval", "val", "valid", "validation", "test", "rollout", "log_prob", "forward", "infer", "inference", "dynamic"}, has)
		if size && !other && (has("micro") || has("per_gpu") || has("per_device")) && isNumber(a.Value) {
			return a, true
		}
	}
	return Argument{}, false
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
	a, found := c.Find(evalBatchNames...)
	if !found {
		a, found = c.findWhere(func(a Argument) bool { return ofEvaluation(a.name) }, "batch_size", "batch", "bs")
	}
	return a, found && !c.several(a)
}

func (c Line) shortBatch() (Argument, bool) {
	for _, a := range slices.Backward(c.Arguments()) {
		if a.name == "-b" || a.name == "-bs" {
			return a, true
		}
	}
	return Argument{}, false
}
