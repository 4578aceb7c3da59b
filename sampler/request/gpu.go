package request

import (
	"time"

	"nvpeak/sampler"
)

// gpu is what happens on a GPU while requests are made.
type gpu struct {
	usable sampler.Bytes // total without what the driver reserves; 0: not known
	newest int
	since  int64         // bytes that were given less what was taken back since the newest reading
	sure   int64         // the same without what that reading may have
	top    sampler.Bytes // the most that was in use since the snapshot before, by the calls
	topAt  time.Time
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
	g.since, g.sure = 0, 0
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
	return sampler.Some(g.usable.Less(g.used(g.since)))
}

// used is what is in use when so much was given since the newest reading.
func (g *gpu) used(since int64) sampler.Bytes {
	return sampler.Bytes(max(int64(g.read[g.newest].used)+since, 0)) //nolint:gosec // both below MaxPlausible
}

// included: what was given so soon after a reading may be in it already.
const included = 2 * time.Millisecond

// give notes that a process holds more, and drop that it holds less.
func (g *gpu) give(at time.Time, n sampler.Bytes) {
	g.since += int64(n) //nolint:gosec // below MaxPlausible
	if r := g.read[g.newest]; r.at.IsZero() || at.Before(r.at.Add(included)) {
		return
	}
	g.sure += int64(n) //nolint:gosec // below MaxPlausible
	if now := g.used(g.sure); now > g.top && now <= g.usable {
		g.top, g.topAt = now, at
	}
}

func (g *gpu) drop(n sampler.Bytes) {
	g.since -= int64(n) //nolint:gosec // below MaxPlausible
	g.sure -= int64(n)  //nolint:gosec // the same
}

// shorter is a rise that no reading shows.
const shorter = 32 * sampler.MiB

// correct tells the snapshot of a use that came and went between two readings.
func (g *gpu) correct(m *sampler.Memory) {
	if w := m.Window; w != nil && w.Readings > 0 && g.top > w.Max+shorter {
		at := milli(g.topAt)
		win := *w
		win.Max, win.MaxTime = g.top, at
		m.Window, m.Peak = &win, &sampler.Peak{Bytes: g.top, Time: at, Source: sampler.PeakCalls}
	}
	g.top = 0
}
