package torchsnap

import "slices"

// waysMost ways to a line are told apart.
const waysMost = 8

// tracker follows the live bytes of one line: how often it rises and falls, how far, and what it never falls
// below again.
type tracker struct {
	live, low        int64 // low: least of the stretch that is open
	blocks, requests int
	valley, peak     int64 // since it was last low, and the highest since then
	valleyAt         int   // events
	firstValley      int   // the same for the first rise that was over
	cycles           int
	born             int   // event
	ran              bool  // a module made some of it in a forward pass
	parted           bool  // comes and goes with parts of the model, of which a step runs many
	rise             int64 // largest that is over
	largest, now     int64 // single request: before this rise, and of it
	made             int64 // bytes in all
	byStack          map[value]*requests
	levels           []int64
	ways             []int // of the rises that are over, and of this one: at most waysMost of each
	waysNow          []int
}

// requests are those of one stack: a line may make blocks of many kinds.
type requests struct {
	count   int
	largest int64 // before this rise of the line
	now     int64 // in this rise
	rises   int   // of the line that were over then
}

// stacksOfLine are told apart; of more, those that come first.
const stacksOfLine = 64

// requestsOf are those of a stack; of one that is not followed there are none.
func (l *tracker) requestsOf(stack value) *requests {
	r := l.byStack[stack]
	if r == nil {
		r = &requests{}
		if l.byStack == nil {
			l.byStack = map[value]*requests{}
		}
		if len(l.byStack) < stacksOfLine {
			l.byStack[stack] = r
		}
	}
	if r.rises < l.cycles {
		r.largest, r.now, r.rises = max(r.largest, r.now), 0, l.cycles
	}
	return r
}

// newTracker follows a line that is first seen in this stretch; before it the line held nothing.
func newTracker(stretches int) *tracker {
	return &tracker{levels: make([]int64, max(0, stretches-1))}
}

func (l *tracker) alloc(size int64, way int, stack value) {
	if n := len(l.waysNow); n == 0 || l.waysNow[n-1] != way && n < waysMost && !slices.Contains(l.waysNow, way) {
		l.waysNow = append(l.waysNow, way)
	}
	l.live += size
	l.made += size
	l.blocks++
	l.requests++
	l.peak = max(l.peak, l.live)
	l.now = max(l.now, size)
	r := l.requestsOf(stack)
	r.count, r.now = r.count+1, max(r.now, size)
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
		if l.cycles == 1 {
			l.firstValley = at
		}
		l.passed()
	case l.peak == l.valley: // it goes on falling
		l.valley, l.peak, l.valleyAt = l.live, l.live, at
	}
}

// passed keeps the ways of a rise that is over.
func (l *tracker) passed() {
	for _, way := range l.waysNow {
		if len(l.ways) < waysMost && !slices.Contains(l.ways, way) {
			l.ways = append(slices.Clip(l.ways), way)
		}
	}
	l.waysNow = nil
}

// newWay is the way of a rise of which no rise before came; 0: there is none.
func (l *tracker) newWay() int {
	if len(l.waysNow) != 1 || len(l.ways) == 0 || len(l.ways) == waysMost || slices.Contains(l.ways, l.waysNow[0]) {
		return 0
	}
	return l.waysNow[0]
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
