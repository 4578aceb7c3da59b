package explain

import (
	"testing"

	"nvpeak/sampler"
)

// A staircase of equal steps is growth, also when one stretch has two of them; what levels off is none.
func TestGrowthOfLevels(t *testing.T) {
	for what, row := range map[string]struct {
		gib    []float64
		steady bool
	}{
		"equal steps, rarely":      {[]float64{62.6, 66.4, 66.4, 66.4, 66.4, 70.3, 70.3, 70.3, 74.1, 74.1, 74.1, 74.1, 77.9, 77.9, 77.9, 77.9}, true},
		"unequal steps that end":   {[]float64{40, 52, 52, 60, 60, 60, 65, 65, 65, 66, 66, 66, 66, 66, 66, 66}, false},
		"one step":                 {[]float64{40, 40, 40, 40, 40, 60, 60, 60, 60, 60}, false},
		"level":                    {[]float64{40, 40.1, 40, 40.1, 40, 40.1, 40, 40.1, 40, 40.1}, false},
		"up with every validation": {[]float64{40, 44, 48, 52, 56}, true},
		"given back":               {[]float64{40, 50, 60, 70, 40, 50, 60, 70, 40, 50}, false},
	} {
		var levels []sampler.Bytes
		for _, g := range row.gib {
			levels = append(levels, sampler.Bytes(g*float64(sampler.GiB)))
		}
		if got := riseOfLevels(levels).steady(); got != row.steady {
			t.Errorf("%s: steady is %v", what, got)
		}
	}
}

// A late failure that the program went on after was not one of what it kept: no growth was seen.
func TestSurvivedIsNoLeak(t *testing.T) {
	e := pytorch(gibs(1.5), gibs(39.39), gibs(0.3))
	e.Allocated, e.ReservedUnallocated, e.ProcessInUse = gibs(37.1), gibs(0.4), gibs(39.07)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(120), Environment: map[string]string{}}
	for recovered, want := range map[bool]string{false: CauseLeak, true: CauseDataSpike} {
		e.Recovered = recovered
		if causes := Explain(Incident{Events: []sampler.OOMEvent{e}}).Causes; causes[0].ID != want {
			t.Errorf("survived %v: %+v", recovered, causes)
		}
	}
}
