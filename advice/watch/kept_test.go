package watch

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// raised feeds a Watch one snapshot a second and returns what was raised of some kinds, by its id:
// the first time, and the level it had at worst.
func raised(seconds int, w *Watch, at func(t float64) sampler.Snapshot, kinds ...string) (first map[string]float64, worst string) {
	first = map[string]float64{}
	for i := range seconds {
		for _, a := range w.Add(at(float64(i))) {
			if !slices.Contains(kinds, a.Kind) {
				continue
			}
			if _, seen := first[a.ID]; !seen {
				first[a.ID] = float64(i)
			}
			if worst == "" || worst == sampler.LevelNotice || a.Level == sampler.LevelCritical {
				worst = a.Level
			}
		}
	}
	return first, worst
}

// Processes that take turns fit beside each other, though their peaks do not: after the first
// rounds nobody is told of it again.
func TestProcessesThatTakeTurns(t *testing.T) {
	turn := func(s float64) (trainer, arena float64) {
		switch s = math.Mod(s, 180); {
		case s < 80:
			return 15000, 1500
		case s < 90:
			return 1400, 1500
		case s < 150:
			return 1400, 12000
		}
		return 1400, 1500
	}
	w := New(Options{})
	first, _ := raised(3600, w, func(s float64) sampler.Snapshot {
		a, b := turn(s)
		return snapshotOf(s, 24000, a+b+200, processOf(7, "python coach.py", a), processOf(8, "python arena.py", b))
	}, sampler.AlertNeighbor, sampler.AlertRepeatSpike)
	if len(first) > 2 {
		t.Errorf("%d alerts in 20 rounds: %v", len(first), first)
	}
	for id, s := range first {
		if s > 500 {
			t.Errorf("%s was raised at %v s, after two rounds", id, s)
		}
	}
}

// Who has taken the room that a job needs at its peak is told of as long as it holds it, also
// when it came at the moment of that peak.
func TestNeighborIsToldOfAsLongAsItStays(t *testing.T) {
	w := New(Options{})
	for i := range 1000 {
		s := float64(i)
		own, other := 38000.0, 400.0
		if m := math.Mod(s, 200); m >= 160 && m < 180 && s < 579 {
			own = 60000
		}
		if s >= 579 {
			other = 28000
		}
		if s >= 579 && s < 583 {
			own = 2000
		}
		open := false
		for _, a := range w.Add(snapshotOf(s, 80000, own+other, processOf(7, "python train.py", own), processOf(8, "python etl.py", other))) {
			open = open || a.Kind == sampler.AlertNeighbor || a.Kind == sampler.AlertRepeatSpike
		}
		if s >= 620 && !open {
			t.Fatalf("nothing is open at %v s", s)
		}
	}
}

// Who has computed for a minute loads no more: a steady rise is a leak within minutes.
func TestSteadyRiseOfABusyGPU(t *testing.T) {
	used := func(s float64) float64 { return 6500 + 15*max(0, s-60) }
	busy := func(s float64) sampler.Snapshot {
		snap := snapshotOf(s, 11264, used(s)+20, processOf(7, "python train.py", used(s)))
		snap.GPUs[0].Utilization.GPU = sampler.Some(95)
		return snap
	}
	w := New(Options{})
	first, worst := raised(345, w, busy, sampler.AlertGrowth)
	if len(first) == 0 || worst == sampler.LevelNotice {
		t.Errorf("raised %v as %q; it ends at 376 s", first, worst)
	}
}

// A leak that the log prints is told of sooner than it shows in the memory in use: this job
// lives for 94 s.
func TestLeakThatTheLogShows(t *testing.T) {
	for _, logged := range []bool{false, true} {
		w := New(Options{})
		warned := 0.0
		for i := range 93 {
			s := float64(i)
			tensors := 1000 + 100*max(0, s-15)
			if logged && i >= 15 && i%4 == 0 {
				w.Mark(sampler.LogMark{Kind: sampler.MarkAllocator, Allocated: sampler.Some(series.Bytes(tensors))})
			}
			own := max(5000, tensors+3000)
			for _, a := range w.Add(snapshotOf(s, 12288, own+300, processOf(7, "python train.py", own))) {
				if a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice && warned == 0 {
					warned = s
				}
			}
		}
		if logged != (warned > 0) {
			t.Errorf("log %v: warned at %v s of 94", logged, warned)
		}
	}
}

// What an epoch gathers and frees at its end is a leak to whoever sees the first one: the alarm ends with that epoch, and does not
// come back with the next ones.
func TestOutputsOfAnEpoch(t *testing.T) {
	const epoch, steps = 160.0, 12.0
	w := New(Options{})
	var ends []float64
	on := false
	for i := range 1600 {
		s := float64(i)
		tensors := 700 + 23*math.Mod(s, epoch)
		if math.Mod(s, steps) == 4 {
			w.Mark(sampler.LogMark{Kind: sampler.MarkAllocator, Allocated: sampler.Some(series.Bytes(tensors))})
		}
		own := max(10500, tensors+9600)
		now := slices.ContainsFunc(w.Add(snapshotOf(s, 15087, own+300, processOf(7, "python train.py", own))), func(a sampler.Alert) bool {
			return a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice
		})
		if on && !now {
			ends = append(ends, s)
		}
		on = now
	}
	if on || len(ends) != 1 || ends[0] > epoch+2*steps {
		t.Errorf("alarms ended at %v s, the last %v", ends, on)
	}
}

// Evaluations that need more each time are told of before the one that does not fit, also
// where the cache is emptied before and after, so that no level lies between them.
func TestTopsThatRiseFromEmptiedCaches(t *testing.T) {
	w := New(Options{})
	first, _ := raised(1370, w, func(s float64) sampler.Snapshot {
		round, at := math.Floor(s/154), math.Mod(s, 154)
		own := 48000.0
		switch {
		case s < 20:
			own = 2400 * s
		case at >= 140 && at < 152:
			own = 26000 + 6800*round
		case at >= 152:
			own = 13000
		}
		return snapshotOf(s, 81500, own+300, processOf(7, "python train.py", own))
	}, sampler.AlertRepeatSpike)
	if len(first) == 0 {
		t.Error("nothing was said before the ninth, which needs 80.4 GiB of 79.6")
	}
}

// Who has given back all but its context may be done: others may take the room.
func TestIdleProcessNeedsNothing(t *testing.T) {
	w := New(Options{})
	first, _ := raised(900, w, func(s float64) sampler.Snapshot {
		a, b := 9000.0, 200.0
		if s >= 300 {
			a, b = 210, 10000
		}
		return snapshotOf(s, 11264, a+b+60, processOf(7, "python a.py", a), processOf(8, "python b.py", b))
	}, sampler.AlertNeighbor, sampler.AlertRepeatSpike)
	if len(first) != 0 {
		t.Errorf("raised %v", first)
	}
}

// An open alert does not say for seconds what the peak beside it has refuted.
func TestWordsFollowANewPeak(t *testing.T) {
	w := New(Options{Need: sampler.Some(62 * sampler.GiB)})
	for i := range 12 {
		s, own, short := float64(i), 20000.0, "1.9 GiB short"
		if i >= 9 {
			own, short = 30000, "11.6 GiB short"
		}
		said := ""
		for _, a := range w.Add(snapshotOf(s, 81920, own+300, processOf(7, "python train.py", own))) {
			said = a.Text
		}
		if i >= 7 && !strings.Contains(said, short) {
			t.Errorf("at %v s, want %s: %s", s, short, said)
		}
	}
}

// A job that is started again needs what it needed before, and somebody has come meanwhile.
func TestRestartedJobNeedsItsPeakAgain(t *testing.T) {
	for _, command := range []string{"python train.py", "python other.py"} {
		w := New(Options{})
		first, _ := raised(450, w, func(s float64) sampler.Snapshot {
			other := processOf(8, "python b.py", 20000)
			switch {
			case s < 400:
				return snapshotOf(s, 48000, 38100, processOf(7, "python train.py", 38000))
			case s < 408:
				return snapshotOf(s, 48000, 20100, other)
			}
			own := min(26000, 1500*(s-407))
			return snapshotOf(s, 48000, 20100+own, processOf(9, command, own), other)
		}, sampler.AlertNeighbor)
		if again := command == "python train.py"; again != (len(first) > 0) {
			t.Errorf("%s: raised %v", command, first)
		}
	}
}
