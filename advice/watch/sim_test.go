package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// outcome of a scene.
type outcome struct {
	died   float64 // NaN: lived
	alerts []sampler.Alert
	hours  float64
}

// play runs a scene through a Watch.
func play(s *advicetest.Scene) outcome {
	w := New(Options{})
	out := outcome{died: math.NaN()}
	gpus := 1
	for _, j := range s.Jobs {
		gpus = max(gpus, j.GPU+1)
	}
	for t := 0.0; t < s.Seconds; t += s.Step {
		snap, died := s.Snapshot(t, gpus)
		if died {
			out.died = t
			break
		}
		w.Add(snap)
		out.hours = t / 3600
	}
	out.alerts = w.Past()
	return out
}

// TestWatchedRuns plays many runs of each class and holds the rates that the docs state.
func TestWatchedRuns(t *testing.T) {
	runs := 25
	if testing.Short() {
		runs = 8
	}
	names := make([]string, 0, len(advicetest.Scenes))
	for name := range advicetest.Scenes {
		names = append(names, name)
	}
	sort.Strings(names)
	var table strings.Builder
	var hours, false_, possible, warned float64
	for _, name := range names {
		var died, told, could, alarms, notices, h float64
		var leads []float64
		for i := range runs {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			s := advicetest.Scenes[name](r)
			out := play(s)
			healthy := strings.HasPrefix(name, "ok")
			if healthy && !math.IsNaN(out.died) {
				t.Fatalf("%s %d is not healthy: dies at %.0f s", name, i, out.died)
			}
			first := math.NaN()
			for _, a := range out.alerts {
				switch {
				case a.Level == sampler.LevelNotice:
					notices++
				case healthy || a.T < s.After:
					alarms++
					if testing.Verbose() {
						t.Logf("FALSE %s %d (%.0f GiB, %.0f s of %.0f, step %v, hidden %v): %s: %s %q", name, i, s.Total/1024, a.T, s.Seconds, s.Step, s.Hidden, a.Kind, a.Text, a.Evidence)
					}
				case math.IsNaN(first):
					first = a.T
				}
			}
			h += out.hours
			if !math.IsNaN(out.died) {
				died++
				if s.Possible {
					could++
					if !math.IsNaN(first) {
						told++
						leads = append(leads, out.died-first)
					} else if testing.Verbose() {
						t.Logf("MISSED %s %d: died %.0f s of %.0f step %v hidden %v windows %v after %.0f", name, i, out.died, s.Seconds, s.Step, s.Hidden, s.Windows, s.After)
					}
				}
			}
		}
		if strings.HasPrefix(name, "ok") {
			hours, false_ = hours+h, false_+alarms
		}
		possible, warned = possible+could, warned+told
		lead := math.NaN()
		if len(leads) > 0 {
			lead = series.Median(leads)
		}
		fmt.Fprintf(&table, "%-26s runs %3d  hours %6.1f  died %3.0f  warned %3.0f of %3.0f  lead %5.0f s  early/false %3.0f  notices %3.0f\n", name, runs, h, died, told, could, lead, alarms, notices)
	}
	t.Logf("\n%swarned %.1f %%, false %.3f an hour", table.String(), 100*warned/possible, false_/hours)
	if warned < 0.95*possible {
		t.Errorf("warned of %.0f of %.0f", warned, possible)
	}
	if false_ > 0.05*hours {
		t.Errorf("%.0f false alarms in %.0f healthy hours", false_, hours)
	}
}
