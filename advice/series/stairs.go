package series

import "math"

// Stairs are steps by which a series rises and that it does not give back. A caching
// allocator grows by whole segments, so a leak of small tensors climbs by equal steps with
// long flat stretches between them, in which no slope is to be seen; so does a job whose
// stages or inputs get larger.
type Stairs struct {
	level   float64 // it stands on; NaN: not known
	ahead   float64 // the level it may have stepped to; 0: none
	crossed float64 // when
	low     float64 // since when it has been below its level; 0: it is not
	stood   int     // samples on the level, or on the one ahead
	moved   int     // and between
	times   [stairsKept]float64
	sizes   [stairsKept]float64
	count   int     // of steps since the last that was given back
	began   float64 // the equal ones, also those that are not kept any more
}

const (
	stairsKept = 8
	// Between steps a series stands still: three of four samples are within a quarter of the
	// least step. A ramp is judged as a trend.
	stairStands = 3
	stairNear   = 0.25
	stairHeld   = 2 // seconds: so long a step must last
	// A step is at least 0.4 % of the GPU and 64 MiB.
	stairShare = 0.004
	stairLeast = 64
	// What fell is given back when it has not returned within a minute: an allocator that
	// empties its cache fills it again sooner.
	stairBack = 60
	// Three equal steps are needed to say that a fourth will follow.
	stairsNeeded = 3
	// Two do where they are of one size, to the hundredth part, a twenty-fifth of the GPU at least, and a minute apart: a segment for the same tensor
	// once more. They warned before six of 543 simulated deaths, and in none of 328 healthy runs.
	pairSame  = 0.01
	pairLarge = 0.04
	pairApart = 60
	// Steps are equal when the largest is at most 1.6 times the smallest, and come regularly
	// when the longest interval is at most 2.5 times the shortest.
	stairSpread  = 1.6
	stairRegular = 2.5
	// Fewer than five steps are more easily alike by chance, and more so when they are large:
	// what finds its largest inputs one by one has few and large ones.
	stairsMany  = 5
	stairClose  = 1.3
	stairSteady = 1.6
	stairDouble = 0.2 // how far such a size may be from a whole number of steps
	// A step that is twice its interval late comes no more.
	stairLate = 2.0
)

// add takes one sample after the first plateau.
func (s *Stairs) add(t, value, limit float64) {
	unit := max(stairLeast, limit*stairShare)
	switch on := stairNear * unit; {
	case value <= max(s.level, s.ahead)+on:
		s.stood++
	case s.ahead > 0 || value < s.level+unit:
		s.moved++
	}
	switch {
	case math.IsNaN(s.level):
		s.level = value
	case value < s.level-unit:
		s.ahead = 0
		if s.low == 0 {
			s.low = t
		}
		if t-s.low > stairBack {
			*s = Stairs{level: value}
		}
	case value < s.level+unit:
		s.ahead, s.low = 0, 0
	case s.ahead == 0: // it counts when the next sample holds it
		s.ahead, s.crossed, s.low = value, t, 0
	case t-s.crossed < stairHeld:
		s.ahead = min(s.ahead, value)
	default:
		s.step(min(s.ahead, value))
	}
}

func (s *Stairs) step(level float64) {
	stairs := s.stood >= stairStands*s.moved
	s.stood, s.moved = 0, 0
	if !stairs {
		*s = Stairs{level: level}
		return
	}
	i := s.count % stairsKept
	s.times[i], s.sizes[i] = s.crossed, level-s.level
	s.count++
	s.level, s.ahead = level, 0
	if f := s.newest(); f.Steps < stairsKept {
		s.began = f.Since
	}
}

// Flight is what steps so far say of those to come.
type Flight struct {
	Steps    int     // equal ones
	Size     float64 // MiB, median; of steps that swell that of the next
	Newest   float64 // MiB, of steps that swell
	Swell    float64 // each is so many times as large as the one before; 0: they are equal
	Interval float64 // seconds, median
	Since    float64 // the first of them
	Last     float64 // the newest
	alike    bool    // enough to be no chance
}

// Flight of the newest equal steps; ok is false when there are none, or they have ended.
func (s *Stairs) Flight(now float64) (f Flight, ok bool) {
	if s.count < stairsNeeded {
		return f, false
	}
	f = s.newest()
	f.Since = s.began
	return f, f.Steps >= stairsNeeded && f.alike && now-f.Last <= stairLate*f.Interval
}

// Pair are the newest two steps where they are of one size; ok is false when they are not, or when a third is late. limit is the size of the GPU.
func (s *Stairs) Pair(now, limit float64) (f Flight, ok bool) {
	if s.count < 2 {
		return f, false
	}
	i, j := (s.count-2)%stairsKept, (s.count-1)%stairsKept
	first, second := s.sizes[i], s.sizes[j]
	f = Flight{Steps: 2, Size: second, Interval: s.times[j] - s.times[i], Since: s.times[i], Last: s.times[j], alike: true}
	return f, math.Abs(first-second) <= pairSame*second && second >= pairLarge*limit && f.Interval >= pairApart && now-f.Last <= stairLate*f.Interval
}

// newest looks how many of the steps that are kept are equal.
func (s *Stairs) newest() (f Flight) {
	n := min(s.count, stairsKept)
	var sizes, waits [stairsKept]float64
	newest := func(i int) int { return (s.count - 1 - i) % stairsKept }
	most, least, long, short := 0.0, math.Inf(1), 0.0, math.Inf(1)
	for i := range n {
		size := s.sizes[newest(i)]
		if n := math.Round(size / least); n > 1 && math.Abs(size/least-n) <= stairDouble {
			size /= n // two that came together are still two
		}
		if max(most, size) > stairSpread*min(least, size) {
			break
		}
		if i > 0 {
			wait := s.times[newest(i-1)] - s.times[newest(i)]
			if max(long, wait) > stairRegular*min(short, wait) {
				break
			}
			long, short = max(long, wait), min(short, wait)
			waits[i-1] = wait
		}
		most, least = max(most, size), min(least, size)
		sizes[i] = size
		f.Steps, f.Since = i+1, s.times[newest(i)]
	}
	if f.Steps < stairsNeeded {
		return f
	}
	f.alike = f.Steps >= stairsMany || most <= stairClose*least && long <= stairSteady*short
	f.Size, f.Interval, f.Last = Median(sizes[:f.Steps]), Median(waits[:f.Steps-1]), s.times[newest(0)]
	return f
}

// Fit is how many more steps fit into the room, and when the first comes that does not, in
// seconds from now.
func (f Flight) Fit(now, room float64) (n int, eta float64) {
	n = int(room / f.Size)
	return n, max(0, f.Last+float64(n+1)*f.Interval-now)
}
