package watch

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// TestSameAlerts: the same snapshots give the same alerts, word for word, and an alert in
// the list of past ones never changes but for its end.
func TestSameAlerts(t *testing.T) {
	run := func() (open []byte, raised map[string]string, past []sampler.Alert) {
		w := New(Options{Need: sampler.Some(60 * sampler.GiB)})
		raised = map[string]string{}
		for i := range 3000 {
			s := advicetest.Scenes["rank 0 leaks"](rand.New(rand.NewPCG(5, 1)))
			snap, died := s.Snapshot(float64(i), 4)
			if died {
				break
			}
			b, err := json.Marshal(w.Add(snap))
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, b...)
			for _, a := range w.Past() {
				k := words(t, a)
				if raised[k] == "" {
					raised[k] = k
				}
			}
		}
		return open, raised, w.Past()
	}
	one, raised, past := run()
	two, _, _ := run()
	if string(one) != string(two) {
		t.Error("two runs differ")
	}
	if len(past) < 5 || len(raised) != len(past) {
		t.Errorf("%d alerts were raised, but their words had %d forms", len(past), len(raised))
	}
}

// words is an alert without its end.
func words(t *testing.T, a sampler.Alert) string {
	a.End = sampler.Opt[float64]{}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An alert whose silencer ends is raised at that moment, in whatever order the two are looked at.
func TestSilencerEnds(t *testing.T) {
	for range 50 {
		w := New(Options{})
		w.clock.Next(advicetest.Epoch)
		key := func(r *Rule) incidentKey { return incidentKey{rule: slices.Index(rules, r), machine: true} }
		w.open[key(&ruleOOM)] = &incident{key: key(&ruleOOM), fired: true, seen: -60}
		found := finding{level: sampler.LevelWarning, render: func(*Facts) message { return message{} }}
		w.open[key(&ruleFlush)] = &incident{key: key(&ruleFlush), since: -60, times: 2, found: found}
		w.expire(advicetest.Epoch)
		if open := w.Open(); len(open) != 1 || open[0].Kind != ruleFlush.Code {
			t.Fatalf("%+v", open)
		}
	}
}
