package watch

import (
	"testing"

	"nvpeak/sampler"
)

func TestCauses(t *testing.T) {
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
			for _, c := range Causes(row.alerts) {
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
	for kind := range alertCauses {
		if !hasRule(kind) {
			t.Errorf("%s is no rule", kind)
		}
	}
}

func hasRule(code string) bool {
	for _, r := range Rules() {
		if r.Code == code {
			return true
		}
	}
	return false
}
