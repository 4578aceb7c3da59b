package advice

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A scene is a simulated box. Each job says how much it wants at each step; the first
// that does not get it dies, and the run ends there.
type scene struct {
	class    string
	r        *rand.Rand
	total    float64
	reserved float64
	seconds  float64
	step     float64 // between snapshots
	hidden   bool    // no process is listed
	windows  bool    // the fast lane's window is recorded
	jobs     []*job
	host     func(t float64) (available, total float64)
	possible bool    // somebody who knows only the past could have warned
	after    float64 // a warning before this moment is no credit: nothing had happened yet
}

// job is one process on card gpu from start to end.
type job struct {
	gpu        int
	pid        int
	start, end float64
	command    string
	user       string
	want       func(t float64) float64 // seconds since its start, MiB
}

// outcome of a scene.
type outcome struct {
	died   float64 // NaN: lived
	alerts []sampler.Alert
	hours  float64
}

// play runs a scene through a Watch.
func (s *scene) play() outcome {
	w := NewWatch(Options{})
	out := outcome{died: math.NaN()}
	gpus := 1
	for _, j := range s.jobs {
		gpus = max(gpus, j.gpu+1)
	}
	for t := 0.0; t < s.seconds; t += s.step {
		snap, died := s.snapshot(t, gpus)
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

func (s *scene) snapshot(t float64, gpus int) (snap sampler.Snapshot, died bool) {
	snap = sampler.Snapshot{Type: "snapshot", Time: epoch.Add(time.Duration(t * float64(time.Second)))}
	for g := range gpus {
		sum, most, least := 0.0, 0.0, 0.0
		var procs []sampler.Process
		for _, j := range s.jobs {
			if j.gpu != g || t < j.start || t >= j.end {
				continue
			}
			now := j.want(t - j.start)
			sum += now
			high, low := now, now
			if s.windows && t-s.step >= j.start {
				for k := range 9 {
					v := j.want(t - j.start - s.step*float64(k+1)/10)
					high, low = max(high, v), min(low, v)
				}
			}
			most, least = most+high, least+low
			procs = append(procs, sampler.Process{PID: j.pid, Name: "python", User: j.user, Command: j.command,
				StartTime: sampler.Some(epoch.Add(time.Duration(j.start * float64(time.Second)))), Memory: sampler.Some(bytesOf(now))})
		}
		if max(sum, most) > s.total-s.reserved {
			return snap, true
		}
		card := sampler.GPU{Index: g, Memory: sampler.Memory{Total: sampler.Some(bytesOf(s.total)), Used: sampler.Some(bytesOf(sum))}}
		if s.reserved > 0 {
			card.Memory.Reserved = sampler.Some(bytesOf(s.reserved))
		}
		if s.windows {
			card.Memory.Window = &sampler.Window{Min: bytesOf(least), Max: bytesOf(most), Readings: 10}
		}
		if !s.hidden {
			card.Processes = procs
		}
		snap.GPUs = append(snap.GPUs, card)
	}
	if s.host != nil {
		left, all := s.host(t)
		if left <= 0 {
			return snap, true
		}
		snap.HostMemory = sampler.Some(sampler.HostMemory{Total: bytesOf(all), Available: bytesOf(left)})
	}
	return snap, false
}

// scenes is every class of runs. Those named "ok" are healthy.
var scenes = map[string]func(r *rand.Rand) *scene{}

func init() { // not at once: some scenes are made from others
	maps.Copy(scenes, healthyScenes)
	maps.Copy(scenes, dyingScenes)
}

// TestWatchedRuns plays many runs of each class and holds the rates that the docs state.
func TestWatchedRuns(t *testing.T) {
	runs := 25
	if testing.Short() {
		runs = 8
	}
	names := make([]string, 0, len(scenes))
	for name := range scenes {
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
			s := scenes[name](r)
			out := s.play()
			healthy := strings.HasPrefix(name, "ok")
			if healthy && !math.IsNaN(out.died) {
				t.Fatalf("%s %d is not healthy: dies at %.0f s", name, i, out.died)
			}
			first := math.NaN()
			for _, a := range out.alerts {
				switch {
				case a.Level == sampler.LevelNotice:
					notices++
				case healthy || a.T < s.after:
					alarms++
					if testing.Verbose() {
						t.Logf("FALSE %s %d (%.0f GiB, %.0f s of %.0f, step %v, hidden %v): %s: %s %q", name, i, s.total/1024, a.T, s.seconds, s.step, s.hidden, a.Kind, a.Text, a.Evidence)
					}
				case math.IsNaN(first):
					first = a.T
				}
			}
			h += out.hours
			if !math.IsNaN(out.died) {
				died++
				if s.possible {
					could++
					if !math.IsNaN(first) {
						told++
						leads = append(leads, out.died-first)
					} else if testing.Verbose() {
						t.Logf("MISSED %s %d: died %.0f s of %.0f step %v hidden %v windows %v after %.0f", name, i, out.died, s.seconds, s.step, s.hidden, s.windows, s.after)
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
			lead = median(leads)
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
