package explain

import (
	"testing"

	"nvpeak/sampler"
)

func TestAlertCauses(t *testing.T) {
	stop := []sampler.Advice{{ID: "stop_other_process", Rank: 1}}
	for _, row := range []struct {
		name   string
		alerts []sampler.Alert
		want   []string
	}{
		{"nothing", nil, nil},
		{"an event is no cause", []sampler.Alert{{Kind: "xid"}, {Kind: "oom"}}, nil},
		{"leak", []sampler.Alert{{Kind: "growth"}}, []string{"leak"}},
		{"spike", []sampler.Alert{{Kind: "repeat_spike"}}, []string{"validation_spike"}},
		{"spike beside a newcomer", []sampler.Alert{{Kind: "repeat_spike", Advice: stop}}, []string{"other_process"}},
		{"the surest first, each once", []sampler.Alert{{Kind: "swap"}, {Kind: "flush"}, {Kind: "host_memory"}}, []string{"host_memory", "fragmentation"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var ids []string
			for _, c := range AlertCauses(row.alerts) {
				ids = append(ids, c.ID)
				if len(c.Evidence) == 0 || c.Confidence <= 0 || c.Confidence > 1 {
					t.Errorf("%+v", c)
				}
			}
			if len(ids) != len(row.want) {
				t.Fatalf("%v", ids)
			}
			for i := range ids {
				if ids[i] != row.want[i] {
					t.Errorf("%v", ids)
				}
			}
		})
	}
}

// What comes again and again in a program that tests no model is no validation.
func TestSpikesWithoutModels(t *testing.T) {
	for framework, want := range map[string]string{"relion": CauseDataSpike, "rmm": CauseDataSpike, "pytorch": CauseValidationSpike} {
		e := sampler.OOMEvent{Framework: framework, Kind: sampler.KindOtherGPU, MemoryKind: sampler.MemoryGPU}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Alerts: []sampler.Alert{{Kind: sampler.AlertRepeatSpike}}})
		if len(got.Causes) == 0 || got.Causes[0].ID != want {
			t.Errorf("%s: %+v", framework, got.Causes)
		}
	}
}

// Nor is it one in a program that is known as one without validations, whoever prints its message.
func TestSpikesOfSimulations(t *testing.T) {
	for work, want := range map[string]string{sampler.ToldWork + sampler.WorkGrid: CauseDataSpike, sampler.ToldWork + sampler.WorkLayers: CauseValidationSpike} {
		e := sampler.OOMEvent{Framework: "cuda", Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Context: &sampler.LogContext{Told: []string{work}}}
		if got := Explain(Incident{Events: []sampler.OOMEvent{e}, Alerts: []sampler.Alert{{Kind: sampler.AlertRepeatSpike}}}); got.Causes[0].ID != want {
			t.Errorf("%s: %+v", work, got.Causes)
		}
	}
}
