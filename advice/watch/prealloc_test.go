package watch

import (
	"testing"

	"nvpeak/sampler"
)

func TestPreallocates(t *testing.T) {
	for _, row := range []struct {
		name string
		p    sampler.Process
		want string
	}{
		{"vllm server", sampler.Process{Command: "python -m vllm.entrypoints.openai.api_server --model x"}, "vLLM"},
		{"vllm worker by name", sampler.Process{Name: "VLLM::EngineCore"}, "vLLM"},
		{"jax by framework", sampler.Process{Command: "python train.py", Framework: sampler.Some("jax")}, "JAX"},
		{"jax told not to", sampler.Process{Command: "python jax_train.py", Environment: map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}}, ""},
		{"tensorflow told to grow", sampler.Process{Framework: sampler.Some("tensorflow"), Environment: map[string]string{"TF_FORCE_GPU_ALLOW_GROWTH": "TRUE"}}, ""},
		{"tensorflow", sampler.Process{Framework: sampler.Some("tensorflow")}, "TensorFlow"},
		{"pytorch", sampler.Process{Command: "python train.py", Framework: sampler.Some("pytorch")}, ""},
		{"nothing known", sampler.Process{}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			pre, yes := Preallocates(row.p)
			if yes != (row.want != "") || pre.Program != row.want {
				t.Errorf("%+v %v", pre, yes)
			}
		})
	}
}

// TestPreallocatedNeighbour: who needs memory beside a preallocator is told what it is.
func TestPreallocatedNeighbour(t *testing.T) {
	w := New(Options{Need: sampler.Some(20 * sampler.GiB)})
	var open []sampler.Alert
	for i := range 60 {
		open = w.Add(snapshotOf(float64(i), 81920, 0.92*81920, processOf(7, "python -m vllm.entrypoints.openai.api_server", 0.92*81920-300)))
	}
	if len(open) != 1 || open[0].Kind != "need_does_not_fit" {
		t.Fatalf("%+v", open)
	}
	for _, line := range open[0].Evidence {
		if line == "it is vLLM, which takes 90 to 92 % of the GPU for weights and cache (--gpu-memory-utilization)" {
			return
		}
	}
	t.Errorf("%q", open[0].Evidence)
}
