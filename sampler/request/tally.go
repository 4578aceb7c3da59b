package request

import (
	"time"

	"nvpeak/sampler"
)

// recentFor is how long a request counts as lately made.
const recentFor = time.Minute

// recentSlots divide it.
const recentSlots = 12

// tally is what was asked for in one seat.
type tally struct {
	granted, refused, flushes int
	shown                     int              // of granted and refused, in the newest snapshot
	based                     bool             // what it held before it was seen was told
	ended                     sampler.Opt[int] // exit status in the newest snapshot
	largest                   sampler.Bytes
	largestAt                 time.Time
	recent                    [recentSlots]struct {
		slot    int64
		largest sampler.Bytes
	}
	live, peak sampler.Bytes
	above      sampler.Bytes // the most that may have been live, where another thread gave some back at that moment
	lower      bool          // the peak is a lower bound
	pieceAt    time.Time     // when the first of some pieces was granted after memory was given back, if that does not count as a near miss yet
	refusal    *refusal
	exact      exact
	partly     bool        // calls tell a part only: a pool of the driver keeps what is given back, or what was given is not told; peaks are at least that
	pool       bool        // a pool of the driver gave some of it: the driver's figure has what that keeps for later, too
	context    time.Time   // when the process has made one there, or ended one, last; how much that has taken no call tells
	gaveUntold time.Time   // when it gave memory back last of which no call tells how much
	loosened   time.Time   // when it gave memory back to a pool last, which gives it to the GPU some time later, or never
	gpu        *gpu        // nil: not known
	unplaced   []move      // while that is so
	unpooled   []time.Time // the same: see gpu.pooled
}

// asked notes a request for so much.
func (t *tally) asked(at time.Time, n sampler.Bytes) {
	if n > t.largest {
		t.largest, t.largestAt = n, at
	}
	slot := at.UnixNano() / int64(recentFor/recentSlots)
	r := &t.recent[slot%recentSlots]
	if r.slot != slot {
		r.slot, r.largest = slot, 0
	}
	r.largest = max(r.largest, n)
}

// lately is the largest request of the last minute.
func (t *tally) lately(at time.Time) (most sampler.Bytes) {
	slot := at.UnixNano() / int64(recentFor/recentSlots)
	for _, r := range t.recent {
		if slot-r.slot < recentSlots {
			most = max(most, r.largest)
		}
	}
	return most
}

// free is what could still be given at the last try of a refusal, and when the reading was made that says so; unknown if that was before the
// context, or before memory was given back and nobody knows how much, or if as much was free and it may have been read after the refusal, or before
// memory was given and nobody knows how much.
func (t *tally) free(r *refusal) (n sampler.Opt[sampler.Bytes], read time.Time) {
	n, read = t.gpu.free(r.last)
	stale := !read.IsZero() && (read.Before(milli(r.context)) || read.Before(r.loosed.Add(included)))
	doubtful := read.IsZero() || !read.Add(included).Before(r.last) || !t.gpu.sure(read) || t.gpu.pooledSince(read, r.last.Add(-included))
	if stale || !r.possible(n) && doubtful {
		return sampler.Opt[sampler.Bytes]{}, time.Time{}
	}
	return n, read
}

// later is the later one of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earlier is the earlier one of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// unmoved says whether so much was free after a refusal because it was at it, too: the process gave nothing back since of which no call tells, or
// nothing has come of that, for as much was free before.
func (t *tally) unmoved(r *refusal, after sampler.Bytes) bool {
	if t.loosened.IsZero() && t.gaveUntold.Before(r.last) {
		return true
	}
	before, read := t.gpu.free(r.last)
	n, known := before.Value()
	return known && !read.Before(milli(r.context)) && after <= n+twice
}

// on notes which GPU it is. What was asked there before that was known is made up for.
func (t *tally) on(g *gpu) {
	if t.gpu == nil && g != nil {
		for _, m := range t.unplaced {
			g.add(m)
		}
		for _, at := range t.unpooled {
			g.pool(at)
		}
		t.unplaced, t.unpooled = nil, nil
	}
	if r := t.refusal; r != nil && t.gpu != nil && g != nil && t.gpu != g { // what was free was so on another
		r.unclear = false
		r.frees(sampler.Opt[sampler.Bytes]{}, time.Time{}, false)
	}
	t.gpu = g
}

// moves notes that the GPU's memory was given or, negative, taken back.
func (t *tally) moves(c *Call, n int64, by *seat) {
	switch m := moveOf(c, n, by); {
	case t.gpu != nil && n > 0:
		t.gpu.give(c.Time, m)
	case t.gpu != nil:
		t.gpu.add(m)
	case len(t.unplaced) < keptMoves:
		t.unplaced = append(t.unplaced, m)
	}
}

// pools notes when it was given memory that does not tell how much of the GPU that took.
func (t *tally) pools(at time.Time) {
	if t.gpu != nil {
		t.gpu.pool(at)
		return
	}
	t.unpooled = append(t.unpooled, at)
	if more := len(t.unpooled) - keptPooled - 1; more > 0 { // of one more than are kept the GPU knows that it has forgotten some
		t.unpooled = t.unpooled[more:]
	}
}

// lingers notes that what a seat gave back by a call that began at a time was so as late as at another.
func (t *tally) lingers(by *seat, began, at time.Time) {
	t.above = max(t.above, t.exact.lingers(began, at))
	by.lingers(began, at)
	moves := t.unplaced
	if t.gpu != nil {
		moves = t.gpu.moves[:]
	}
	for i := range moves {
		if m := &moves[i]; m.by == by && m.bytes < 0 && m.at == nanos(began) {
			m.at = nanos(at)
		}
	}
}

// called notes that a thread has made another call, which began at a time.
func (t *tally) called(tid int, began time.Time) {
	t.above = max(t.above, t.exact.calls(tid, began))
}

// interrupted notes that the process has ended, at a time, in a call that began at another and asked for so much: it may have been given that since.
func (t *tally) interrupted(began, at time.Time, n sampler.Bytes) {
	t.exact.blurs(began, at)
	t.above = max(t.above, t.exact.meets(began, n))
}

// over notes that the process has ended, at a time.
func (t *tally) over(at time.Time) { t.above = max(t.above, t.exact.ended(at)) }

// measure finds what was free at the last refusal, as far as readings since then tell; lived: until when the process did. What is read after that
// is more.
func (t *tally) measure(now, lived time.Time) {
	r := t.refusal
	if r == nil || t.gpu == nil || r.unclear || r.Free.Known() && now.Sub(r.last) > readSoon {
		return
	}
	about := t.gpu.unsure(r.last)
	if free, read := t.free(r); !r.Free.Known() || free.Known() && read.After(r.read) { // its GPU was not, or that reading had not been passed on
		r.frees(free, read, about)
	}
	if r.Outcome == sampler.RefusalOther {
		return // what that takes of the GPU, and when, no call tells
	}
	free, read := t.gpu.freeAfter(r.last)
	if g := t.gpu; !g.working.IsZero() && !read.Before(g.working) { // what that call gives, or gives back, the reading may have or not
		return
	}
	if !r.possible(free) && !t.gpu.sure(read) {
		return
	}
	changed := t.context.After(r.last)
	if free.Known() && (free.Or(0) < r.Free.Or(0) || !r.Free.Known() && !changed && !read.After(lived) && t.unmoved(r, free.Or(0))) {
		r.frees(free, read, r.FreeAbout || about)
	}
	alone := !changed && t.loosened.IsZero() && t.gaveUntold.IsZero() // no memory of its own came back of which no call tells how much
	if about || !alone || read.After(lived) || !r.Free.Known() || free.Or(0) <= r.Free.Or(0)+twice || !t.gpu.still(read.Add(-2*included), read.Add(included)) {
		return
	}
	if t.gpu.sure(r.read) {
		r.unclear, free, read = true, sampler.Opt[sampler.Bytes]{}, time.Time{}
	}
	r.frees(free, read, false)
}

// readSoon is how long after a refusal there are readings that tell what was free, on a machine that has little time to read.
const readSoon = 4 * showsWithin

// freeAwaited says whether what was free at the last refusal is not known, and the next readings may tell.
func (t *tally) freeAwaited(now time.Time) bool {
	r := t.refusal
	return r != nil && t.gpu != nil && !r.Free.Known() && !r.unclear && r.Outcome != sampler.RefusalOther && now.Sub(r.last) <= readSoon
}

// grant notes memory that was given; loose, besides: see overlaps.
func (t *tally) grant(c *Call, n sampler.Bytes, loose bool, besides sampler.Bytes) {
	if Functions[c.Function].Memory == Pool {
		t.pool = true
		t.hide()
	}
	t.add(c, n, loose, besides)
	t.met(c, n)
}

// most is the most that can be held; peaks above it are of calls that were heard in another order.
func (t *tally) most() sampler.Bytes {
	if t.gpu == nil || t.gpu.usable == 0 {
		return sampler.MaxPlausible
	}
	return t.gpu.usable
}

// mostHeld is the most that the process has held, as far as calls tell, when, and how that is known. Where they tell a
// part, it is at least that.
func (t *tally) mostHeld() (n sampler.Bytes, at time.Time, source string) {
	if t.partly {
		return t.exact.since, t.exact.sinceAt, sampler.PeakCallsAlone
	}
	n, at = t.exact.peak()
	return n, at, t.exact.source()
}

// add notes that more is held.
func (t *tally) add(c *Call, n sampler.Bytes, loose bool, besides sampler.Bytes) {
	t.exact.before(c.Time, c.Took, t.live, n)
	t.live = min(t.live+n, sampler.MaxPlausible)
	t.peak, t.above = max(t.peak, t.live), max(t.above, t.live+besides)
	t.exact.rose(c.Time, t.live, loose, besides)
}

// take notes that less is held, which a thread gives back.
func (t *tally) take(at time.Time, tid int, n sampler.Bytes) {
	t.exact.before(at, 0, t.live, 0)
	t.live = t.live.Less(n)
	for r := t.refusal; r != nil; r = r.other {
		r.gives(at, n)
	}
	t.exact.takes(at, tid, n)
}

// forgets drops so much of what is live, which a thread may be giving back. In the driver's figure it stays what is held, until the next one.
func (t *tally) forgets(at time.Time, tid int, n sampler.Bytes) {
	e := &t.exact
	e.loses(at, tid, t.live)
	if base, ok := e.base.Value(); ok {
		e.base, e.with = sampler.Some(base+n), e.with.Less(n)
	}
	t.live, t.lower = t.live.Less(n), true
	e.contexts.most, e.contexts.least = e.contexts.most.Less(n), e.contexts.least.Less(n)
}

// retake notes that what was taken is held all the same.
func (t *tally) retake(c *Call, n sampler.Bytes) {
	t.add(c, n, false, 0)
	for r := t.refusal; r != nil; r = r.other {
		if r.Outcome == sampler.RefusalOpen {
			r.Freed = r.Freed.Less(n)
		}
	}
}

// hide notes that the process holds more than calls tell. What it has held until then, all told, is the least that it has held.
func (t *tally) hide() {
	if e := &t.exact; !t.partly {
		e.since, e.sinceAt = e.peak()
	}
	t.partly = true
}

// join adds what was tallied apart; most: that the two have held together.
func (t *tally) join(o *tally, most sampler.Bytes) {
	t.granted, t.refused, t.flushes = t.granted+o.granted, t.refused+o.refused, t.flushes+o.flushes
	if o.largest > t.largest {
		t.largest, t.largestAt = o.largest, o.largestAt
	}
	for i, r := range o.recent {
		if mine := &t.recent[i]; r.slot > mine.slot {
			*mine = r
		} else if r.slot == mine.slot {
			mine.largest = max(mine.largest, r.largest)
		}
	}
	if t.refusal == nil || o.refusal != nil && o.refusal.last.After(t.refusal.last) {
		t.refusal = o.refusal
	}
	if o.pieceAt.After(t.pieceAt) {
		t.pieceAt = o.pieceAt
	}
	t.exact = t.joined(o, most)
	t.live += o.live
	t.above = most + t.above.Less(t.peak) + o.above.Less(o.peak)
	t.peak, t.lower = most, t.lower || o.lower
	t.partly, t.pool = t.partly || o.partly, t.pool || o.pool
	t.gaveUntold, t.loosened = later(t.gaveUntold, o.gaveUntold), later(t.loosened, o.loosened)
}

// joined is what is known of the peak of two tallies: where one of them has had nothing so far, what the other knows, else no figure had either with all
// that the other had then.
func (t *tally) joined(o *tally, most sampler.Bytes) exact {
	e := exact{since: most, sinceAt: t.largestAt, topAt: t.largestAt, loose: true, contexts: contexts{most: most, mostAt: t.largestAt, loose: true}}
	switch {
	case o.peak == 0:
		e = t.exact
	case t.peak == 0:
		e = o.exact
	}
	e.contexts.brief = max(t.exact.contexts.brief, o.exact.contexts.brief)
	e.contexts.within = max(t.exact.contexts.within, o.exact.contexts.within)
	return e
}

// requests is the tally as snapshots have it.
func (t *tally) requests(now time.Time) *sampler.Requests {
	r := &sampler.Requests{Largest: t.largest, LargestTime: milli(t.largestAt), LargestRecent: t.lately(now), Granted: t.granted,
		Refused: t.refused, Flushes: t.flushes, Live: t.live, Peak: t.peak, Overlapping: t.above > t.peak}
	if t.refusal != nil {
		last := t.refusal.Refusal
		last.Time = milli(last.Time)
		r.Refusal = &last
	}
	return r
}

// milli cuts a time as recordings keep it.
func milli(t time.Time) time.Time { return t.Truncate(time.Millisecond) }
