package watch

import (
	"slices"
	"testing"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// What the poller saw above the newest reading is given to the process with half of what is used, else to nobody; what
// others gave back since their list went into it; and nobody has more than the GPU had.
func TestWhoHadTheMost(t *testing.T) {
	type of [2]float64
	for name, row := range map[string]struct {
		before, now of      // the two processes
		used, high  float64 // now
		newcomer    bool
		want        of      // their most
		rest        float64 // of nobody
	}{
		"nothing above":        {of{6000, 3000}, of{6000, 3000}, 9000, 9000, false, of{6000, 3000}, 0},
		"the largest":          {of{6000, 3000}, of{6000, 3000}, 9000, 12000, false, of{9000, 3000}, 0},
		"half of it":           {of{4500, 4400}, of{4500, 4400}, 9000, 12000, false, of{7500, 4400}, 100},
		"nobody has half":      {of{4400, 4000}, of{4400, 4000}, 9000, 12000, false, of{4400, 4000}, 3600},
		"the other gave back":  {of{6000, 4000}, of{6000, 3000}, 9000, 12000, false, of{8000, 3000}, 0},
		"it gave back itself":  {of{7000, 3000}, of{6000, 3000}, 9000, 12000, false, of{9000, 3000}, 0},
		"a list that is older": {of{6000, 3000}, of{6000, 3500}, 9000, 12000, false, of{8500, 3500}, 0},
		"one came":             {of{6000, 3000}, of{6000, 3000}, 9500, 12000, true, of{6000, 3000}, 0},
	} {
		w := New(Options{})
		for i := range 21 {
			held, used, high := row.before, 10000.0, 10000.0
			if i == 20 {
				held, used, high = row.now, row.used, row.high
			}
			list := []sampler.Process{processOf(1, "python a.py", held[0]), processOf(2, "python b.py", held[1])}
			if row.newcomer && i == 20 {
				list = append(list, processOf(3, "python c.py", 500))
			}
			s := snapshotOf(float64(i), 20000, used, list...)
			s.GPUs[0].Memory.Window = &sampler.Window{Readings: 50, Min: series.Bytes(used), Max: series.Bytes(high), MaxTime: s.Time}
			w.Add(s)
		}
		g := w.gpus[0]
		if a, b := g.withPID(1).series.High(), g.withPID(2).series.High(); a != row.want[0] || b != row.want[1] || g.rest.High() != row.rest {
			t.Errorf("%s: %v and %v, nobody %v; want %v and %v", name, a, b, g.rest.High(), row.want, row.rest)
		}
	}
}

// A process that a list leaves out has what it had for five seconds, and has ended then.
func TestMissingProcess(t *testing.T) {
	w := New(Options{})
	for i := range 20 {
		w.Add(snapshotOf(float64(i), 20000, 9000, processOf(1, "python a.py", 3000), processOf(2, "python b.py", 6000)))
	}
	for i, want := range []struct {
		procs int
		rest  float64
	}{{2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {1, 6000}} {
		w.Add(snapshotOf(float64(20+i), 20000, 9000, processOf(1, "python a.py", 3000)))
		if g := w.gpus[0]; len(g.procs) != want.procs || g.rest.Value != want.rest {
			t.Errorf("%d s later: %d processes, %v of nobody", i+1, len(g.procs), g.rest.Value)
		}
	}
	w.Add(snapshotOf(30, 20000, 9000, processOf(2, "python b.py", 6000), processOf(1, "python a.py", 3000), processOf(1, "python a.py", 3000)))
	if g := w.gpus[0]; len(g.procs) != 2 || g.procs[0].pid != 2 || g.came != 30 {
		t.Errorf("%d processes, the first %d, came at %v", len(g.procs), g.procs[0].pid, g.came)
	}
}

// The alert that asks for most comes first: by level, then by what is due soonest.
func TestMostUrgentFirst(t *testing.T) {
	w := New(Options{})
	for i, a := range []sampler.Alert{{Level: sampler.LevelNotice, ETA: sampler.Some(1.0)}, {Level: sampler.LevelWarning}, {Level: sampler.LevelWarning, ETA: sampler.Some(50.0)}, {Level: sampler.LevelCritical, ETA: sampler.Some(900.0)}, {Level: sampler.LevelWarning, ETA: sampler.Some(9.0)}} {
		a.T = float64(i)
		k := incidentKey{rule: i}
		w.open[k] = &incident{key: k, fired: i != 1, now: a}
	}
	got := ""
	for _, a := range w.list() {
		got += string(rune('0' + int(a.T)))
	}
	if got != "3420" { // 1 has not been raised yet
		t.Errorf("%s", got)
	}
}

// The rules are asked twice a second, however fast snapshots come.
func TestJudgedTwiceASecond(t *testing.T) {
	for step, want := range map[time.Duration]int{100 * time.Millisecond: 3, 499 * time.Millisecond: 6, 500 * time.Millisecond: 11} {
		w := New(Options{})
		judged, last := 0, -1.0
		for i := range 11 {
			s := snapshotOf(0, 20000, 5000)
			s.Time = s.Time.Add(time.Duration(i) * step)
			if w.Add(s); w.judged != last {
				judged, last = judged+1, w.judged
			}
		}
		if judged != want {
			t.Errorf("every %v: %d times, want %d", step, judged, want)
		}
	}
}

// A finding has to hold for as long as its rule says, and is over when it has been false for as long.
func TestHoldAndClear(t *testing.T) {
	atOnce := []string{sampler.AlertFlush, sampler.AlertOOM, sampler.AlertXID} // they are events, and found as such
	for i, rule := range rules {
		if rule.ClearAfter < time.Second || (rule.HoldFor < 2*time.Second) != slices.Contains(atOnce, rule.Code) {
			t.Errorf("%s comes after %v and goes after %v: it would flicker", rule.Code, rule.HoldFor, rule.ClearAfter)
		}
		if rule.HoldFor == 0 {
			continue
		}
		w := New(Options{})
		k := incidentKey{rule: i, machine: true}
		hold, over := rule.HoldFor.Seconds(), rule.ClearAfter.Seconds()
		found := finding{level: sampler.LevelNotice, render: func(*Facts) message { return message{} }}
		for _, row := range []struct {
			at   float64
			true bool
			open bool
		}{{0, true, false}, {hold - 0.1, true, false}, {hold, true, true}, {hold + 1, false, true}, {hold + over - 0.1, false, true}, {hold + over, false, false}} {
			if w.clock.Now = row.at; row.true {
				w.record(k, nil, found)
			}
			if w.expire(time.Time{}); (len(w.Open()) > 0) != row.open && over > 1 {
				t.Errorf("%s at %v s: open %v", rule.Code, row.at, !row.open)
			}
		}
	}
}

// What a GPU uses with its cache emptied begins anew when nothing is left and no process is listed.
func TestEmptied(t *testing.T) {
	for left, want := range map[float64]bool{0: true, 5000: false} {
		w := New(Options{})
		at := 0.0
		for ; at < 200; at++ {
			w.Add(snapshotOf(at, 20000, 9000))
		}
		for ; at < 240; at++ {
			w.Add(snapshotOf(at, 20000, left))
		}
		if got := !w.gpus[0].rest.Levelled(); got != want {
			t.Errorf("%v MiB are left: begun anew %v", left, got)
		}
	}
}

// Holders are those of whom it is known that they have something.
func TestHoldersAreKnown(t *testing.T) {
	list := []sampler.Process{processOf(1, "a", 10), processOf(2, "b", 0), {PID: 3}, {PID: 4, Memory: sampler.Some(sampler.MaxPlausible)}, processOf(5, "c", 30)}
	got := Holders(gpuOf(0, 100, 60, list...), sampler.Some(5))
	if len(got) != 2 || got[0].PID != 5 || got[0].Kind != HolderOwn || got[1].PID != 1 || got[1].Kind != HolderOther {
		t.Errorf("%+v", got)
	}
	nobody := gpuOf(0, 100, 60, processOf(1, "a", 10))
	nobody.Memory.Unattributed = sampler.Some(sampler.Bytes(0))
	if got := Holders(nobody, sampler.Opt[int]{}); len(got) != 1 {
		t.Errorf("nobody has nothing: %+v", got)
	}
}
