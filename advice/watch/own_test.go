package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// typedNeed is more than the jobs of the demos leave.
var typedNeed = Options{Need: sampler.Some(158 * sampler.GiB / 10)}

// Nobody is told to stop the only job of a GPU, and never because of memory that nobody holds.
func TestOwnJobGoesOn(t *testing.T) {
	for _, name := range []string{"leak", "training", "fragmentation", "prealloc", "oom", "eight"} {
		w := New(typedNeed)
		for _, s := range demoOf(t, name, 6*time.Minute) {
			for _, a := range w.Add(*s) {
				g := w.find(a.Key)
				for _, ad := range a.Advice {
					if ad.ID == explain.FixStopOtherProcess && g != nil && len(g.procs) <= 1 || strings.HasPrefix(ad.Why, "0 B ") {
						t.Fatalf("%s, %v: %s: %s (%s)", name, s.Time, a.Text, ad.Title, ad.Why)
					}
				}
			}
		}
	}
}

// A need beside a small job of somebody else asks that one to go, if it is enough, and never the large one, which asks.
func TestLargestAsks(t *testing.T) {
	for _, row := range []struct {
		other float64 // GiB
		need  sampler.Bytes
		stops int
	}{{other: 12, need: 30, stops: 2}, {other: 3, need: 45, stops: 0}} {
		w := New(Options{Need: sampler.Some(row.need * sampler.GiB)})
		var open []sampler.Alert
		for at := range 10 {
			used := (50 + row.other) * inMiB
			open = w.Add(snapshotOf(float64(at), 80*inMiB, used, processOf(1, "train", 50*inMiB), processOf(2, "eval", row.other*inMiB)))
		}
		if len(open) != 1 || len(open[0].Advice) == 0 {
			t.Fatalf("%+v", open)
		}
		stops := 0
		for _, ad := range open[0].Advice {
			if ad.ID == explain.FixStopOtherProcess {
				stops = ad.PID.Or(-1)
			}
		}
		if stops != row.stops {
			t.Errorf("others hold %v GiB: stops %d, want %d: %s", row.other, stops, row.stops, open[0].Advice[0].Title)
		}
	}
}

// Where the peaks are spikes that come again, validation comes first, whatever the GPU does this second and however
// the readings fall; and the four GPUs are one line.
func TestSpikesComeFirst(t *testing.T) {
	for part := range 8 {
		w, seen := New(typedNeed), 0
		shots := demoAt(t, "training", 7*time.Minute, advicetest.Epoch.Add(time.Duration(part)*137*time.Millisecond))
		for _, s := range shots {
			groups := Groups(w.Add(*s), lang.English())
			if s.Time.Sub(shots[0].Time) < 2*time.Minute { // one that comes again has come twice
				continue
			}
			for _, g := range groups {
				seen++
				first := slices.DeleteFunc(slices.Clone(g.Advice), func(ad sampler.Advice) bool { return ad.PID.Or(0) == 30977 }) // bob's notebook, which is enough alone
				if len(first) == 0 || first[0].ID != explain.FixShrinkValidationBatch || g.Kind == sampler.AlertNeed && g.GPUs != "0–3" {
					t.Fatalf("%v: %s: %+v", s.Time, g.Text, g.Advice)
				}
			}
		}
		if seen == 0 {
			t.Error("no alert")
		}
	}
}

// A need that does not fit names the GPU on which it does.
func TestRoomElsewhere(t *testing.T) {
	w := New(Options{Need: sampler.Some(30 * sampler.GiB)})
	var open []sampler.Alert
	for at := range 10 {
		open = w.Add(boxOf(float64(at), 70, 10, 40))
	}
	if len(open) != 1 || !strings.Contains(strings.Join(open[0].Evidence, "; "), "GPU 1 has room for 30.0 GiB: 70.0 GiB") {
		t.Errorf("%+v", open)
	}
}
