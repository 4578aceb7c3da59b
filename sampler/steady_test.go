package sampler

import (
	"context"
	"testing"
	"time"
)

// tampered is a clock of which somebody sets the time of day.
type tampered struct {
	*ScriptClock
	ahead func(now time.Time) time.Duration
}

func (c tampered) Wall() time.Time { return c.Now().Add(c.ahead(c.Now())) }

// TestClockSet: snapshots stay a second apart whatever is done to the time of day, and tell it.
func TestClockSet(t *testing.T) {
	noon := noon.Truncate(time.Minute)
	clock := tampered{NewScriptClock(noon), func(now time.Time) time.Duration {
		switch s := now.Sub(noon); {
		case s < 10*time.Second:
			return 400 * time.Millisecond // less than counts
		case s < 20*time.Second:
			return -time.Hour
		case s < 30*time.Second:
			return -time.Hour + 700*time.Millisecond
		}
		return 2 * time.Hour
	}}
	l := NewLoop(&fake{open: []Inventory{devices("GPU-0")}}, Options{Clock: clock})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Simulate(clock.ScriptClock, 40*time.Second)
	list, err := l.Next(context.Background())
	if err != nil || len(list) != 40 {
		t.Fatalf("%d snapshots, %v", len(list), err)
	}
	for i, s := range list {
		at := noon.Add(time.Duration(i+1) * time.Second)
		want := []time.Duration{0, -time.Hour, -time.Hour, 2 * time.Hour, 2 * time.Hour}[(i+1)/10]
		if !s.Time.Equal(at) || s.Ahead() != want || !s.Wall().Time.Equal(at.Add(want)) {
			t.Fatalf("snapshot %d of %v: ahead %v, by the wall %v", i, s.Time, s.Ahead(), s.Wall().Time)
		}
		if p := s.GPUs[0].Memory.Peak; p != nil && s.Time.Sub(p.Time) != s.Wall().Time.Sub(s.Wall().GPUs[0].Memory.Peak.Time) {
			t.Fatalf("snapshot %d: the peak has another age by the wall", i)
		}
	}
}

// TestSteady: the clock of a live loop goes on with the time that passes.
func TestSteady(t *testing.T) {
	c, began := NewSteady(), time.Now()
	first := c.Now()
	time.Sleep(20 * time.Millisecond)
	if d, real := c.Now().Sub(first), time.Since(began); d < 20*time.Millisecond || d > real+time.Millisecond {
		t.Errorf("%v by the clock, %v in truth", d, real)
	}
	if d := c.Wall().Sub(c.Now()).Abs(); d > 50*time.Millisecond {
		t.Errorf("the time of day is %v away", d)
	}
}

// TestWallLeavesTheOriginal: a published snapshot is never changed.
func TestWallLeavesTheOriginal(t *testing.T) {
	g := GPU{LastXIDTime: Some(noon), XIDs: []XID{{Time: Some(noon)}}, Memory: Memory{Peak: &Peak{Time: noon}, Window: &Window{MaxTime: noon}},
		Processes: []Process{{StartTime: Some(noon), Peak: &Peak{Time: noon}}, {}}}
	s := (&Snapshot{Time: noon, GPUs: []GPU{g}, Alerts: []Alert{{Time: noon}}}).WithAhead(time.Hour)
	w, later := s.Wall(), noon.Add(time.Hour)
	for i, row := range []struct{ s *Snapshot }{{s}, {w}} {
		want := []time.Time{noon, later}[i]
		g, p := row.s.GPUs[0], row.s.GPUs[0].Processes[0]
		for k, at := range []time.Time{row.s.Time, row.s.Alerts[0].Time, g.LastXIDTime.Or(later), g.XIDs[0].Time.Or(later), g.Memory.Peak.Time, g.Memory.Window.MaxTime, p.StartTime.Or(noon), p.Peak.Time} {
			if !at.Equal(want) {
				t.Errorf("time %d of snapshot %d is %v", k, i, at)
			}
		}
	}
	if w.Ahead() != 0 || s.Ahead() != time.Hour || s.WithAhead(0).Wall().Time != noon {
		t.Errorf("ahead %v and %v", s.Ahead(), w.Ahead())
	}
}
