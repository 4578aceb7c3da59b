//go:build linux && (amd64 || arm64)

package uprobe

import (
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

// Each call that is looked at costs the program some microseconds. A function that is called more often than that is
// let go of, for a time that doubles whenever it comes again.
const (
	mostCalls  = 2000 // in a second
	firstPause = 10 * time.Second
	mostPause  = 10 * time.Minute
)

// maxFunctions is FUNCTIONS of probe.c.
const maxFunctions = 64

// ticks are those of a second.
const ticks = int(time.Second / tickEvery)

// bounds is how often functions are called.
type bounds struct {
	tick   int
	counts [ticks][maxFunctions]uint64 // as of the last ticks
	pause  [maxFunctions]time.Time     // until when a function is let go of; zero: it is not
	length [maxFunctions]time.Duration // of its last pause
	told   sampler.Door
}

// bound lets go of what is called too often, and tells what is missed.
func (d *Door) bound() {
	b, now := &d.bounds, d.clock.Now()
	var counts [maxFunctions]uint64
	var lost uint64
	if d.objects.Counts.Get(&counts) != nil || d.objects.Lost.Get(&lost) != nil {
		return
	}
	before := &b.counts[b.tick%ticks]
	changed := false
	told := sampler.Door{LetGo: []string{}, Lost: int(lost)} //nolint:gosec // a count
	for n := range request.Functions {
		switch {
		case !b.pause[n].IsZero() && now.After(b.pause[n]):
			b.pause[n], changed = time.Time{}, true
		case b.pause[n].IsZero() && counts[n]-before[n] > mostCalls:
			b.length[n] = min(max(2*b.length[n], firstPause), mostPause)
			b.pause[n], changed = now.Add(b.length[n]), true
			d.letGo(n)
		}
		if !b.pause[n].IsZero() {
			told.LetGo = append(told.LetGo, request.Functions[n].Name)
		}
	}
	if changed {
		for _, lib := range d.files {
			d.look(lib) //nolint:errcheck // it was allowed before
		}
	}
	*before = counts
	b.tick++
	if len(told.LetGo) != len(b.told.LetGo) || told.Lost != b.told.Lost {
		b.told = told
		d.tracker.SetDoor(told)
	}
}

// letGo notes that a function is not looked at any more.
func (d *Door) letGo(n int) {
	switch request.Functions[n].Effect {
	case request.Sets, request.Pushes, request.Pops, request.Makes:
		d.objects.ContextsMissed.Set(uint32(1)) //nolint:errcheck // then GPUs are told by other evidence
	}
}
