package watch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// artifacts are what goes wrong with measuring while nothing is wrong with the run. Each
// changes the snapshots of a healthy run; none may raise an alert.
var artifacts = map[string]func(n int, s *sampler.Snapshot) (skip bool){
	"single zero sample": func(n int, s *sampler.Snapshot) bool {
		if n%97 == 50 {
			s.GPUs[0].Memory.Used = sampler.Some(sampler.Bytes(0))
			s.GPUs[0].Memory.Window = nil
		}
		return false
	},
	"all zero": func(_ int, s *sampler.Snapshot) bool {
		s.GPUs[0].Memory = sampler.Memory{Total: sampler.Some(sampler.Bytes(0)), Used: sampler.Some(sampler.Bytes(0))}
		return false
	},
	"not known at times": func(n int, s *sampler.Snapshot) bool {
		if n%11 < 3 {
			s.GPUs[0].Memory.Used = sampler.Some(sampler.Bytes(1<<64 - 1))
		}
		return false
	},
	"process list empty at times": func(n int, s *sampler.Snapshot) bool {
		if n%13 == 0 {
			s.GPUs[0].Processes = nil
		}
		return false
	},
	"process memory unknown at times": func(n int, s *sampler.Snapshot) bool {
		for i := range s.GPUs[0].Processes {
			if n%7 == 0 {
				s.GPUs[0].Processes[i].Memory = sampler.Opt[sampler.Bytes]{}
			}
		}
		return false
	},
	"the machine slept": func(n int, s *sampler.Snapshot) bool {
		if n > 700 {
			s.Time = s.Time.Add(5 * time.Hour)
		}
		return false
	},
	"clock set back": func(n int, s *sampler.Snapshot) bool {
		if n > 700 {
			s.Time = s.Time.Add(-20 * time.Minute)
		}
		return false
	},
	"clock jumps to and fro": func(n int, s *sampler.Snapshot) bool {
		if n%50 > 25 {
			s.Time = s.Time.Add(-3 * time.Second)
		}
		return false
	},
	"GPU comes and goes": func(n int, s *sampler.Snapshot) bool {
		if n%200 > 150 {
			s.GPUs = nil
		}
		return false
	},
	"snapshots missing": func(n int, _ *sampler.Snapshot) bool { return n%9 < 4 },
	"pid used again": func(n int, s *sampler.Snapshot) bool {
		for i := range s.GPUs[0].Processes {
			s.GPUs[0].Processes[i].StartTime = sampler.Some(advicetest.Epoch.Add(time.Duration(n/400) * time.Hour))
		}
		return false
	},
	"total changes": func(n int, s *sampler.Snapshot) bool {
		if n > 500 {
			total := s.GPUs[0].Memory.Total.Or(0)
			s.GPUs[0].Memory.Total = sampler.Some(total / 2 * 3)
		}
		return false
	},
	"same time twice": func(n int, s *sampler.Snapshot) bool {
		s.Time = s.Time.Truncate(5 * time.Second)
		return false
	},
}

func TestArtifacts(t *testing.T) {
	for name, change := range artifacts {
		t.Run(name, func(t *testing.T) {
			for _, class := range []string{"ok training", "ok prealloc", "ok spikes", "ok saw-tooth", "ok spikes and neighbors"} {
				for seed := range uint64(4) {
					s := advicetest.Scenes[class](rand.New(rand.NewPCG(seed, 11)))
					s.Step, s.Seconds = 1, min(s.Seconds, 2000)
					w := New(Options{})
					for n := range int(s.Seconds) {
						snap, died := s.Snapshot(float64(n), 1)
						if died {
							t.Fatalf("%s %d died", class, seed)
						}
						if !change(n, &snap) {
							w.Add(snap)
						}
					}
					for _, a := range w.Past() {
						t.Errorf("%s %d: %s at %.0f s: %s %q", class, seed, a.Kind, a.T, a.Text, a.Evidence)
					}
				}
			}
		})
	}
}

// TestFirstSnapshots: what is known from one or two samples raises nothing but an event.
func TestFirstSnapshots(t *testing.T) {
	for _, used := range []float64{0, 1, 40000, 48640} {
		for n := 1; n <= 2; n++ {
			t.Run(fmt.Sprintf("%v MiB %d", used, n), func(t *testing.T) {
				w := New(Options{Need: sampler.Some(60 * sampler.GiB)})
				for i := range n {
					w.Add(snapshotOf(float64(i), 48640, used))
				}
				checkKinds(t, w.Past(), nil)
			})
		}
	}
}
