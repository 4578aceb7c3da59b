package sampler

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// onScreen follows what a screen shows, and calls look when that has been there until a time.
func onScreen(t *testing.T, l *Loop, span time.Duration, look func(s *Snapshot, until time.Time)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	var shown *Snapshot
	for {
		list, early, err := l.NextOrPeak(ctx)
		if shown != nil {
			look(shown, l.now())
		}
		if err != nil {
			return
		}
		if len(list) > 0 {
			shown = list[len(list)-1]
		}
		if early != nil {
			shown = early
		}
	}
}

// TestNothingAgesOnTheScreen: while a call of one GPU hangs, no figure of any GPU is on the screen for more than 3 s without a word,
// though they were read a moment after a snapshot, and those of the others are back by themselves.
func TestNothingAgesOnTheScreen(t *testing.T) {
	for _, call := range []string{"memory", "metrics", "processes"} {
		for _, takes := range []time.Duration{0, ms(14)} {
			withAndWithoutSweeps(t, func(t *testing.T, sweeps bool) { agesOnTheScreen(t, call, takes, sweeps) })
		}
	}
}

func agesOnTheScreen(t *testing.T, call string, takes time.Duration, sweeps bool) {
	hang := newGate(t)
	began := time.Now()
	tenths := func() int { return int(time.Since(began) / ms(100)) }
	wait := func(c string, dev int) {
		if c == call && dev == 1 && time.Since(began) > 5300*time.Millisecond {
			<-hang.ch
		}
	}
	seldom := map[int]time.Time{} // figures that are asked for every other second: when they were last
	var mu sync.Mutex
	f := &fake{sweeps: sweeps, open: []Inventory{devices("GPU-0", "GPU-1", "GPU-2")},
		memory: func(dev int) (Reading, error) { wait("memory", dev); return reading(Bytes(tenths()) * MiB), nil },
		metrics: func(dev int) (Metrics, error) {
			wait("metrics", dev)
			time.Sleep(takes)
			mu.Lock()
			defer mu.Unlock()
			if time.Since(seldom[dev]) > ms(1800) {
				seldom[dev] = time.Now()
			}
			return Metrics{Temperature: Some(int(seldom[dev].Sub(began) / ms(100))), Oldest: seldom[dev]}, nil
		},
		processes: func(dev int) ([]Process, error) {
			wait("processes", dev)
			return []Process{{PID: 1, Memory: Some(Bytes(tenths()) * KiB)}, {PID: 2}}, nil
		}}
	r := start(t, f, nil)
	r.SetInterval(time.Second)
	marked, back := false, false
	onScreen(t, r.Loop, 12*time.Second, func(s *Snapshot, until time.Time) {
		for i := range s.GPUs {
			g := &s.GPUs[i]
			if g.Error.Known() {
				marked = marked || i == 1
				continue
			}
			figures := []int{int(g.Memory.Used.Or(0) / MiB), g.Temperature.Or(0)}
			if len(g.Processes) > 0 {
				figures = append(figures, int(g.Processes[0].Memory.Or(0)/KiB))
			}
			for _, tenth := range figures {
				if age := until.Sub(began) - time.Duration(tenth)*ms(100); age > freshFor+ms(110) {
					t.Errorf("%s: a figure of GPU %d is on the screen until it is %v old", call, i, age)
				}
			}
			back = i == 2 && until.Sub(began) > 8*time.Second
		}
	})
	hang.open()
	time.Sleep(time.Second)
	if !marked || !back {
		t.Errorf("%s: GPU 1 with a word %v, GPU 2 without one at the end %v", call, marked, back)
	}
}

// TestSlowTurnsAreNotOld: figures of a driver so slow that they are read every 3 s have no word, as late as their turns end.
func TestSlowTurnsAreNotOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{open: []Inventory{devices("GPU-0")}, metrics: func(int) (Metrics, error) {
			began := time.Now()
			time.Sleep(ms(140))
			return Metrics{Temperature: Some(60), Oldest: began}, nil
		}}
		r := start(t, f, nil)
		r.SetInterval(time.Second)
		onScreen(t, r.Loop, 30*time.Second, func(s *Snapshot, _ time.Time) {
			if e := s.GPUs[0].Error; e.Known() && s.GPUs[0].Memory.Peak != nil {
				t.Errorf("it says %v", e)
			}
		})
	})
}

// TestSeldomIsNotOld: where snapshots are seldom, figures have no word on the screen until they should have been read again, and one
// soon after.
func TestSeldomIsNotOld(t *testing.T) {
	for _, interval := range []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			hang, began, word := newGate(t), time.Now(), time.Duration(0)
			f := &fake{open: []Inventory{devices("GPU-0")}, metrics: func(int) (Metrics, error) {
				if time.Since(began) > 59*time.Second {
					<-hang.ch
				}
				return Metrics{Temperature: Some(60), Oldest: time.Now()}, nil
			}}
			r := startEvery(t, f, f, nil, interval)
			onScreen(t, r.Loop, 80*time.Second, func(s *Snapshot, until time.Time) {
				if g := &s.GPUs[0]; g.Error.Known() && word == 0 {
					word = until.Sub(began)
				}
			})
			hang.open()
			time.Sleep(time.Second)
			if word < 59*time.Second || word > 62*time.Second+2*interval {
				t.Errorf("every %v: the first word is there after %v, the calls hang from 59 s on", interval, word)
			}
		})
	}
}
