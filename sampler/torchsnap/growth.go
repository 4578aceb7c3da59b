package torchsnap

import (
	"maps"
	"slices"
)

const (
	growthStretches = 8    // fewer say nothing
	growthLatest    = 0.6  // of the history: what begins to grow later is not growth from step to step
	growthPart      = 0.12 // of the growth that each third of it must have
	growthLevels    = 3    // times that it rose
)

// Growth is what a line has gained since the stretch in which its growth begins, and never gave back.
type Growth struct {
	Gain  int64 // bytes; 0: it did not grow all along
	From  int   // the last stretch before the first rise
	Rises int   // stretches in which it rose
	Of    int   // stretches since then
}

// Grown is the growth of a line that rose all along. levels are the least it held in each stretch. What came before the
// growth, as weights and the state of an optimizer do, is left out where it hides it.
func Grown(levels []int64) Growth {
	for _, skip := range []int{0, len(levels) / 4, len(levels) / 2} {
		latest := int(growthLatest*float64(len(levels))) - skip
		if g := grownEvenly(levels[skip:], latest); g.Gain > 0 {
			g.From += skip
			return g
		}
	}
	return Growth{}
}

// Steps are those in which the gain came, to the nearest: span is from the first rise to the end, which is half the
// time between two rises after the last one, by and large, unless it rose in each stretch.
func (g Growth) Steps(span float64) int {
	rises, of := float64(g.Rises), float64(g.Of)
	return max(1, int(span*(1-0.5/of)*rises/(rises-0.5)+0.5))
}

// gained is the gain of a line that also falls, by what it gains on average: it may be high in the end.
func (g Growth) gained(levels []int64) int64 {
	places := make([]float64, len(levels))
	for i := range places {
		places[i] = float64(i)
	}
	return Gained(places[g.From:], levels[g.From:])
}

// Gained is what a line has gained from the first to the last of the places at which it held that, on average: what it
// falls between counts as well. It is 0 for less than two places.
func Gained(places []float64, levels []int64) int64 {
	n := float64(len(levels))
	var x, y, xy, xx float64
	for i, level := range levels {
		x, y = x+places[i]/n, y+float64(level)/n
	}
	for i, level := range levels {
		d := places[i] - x
		xy, xx = xy+d*(float64(level)-y), xx+d*d
	}
	if xx == 0 {
		return 0
	}
	return max(0, min(int64(xy/xx*(places[len(places)-1]-places[0])), levels[len(levels)-1]))
}

// Fallen is how many of the levels were there when the line last fell by a quarter of its rise: where tokens are
// generated, the cache of keys and values grows with each, and goes with its sequence. What is there in spite of that
// stays. A token takes the place of one that is freed right after it, which is no fall.
func Fallen(levels []int64) (n int) {
	if len(levels) == 0 {
		return 0
	}
	low, high := levels[0], levels[0]
	for i, level := range levels {
		high = max(high, level)
		if level < high-(high-low)/4 {
			n, low, high = i+1, level, level
		}
		low = min(low, level)
	}
	return n
}

// grownEvenly is the same for growth that begins at latest there.
func grownEvenly(levels []int64, latest int) (g Growth) {
	n := len(levels)
	if n < growthStretches {
		return g
	}
	floor := floorOf(levels)
	gain := floor[n-1] - floor[0]
	if gain <= 0 {
		return g
	}
	start := 0
	for start+1 < n && floor[start+1]-floor[0] < max(1, gain/20) {
		start++
	}
	if start > latest || n-start < growthStretches {
		return g
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
			return g
		}
	}
	if rises < growthLevels {
		return g
	}
	return Growth{floor[n-1] - floor[start], start, rises, n - 1 - start}
}

// floorOf are the levels that were never gone below again.
func floorOf(levels []int64) []int64 {
	floor := slices.Clone(levels)
	for i := len(floor) - 2; i >= 0; i-- {
		floor[i] = min(floor[i], floor[i+1])
	}
	return floor
}

// storeChurn: a line that holds what it has for long, and gained less than a tenth of what it made, replaces one by another.
const storeChurn = 10

// growth is that of a line up to a moment, and the steps in which it came; 0: not known. Of a line that rises and falls
// only what stays below counts: it may be high just now. What is allocated in all must have grown with it, by half at
// least: else the line took the place of what was there before the history began, whose end tells no line.
func (t *trace) growth(line tracker, named, generation bool, now *moment, p pace) (gain int64, steps int) {
	end := now.events
	if !named && now.once {
		return 0, 0 // without lines a single pass looks like growth
	}
	if line.cycles > 0 && !p.passed(&line, end) {
		end = min(end, line.valleyAt)
	}
	n := 0
	for n < len(line.levels) && n < len(t.curve.points) && t.curve.points[n].to <= end {
		n++
	}
	levels := slices.Clone(line.levels[:n])
	if line.cycles == 0 || line.valleyAt >= now.events {
		levels = append(levels, line.live)
	}
	if generation {
		levels = levels[:Fallen(levels)]
	}
	g := Grown(levels)
	if g.Gain == 0 || 2*t.grownInAll(g.From, end, p) < g.Gain || named && line.cycles == 0 && g.Gain*storeChurn < line.made && !t.appends(&line, g.Gain) {
		return 0, 0
	}
	span := p.between(t.curve.points[g.From].from, end)
	steps = min(g.Steps(span), int(p.between(0, end))+1)
	if p.steps > 0 && !slices.IsSorted(levels[g.From:]) {
		return g.gained(levels), max(1, int(span+0.5))
	}
	return g.Gain, steps
}

// appends: a training replaces one tensor by a larger one again and again, as in all = torch.cat([all, new]). Where nothing is
// trained it may be a cache of keys and values.
func (t *trace) appends(line *tracker, gain int64) bool {
	return t.rounds.backward >= repeated && line.blocks <= 2 && 2*gain >= line.live
}

// grownInAll is by how much the least that was allocated rose from a stretch to a moment, at which a step may be half
// done: the last steps count with their least.
func (t *trace) grownInAll(from, end int, p pace) int64 {
	var low []int64
	last := 0
	for _, point := range t.curve.points {
		if point.from >= end {
			break
		}
		low = append(low, point.low)
		if p.between(point.from, end) > 1 {
			last = len(low) - 1
		}
	}
	if p.steps == 0 {
		last = len(low) - 1
	}
	floor := floorOf(low)
	return floor[last] - floor[min(from, last)]
}

// pace is how fast steps went.
type pace struct {
	steps  int // 0: there is no telling
	events int // that they took
	last   int // event with which the last of them ended
}

// between is how many steps fit between two events.
func (p pace) between(from, to int) float64 {
	return float64(max(0, to-from)) * float64(p.steps) / float64(max(1, p.events))
}

// passed: the line came and went with the steps once, and has not for at least so many. What it holds is not of this
// step, unless it comes from somewhere that it never came from.
func (p pace) passed(line *tracker, now int) bool {
	return line.cycles+passedSteps <= p.steps && p.between(line.valleyAt, now) >= passedSteps && line.newWay() == 0
}

const passedSteps = 3

// pace is that of the line that came and went once in each step, and did so for longest.
func (m *moment) pace() (p pace) {
	steps := m.steps()
	for _, line := range m.lines {
		if line.cycles == steps && line.valleyAt-line.firstValley > p.events {
			p = pace{steps - 1, line.valleyAt - line.firstValley, line.valleyAt}
		}
	}
	return p
}

// steps is how often most lines came and went, of those that still do; 0: no pattern, or all of it may be one step, whose
// layers come and go as well.
func (m *moment) steps() int {
	if m.once {
		return 0
	}
	votes, over, parted := map[int]int{}, map[int]int{}, map[int]int{}
	for _, line := range m.lines {
		switch {
		case line.cycles < 3:
		case line.parted:
			parted[line.cycles]++
		case (m.events-line.valleyAt)*(line.cycles-1) > passedSteps*(line.valleyAt-line.firstValley):
			over[line.cycles]++
		default:
			votes[line.cycles]++
		}
	}
	if len(votes) == 0 {
		votes = over
	}
	if len(votes) == 0 {
		votes = parted
	}
	best := 0
	for _, n := range slices.Sorted(maps.Keys(votes)) {
		if best == 0 || votes[n]+votes[n-1]+votes[n+1] > votes[best]+votes[best-1]+votes[best+1] {
			best = n
		}
	}
	return best
}
