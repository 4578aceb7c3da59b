package watch

import (
	"math"
	"testing"

	"nvpeak/sampler"
)

// Validations whose peaks rise alike are told of though the cache is emptied before and after each, so that no
// level lies between them; where the next still fits nothing is said.
func TestRisingRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		first, rise float64 // MiB of 24000
		later       bool    // the list is later than the reading at a peak
		warned      bool
	}{
		"the next does not fit":               {22700, 380, false, true},
		"the next fits":                       {20500, 380, false, false},
		"they do not rise":                    {23700, 0, false, false},
		"a list tells of what comes after it": {22700, 380, true, true},
	} {
		w := New(Options{})
		first, _ := raised(500, w, func(s float64) sampler.Snapshot {
			used := 19000.0
			switch into := math.Mod(s, 110); {
			case s < 20:
				used = 300 + 900*s
			case into > 90 && into < 93, into > 95 && into < 98:
				used = 3000 + 30*s // the cache is emptied, and what is left differs
			case into == 93 && s > 100:
				used = tt.first + tt.rise*math.Floor(s/110)
			}
			listed := used
			if tt.later && s == 110+93 {
				listed = 3000
			}
			return snapshotOf(s, 24000, used, processOf(7, "python train.py", listed))
		}, sampler.AlertRepeatSpike)
		if (len(first) > 0) != tt.warned {
			t.Errorf("%s: raised %v", name, first)
		}
	}
}

// An evaluation on all tasks so far keeps one more output now and then: its peaks rise in equal steps, each of which comes two or three times, and all is
// given back in between. The next step is told of when it does not fit.
func TestEqualStepsOfPeaks(t *testing.T) {
	const step = 1930.0
	for name, tt := range map[string]struct {
		total  float64
		warned bool
	}{"the next does not fit": {16076, true}, "it fits": {17500, false}} {
		w := New(Options{})
		first, _ := raised(720, w, func(s float64) sampler.Snapshot {
			used := 8880.0
			switch n, into := math.Floor(s/60), math.Mod(s, 60); {
			case s < 20:
				used = 400 * s
			case into > 45 && into < 48, into > 53 && into < 56:
				used = 3149
			case into >= 48 && into <= 53:
				peaks := []float64{0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3}
				used = min(3149+step*(into-47), 8940) // it runs up over some seconds
				if into == 52 {
					used = 8940 + step*peaks[int(n)]
				}
			}
			return snapshotOf(s, tt.total, used+12, processOf(7, "python main_cl.py", used))
		}, sampler.AlertRepeatSpike)
		if (len(first) > 0) != tt.warned {
			t.Errorf("%s: raised %v", name, first)
		}
	}
}
