package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Growth that is meant is no leak: what the program has of its own comes first, the pictures in RAM before less detail.
func TestGrowsByDesign(t *testing.T) {
	climb := amounts(4500, 4900, 5300, 5700, 6100, 6500, 6900, 7300, 7700, 8100, 8500, 8900, 9300, 9700, 10100)
	leak := []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it grows"}}
	for what, row := range map[string]struct {
		command string
		files   []string
		cause   string
		first   string
		do      string
	}{
		"pictures on the GPU": {"python train.py -s data/college --densify_grad_threshold 0.0001", []string{"gaussian-splatting/train.py", "diff_gaussian_rasterization/__init__.py"}, CauseTooBig, FixShardOrOffload, "--densify_grad_threshold 0.0001 --data_device cpu"},
		"pictures in RAM":     {"python train.py -s data/college --densify_grad_threshold 0.0001 --data_device cpu", []string{"gaussian-splatting/train.py", "diff_gaussian_rasterization/__init__.py"}, CauseTooBig, FixSmallerInput, "--densify_grad_threshold 0.0004 --data_device cpu"},
		"any other program":   {"python train.py -s data/college", []string{"fields/train.py"}, CauseLeak, FixLeak, "loss.item()"},
	} {
		e := pytorch(gibs(1.31), gibs(11.7), gibs(1.3))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(9.36), gibs(0.7), gibs(10.4)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(13200), Functions: []string{"training", "backward"}, Files: row.files}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(640.0), Process: gibs(10.4), Peaks: climb}}, Alerts: leak, Command: row.command})
		if a := got.Advice[0]; got.Causes[0].ID != row.cause || a.ID != row.first || !strings.Contains(strings.Join(a.Do, "\n"), row.do) {
			t.Errorf("%s: %+v\n%s %q", what, got.Causes, a.ID, a.Do)
		}
	}
}

// Where an alert told of growth, no other cause says that no figures show any.
func TestGrowthThatWasTold(t *testing.T) {
	for name, alerts := range map[string][]sampler.Alert{"told": {{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it grows"}}, "not told": nil} {
		e := pytorch(gibs(2), gibs(80), gibs(1.2))
		e.Text, e.Context = "CUDA out of memory.", &sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(3), Step: sampler.Some(10), Functions: []string{"main", "forward"}}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Alerts: alerts})
		all := ""
		for _, c := range got.Causes {
			all += strings.Join(c.Evidence, "\n") + "\n"
		}
		if strings.Contains(all, "No figures show") != (alerts == nil) || !strings.Contains(all, "may also have been one unusually large batch") {
			t.Errorf("%s: %s", name, all)
		}
	}
}
