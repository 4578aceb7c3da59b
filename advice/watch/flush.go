package watch

import "math"

// flushes finds an allocator that gives its cache back to retry a refused request: from
// the limit of the GPU the memory falls, and comes back at once. PyTorch does that
// before it raises (https://docs.pytorch.org/docs/stable/notes/cuda.html); it costs
// time, and the next request may fail for good.
type flushes struct {
	known       bool
	falling     bool
	top, bottom float64
	turned      float64 // when top or bottom was set
	atLimit     bool    // the fall began where nothing was free
	times       [8]float64
	sizes       [8]float64
	count       int
	bottoms     [3]float64 // of the last falls from the limit, newest last
	falls       int        // of those in a row
	fell        float64    // when the newest of them began
	nearTop     bool       // the fall began at the limit, held or not
	plain       float64    // last fall that was not a flush; NaN: none
	limit       float64    // since when the memory has been at the limit; NaN: it is not
}

const (
	// flushesNeeded within ten minutes; one may be a program that cleans up once.
	flushesNeeded = 2
	// risingNeeded bottoms above one another; two may be the ends of two spikes.
	risingNeeded = 3
	// flushSpan is how long flushes count together.
	flushSpan = 600
	// A flush begins where at most 3 % of the GPU are free, falls by at least 1 % of it
	// and 256 MiB, and is filled up again within a minute.
	flushLimit   = 0.03
	flushShare   = 0.01
	flushLeast   = 256
	flushSeconds = 60
	// The first flush comes when the limit has been held for a while: the top of a saw-tooth
	// or spike is not.
	flushHeld = 15
	// Falls whose bottoms rise by 2 % of the GPU may be half an hour apart.
	risingShare = 0.02
	risingSpan  = 1800
)

func (f *flushes) reset() {
	*f = flushes{plain: math.NaN(), limit: math.NaN()}
}

// add takes the extremes and the newest value of the GPU's used memory. plain: a fall
// began that is no flush.
func (f *flushes) add(now, high, low, value, total, usable float64) (plain bool) {
	if !f.known {
		f.known, f.top, f.turned = true, high, now
	}
	step := max(flushLeast, total*flushShare)
	for _, v := range [...]float64{high, low, value} {
		was := f.plain
		f.turn(now, v, step, total, usable)
		plain = plain || f.plain == now && was != now
	}
	return plain
}

func (f *flushes) turn(now, v, step, total, usable float64) {
	near := usable-v <= max(flushLimit*total, flushLeast)
	if near && math.IsNaN(f.limit) {
		f.limit = now
	}
	switch {
	case !f.falling && v >= f.top:
		f.top, f.turned = v, now
	case !f.falling && v < f.top-step:
		f.falling, f.bottom = true, v
		f.atLimit = now-f.limit >= flushHeld || f.follows(now) && !math.IsNaN(f.limit)
		f.nearTop = usable-f.top <= max(flushLimit*total, flushLeast)
		f.turned, f.limit = now, math.NaN()
		if f.nearTop {
			f.fell = now
		}
		if !f.atLimit {
			f.plain = now
		}
	case f.falling && v <= f.bottom:
		f.bottom = v
		if f.atLimit && now-f.turned > flushSeconds {
			f.plain = now
		}
	case f.falling && v > f.bottom+max(step, (f.top-f.bottom)/2):
		f.recordBottom(total)
		if f.atLimit && now-f.turned <= flushSeconds {
			f.times[f.count%len(f.times)], f.sizes[f.count%len(f.times)] = now, f.top-f.bottom
			f.count++
		} else if f.atLimit {
			f.plain = now
		}
		f.falling, f.top, f.turned = false, v, now
	}
}

// recordBottom follows falls from the limit whose bottoms rise: less comes free each time.
func (f *flushes) recordBottom(total float64) {
	newest := f.bottoms[len(f.bottoms)-1]
	switch {
	case !f.nearTop:
		f.falls = 0
		return
	case f.falls > 0 && f.bottom >= newest+risingShare*total:
		f.falls++
	default:
		f.falls = 1
	}
	copy(f.bottoms[:], f.bottoms[1:])
	f.bottoms[len(f.bottoms)-1] = f.bottom
}

// rising says whether at least three falls from the limit of late ended higher each time.
func (f *flushes) rising(now float64) bool {
	return f.falls >= risingNeeded && now-f.fell <= risingSpan
}

// follows says whether there has been a flush of late.
func (f *flushes) follows(now float64) bool {
	return f.count > 0 && now-f.times[(f.count-1)%len(f.times)] <= flushSpan
}

// recent are the flushes of the last ten minutes: how many, since when, the largest.
// Falls that were there before the limit was reached are a habit of the program: then
// there are none.
func (f *flushes) recent(now float64) (n int, since, largest float64) {
	since = now
	for i := range min(f.count, len(f.times)) {
		if t := f.times[i]; now-t <= flushSpan {
			n, since, largest = n+1, min(since, t), max(largest, f.sizes[i])
		}
	}
	if n == 0 || f.plain > since-flushSpan {
		return 0, 0, 0
	}
	return n, since, largest
}
