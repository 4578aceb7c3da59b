package report

import (
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// The batches of a validation come down between their peaks, and are one spike all the same. Two
// validations are two.
func TestOneValidationIsOneSpike(t *testing.T) {
	for _, row := range []struct {
		name       string
		validation []sampler.Bytes // GiB, a second each; training between them holds 10
		peak       sampler.Bytes
	}{
		{"down to half", []sampler.Bytes{20, 32, 20, 36, 20, 39, 20, 47, 20, 35, 20, 46, 20, 6}, 47},
		{"seconds apart", []sampler.Bytes{44, 44, 12, 12, 12, 40, 40, 12, 12, 12, 46, 46}, 46},
		{"not over between", []sampler.Bytes{46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 20, 20, 20, 20, 20, 20, 20, 45, 45, 45, 45, 45}, 46},
	} {
		r, at := New(Options{}), time.Unix(1_700_000_000, 0).UTC()
		second := func(gib sampler.Bytes) {
			m := sampler.Memory{Total: sampler.Some(48 * sampler.GiB), Used: sampler.Some(gib * sampler.GiB), Free: sampler.Some((48 - gib) * sampler.GiB)}
			r.Snapshot(&sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a", Memory: m}}})
			at = at.Add(time.Second)
		}
		const training, validations = 60, 3
		for range validations {
			for range training {
				second(10)
			}
			for _, gib := range row.validation {
				second(gib)
			}
		}
		for range training {
			second(10)
		}
		g := r.Report().GPUs[0]
		if len(g.Spikes) != validations || g.SpikeCount != validations {
			t.Errorf("%s: %d spikes, counted %d, want %d: %+v", row.name, len(g.Spikes), g.SpikeCount, validations, g.Spikes)
			continue
		}
		for i, s := range g.Spikes {
			start := float64(training + i*(training+len(row.validation)))
			if s.Peak != row.peak*sampler.GiB || s.T != start || s.Duration < float64(len(row.validation)-2) || s.Duration > float64(len(row.validation)) {
				t.Errorf("%s: spike at %v for %v s up to %v, want from %v", row.name, s.T, s.Duration, s.Peak, start)
			}
		}
	}
}

// A spike may have been over at any moment of a silence that lies in it.
func TestSpikeIntoSilence(t *testing.T) {
	for name, row := range map[string]struct {
		before, silent, after int     // seconds that it was seen up, nothing was recorded, and it was seen up again
		unseen                float64 // of its length
	}{
		"recorded throughout":  {6, 1, 0, 0},
		"a late snapshot":      {6, 5, 0, 0},
		"over in the silence":  {6, 25, 0, 25},
		"around the silence":   {6, 25, 3, 25},
		"the silence is later": {6, 0, 0, 0},
	} {
		r, at := New(Options{}), advicetest.Epoch
		play := func(seconds int, used sampler.Bytes) {
			for range seconds {
				m := sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used * sampler.GiB), Free: sampler.Some((80 - used) * sampler.GiB)}
				r.Snapshot(&sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a", Memory: m}}})
				at = at.Add(time.Second)
			}
		}
		play(60, 20)
		play(row.before, 33)
		at = at.Add(time.Duration(max(0, row.silent-1)) * time.Second)
		play(row.after, 33)
		play(60, 20)
		at = at.Add(25 * time.Second)
		play(20, 20)
		spikes := r.Report().GPUs[0].Spikes
		if want := float64(row.before + max(0, row.silent-1) + row.after); len(spikes) != 1 || spikes[0].Duration != want || spikes[0].Unseen != row.unseen {
			t.Errorf("%s: %+v, want %v s long, %v of them unseen", name, spikes, want, row.unseen)
		}
	}
}

// Spikes that come back whole are each one, seconds apart; the window of a snapshot tells of them, not its reading.
func TestSpikesOfWindows(t *testing.T) {
	for every, want := range map[int]int{4: 15, 3: 20, 1: 1} {
		r, at := New(Options{}), advicetest.Epoch
		for second := range 180 {
			m := sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(30 * sampler.GiB), Free: sampler.Some(50 * sampler.GiB),
				Window: &sampler.Window{Min: 30 * sampler.GiB, Max: 30 * sampler.GiB, MaxTime: at, Readings: 50}}
			if second >= 60 && second < 120 && second%every == 0 {
				m.Window.Max, m.Window.MaxTime = 50*sampler.GiB, at.Add(-400*time.Millisecond)
			}
			r.Snapshot(&sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a", Memory: m}}})
			at = at.Add(time.Second)
		}
		g := r.Report().GPUs[0]
		if g.SpikeCount != want || want > 1 && g.Spikes[0].Duration >= 2 {
			t.Errorf("every %d s: %d spikes, want %d: %+v", every, g.SpikeCount, want, g.Spikes[:1])
		}
	}
}
