package torch

import (
	"math"
	"testing"

	"nvpeak/sampler"
)

func some(n int) figure { return figure{sampler.Some(sampler.Bytes(n))} }

// The rate of a leak is what stays per step, whether it grows in each, in each n-th or with frees between.
func TestLeakRate(t *testing.T) {
	const stretches, size = 30, 12 << 20
	for name, c := range map[string]struct {
		every   int // steps of a stretch
		levels  func(step int) int
		perStep float64 // bytes
	}{
		"each step":         {1, func(step int) int { return step }, size},
		"each third":        {1, func(step int) int { return step / 3 }, size / 3},
		"each tenth":        {3, func(step int) int { return step / 10 }, size / 10},
		"frees between":     {1, func(step int) int { return step - step/8*4 }, size / 2},
		"frees, looks rare": {5, func(step int) int { return step - step/8*4 }, size / 2},
	} {
		for phase := range 8 {
			l := &lines{BySteps: true, Reserved: some(1 << 34), Allocated: some(1 << 33)}
			one := heldLine{site: site{File: "/me/train.py", Line: some(9)}, Blocks: some(9)}
			for i := range stretches {
				step := phase + i*c.every
				l.Steps, one.Levels, one.Bytes, l.Taken = append(l.Steps, some(step)), append(one.Levels, some(c.levels(step)*size)), some(c.levels(step)*size), some(step)
			}
			l.List = []heldLine{one}
			line := l.device(0, nil).Trace.Lines[0]
			rate := float64(line.Grown) / float64(max(1, line.Steps))
			if math.Abs(rate-c.perStep) > 0.12*c.perStep {
				t.Errorf("%s, from step %d: %.2f MiB in each of %d steps, want %.2f", name, phase, rate/(1<<20), line.Steps, c.perStep/(1<<20))
			}
		}
	}
}
