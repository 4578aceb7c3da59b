package command

import (
	"slices"
	"strconv"
	"strings"
)

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
	return a, n, found && err == nil && n > 0
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
