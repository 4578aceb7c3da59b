package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
	etas   []eta
}

// eta is what an alert that began at a time said at another.
type eta struct{ began, at, left float64 }

// within says how many of the times that were said in the second half of an alert's life
// were right within a factor of 1.5.
func (o outcome) within() (right, said float64) {
	for _, e := range o.etas {
		if truth := o.died - e.at; e.at >= (e.began+o.died)/2 && truth > 2 {
			said++
			if e.left >= truth/1.5 && e.left <= truth*1.5 {
				right++
			}
		}
	}
	return right, said
}

// held says whether a warning was on within the last minute.
func (o outcome) held() bool {
	return slices.ContainsFunc(o.alerts, func(a sampler.Alert) bool {
		return a.Level != sampler.LevelNotice && a.End.Or(o.died) >= o.died-60
	})
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
		for _, a := range w.Add(snap) {
			if left, ok := a.ETA.Value(); ok && a.Kind != "host_memory" && a.Level != sampler.LevelNotice {
				out.etas = append(out.etas, eta{a.T, t, left})
			}
		}
		out.hours = t / 3600
	}
	out.alerts = w.Past()
	return out
}

// TestWatchedRuns plays many runs of each class and holds the rates that the docs state.
func TestWatchedRuns(t *testing.T) {
	const runs = 4
	names := make([]string, 0, len(advicetest.Scenes))
	for name := range advicetest.Scenes {
		names = append(names, name)
	}
	sort.Strings(names)
	var table strings.Builder
	var hours, false_, possible, warned, held, hit, healthyRuns, right, said float64
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
			if healthy {
				healthyRuns++
				if slices.ContainsFunc(out.alerts, func(a sampler.Alert) bool { return a.Level != sampler.LevelNotice }) {
					hit++
				}
			}
			if !math.IsNaN(out.died) {
				died++
				if s.Possible {
					could++
					if !math.IsNaN(first) {
						told++
						if out.held() {
							held++
						}
						if r, n := out.within(); n > 0 { // each run counts once
							right, said = right+r/n, said+1
						}
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
	t.Logf("\n%swarned %.1f %%, held %.1f %%, false %.3f an hour, %.0f of %.0f healthy runs hit, ETA within 1.5 from half-way %.0f %% of %.0f runs",
		table.String(), 100*warned/possible, 100*held/possible, false_/hours, hit, healthyRuns, 100*right/said, said)
	for name, row := range map[string]struct{ got, least float64 }{
		"warned": {warned / possible, 0.95}, "held": {held / possible, 0.9 * 0.9}, "ETA": {right / said, 0.9 * 0.9},
		"quiet hours": {0.05 * hours, false_}, "quiet runs": {healthyRuns * 2 / 58, hit},
	} {
		if row.got < row.least {
			t.Errorf("%s: %.3f, want %.3f", name, row.got, row.least)
		}
	}
}
