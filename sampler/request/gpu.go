package request

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// gpu is what happens on a GPU while requests are made.
type gpu struct {
	usable  sampler.Bytes // total without what the driver reserves; 0: not known
	newest  int
	moves   [keptMoves]move // a ring
	moved   int
	sum     int64         // of all moves ever
	top     sampler.Bytes // the most that was in use since the snapshot before, by the calls
	topAt   time.Time
	read    [keptReadings]reading // a ring
	placed  int64                 // of the newest move that is surely one of this GPU and is kept no more
	stirs   [keptStirs]stir       // a ring
	stirred int
	// When what was given last by calls that do not tell how much of the GPU it took, such as those of pools, was asked for, a ring.
	pooled [keptPooled]int64
	pools  int
	// Until when some who use it take or give memory by calls that are not looked at. What they have only readings tell, and what is
	// free between two of them is not known exactly.
	unheard   time.Time
	readUntil time.Time // see Tracker.ReadUntil
	working   time.Time // when the first of the calls began that are under way and may be on it; zero: none is known to be
}

// keptReadings: those of two seconds in which each one differs from the one before. Of others the last before one that differs is told.
const keptReadings = 128

// keptMoves: more than happen between two readings, but for a moment.
const keptMoves = 256

// move is memory that was given or, negative, taken back. All that are kept are looked through at each call.
type move struct {
	from, at int64 // see nanos: when the call began, and when it was answered; what is read meanwhile may have it
	bytes    int64
	by       *seat
}

func moveOf(c *Call, n int64, by *seat) move {
	return move{nanos(c.Time.Add(-c.Took)), nanos(c.Time), n, by}
}

// near says whether the call was at work at some moment from a time on, before another.
func (m *move) near(from, until int64) bool { return m.at >= from && m.from < until }

// nanos is a time in ns since 1970; what was before that, such as no time at all, is before all others.
func nanos(t time.Time) int64 {
	if t.Unix() < 0 {
		return math.MinInt64
	}
	return t.UnixNano()
}

type reading struct {
	at    time.Time
	used  sampler.Bytes
	moved int   // moves that had been heard by then
	sum   int64 // of those
}

// take notes the memory in use from a time on.
func (g *gpu) take(at time.Time, used sampler.Bytes) {
	g.newest = (g.newest + 1) % keptReadings
	g.read[g.newest] = reading{at, used, g.moved, g.sum}
}

// at is the newest reading until a time; the zero reading: none is known.
func (g *gpu) at(t time.Time) reading {
	for i := range keptReadings {
		if r := g.ago(i); !r.at.After(t) {
			return r
		}
	}
	return reading{}
}

// movedAfter says whether the reading after one is another.
func (g *gpu) movedAfter(r reading) bool {
	for i := range keptReadings - 1 {
		if g.ago(i + 1).at.Equal(r.at) {
			return g.ago(i).used != r.used
		}
	}
	return false
}

// ago is the reading that n more have followed, 0 to keptReadings - 1.
func (g *gpu) ago(n int) reading { return g.read[(g.newest-n+keptReadings)%keptReadings] }

// free is what could still be given at the time of a call, and when the reading was made that says so; zero: none was. There may be later ones.
func (g *gpu) free(at time.Time) (n sampler.Opt[sampler.Bytes], read time.Time) {
	if g == nil || g.usable == 0 {
		return n, read
	}
	r, until := g.before(at, keptReadings), at
	if r.at.IsZero() {
		r, until = g.read[g.newest], never
	}
	read = r.at
	if !read.IsZero() && g.unsure(at) && r.at.Equal(g.at(at).at) && g.readUntil.After(read) && !g.readUntil.After(at) { // what was read stood until then
		read = g.readUntil
	}
	used := g.used(r, cut, until)
	if used > g.usable+twice { // what is counted was in the reading already, which was made later than it says
		return n, time.Time{}
	}
	return sampler.Some(g.usable.Less(used)), read
}

// unsure says whether what is free at a time may have changed since the reading by more than the calls that are seen.
func (g *gpu) unsure(at time.Time) bool { return g != nil && at.Before(g.unheard) }

// twice is more than the driver can have given too much by what it rounds to.
const twice = 64 * sampler.MiB

// freeAfter is the same by the first reading after the call that fell into no slow one, if that came soon: it has what no call tells, such as a context
// made since the reading before. A program that is gone by then has more free than there was. What was given meanwhile and nobody knows how much of the
// GPU it took, as by a pool, is in it, too: then it says nothing.
func (g *gpu) freeAfter(at time.Time) (n sampler.Opt[sampler.Bytes], read time.Time) {
	var next reading
	for _, r := range g.read {
		if r.at.After(at.Add(included)) && r.at.Sub(at) <= showsWithin && (next.at.IsZero() || r.at.Before(next.at)) && !g.amid(r.at) {
			next = r
		}
	}
	if next.at.IsZero() {
		next = g.standing(at)
	}
	if g.usable == 0 || next.at.IsZero() || g.pooledSince(at, next.at) || g.forgot(at) {
		return n, read
	}
	sum := int64(next.used) //nolint:gosec // below MaxPlausible
	for _, m := range g.moves {
		last := next.at
		if m.bytes > 0 {
			last = last.Add(included) // in doubt it says no less than there was
		}
		if m.at > nanos(at) && m.at < nanos(last) {
			sum -= m.bytes
		}
	}
	return sampler.Some(g.usable.Less(sampler.Bytes(max(sum, 0)))), next.at //nolint:gosec // it is none below zero
}

// standing is what was read of a GPU soon after a call, and stands: what is read again is passed on only when it moves. The zero reading: it may
// not have been read again, or other calls were made since.
func (g *gpu) standing(at time.Time) reading {
	after := at.Add(included)
	if g.at(after).at != g.ago(0).at || g.readUntil.Before(after.Add(showsWithin)) || !g.still(after, g.readUntil) {
		return reading{}
	}
	r := g.ago(0)
	r.at = after.Add(1)
	return r
}

// keptPooled: more than are asked for between two readings, but for a moment.
const keptPooled = 64

// pool notes when a call was given memory which does not tell how much of the GPU that took.
func (g *gpu) pool(at time.Time) {
	g.pooled[g.pools%keptPooled] = nanos(at)
	g.pools++
}

// pooledSince says whether there may have been such a call between two times.
func (g *gpu) pooledSince(at, until time.Time) bool {
	first, last := nanos(at), nanos(until.Add(included))
	for i := range min(g.pools, keptPooled) {
		if m := g.pooled[i]; m > first && m <= last {
			return true
		}
	}
	return g.pools > keptPooled && g.pooled[g.pools%keptPooled] > last // those of then are forgotten
}

// never is a time that no call is after.
var never = time.Unix(0, math.MaxInt64)

const (
	// cut: the time of a reading has whole milliseconds.
	cut = time.Millisecond
	// included: what was given so soon after a reading may be in it already.
	included = 2 * time.Millisecond
	// stood: when a reading was followed by no other one and no call for so long, which is twice as long as between two readings of
	// a GPU that is still, the calls near it are in it.
	stood = 500 * time.Millisecond
)

// used is what is in use by a reading and the calls after it until a time; what was given so soon after it is left out.
// Calls may be heard after a reading that was made after them, and before one that was made before: that is known of those
// that are kept. Of the others, which a program that fills the GPU makes by the thousand, all that were heard since count.
func (g *gpu) used(r reading, soon time.Duration, until time.Time) sampler.Bytes {
	sum := int64(r.used) + g.sum - r.sum //nolint:gosec // below MaxPlausible
	taken, given, last := nanos(r.at.Add(cut)), nanos(r.at.Add(soon)), nanos(until)
	for i := max(g.moved-keptMoves, 0); i < g.moved; i++ {
		m := g.moves[i%keptMoves]
		first := taken
		if m.bytes > 0 {
			first = given
		}
		counts, heard := m.at >= first && m.at <= last, i < r.moved
		if counts && heard {
			sum += m.bytes
		} else if !counts && !heard {
			sum -= m.bytes
		}
	}
	return sampler.Bytes(max(sum, 0)) //nolint:gosec // it is none below zero
}

// give notes that a process holds more, and what that makes of the most in use.
func (g *gpu) give(at time.Time, m move) {
	g.add(m)
	r := g.before(at, tried)
	if r.at.IsZero() {
		return
	}
	if now := g.used(r, included, at); now > g.top && now <= g.usable {
		g.top, g.topAt = now, at
	}
}

// tried: so many readings are looked at, for each call, to find one that no call is near; for a refusal it is all that are kept.
const tried = 8

// before is the newest reading before a call that no call is so near to that it may be in it or not; if there is none, the
// newest before it. There may be later ones: a call is heard some time after it was made.
func (g *gpu) before(at time.Time, tried int) (newest reading) {
	until := at // what was read stood until the next reading
	later := 0
	for later < keptReadings && g.ago(later).at.After(at) {
		later++
	}
	if later == 0 && g.readUntil.Before(at) { // others may not have been passed on yet
		until = g.readUntil
	}
	for i := later; i < min(later+tried, keptReadings); i++ {
		r := g.ago(i)
		if r.at.IsZero() {
			continue
		}
		if g.sure(r.at) {
			return r
		}
		for _, later := range []time.Time{r.at.Add(stood), until.Add(-2 * included)} {
			if !later.Add(-stood).Before(r.at) && later.Add(included).Before(until) && g.still(later.Add(included-stood), later.Add(included)) && g.moved-r.moved <= keptMoves {
				r.at = later
				return r
			}
		}
		if newest.at.IsZero() {
			newest = r
		}
		until = r.at
	}
	return newest
}

// still tells whether no kept call was made from a time until another.
func (g *gpu) still(from, until time.Time) bool {
	first, last := nanos(from), nanos(until)
	for i := range g.moves {
		if g.moves[i].near(first, last) {
			return false
		}
	}
	return true
}

// sure tells whether all kept calls were clearly before or after a reading, and none since has been forgotten.
func (g *gpu) sure(at time.Time) bool {
	first, last := nanos(at), nanos(at.Add(included))
	for i := range g.moves {
		if g.moves[i].near(first, last) {
			return false
		}
	}
	return !g.forgot(at)
}

// amid tells whether a reading fell into a call that took long: what that gave or took it may have or not.
func (g *gpu) amid(at time.Time) bool {
	first, last := nanos(at), nanos(at.Add(cut))
	for i := range g.moves {
		if m := &g.moves[i]; m.at-m.from > int64(included) && m.near(first, last) {
			return true
		}
	}
	return false
}

// forgot tells whether moves after a time may be kept no more.
func (g *gpu) forgot(at time.Time) bool {
	return g.moved > keptMoves && g.moves[g.moved%keptMoves].at >= nanos(at)
}

func (g *gpu) add(m move) {
	if old := &g.moves[g.moved%keptMoves]; old.sure() {
		g.placed = max(g.placed, old.at)
	}
	g.moves[g.moved%keptMoves] = m
	g.moved++
	g.sum += m.bytes
}

// shorter is a rise that no reading shows.
const shorter = 32 * sampler.MiB

// correct tells the snapshot of a use that came and went between two readings, or while there were none.
func (g *gpu) correct(m *sampler.Memory) {
	top, at := g.top, milli(g.topAt)
	g.top = 0
	w := m.Window
	if top == 0 || !m.Used.Known() && w == nil {
		return
	}
	most := m.Used.Or(0)
	if w != nil && w.Readings > 0 {
		most = max(most, w.Max)
	}
	if top <= most+shorter {
		return
	}
	m.Peak = &sampler.Peak{Bytes: top, Time: at, Source: sampler.PeakCalls}
	if w != nil && w.Readings > 0 {
		win := *w
		win.Max, win.MaxTime = top, at
		m.Window = &win
	}
}
