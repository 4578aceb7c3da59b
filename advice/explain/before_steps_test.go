package explain

import (
	"testing"

	"nvpeak/sampler"
)

// Who dies in the first step of a training whose states alone are more than the GPU is told to divide them, though no line of the log is of that step
// but the traceback; and not where steps were done, or by how much the states are is not known.
func TestStatesBeforeTheFirstStep(t *testing.T) {
	for name, row := range map[string]struct {
		command, phase string
		age            float64
		step           sampler.Opt[int]
		beyond         bool
	}{
		"in the traceback alone": {"torchrun --nproc_per_node 4 finetune.py --model mistralai/Mistral-7B-v0.1 --bf16", sampler.PhaseTraining, 39, sampler.Opt[int]{}, true},
		"no word of it":          {"torchrun --nproc_per_node 4 finetune.py --model mistralai/Mistral-7B-v0.1 --bf16", "", 39, sampler.Opt[int]{}, true},
		"after some steps":       {"torchrun --nproc_per_node 4 finetune.py --model mistralai/Mistral-7B-v0.1 --bf16", sampler.PhaseTraining, 39, sampler.Some(20), false},
		"it fits":                {"torchrun --nproc_per_node 4 finetune.py --model Qwen/Qwen2.5-1.5B --bf16", sampler.PhaseTraining, 39, sampler.Opt[int]{}, false},
	} {
		e := pytorch(gibs(0.14), gibs(39.39), gibs(0.05))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(38.29), gibs(0.31), gibs(39.34)
		e.Context = &sampler.LogContext{Phase: row.phase, Step: row.step, Functions: []string{"<module>", "main", "train", "training_step", "backward"}}
		x := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: row.command,
			Histories: []*History{{Age: sampler.Some(row.age), Process: e.ProcessInUse, Peaks: amounts(13900, 13900, 13900, 29800, 40200)}}})
		if got := x.Causes[0].ID == CauseTooBig && x.Advice[0].ID == FixShardOrOffload; got != row.beyond {
			t.Errorf("%s: %s, %s", name, x.Causes[0].ID, x.Advice[0].ID)
		}
	}
}

// Where somebody else holds most of the GPU that comes first, however large the states are.
func TestStatesBesideAServer(t *testing.T) {
	e := pytorch(gibs(0.15), gibs(94.9), gibs(0.08))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(16.2), gibs(0.21), gibs(16.9)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Functions: []string{"<module>", "main", "train", "training_step", "forward"}}
	x := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python finetune.py --model mistralai/Mistral-7B-v0.1",
		Histories: []*History{{Age: sampler.Some(33.0), Process: e.ProcessInUse, Others: []Neighbor{{PID: 14258, Name: "vllm", User: "svc", Bytes: gibs(77.9).Or(0)}}, Peaks: amounts(4000, 9000, 13900, 17300)}}})
	if x.Causes[0].ID != CauseOtherProcess || x.Advice[0].ID != FixStopOtherProcess {
		t.Errorf("%s, %s\n%s", x.Causes[0].ID, x.Advice[0].ID, told(x))
	}
}
