package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Layers that one process spreads over several GPUs leave the logits to the last of them: that is a cause beside the length of the input, and says where room is missing.
func TestSpreadLogits(t *testing.T) {
	for what, row := range map[string]struct {
		command string
		gpu     int
		code    string
		listed  bool
	}{
		"the last of several": {"python eval.py --max_length 16384 --device_map auto", 3, "logits = logits.float()", true},
		"the only one":        {"python eval.py --max_length 16384 --device_map auto", 0, "logits = logits.float()", false},
		"a layer":             {"python eval.py --max_length 16384 --device_map auto", 2, "x = self.up_proj(x)", false},
		"each rank its own":   {"torchrun --nproc_per_node 4 eval.py --max_length 16384", 3, "logits = logits.float()", false},
	} {
		e := pytorch(gibs(5.69), gibs(23.69), gibs(4.26))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.GPUIndex = "CUDA out of memory.", gibs(18), gibs(1.15), gibs(19.43), sampler.Some(row.gpu)
		e.Context = &sampler.LogContext{Step: sampler.Some(27), Functions: []string{"<module>", "new_forward", "forward"}, Code: []string{"outputs = model(input_ids, labels=target_ids)", row.code}, Files: []string{"ppl/eval.py", "modules/module.py", "qwen2/modeling_qwen2.py"}}
		h := &History{Age: sampler.Some(115.0), Process: e.ProcessInUse, Peaks: amounts(22200, 22200, 22200, 22300, 22300, 22300)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: row.command})
		cause := slices.ContainsFunc(got.Causes, func(c sampler.Cause) bool { return c.ID == CauseImbalance })
		room := slices.ContainsFunc(got.Advice, func(a sampler.Advice) bool {
			return a.ID == FixRebalanceRanks && strings.Contains(a.Title, "logits") && len(a.Do) == 1
		})
		if cause != row.listed || room != row.listed {
			t.Errorf("%s: %+v, %v", what, got.Causes, adviceIDs(got.Advice))
		}
	}
}
