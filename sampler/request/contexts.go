package request

import (
	"time"

	"nvpeak/sampler"
)

// contexts is what has happened since the driver's last figure for a process to what only that tells: how much each of its contexts takes,
// and blocks that were given before anybody looked. Between two such changes that is always as much, so that a figure tells what was held since the last one.
type contexts struct {
	changed bool
	since   time.Time     // the first change
	least   sampler.Bytes // live at the first change
	fresh   int           // made since the figure, and there
	left    sampler.Bytes // the most that calls may have given since, or not given back, which were left
	gone    bool          // one that the figure has has ended: it says too much, or something else than there is
	most    sampler.Bytes // live while there was at least as much of them as there is: since the last was made, or since the change
	mostAt  time.Time
	loose   bool          // see exact
	brief   sampler.Bytes // the most that was live and those may have taken beside the next figure
	within  sampler.Bytes // the most that may have been held by figures that there were
}

// makes notes that a context was made by a call that took so long, when so much was live. A figure of meanwhile may have a part of it.
func (e *exact) makes(at time.Time, took time.Duration, live sampler.Bytes) {
	e.blurs(at.Add(-took), at)
	e.change(at, 0, live)
	c := &e.contexts
	if c.most > live { // the most was live without it, and the figure to come will have it
		e.mayHave(c.withFresh())
		c.most, c.mostAt, c.loose = live, at, false
	}
	c.fresh++
}

// left notes that a call which began so long before is given up: nobody will tell whether it has given so much, or not given it back.
func (e *exact) left(at time.Time, took time.Duration, live, n sampler.Bytes) {
	if above := e.meets(at.Add(-took), n); above > 0 {
		e.mayHave(above)
	}
	e.makes(at, took, live)
	c := &e.contexts
	c.fresh--
	c.left = min(c.left+n, sampler.MaxPlausible)
}

// ends notes that one which was made at a time is ended by a thread from another time on.
func (e *exact) ends(at, made time.Time, tid int, live sampler.Bytes) {
	e.change(at, tid, live)
	c := &e.contexts
	if c.fresh == 0 || made.Before(c.since) {
		e.lacks()
		return
	}
	e.mayHave(c.withFresh())
	c.fresh--
}

// loses notes that a thread ends a block of which the begin was missed.
func (e *exact) loses(at time.Time, tid int, live sampler.Bytes) {
	e.change(at, tid, live)
	e.lacks()
}

// lacks notes that something has ended which the figure has: by how much that is too high from then on is not known.
func (e *exact) lacks() {
	c := &e.contexts
	switch { // what was live before it, between two of them, or with what was made since, no figure has
	case !e.sure():
		c.brief = max(c.brief, max(e.since, c.withFresh())+sampler.ContextMost)
	case c.fresh > 0 || c.gone && c.most > c.least:
		e.mayHave(c.withFresh())
	}
	c.gone = true
}

// change notes that something changes of which no call tells by how much; tid: the thread that gives memory back by it, which may be at that until its next call.
func (e *exact) change(at time.Time, tid int, live sampler.Bytes) {
	if at.After(e.listedAt) { // what there is of calls by now has to do
		e.settleNow(at, live)
	}
	e.before(at, 0, live, 0)
	e.changes[(e.changed-1)%keptChanges].context = true
	if tid != 0 {
		e.takes(at, tid, 0)
		for i := range e.changes { // with what ends with a context
			if c := &e.changes[i]; c.by == tid && c.at.Equal(at) {
				c.context = true
			}
		}
	}
	if c := &e.contexts; !c.changed {
		if c.changed, c.since, c.least = true, at, live; e.sure() { // what was live before that is known
			c.most, c.mostAt, c.loose = live, at, false
		}
	}
}

// sure says whether there is a figure that tells what was held besides what was live.
func (e *exact) sure() bool { return e.base.Known() && !e.guessed }

// mayHave notes that so much was held, at most, beside what a figure has that there is or, if there is none, the next one.
func (e *exact) mayHave(most sampler.Bytes) {
	if c := &e.contexts; e.sure() {
		c.within = max(c.within, e.base.Or(0)+most)
	} else {
		c.brief = max(c.brief, most)
	}
}

// withFresh is the most that was live, with what the contexts may take that no figure has.
func (c *contexts) withFresh() sampler.Bytes {
	return c.most + sampler.Bytes(c.fresh)*sampler.ContextMost + c.left //nolint:gosec // a count
}

// beside notes that so much is live beside them.
func (e *exact) beside(at time.Time, live sampler.Bytes, loose bool) {
	if c := &e.contexts; live > c.most {
		c.most, c.mostAt, c.loose = live, at, loose
	}
}

// told takes that a figure has them all as they are now: that much was held with what was live meanwhile. first: there was none before.
func (e *exact) told(first bool) {
	c := e.contexts
	e.contexts = contexts{most: c.most, mostAt: c.mostAt, loose: c.loose, brief: c.brief, within: c.within}
	if (first || c.changed) && c.most > 0 {
		e.note(c.mostAt, c.most, c.loose)
	}
	if c.brief > 0 && e.sure() {
		e.mayHave(c.brief)
		e.contexts.brief = 0
	}
}

// short says whether the process may have held more than is known, for no figure had some of its contexts.
func (e *exact) short() bool {
	most := e.contexts.brief
	if e.contexts.changed {
		most = max(most, e.contexts.withFresh())
	}
	return most > 0 && e.base.Or(0)+most > e.top || e.contexts.within > e.top
}
