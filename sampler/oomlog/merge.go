package oomlog

import "slices"

const maxHeld = 128

// holder keeps the events that are not complete yet, in the order of their first lines.
type holder struct {
	events []*held
}

// add takes a new event as a repeat of a held one, or as one of its own. It returns the event that has its context
// here: the new one, or one that stood in the title of a post, above everything that is to be known of it, or another printing
// that may be of another time. An error in the first line is such a title, marked or not.
func (h *holder) add(f *findings, m *message, key string) *held {
	e := &held{found: found{OOMEvent: f.OOMEvent}, row: f.row, title: m.first.number == 1, quoted: inSentence(m.lines[0]), key: key, last: m.first.number + len(m.lines) - 1, tried: f.Requested.Or(0)}
	for i := len(h.events) - 1; i >= 0; i-- {
		old := h.events[i]
		switch relationOf(old, e) {
		case sameFailure:
			if old.printedAgain(e) && !old.title {
				return e
			}
			return old.ifTitle(e)
		case oldIsVaguer:
			e.absorb(old)
			e.Context, e.moment = old.Context, old.moment
			h.events = slices.Delete(h.events, i, i+1)
			h.insert(e)
			return nil
		case newIsWarning:
			return nil
		case oldIsWarning:
			h.events = slices.Delete(h.events, i, i+1)
		case newIsVaguer:
			old.absorb(e)
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
	h.events = slices.Insert(h.events, at, e)
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
func (h *holder) release(out []found, now int) []found {
	for len(h.events) > 0 {
		e := h.events[0]
		if now >= 0 && len(h.events) <= maxHeld && now-e.last < holdLines {
			break
		}
		out = append(out, e.found)
		h.events = h.events[1:]
	}
	return out
}
