package explain

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
		{"a trainer beside a server", sampler.Process{Command: "accelerate launch grpo.py --use_vllm --vllm_mode server"}, ""},
		{"a trainer with one inside", sampler.Process{Command: "accelerate launch grpo.py --use_vllm --vllm_mode colocate"}, "vLLM"},
		{"the value of an option", sampler.Process{Command: "lm_eval --model=vllm"}, "vLLM"},
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
