package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// TestHealthyDays: a day of each healthy class raises no warning.
func TestHealthyDays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, name := range classes("ok") {
		for seed := range uint64(dayRuns) {
			s := advicetest.Scenes[name](rand.New(rand.NewPCG(seed, 23)))
			s.Seconds, s.Step = 24*3600, max(s.Step, 4)
			out := play(s)
			if !math.IsNaN(out.died) {
				t.Errorf("%s %d died at %v", name, seed, out.died)
			}
			for _, a := range out.alerts {
				if a.Level != sampler.LevelNotice {
					t.Errorf("%s %d (hidden %v, step %v): %s at %.0f s: %s %q", name, seed, s.Hidden, s.Step, a.Kind, a.T, a.Text, a.Evidence)
				}
			}
		}
	}
}

const dayRuns = 1

// classes are the scenes whose name begins so, in order.
func classes(prefix string) []string {
	var names []string
	for name := range advicetest.Scenes {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// TestGrowthETA: from half-way between the start of a leak and its end on, the forecast
// is within 30 % of the truth in nine of ten moments, and the range holds the truth in
// most.
func TestGrowthETA(t *testing.T) {
	var moments, close, within float64
	for seed := range uint64(20) {
		s := advicetest.Scenes["leak"](rand.New(rand.NewPCG(seed, 31)))
		out := play(s)
		if math.IsNaN(out.died) {
			continue
		}
		w := New(Options{})
		half := (s.After + out.died) / 2
		for at := 0.0; at < out.died; at += s.Step {
			snap, _ := s.Snapshot(at, 1)
			for _, a := range w.Add(snap) {
				left := out.died - at
				if a.Kind != "growth" || at < half || left < 30 {
					continue
				}
				moments++
				if math.Abs(a.ETA.Or(0)-left) <= 0.3*left {
					close++
				}
				if a.Numbers["eta_low_s"] <= left && left <= a.Numbers["eta_high_s"] {
					within++
				}
			}
		}
	}
	say := fmt.Sprintf("%.0f moments, %.1f %% within 30 %%, %.1f %% inside the range", moments, 100*close/moments, 100*within/moments)
	t.Log(say)
	if moments < 500 || close < 0.9*moments {
		t.Error(say)
	}
}
