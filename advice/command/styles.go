package command

import (
	"slices"
	"strconv"
	"strings"
)

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
func readStyle(c Line) string {
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
		return c.has("--weights") && (c.has("--img") || c.has("--img-size") || c.has("--imgsz") || c.has("--cfg")) && (c.has("--data") || c.has("--hyp"))
	}},
	{StyleFairseq, func(c Line) bool {
		return c.Runs("fairseq-train", "fairseq_cli/train.py") || c.has("--update-freq") || c.has("--max-tokens") && c.has("--arch")
	}},
	{StyleTrainer, func(c Line) bool {
		own := c.HasPlain("zero_stage", "actor_zero_stage") || strings.Contains(c.Text, "no_trainer") // these share the names of batch sizes only
		return c.HasPlain("per_device_train_batch_size", "per_device_eval_batch_size") && !own
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

// DeepspeedConfig is the DeepSpeed configuration file the command names.
func (c Line) DeepspeedConfig() string {
	a, found := c.Find("deepspeed_config", "deepspeed")
	if found && strings.HasSuffix(a.Value, ".json") {
		return a.Value
	}
	return ""
}

// batchOnly is batchArgument without asking for the style.
func (c Line) batchOnly() (Argument, int, bool) {
	a, _ := c.Find(slices.Concat(deviceBatchNames, batchNames[:len(batchNames)-1])...)
	n, err := strconv.Atoi(a.Value) // none is no number
	return a, n, err == nil && n > 0
}
