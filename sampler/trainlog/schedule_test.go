package trainlog

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What a log announces of its stages is counted as they begin, by steps or by epochs; what only looks like it is not.
func TestSchedule(t *testing.T) {
	for log, want := range map[string][]int{
		"[2025-05-18 12:11:39] Batch schedule: step 0 -> 8, step 150 -> 16, step 300 -> 24, step 450 -> 32 (final)\nstep 0 loss 2.1\nstep 149 loss 2\nstep 150 loss 2\nstep 460 loss 1\nstep 900 loss 1\n": {1, 2, 4},
		"resolution curriculum (epoch: size) 0: 128, 5: 192, 10: 256\nEpoch 4: loss 2\nEpoch 5: loss 2\nEpoch 11: loss 1\n":                                                                                {1, 2, 3},
		"lr schedule: step 0 -> 100, step 30 -> 10, step 60 -> 1\nstep 70 loss 1\n":                                                                                                                        nil, // it falls
		"schedule: step 100 -> 2, step 50 -> 3, step 20 -> 4\nstep 70 loss 1\n":                                                                                                                            nil,
		"batch schedule: step 0 -> 8, step 150 -> 16\nstep 160 loss 1\n":                                                                                                                                   nil,
		"job schedule 10:30, 11:45, 12:50\nstep 12 loss 1\n":                                                                                                                                               nil, // of times, and no steps
	} {
		l := NewListener()
		l.Write([]byte(log)) //nolint:errcheck // never fails
		var got []int
		for len(l.marks) > 0 {
			if m := <-l.marks; m.Kind == sampler.MarkStage {
				got = append(got, m.N.Or(0))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: stages %v, want %v", log, got, want)
		}
		scanned, err := Scan(strings.NewReader(log), nil)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, m := range scanned.marks {
			if m.Kind == sampler.MarkStage {
				got = append(got, m.N.Or(0))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: scanned stages %v, want %v", log, got, want)
		}
	}
}
