package explain

import (
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// What was refused is as large as each of the steps by which the use rose: the same is made once more and kept, and no input was larger. Small
// requests and those of another size say nothing of that, nor does a validation, which keeps one output after another.
func TestAskedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		need, step float64 // GiB
		swell      float64
		phase      string
		again      bool
	}{
		"as large":         {2.43, 2.43, 0, sampler.PhaseTraining, true},
		"nearly":           {2.43, 2.39, 0, sampler.PhaseTraining, true},
		"another size":     {2.43, 2.35, 0, sampler.PhaseTraining, false},
		"small":            {0.21, 0.21, 0, sampler.PhaseTraining, false},
		"larger each time": {2.43, 2.43, 1.5, sampler.PhaseTraining, false},
		"in a validation":  {2.43, 2.43, 0, sampler.PhaseValidation, false},
		"saving the model": {2.43, 2.43, 0, sampler.PhaseSaving, false},
	} {
		c := sampler.LogContext{Phase: row.phase, Step: sampler.Some(1634), Functions: []string{"<module>", "main", "compute_loss"}}
		alert := sampler.Alert{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "it has risen by 2 equal steps",
			Numbers: map[string]float64{"steps": 2, "step_bytes": row.step * float64(sampler.GiB), "interval_s": 490, Swell: row.swell}}
		e := died(row.need, 22.1, 0.2, 18.8, c)
		e.ReservedUnallocated = gibs(2.53)
		x := Explain(Incident{Events: []sampler.OOMEvent{e}, Alerts: []sampler.Alert{alert}, Command: "python sft_custom_loss.py",
			Histories: []*History{{Age: sampler.Some(1300.0), Process: gibs(21.6), Peaks: amounts(16600, 16600, 19100, 19100, 19100, 21600, 21600, 21600)}}})
		first := x.Causes[0].ID == CauseLeak && x.Advice[0].ID == FixLeak
		if row.again && !first {
			t.Errorf("%s: %s, %s\n%s", name, x.Causes[0].ID, x.Advice[0].ID, told(x))
		}
		if f := newFailure(Incident{Alerts: []sampler.Alert{alert}, Command: "python sft_custom_loss.py"}, e, lang.For("")); f.asksAgain() != row.again {
			t.Errorf("%s: asks again %v", name, !row.again)
		}
	}
}
