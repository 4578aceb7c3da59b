//go:build linux && (amd64 || arm64)

package uprobe

import (
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

// Each call that is looked at costs the program some microseconds, and one that is not still the trap. A process that calls
// a function too often is let go of (see probe.c and apart.go). Where many do so, each one below that, or the kernel cannot let go of one
// process, the others pay as well, and so does nvpeak: then fewer calls are too often, or the function is let go of as a whole.
const (
	mostCalls  = 4000  // of a process in window
	leastCalls = 100   // the same when there are many
	hotCalls   = 20000 // of all of them in window
	window     = 2 * time.Second
	firstPause = 10 * time.Second
	mostPause  = 10 * time.Minute
)

// maxFunctions is FUNCTIONS of probe.c.
const maxFunctions = 64

// ticks are those of window.
const ticks = int(window / tickEvery)

// bounds is how often functions are called.
type bounds struct {
	tick   int
	last   time.Time                   // of it
	counts [ticks][maxFunctions]uint64 // as of the last ticks
	most   [maxFunctions]uint32        // calls of a process in window
	pause  [maxFunctions]time.Time     // until when a function is let go of; zero: it is not
	length [maxFunctions]time.Duration // of its last pause
	told   sampler.Door
}

// bound lets go of what is called too often, and tells what is missed; calls: somebody has called since the last time.
func (d *Door) bound() (calls bool) {
	b, now := &d.bounds, d.clock.Now()
	var counts [maxFunctions]uint64
	var lost uint64
	if d.objects.Counts.Get(&counts) != nil || d.objects.Lost.Get(&lost) != nil {
		return true
	}
	most, since := b.most, max(now.Sub(b.last), tickEvery)
	b.last = now
	calls = counts != b.counts[(b.tick+ticks-1)%ticks]
	before := &b.counts[b.tick%ticks]
	changed := false
	told := sampler.Door{LetGo: []string{}, Other: d.others(), Lost: int(lost)} //nolint:gosec // a count
	for n := range request.Functions {
		switch {
		case !b.pause[n].IsZero() && now.After(b.pause[n]):
			b.pause[n], changed = time.Time{}, true
		case d.separate:
			b.adapt(n, uint64(float64(counts[n]-b.counts[(b.tick+ticks-1)%ticks][n])*float64(window)/float64(since)), d.isApart(n))
		case b.pause[n].IsZero() && counts[n]-before[n] > hotCalls:
			b.length[n] = min(max(2*b.length[n], firstPause), mostPause)
			b.pause[n], changed = now.Add(b.length[n]), true
			if setsContexts(n) {
				d.objects.ContextsMissed.Set(uint32(1)) //nolint:errcheck // then GPUs are told by other evidence
			}
		}
		if !b.pause[n].IsZero() {
			told.LetGo = append(told.LetGo, request.Functions[n].Name)
		}
	}
	if b.most != most {
		d.objects.Most.Set(b.most) //nolint:errcheck // the map is there
	}
	if changed {
		d.arrange()
	}
	*before = counts
	b.tick++
	if len(told.LetGo) != len(b.told.LetGo) || len(told.Other) != len(b.told.Other) || told.Lost != b.told.Lost {
		b.told = told
		d.tracker.SetDoor(told)
	}
	return calls
}

// others are the functions of libraries that nobody looks at.
func (d *Door) others() (names []string) {
	for _, lib := range d.files {
		names = append(names, lib.others...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// adapt makes fewer calls of a process too often, as long as all of them together are.
func (b *bounds) adapt(n int, inWindow uint64, isApart bool) {
	switch {
	case inWindow > hotCalls:
		b.most[n] = max(b.most[n]/2, leastCalls)
	case !isApart:
		b.most[n] = mostCalls
	}
}

// setsContexts says whether a function changes the context of its thread.
func setsContexts(n int) bool {
	switch request.Functions[n].Effect {
	case request.Sets, request.Pushes, request.Pops, request.Makes:
		return true
	}
	return false
}
