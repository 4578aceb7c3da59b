package watch

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// growthLevels are the alerts of growth that a course of memory on a GPU of 40,000 MiB brings, the levels of all that were raised.
func growthLevels(seconds int, command string, busy func(t float64) int, used func(t float64) float64) (levels []string) {
	w := New(Options{})
	for i := range seconds {
		t := float64(i)
		s := snapshotOf(t, 40000, used(t), processOf(7, command, used(t)))
		s.GPUs[0].Utilization.GPU = sampler.Some(busy(t))
		w.Add(s)
	}
	for _, a := range w.Past() {
		if a.Kind == sampler.AlertGrowth {
			levels = append(levels, a.Level)
		}
	}
	return levels
}

func always90(float64) int { return 90 }

// A cache is emptied after long steps, and then memory climbs above all that was: within a minute, as outputs are kept in a validation.
func TestClimbAfterAFall(t *testing.T) {
	for name, row := range map[string]struct {
		top  float64 // MiB of the climb
		want []string
	}{
		"to the end":             {38000, []string{sampler.LevelCritical}},
		"no higher than before":  {26000, nil},
		"it ends with much room": {29000, nil},
	} {
		if got := growthLevels(960, "python train.py", always90, func(t float64) float64 {
			if t < 850 {
				return min(400*t, 25000)
			}
			return min(8000+380*(t-850), row.top)
		}); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// In a notebook nobody knows when the next step comes, so that growth is a notice; but where there is no room for one, it is a warning.
func TestByHandUntilFull(t *testing.T) {
	for top, want := range map[float64][]string{36000: {sampler.LevelNotice}, 39800: {sampler.LevelNotice, sampler.LevelWarning}} {
		idle := func(float64) int { return 10 }
		got := growthLevels(2400, "python -m ipykernel_launcher", idle, func(t float64) float64 {
			cells := []float64{0, 90, 190, 270, 400, 480, 600, 680, 820, 900, 1010, 1100, 1250, 1330, 1440, 1530, 1700, 1780, 1900, 1990, 2120} // now and then
			n := 0
			for n < len(cells) && cells[n] <= t {
				n++
			}
			return min(9800+1500*float64(n), top)
		})
		if !slices.Equal(got, want) {
			t.Errorf("to %v MiB: %q, want %q", top, got, want)
		}
	}
}

// Growth in a notebook is a warning as soon as it computes for most of the time, also where it was a notice before.
func TestByHandUntilItComputes(t *testing.T) {
	got := growthLevels(3600, "python -m ipykernel_launcher", func(t float64) int {
		if t < 3000 {
			return 10
		}
		return 90
	}, func(t float64) float64 { return 8000 + 8.6*t })
	if !slices.Contains(got, sampler.LevelNotice) || !slices.Contains(got, sampler.LevelWarning) && !slices.Contains(got, sampler.LevelCritical) {
		t.Errorf("%q", got)
	}
}
