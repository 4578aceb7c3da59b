package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// The name of a language model tells its size; a part of it does not, nor what a data set has.
func TestNamedParameters(t *testing.T) {
	for typed, want := range map[string]uint64{
		"python dpo.py --model_name_or_path Qwen/Qwen2.5-3B-Instruct": 3e9,
		"python sft.py --model meta-llama/Llama-2-7b-hf":              7e9,
		"python sft.py --base_model=HuggingFaceTB/SmolLM-135M":        135e6,
		"python sft.py --model mistralai/Mixtral-8x7B-v0.1":           0,
		"python train.py --model ViT-H-14-laion2B-s32B-b79K":          0,
		"python train.py --model bert-base-uncased":                   0,
		"python train.py --lr 3e-5":                                   0,
	} {
		j := job{command: command.Parse(typed)}
		if got := j.namedParameters(); got != want {
			t.Errorf("%s: %d, not %d", typed, got, want)
		}
	}
}

// What part of the tensors are activations is said only where it is known what tensors held.
func TestNoShareOfNothing(t *testing.T) {
	e := pytorch(gibs(1.6), gibs(24), gibs(0.2))
	e.Text, e.ProcessInUse = "the driver refused 1.6 GiB", gibs(23.2)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Functions: []string{"train", "forward"}}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python finetune.py --model 350m --batch-size 16"})
	if got.Causes[0].ID != CauseTooBig || strings.Contains(got.Verdict.Detail, "0 %") {
		t.Errorf("%s: %s", got.Causes[0].ID, got.Verdict.Detail)
	}
}
