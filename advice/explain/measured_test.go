package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What the allocator measured outweighs what the message lets one guess of fragmentation: it makes it sure, or out
// of the question. Nobody is told to type an allocator option against what it is not.
func TestMeasured(t *testing.T) {
	e := pytorch(mibs(1000), mibs(20600), mibs(300))
	e.Allocated, e.ReservedUnallocated, e.ProcessInUse = mibs(18000), mibs(2000), mibs(20500)
	for name, row := range map[string]struct {
		refused *sampler.RefusedTensor
		least   float64
		most    float64
		says    string
	}{
		"not measured":       {nil, 0.3, 0.4, ""},
		"broken up":          {&sampler.RefusedTensor{Requested: 1000 * sampler.MiB, LargestFree: mibs(90), Allocated: mibs(18000), Reserved: mibs(20000), GPUFree: mibs(300)}, 0.9, 1, "in blocks of at most 90.0 MiB"},
		"a block holds it":   {&sampler.RefusedTensor{Requested: 1000 * sampler.MiB, LargestFree: mibs(1200), Allocated: mibs(18000), Reserved: mibs(20000), GPUFree: mibs(300)}, 0, 0, "could have held"},
		"too little":         {&sampler.RefusedTensor{Requested: 1000 * sampler.MiB, LargestFree: mibs(90), Allocated: mibs(19500), Reserved: mibs(20000), GPUFree: mibs(300)}, 0, 0, "less than the 1000 MiB"},
		"of another request": {&sampler.RefusedTensor{Requested: 500 * sampler.MiB, LargestFree: mibs(1200), Allocated: mibs(18000), Reserved: mibs(20000), GPUFree: mibs(300)}, 0.3, 0.4, ""},
	} {
		e.Refused = row.refused
		out := Explain(Incident{Events: []sampler.OOMEvent{e}})
		got, evidence := 0.0, ""
		for _, c := range out.Causes {
			evidence += strings.Join(c.Evidence, "\n")
			if c.ID == CauseFragmentation {
				got = c.Confidence
			}
		}
		if got < row.least || got > row.most {
			t.Errorf("%s: %.2f", name, got)
		}
		if !strings.Contains(evidence, row.says) || row.says == "" && strings.Contains(evidence, "Measured") {
			t.Errorf("%s: says %q", name, evidence)
		}
		for _, a := range out.Advice {
			if a.ID == FixExpandableSegments && row.most == 0 {
				t.Errorf("%s: still advised to use expandable segments", name)
			}
		}
	}
}
