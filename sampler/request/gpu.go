package request

import (
	"time"

	"nvpeak/sampler"
)

// gpu is what happens on a GPU while requests are made.
type gpu struct {
	usable sampler.Bytes // total without what the driver reserves; 0: not known
	newest int
	since  int64                 // bytes that were given less what was taken back since the newest reading
	read   [keptReadings]reading // a ring
}

// keptReadings: those of two seconds in which each one differs from the one before.
const keptReadings = 128

type reading struct {
	at   time.Time
	used sampler.Bytes
}

// take notes the memory in use from a time on.
func (g *gpu) take(at time.Time, used sampler.Bytes) {
	g.newest = (g.newest + 1) % keptReadings
	g.read[g.newest] = reading{at, used}
	g.since = 0
}

// at is what was in use at a time; 0: not known.
func (g *gpu) at(t time.Time) sampler.Bytes {
	for i := range keptReadings {
		if r := g.read[(g.newest-i+keptReadings)%keptReadings]; !r.at.After(t) {
			return r.used
		}
	}
	return 0
}

// most is the most that was in use from one time to another.
func (g *gpu) most(from, to time.Time) (used sampler.Bytes) {
	for _, r := range g.read {
		if r.at.After(from) && !r.at.After(to) {
			used = max(used, r.used)
		}
	}
	return used
}

// free is what can still be given: readings are some milliseconds old.
func (g *gpu) free() sampler.Opt[sampler.Bytes] {
	if g == nil || g.usable == 0 {
		return sampler.Opt[sampler.Bytes]{}
	}
	used := int64(g.read[g.newest].used) + g.since //nolint:gosec // both below MaxPlausible
	return sampler.Some(g.usable.Less(sampler.Bytes(max(used, 0))))
}

// move notes that a process holds more or less.
func (g *gpu) move(n int64) {
	if g != nil {
		g.since += n
	}
}
