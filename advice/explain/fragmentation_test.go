package explain

import (
	"testing"

	"nvpeak/sampler"
)

// Both sides of each bound of fragmentation: a twentieth of what the allocator holds to be named, and late in a run
// a tenth or 1 GiB to be more than weak. Early it is weak whatever it has.
func TestFragmentationBounds(t *testing.T) {
	for name, row := range map[string]struct {
		reserved, unallocated float64 // MiB
		confidence            float64 // 0: not named
		late                  float64 // the same in the fifth epoch
	}{
		"less than a twentieth":        {4000, 199, 0, 0},
		"a twentieth":                  {4000, 200, 0.35, 0.35},
		"less than a tenth":            {4000, 399, 0.35, 0.35},
		"a tenth":                      {4000, 400, 0.35, 0.75},
		"less than a GiB":              {20000, 1023, 0.35, 0.35},
		"a GiB, less than a tenth":     {20000, 1024, 0.35, 0.75},
		"a GiB, less than a twentieth": {20500, 1024, 0, 0},
	} {
		e := pytorch(mibs(100), mibs(row.reserved+600), mibs(50))
		e.Allocated, e.ReservedUnallocated, e.ProcessInUse = mibs(row.reserved-row.unallocated), mibs(row.unallocated), mibs(row.reserved+500)
		for epoch, want := range map[int]float64{0: row.confidence, 5: row.late} {
			e.Context = &sampler.LogContext{Epoch: sampler.Some(epoch)}
			got := 0.0
			for _, c := range Explain(Incident{Events: []sampler.OOMEvent{e}}).Causes {
				if c.ID == CauseFragmentation {
					got = c.Confidence
				}
			}
			if got != want {
				t.Errorf("%s, epoch %d: %.2f, want %.2f", name, epoch, got, want)
			}
		}
	}
}
