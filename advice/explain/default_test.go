package explain

import (
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Only of a program that takes its memory before it needs it, or of which nothing is known and that holds as much, is that said.
func TestTakenByDefault(t *testing.T) {
	for name, row := range map[string]struct {
		other, server string
		held          float64
		want          string
	}{
		"another program beside a server": {"python lora_sft.py --model Qwen3-4B", "vllm", 18, ""},
		"another server beside it":        {"vllm serve m", "vllm", 18, "vllm"},
		"JAX, by its share":               {"python rl.py", "", 60, "jax"},
		"a program of unknown name":       {"", "vllm", 18, ""},
		"that holds what a server takes":  {"", "vllm", 66, "vllm"},
	} {
		e := pytorch(gibs(1), gibs(80), gibs(0.5))
		e.Context = &sampler.LogContext{Server: row.server}
		e.OtherProcesses = []sampler.OtherProcess{{PID: 7, Bytes: gibs(row.held).Or(0)}}
		f := newFailure(Incident{Events: []sampler.OOMEvent{e}}, e, lang.English())
		for i := range f.others {
			f.others[i].Command = row.other
		}
		if got := f.takenByDefault(); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
