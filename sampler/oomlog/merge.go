package oomlog

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nvpeak/sampler"
)

const maxHeld = 128

// holder keeps the events that are not complete yet, in the order of their first lines.
type holder struct {
	events   []*held
	outlines []outline // of the events
}

// outline is what tells most failures of a log that is full of them apart. Less than 0: unknown, or any.
type outline struct {
	rank, pid   int
	from, to    sampler.Bytes // the request
	least, most sampler.Bytes // a request beyond them is another failure's
	warning     bool
}

func outlineOf(e *held) outline {
	o := outline{e.Rank.Or(-1), e.PID.Or(-1), 0, math.MaxUint64, 0, math.MaxUint64, e.row.warning}
	if e.sacrificed() {
		o.pid = -1
	}
	if e.row.launcher {
		o.pid, o.rank = -1, -1
	}
	v, known := e.Requested.Value()
	if !known {
		return o
	}
	o.from, o.to, o.least, o.most = v, v, v, v
	switch e.Kind {
	case sampler.KindXLA, sampler.KindTensorFlow, sampler.KindGGML, sampler.KindShm: // rounded, and the next of a series
		last := cmp.Or(e.tried, v)
		o.least, o.most = last-last/8, v+v/128+1
	}
	return o
}

// apartFrom says that relationOf finds a failure and a later one unrelated, for certain: of their request, rank or process.
func (o *outline) apartFrom(h *outline) bool {
	return (h.to < o.least || h.from > o.most) && o.warning == h.warning ||
		o.rank != h.rank && o.rank >= 0 && h.rank >= 0 || o.pid != h.pid && o.pid >= 0 && h.pid >= 0
}

// add takes a new event as a repeat of a held one, or as one of its own. It returns the event that has its context
// here: the new one, or one that stood in the title of a post, above everything that is to be known of it, or one that an allocator
// wrote above the exception, or another printing that may be of another time. An error in the first line is such a title, marked or not.
func (h *holder) add(f *findings, m *message, key string) *held {
	e := &f.held
	e.title, e.quoted, e.raised = m.first.number == 1, inSentence(m.lines[0]), strings.Contains(m.lines[0], "Error: ")
	e.key, e.last, e.tried = key, m.first.number+len(m.lines)-1, f.Requested.Or(0)
	of := outlineOf(e)
	for i := len(h.events) - 1; i >= 0; i-- {
		if h.outlines[i].apartFrom(&of) {
			continue
		}
		old := h.events[i]
		switch relationOf(old, e) {
		case sameFailure:
			if old.title && (old.otherShape(e) || old.MemoryKind != e.MemoryKind && bare(&old.OOMEvent)) { // of several that were refused, or retyped: the log tells more
				e.absorb(old)
				h.remove(i)
				h.insert(e)
				return e
			}
			far := old.printedAgain(e)
			h.outlines[i] = outlineOf(old)
			if far && !old.title {
				return e
			}
			if !far && old.foretells(e) {
				return old
			}
			return old.ifTitle(e)
		case oldIsVaguer:
			e.absorb(old)
			e.Context, e.moment = old.Context, old.moment
			h.remove(i)
			h.insert(e)
			return nil
		case newIsWarning, newIsConsequence:
			return nil
		case oldIsWarning:
			h.remove(i)
		case newIsVaguer:
			old.absorb(e)
			h.outlines[i] = outlineOf(old)
			return old.ifTitle(e)
		}
	}
	h.insert(e)
	return e
}

func (h *holder) insert(e *held) {
	at := len(h.events)
	for at > 0 && h.events[at-1].Line > e.Line {
		at--
	}
	h.events, h.outlines = slices.Insert(h.events, at, e), slices.Insert(h.outlines, at, outlineOf(e))
}

func (h *holder) remove(i int) {
	h.events, h.outlines = slices.Delete(h.events, i, i+1), slices.Delete(h.outlines, i, i+1)
}

// latest is the event of a stream that was last seen at line from or later.
func (h *holder) latest(key string, from int) *held {
	for i := len(h.events) - 1; i >= 0; i-- {
		e := h.events[i]
		if e.last >= from && (e.key == key || e.key == "" || key == "") {
			return e
		}
	}
	return nil
}

// settle reads the contexts of the events.
func (h *holder) settle() {
	for _, e := range h.events {
		e.settle()
	}
}

// release appends to out the events that have waited long enough; all for now < 0.
func (h *holder) release(out []*found, now int) []*found {
	for len(h.events) > 0 {
		e := h.events[0]
		if now >= 0 && len(h.events) <= maxHeld && now-e.last < holdLines {
			break
		}
		out = append(out, &e.found)
		h.events, h.outlines = h.events[1:], h.outlines[1:]
	}
	return out
}
