package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/lang"
)

func TestMixedPrecisionCommands(t *testing.T) {
	for command, want := range map[string]string{
		"accelerate launch t.py":                                  "accelerate launch --mixed_precision bf16 t.py",
		"accelerate launch --mixed_precision no t.py":             "accelerate launch --mixed_precision bf16 t.py",
		"python r.py --per_device_train_batch_size 8":             "python r.py --per_device_train_batch_size 8 --bf16 True",
		"python r.py --per_device_eval_batch_size 8 --bf16 False": "python r.py --per_device_eval_batch_size 8 --bf16 True",
		"python m.py fit --trainer.precision 32":                  "python m.py fit --trainer.precision bf16-mixed",
		"yolo train batch=8 amp=False":                            "yolo train batch=8 amp=True",
		"python t.py --batch-size 8":                              "with torch.autocast",
	} {
		f := newFailure(Incident{Command: command, ComputeCapability: "9.0"}, ruleBase(), lang.English())
		if got := doMixedPrecision(f)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%q\nbecame %q\n  want %q", command, got, want)
		}
	}
}

// What is on already is not advised, whatever the option for it is called.
func TestCheckpointingInForce(t *testing.T) {
	for option, want := range map[string]bool{"--checkpointing": true, "--gradient_checkpointing True": true, "--checkpoint_dir x": false} {
		f := newFailure(Incident{Command: "torchrun train.py --batch_size 2 " + option}, ruleBase(), lang.English())
		if f.checkpointing() != want {
			t.Errorf("%s: in force %v", option, !want)
		}
	}
}
