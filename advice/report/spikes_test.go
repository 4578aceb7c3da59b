package report

import (
	"testing"
	"time"

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
