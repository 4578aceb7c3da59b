package torchsnap

import (
	"maps"
	"slices"
)

const (
	growthStretches = 8    // fewer say nothing
	growthLatest    = 0.6  // of the history: what begins to grow later is not growth from step to step
	growthPart      = 0.12 // of the growth that each third of it must have
	growthLevels    = 4    // times that it rose
)

// Grown is what a line has gained and never gave back, where it rose all along, and the stretch in which that begins;
// 0: it did not. levels are the least it held in each stretch. What came before the growth, as weights and the state
// of an optimizer do, is left out where it hides it.
func Grown(levels []int64) (gain int64, from int) {
	for _, skip := range []int{0, len(levels) / 4, len(levels) / 2} {
		latest := int(growthLatest*float64(len(levels))) - skip
		if gain, from := grownEvenly(levels[skip:], latest); gain > 0 {
			return gain, skip + from
		}
	}
	return 0, 0
}

// grownEvenly is the same for growth that begins at latest there.
func grownEvenly(levels []int64, latest int) (gain int64, from int) {
	n := len(levels)
	if n < growthStretches {
		return 0, 0
	}
	floor := slices.Clone(levels) // never gone below again
	for i := n - 2; i >= 0; i-- {
		floor[i] = min(floor[i], floor[i+1])
	}
	gain = floor[n-1] - floor[0]
	if gain <= 0 {
		return 0, 0
	}
	start := 0
	for start+1 < n && floor[start+1]-floor[0] <= gain/20 {
		start++
	}
	if start > latest || n-start < growthStretches {
		return 0, 0
	}
	rises := 0
	for i := start + 1; i < n; i++ {
		if floor[i] > floor[i-1] {
			rises++
		}
	}
	third := (n - 1 - start) / 3
	for i := range 3 {
		from, to := start+i*third, start+(i+1)*third
		if i == 2 {
			to = n - 1
		}
		if float64(floor[to]-floor[from]) < growthPart*float64(gain) {
			return 0, 0
		}
	}
	if rises < growthLevels {
		return 0, 0
	}
	return gain, start
}

// growth is that of a line up to a moment. Of a line that rises and falls only what stays below counts: it may be
// high just now.
func (t *trace) growth(line tracker, now *moment) int64 {
	end := now.events
	if line.cycles > 0 {
		end = min(end, line.valleyAt)
	}
	levels := line.levels
	n := 0
	for n < len(levels) && n < len(t.curve.points) && t.curve.points[n].to <= end {
		n++
	}
	levels = slices.Clone(levels[:n])
	if line.cycles == 0 || line.valleyAt >= now.events {
		levels = append(levels, line.live)
	}
	gain, _ := Grown(levels)
	return gain
}

// steps is how often most lines came and went; 0: no pattern.
func (m *moment) steps() int {
	votes := map[int]int{}
	for _, line := range m.lines {
		if line.cycles >= 3 {
			votes[line.cycles]++
		}
	}
	best := 0
	for _, n := range slices.Sorted(maps.Keys(votes)) {
		if best == 0 || votes[n]+votes[n-1]+votes[n+1] > votes[best]+votes[best-1]+votes[best+1] {
			best = n
		}
	}
	return best
}
