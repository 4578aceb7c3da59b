package request

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// exact makes of the driver's figure for a process, read once a second, and of the calls between
// two readings the most it has ever held: the figure also has what no call asks for, such as the context.
type exact struct {
	listedAt time.Time
	took     time.Duration              // to read it: it is of some moment meanwhile
	listed   sampler.Opt[sampler.Bytes] // waits until all calls before it are known
	base     sampler.Opt[sampler.Bytes] // of the driver's figure, what is not live
	basedAt  time.Time                  // when that figure was read
	basedIn  time.Duration              // how long that took
	stood    peak                       // top before it was
	figures  figures
	guessed  bool          // that: a call was so near that it may be in the figure or not
	with     sampler.Bytes // live at that time
	apart    bool          // the figure does not follow the calls: a pool, managed memory
	apartAt  time.Time     // since that figure
	longest  time.Duration // that a call has taken
	open     int           // of the changes, where a thread may be giving memory back still
	oldest   time.Time     // when the first of the calls began that are under way; zero: none is known to be
	since    sampler.Bytes // most live since the process was seen
	sinceAt  time.Time
	top      sampler.Bytes
	topAt    time.Time
	loose    bool          // another thread gave memory back meanwhile: which came first is not known
	above    sampler.Bytes // the most that may have been held, where a thread took long to give memory back
	contexts contexts
	changes  [keptChanges]change // of live, a ring
	changed  int
}

type peak struct {
	top   sampler.Bytes
	topAt time.Time
}

// change is one of live.
type change struct {
	at          time.Time
	took        time.Duration
	live, gives sampler.Bytes // before it, and what it adds
	loose       bool
	besides     sampler.Bytes // what other threads were giving back at that, which may have been there still
	context     bool          // a context was made or ended, or a block that nobody knew
	back        sampler.Bytes // what is given back
	by          int           // the thread that does, if it may be at that still; 0: it is not
	slow        bool          // it is known to be
	until       time.Time     // when it was done, if that took long
}

// keptChanges: more than there are, but for a moment, between a figure and when it is told of.
const keptChanges = 64

const (
	// unsure: a list and a call so near to one another may have happened in either order.
	unsure = 5 * time.Millisecond
	// givingBack: so long a call that gives memory back may be at that, of which the begin is told, and the end if it took long.
	givingBack = 250 * time.Millisecond
	// whole: the times of figures have whole milliseconds. What begins later than that after one is not in it.
	whole = time.Millisecond
	// follows: a change of live that the driver's figure must show if it follows.
	follows = 32 * sampler.MiB
)

// list notes the driver's figure; what it means is told once the calls that were at work when it was read are known, for by then they may be in it:
// so much is live since the one before.
func (e *exact) list(at time.Time, took time.Duration, n, live sampler.Bytes) {
	switch {
	case e.settled(at):
		e.settle(at, live)
	case e.listed.Known() && e.waits(): // where calls follow one another that take longer than from list to list, none would ever be settled
		return
	}
	e.listedAt, e.took, e.listed = at, took, sampler.Some(n)
}

// waits says whether the figure that waits may have what a call does that is under way.
func (e *exact) waits() bool { return !e.oldest.IsZero() && !e.oldest.After(e.listedAt.Add(whole)) }

// later are the changes that were heard after a time, oldest first, and the one before them; all: none of those is forgotten.
func (e *exact) later(at time.Time) (list []change, before change, all bool) {
	for i := e.changed - 1; i >= max(e.changed-keptChanges, 0); i-- {
		c := e.changes[i%keptChanges]
		if !c.at.After(at) {
			before, all = c, true
			break
		}
		list = append(list, c)
	}
	slices.Reverse(list)
	return list, before, all || e.changed <= keptChanges
}

// before is called before live changes at a time, by a call that took so long and gives so much: a list of meanwhile may have it already.
func (e *exact) before(at time.Time, took time.Duration, live, gives sampler.Bytes) {
	waits := e.listed.Known() && at.After(e.listedAt)
	if waits && e.changed >= keptChanges && e.changes[(e.changed+1)%keptChanges].at.After(e.listedAt) { // one more, and what there was at the figure is forgotten
		e.settleNow(at, live)
	}
	c := &e.changes[e.changed%keptChanges]
	e.gave(c)
	*c = change{at: at, took: took, live: live, gives: gives}
	e.changed++
	e.longest = max(e.longest, took)
	e.meanwhile(c)
	if waits && e.settled(at) {
		e.settle(at, live)
	}
}

// meanwhile takes that a call may have been at work when the base was read.
func (e *exact) meanwhile(c *change) {
	if n, known := e.base.Value(); known && c.gives > 0 && c.at.After(e.basedAt) && c.at.Add(-c.took).Before(e.basedAt.Add(whole)) {
		e.amid(n, c.gives, c.at.Add(-c.took))
	}
}

// amid takes that a call which began at a time was at work when the figure was read, and is answered after that was taken: all that was made of it, and of
// those before it since then, may have what the call gives, and is made anew.
func (e *exact) amid(base, gives sampler.Bytes, began time.Time) {
	if gives > base && !e.guessed { // the figure is too low to have that, too
		return
	}
	e.base, e.guessed, e.stood = sampler.Some(base.Less(gives)), true, e.figures.before(began, e.stood)
	e.top, e.topAt = e.stood.top, e.stood.topAt
	if c := &e.contexts; c.most > 0 {
		e.note(c.mostAt, c.most, c.loose)
	}
	if gives <= base { // else it had something else, and not this
		e.note(e.basedAt, e.with+gives, e.loose)
	}
}

// takes notes what a thread gives back from a time on.
func (e *exact) takes(at time.Time, tid int, n sampler.Bytes) {
	if e.changed > 0 {
		c := &e.changes[(e.changed-1)%keptChanges]
		c.by, c.back = tid, n
		e.open++
	}
}

// gave takes that a change is over.
func (e *exact) gave(c *change) {
	if c.by != 0 {
		c.by = 0
		e.open--
	}
}

// calls takes that a thread has made another call, which began at a time: what it gave back before that was so at once, unless it was told to have taken long,
// and what it gave back of which no call tells how much, such as a context, by then. It is the most that may have been live.
func (e *exact) calls(tid int, began time.Time) (above sampler.Bytes) {
	for i := 0; i < len(e.changes) && e.open > 0; i++ {
		switch c := &e.changes[i]; {
		case c.by != tid:
		case c.context:
			above = max(above, e.lasted(c, earlier(began, c.at.Add(givingBack))))
		default:
			e.gave(c)
		}
	}
	return above
}

// ended takes that the process has, at a time: who was giving memory back, for all that is known, was at that until then. It is the most that may have been live.
func (e *exact) ended(at time.Time) (above sampler.Bytes) {
	for i := range e.changes {
		if c := &e.changes[i]; c.open(at) {
			above = max(above, e.lasted(c, at))
		}
		e.gave(&e.changes[i])
	}
	e.longest, e.oldest = 0, time.Time{} // nothing is at work any more
	return above
}

// lingers takes that what was given back from a time on was so as late as at another. It is the most that may have been live.
func (e *exact) lingers(began, at time.Time) (above sampler.Bytes) {
	for i := range e.changes {
		if c := &e.changes[i]; c.at.Equal(began) && c.back > 0 {
			e.longest = max(e.longest, at.Sub(began))
			above = max(above, e.lasted(c, at))
		}
	}
	return above
}

// endsUntil takes the same of a context that ended from a time on, and of what ended with it.
func (e *exact) endsUntil(began, at time.Time) (above sampler.Bytes) {
	for i := range e.changes {
		if c := &e.changes[i]; c.at.Equal(began) && c.context {
			e.longest = max(e.longest, at.Sub(began))
			above = max(above, e.lasted(c, at))
		}
	}
	return above
}

// lasted takes that a change was over as late as at a time: a figure of meanwhile may have what was given back or not, and so may what other threads were given. It
// is the most that may have been live then.
func (e *exact) lasted(c *change, at time.Time) (above sampler.Bytes) {
	e.gave(c)
	if c.until = at; c.back == 0 {
		return 0
	}
	if e.apart && e.apartAt.After(c.at) && !e.apartAt.After(at) {
		e.apart = false // that figure had it still
	}
	if base, known := e.base.Value(); known && c.within(e.basedAt, e.basedIn, at) {
		e.amid(base, c.back, c.at)
	}
	if above = e.meets(c.at, c.back); above > 0 {
		e.above = max(e.above, e.base.Or(0)+above)
	}
	return above
}

// meets takes that what was given since a time may have been so while so much was there still, and is the most that may have been live then.
func (e *exact) meets(began time.Time, back sampler.Bytes) (above sampler.Bytes) {
	for i := range e.changes {
		if c := &e.changes[i]; c.gives > 0 && !c.at.Add(-c.took-apart).Before(began) { // else it was known: see overlaps
			c.besides += back
			above = max(above, c.live+c.gives+c.besides)
		}
	}
	return above
}

// giving is the most that may have been live for all that is known by now: what threads may be giving back still may have been there beside what others were
// given since.
func (e *exact) giving(now time.Time) (most sampler.Bytes) {
	var giving sampler.Bytes
	for i := max(e.changed-keptChanges, 0); i < e.changed && e.open > 0; i++ {
		c := &e.changes[i%keptChanges]
		switch {
		case c.open(now):
			giving += c.back
		case c.gives > 0 && giving > 0:
			most = max(most, c.live+c.gives+c.besides+giving)
		}
	}
	return most
}

// within says whether memory was being given back, or may have been for all that is known by now, while a figure was read that took so long.
func (c *change) within(at time.Time, took time.Duration, now time.Time) bool {
	return c.at.Before(at) && (c.open(now) || !c.until.IsZero() && !c.until.Before(at.Add(-took-whole)))
}

// open says whether that is going on, for all that is known.
func (c *change) open(now time.Time) bool { return c.by != 0 && (c.slow || now.Sub(c.at) < givingBack) }

// settled says whether all calls that were at work when the figure that waits was read are known by now: none takes longer than they did so far, and
// who gives memory back may still tell.
func (e *exact) settled(now time.Time) bool {
	if now.Sub(e.listedAt) <= unsure+min(e.longest, givingBack) || e.waits() {
		return false
	}
	return e.open == 0 || !slices.ContainsFunc(e.changes[:], func(c change) bool { return c.at.Before(e.listedAt) && c.open(now) })
}

// settleNow takes the figure that waits by what is known, or not at all if it may have what a call does that is under way.
func (e *exact) settleNow(now time.Time, live sampler.Bytes) {
	if e.waits() {
		e.listed = sampler.Opt[sampler.Bytes]{}
	}
	e.settle(now, live)
}

// settle takes the figure that waits, now that so much is live.
func (e *exact) settle(now time.Time, live sampler.Bytes) {
	n, waits := e.listed.Value()
	if !waits {
		return
	}
	e.listed = sampler.Opt[sampler.Bytes]{}
	list, last, all := e.later(e.listedAt)
	if !all || slices.ContainsFunc(list, func(c change) bool { return c.context }) {
		return
	}
	next, gives := now.Sub(e.listedAt), sampler.Bytes(0) // when the first call after the figure began, and what it gave
	if len(list) > 0 {
		c := &list[0]
		live, next, gives = c.live, c.at.Add(-c.took).Sub(e.listedAt), c.gives
	}
	if e.stale(n, live) {
		return
	}
	near := next < unsure || e.listedAt.Sub(last.at) < unsure+e.took || e.lingered(now)
	if e.base.Known() && near {
		return
	}
	if e.guessed { // it begins anew, with a figure that is sure
		e.base, e.top, e.topAt = sampler.Opt[sampler.Bytes]{}, e.stood.top, e.stood.topAt
	}
	e.guessed = near
	if was, known := e.base.Value(); known && !e.contexts.changed {
		changed := live.Less(e.with) + e.with.Less(live)
		off := n.Less(was+live) + (was + live).Less(n)
		if changed >= follows {
			if follow := off <= changed/2; follow == e.apart {
				e.apart, e.apartAt = !follow, e.listedAt
			}
		}
	}
	first := !e.base.Known()
	most := live
	if near {
		most = e.mostAmid(live, now)
	}
	switch { // the figure may have it already: no peak is told that never was
	case next > whole:
	case n >= most+gives:
		most += gives
	case n >= live+gives: // if not with all else that it may have
		most = max(most, live+gives)
	}
	e.base, e.with, e.basedAt, e.basedIn, e.stood = sampler.Some(n.Less(most)), live, e.listedAt, e.took, peak{e.top, e.topAt}
	e.figures.add(e.listedAt, e.stood)
	e.told(first)
	e.note(e.listedAt, live, false)
	for i := range list {
		if i > 0 {
			e.meanwhile(&list[i])
		}
		e.note(list[i].at, list[i].live+list[i].gives, list[i].loose)
	}
}

// stale says whether the figure that waits may have all that a context had whose end was under way, for all that is known, as it was read, or a block that nobody
// knew; live: after that.
func (e *exact) stale(n, live sampler.Bytes) bool {
	ending, first, before := false, true, live
	for i := range e.changes {
		c := &e.changes[i]
		until := later(c.at, c.until)
		if c.by != 0 {
			until = c.at.Add(givingBack)
		}
		if c.context && c.at.Before(e.listedAt) && !until.Before(e.listedAt.Add(-e.took-whole)) {
			ending, first, before = true, first && !e.contexts.since.Before(c.at), max(before, c.live)
		}
	}
	if base, known := e.base.Value(); known {
		return ending && (!first || n >= base+live) // of several that have ended it has some, perhaps
	}
	return ending && n >= before
}

// blurs takes that a figure which was read between two times has a part of something, and tells nothing.
func (e *exact) blurs(from, until time.Time) {
	if e.listedAt.Add(whole).After(from) && !e.listedAt.Add(-e.took).After(until) {
		e.listed = sampler.Opt[sampler.Bytes]{}
	}
	if e.base.Known() && e.basedAt.Add(whole).After(from) && !e.basedAt.Add(-e.basedIn).After(until) {
		e.base, e.top, e.topAt, e.guessed = sampler.Opt[sampler.Bytes]{}, e.stood.top, e.stood.topAt, false
	}
}

// mostAmid is the most that was live while the figure was read, which may be of any moment then; live: at last. What several threads were giving back
// may all have been there still.
func (e *exact) mostAmid(live sampler.Bytes, now time.Time) sampler.Bytes {
	var most, giving sampler.Bytes
	from := e.listedAt.Add(-e.took - unsure)
	for i := max(e.changed-keptChanges, 0); i < e.changed; i++ {
		c := &e.changes[i%keptChanges]
		if c.at.After(from) && !c.at.After(e.listedAt) {
			most = max(most, c.live+c.gives+giving)
		}
		if !c.context && c.within(e.listedAt, e.took, now) {
			giving += c.back
		}
	}
	return max(most, live+giving)
}

// lingered says whether memory was being given back while the figure that waits was read.
func (e *exact) lingered(now time.Time) bool {
	return slices.ContainsFunc(e.changes[:], func(c change) bool { return !c.context && c.within(e.listedAt, e.took, now) })
}

// rose notes that so much is live; loose: as far as is known; besides: what other threads were giving back then.
func (e *exact) rose(at time.Time, live sampler.Bytes, loose bool, besides sampler.Bytes) {
	if e.changed > 0 {
		c := &e.changes[(e.changed-1)%keptChanges]
		c.loose, c.besides = loose, besides
	}
	if live > e.since {
		e.since, e.sinceAt = live, at
		if !e.base.Known() {
			e.topAt, e.loose = at, loose
		}
	}
	e.beside(at, live, loose)
	e.note(at, live, loose)
}

func (e *exact) note(at time.Time, live sampler.Bytes, loose bool) {
	if now := e.base.Or(0) + live; e.base.Known() && !e.contexts.gone && now > e.top {
		e.top, e.topAt, e.loose = now, at, loose
	}
}

// source is where the peak is from.
func (e *exact) source() string {
	switch {
	case !e.known(), e.short():
		return sampler.PeakCallsAlone
	case !e.base.Known(): // it was held, by a figure of before one that told nothing
		return sampler.PeakAtLeast
	case e.loose:
		return sampler.PeakOverlapping
	case e.guessed:
		return sampler.PeakAtLeast
	case e.above > e.top:
		return sampler.PeakOverlapping
	}
	return sampler.PeakCalls
}

// exceeds says whether the peak would be a higher one if so much were live.
func (e *exact) exceeds(live sampler.Bytes) bool { return e.base.Or(0)+live > e.top }

// known says whether some figure tells more than the calls alone.
func (e *exact) known() bool { return !e.apart && e.top > 0 && e.top >= e.since }

// peak is the most the process has held, and when: never less than was asked for, where no figure goes with that.
func (e *exact) peak() (sampler.Bytes, time.Time) {
	if !e.known() {
		return e.since, e.sinceAt
	}
	return e.top, e.topAt
}
