package demo

import (
	"testing"

	"nvpeak/sampler"
)

const period = 0.02 // seconds between two readings of the memory

func gib(v float64) sampler.Bytes { return sampler.Bytes(v * float64(sampler.GiB)) }

// highestUsed is the largest of the device's readings from one moment to another, taken
// every step seconds.
func highestUsed(t *testing.T, s *Source, h *hand, dev int, from, to, step float64) sampler.Bytes {
	t.Helper()
	var top sampler.Bytes
	for now := from; now < to; now += step {
		h.at(now)
		top = max(top, used(t, s, dev))
	}
	return top
}

func TestTrainingTellsTheStory(t *testing.T) {
	s, h := play(t, "training")
	if len(s.devices) != 4 {
		t.Fatalf("%d GPUs", len(s.devices))
	}
	for dev := range s.devices {
		if total := s.devices[dev].total; total != gib(47.5) {
			t.Errorf("GPU %d has %v", dev, total)
		}
		// Wherever somebody begins to look, also after hours.
		for _, from := range []float64{0, 17, 600, 3600, 86400} {
			if top := highestUsed(t, s, h, dev, from, from+60, period); top < gib(46.5) {
				t.Errorf("GPU %d: highest in the minute from %.0f s on is %v", dev, from, top)
			}
		}
	}
	training, readings := 0, 0
	for now := 0.0; now < 600; now += period {
		h.at(now)
		for dev := range s.devices {
			m, _ := s.Metrics(dev)
			if u := m.Utilization.GPU.Or(0); u < 90 {
				continue
			}
			readings++
			if u := used(t, s, dev); u > gib(7.5) && u < gib(10.5) {
				training++
			}
		}
	}
	if share := float64(training) / float64(readings); readings < 60000 || share < 0.9 {
		t.Errorf("9 ± 1.5 GiB in %.1f %% of %d readings under full load", 100*share, readings)
	}
}

// TestTrainingNeedsTheFastLane counts the epochs of a quarter of an hour whose highest
// spike is seen once a second and fifty times a second.
func TestTrainingNeedsTheFastLane(t *testing.T) {
	s, h := play(t, "training")
	const epoch = epochTrain + epochValidate + epochSave
	fast, slow, epochs := 0, 0, 0
	for from := 0.0; from < 900; from += epoch {
		epochs++
		if highestUsed(t, s, h, 0, from, from+epoch, period) >= gib(46.5) {
			fast++
		}
		if highestUsed(t, s, h, 0, from, from+epoch, 1) >= gib(46.5) {
			slow++
		}
	}
	if fast != epochs || slow > epochs/2 {
		t.Errorf("of %d epochs the peak is seen in %d at 20 ms and in %d at 1 s", epochs, fast, slow)
	}
}
