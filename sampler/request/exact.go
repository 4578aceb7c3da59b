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
	guessed  bool                       // that: a call was so near that it may be in the figure or not
	with     sampler.Bytes              // live at that time
	apart    bool                       // the figure does not follow the calls: a pool, managed memory
	moved    time.Time                  // live has changed last
	longest  time.Duration              // that a call has taken
	open     int                        // of the changes, where a thread may be giving memory back still
	since    sampler.Bytes              // most live since the process was seen
	sinceAt  time.Time
	top      sampler.Bytes
	topAt    time.Time
	loose    bool // another thread gave memory back meanwhile: which came first is not known
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
	context     bool          // a context was made or ended, or a block that nobody knew
	back        sampler.Bytes // what is given back
	by          int           // the thread that does, if it may be at that still; 0: it is not
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

// list notes the driver's figure; what it means is told by calls that are later, or by the next figure: so much is live
// since the one before.
func (e *exact) list(at time.Time, took time.Duration, n, live sampler.Bytes) {
	if e.settled(at) {
		e.settle(live, at.Sub(e.listedAt), 0)
	}
	e.listedAt, e.took, e.listed = at, took, sampler.Some(n)
	e.replay(at)
}

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

// replay takes a figure that is told of when calls of after it have been heard.
func (e *exact) replay(at time.Time) {
	list, before, all := e.later(at)
	switch {
	case len(list) == 0:
		return
	case !all || slices.ContainsFunc(list, func(c change) bool { return c.context }):
		e.listed = sampler.Opt[sampler.Bytes]{}
		return
	}
	moved := e.moved
	e.moved = before.at
	e.settle(list[0].live, list[0].at.Add(-list[0].took).Sub(at), list[0].gives)
	e.moved = moved
	for _, c := range list {
		e.note(c.at, c.live+c.gives, c.loose)
	}
}

// before is called before live changes at a time, by a call that took so long and gives so much: a list of meanwhile may have it already.
func (e *exact) before(at time.Time, took time.Duration, live, gives sampler.Bytes) {
	c := &e.changes[e.changed%keptChanges]
	e.gave(c)
	*c = change{at: at, took: took, live: live, gives: gives}
	e.changed++
	e.longest = max(e.longest, took)
	if n, known := e.base.Value(); known && gives > 0 && at.After(e.basedAt) && at.Add(-took).Before(e.basedAt.Add(whole)) {
		e.amid(n, gives)
	}
	if e.listed.Known() && at.After(e.listedAt) {
		e.settle(live, at.Add(-took).Sub(e.listedAt), gives)
	}
}

// amid takes that a call was at work when the figure was read, and is answered after that was taken: all that was made of it may have what the call
// gives, and is made anew.
func (e *exact) amid(base, gives sampler.Bytes) {
	e.base, e.guessed = sampler.Some(base.Less(gives)), true
	e.top, e.topAt = e.stood.top, e.stood.topAt
	if e.since > 0 {
		e.note(e.sinceAt, e.since, e.loose)
	}
	e.note(e.basedAt, e.with+gives, e.loose)
}

// takes notes what a thread gives back from a time on.
func (e *exact) takes(at time.Time, tid int, n sampler.Bytes) {
	e.moved = at
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

// calls takes that a thread has made another call: what it gave back before that was so at once, unless it was told to have taken long.
func (e *exact) calls(tid int) {
	for i := 0; i < len(e.changes) && e.open > 0; i++ {
		if c := &e.changes[i]; c.by == tid {
			e.gave(c)
		}
	}
}

// ended takes that the process has: nothing is at work any more.
func (e *exact) ended() {
	e.longest = 0
	for i := range e.changes {
		e.gave(&e.changes[i])
	}
}

// lingers takes that what was given back from a time on was so as late as at another: a figure of meanwhile may have it or not.
func (e *exact) lingers(began, at time.Time) {
	for i := range e.changes {
		if c := &e.changes[i]; c.at.Equal(began) && c.back > 0 {
			e.gave(c)
			c.until, e.longest = at, max(e.longest, at.Sub(began))
			if base, known := e.base.Value(); known && c.within(e.basedAt, e.basedIn, at) {
				e.amid(base, c.back)
			}
		}
	}
}

// within says whether memory was being given back, or may have been for all that is known by now, while a figure was read that took so long.
func (c *change) within(at time.Time, took time.Duration, now time.Time) bool {
	return c.at.Before(at) && (c.open(now) || !c.until.IsZero() && !c.until.Before(at.Add(-took-whole)))
}

// open says whether that is going on, for all that is known.
func (c *change) open(now time.Time) bool { return c.by != 0 && now.Sub(c.at) < givingBack }

// settled says whether all calls that were at work when the figure that waits was read are known by now: none takes longer than they did so far, and
// who gives memory back may still tell.
func (e *exact) settled(now time.Time) bool {
	if now.Sub(e.listedAt) <= unsure+min(e.longest, givingBack) {
		return false
	}
	return e.open == 0 || !slices.ContainsFunc(e.changes[:], func(c change) bool { return c.at.Before(e.listedAt) && c.open(now) })
}

// settle takes the figure that waits; live is from before the list until next after it, when a call gives so much.
func (e *exact) settle(live sampler.Bytes, next time.Duration, gives sampler.Bytes) {
	n, ok := e.listed.Value()
	e.listed = sampler.Opt[sampler.Bytes]{}
	now := e.listedAt.Add(next)
	near := next < unsure || e.listedAt.Sub(e.moved) < unsure+e.took || e.lingered(now)
	if !ok || e.base.Known() && near {
		return
	}
	if e.guessed { // it begins anew, with a figure that is sure
		e.base, e.top = sampler.Opt[sampler.Bytes]{}, 0
	}
	e.guessed = near
	if was, known := e.base.Value(); known && !e.contexts.changed {
		changed := live.Less(e.with) + e.with.Less(live)
		off := n.Less(was+live) + (was + live).Less(n)
		if changed >= follows {
			e.apart = off > changed/2
		}
	}
	first := !e.base.Known()
	e.base, e.with, e.basedAt, e.basedIn, e.stood = sampler.Some(n.Less(live)), live, e.listedAt, e.took, peak{e.top, e.topAt}
	switch amid := e.mostAmid(live, now); {
	case near && amid > live:
		e.base = sampler.Some(n.Less(amid))
	case next <= whole && n >= live+gives: // the figure may have it already: no peak is told that never was
		e.base = sampler.Some(n.Less(live + gives))
	}
	if first && e.since >= live && e.since > 0 { // it was that much before the list came
		e.note(e.topAt, e.since, e.loose)
	}
	e.note(e.listedAt, live, false)
	e.told()
}

// mostAmid is the most that was live while the figure was read, which may be of any moment then; live: at last.
func (e *exact) mostAmid(live sampler.Bytes, now time.Time) sampler.Bytes {
	list, _, _ := e.later(e.listedAt.Add(-e.took - unsure))
	for _, c := range list {
		if !c.at.After(e.listedAt) {
			live = max(live, c.live, c.live+c.gives)
		}
	}
	for i := range e.changes {
		if c := &e.changes[i]; c.within(e.listedAt, e.took, now) {
			live = max(live, c.live)
		}
	}
	return live
}

// lingered says whether memory was being given back while the figure that waits was read.
func (e *exact) lingered(now time.Time) bool {
	return slices.ContainsFunc(e.changes[:], func(c change) bool { return c.within(e.listedAt, e.took, now) })
}

// rose notes that so much is live; loose: as far as is known.
func (e *exact) rose(at time.Time, live sampler.Bytes, loose bool) {
	e.moved = at
	if e.changed > 0 {
		e.changes[(e.changed-1)%keptChanges].loose = loose
	}
	if live > e.since {
		e.since, e.sinceAt = live, at
		if !e.base.Known() {
			e.topAt, e.loose = at, loose
		}
	}
	e.beside(at, live)
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
	case e.alone(), e.short(), e.top < e.since:
		return sampler.PeakCallsAlone
	case e.loose:
		return sampler.PeakOverlapping
	case e.guessed:
		return sampler.PeakAtLeast
	}
	return sampler.PeakCalls
}

// alone says whether nothing is known but the calls.
func (e *exact) alone() bool { return e.apart || !e.base.Known() }

// peak is the most the process has held, and when: never less than was asked for, where no figure goes with that.
func (e *exact) peak() (sampler.Bytes, time.Time) {
	if e.alone() || e.top < e.since {
		return e.since, e.sinceAt
	}
	return e.top, e.topAt
}
