package torchsnap

// tracker follows the live bytes of one line: how often it rises and falls, how far, and what it never falls
// below again.
type tracker struct {
	live, low        int64 // low: least of the stretch that is open
	blocks, requests int
	valley, peak     int64 // since it was last low, and the highest since then
	valleyAt         int   // events
	cycles           int
	rise             int64 // largest that is over
	largest, now     int64 // single request: before this rise, and of it
	levels           []int64
}

// newTracker follows a line that is first seen in this stretch; before it the line held nothing.
func newTracker(stretches int) *tracker {
	return &tracker{levels: make([]int64, max(0, stretches-1))}
}

func (l *tracker) alloc(size int64) {
	l.live += size
	l.blocks++
	l.requests++
	l.peak = max(l.peak, l.live)
	l.now = max(l.now, size)
}

// free ends a rise where at least half of it is gone.
func (l *tracker) free(size int64, at int) {
	l.live -= size
	l.blocks--
	l.low = min(l.low, l.live)
	switch {
	case l.peak > l.valley && l.live <= l.valley+(l.peak-l.valley)/2:
		l.cycles++
		l.rise, l.largest = max(l.rise, l.peak-l.valley), max(l.largest, l.now)
		l.valley, l.peak, l.now, l.valleyAt = l.live, l.live, 0, at
	case l.peak == l.valley: // it goes on falling
		l.valley, l.peak, l.valleyAt = l.live, l.live, at
	}
}

// close ends a stretch.
func (l *tracker) close(place int) {
	for len(l.levels) < place {
		l.levels = append(l.levels, 0)
	}
	l.levels = append(l.levels, l.low)
	l.low = l.live
}

// halve joins each two stretches.
func (l *tracker) halve() {
	for i := 0; i+1 < len(l.levels); i += 2 {
		l.levels[i/2] = min(l.levels[i], l.levels[i+1])
	}
	l.levels = l.levels[:len(l.levels)/2]
}
