package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Beside a smaller job stands a larger GPU where the job is too big, and a look at the GPU where nothing is known of it,
// in what the first screen shows. What is typed stays as it is.
func TestBeside(t *testing.T) {
	big := func(requested, allocated float64) sampler.OOMEvent {
		e := pytorch(gibs(requested), gibs(24), gibs(0.1))
		e.Allocated, e.ProcessInUse, e.Context = gibs(allocated), gibs(23.9), &sampler.LogContext{Told: []string{sampler.ToldTraining}}
		return e
	}
	told := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Occurrences: 1, Extra: map[string]any{"told": true},
		Context: &sampler.LogContext{Told: []string{sampler.ToldTraining}}}
	recorded := &History{}
	for name, row := range map[string]struct {
		in       Incident
		has, not string
	}{
		"too big":         {Incident{Events: []sampler.OOMEvent{big(1, 23.2)}}, "or a GPU with more memory: it needs more than 24.90 GiB", "nvidia-smi"},
		"a command":       {Incident{Events: []sampler.OOMEvent{big(1, 23.2)}, Command: "python train.py --batch-size 8"}, "or a GPU with more memory", "nvidia-smi"},
		"recorded":        {Incident{Events: []sampler.OOMEvent{big(1, 23.2)}, History: recorded}, "", "or a GPU with more memory"},
		"larger than any": {Incident{Events: []sampler.OOMEvent{big(400, 23.2)}}, "", "or a GPU with more memory"},
		"only told":       {Incident{Events: []sampler.OOMEvent{told}}, "nvidia-smi  # who holds the GPU now?", "or a GPU with more memory"},
	} {
		first := Explain(row.in).Advice[0]
		shown := strings.Join(first.Do[:min(shownWith, len(first.Do))], "\n")
		if !strings.Contains(shown, row.has) || strings.Contains(shown, row.not) {
			t.Errorf("%s: %s shows %q", name, first.ID, shown)
		}
		if name == "a command" && first.Do[0] != "python train.py --batch-size 4" {
			t.Errorf("%s became %q", name, first.Do[0])
		}
	}
}
