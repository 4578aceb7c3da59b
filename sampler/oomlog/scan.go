package oomlog

import (
	"errors"
	"io"

	"nvpeak/sampler"
)

// Scan reads a whole text and returns its failures in the order in which they begin, each once.
// An error is one of r; the events found until then are returned with it.
func Scan(r io.Reader) ([]sampler.OOMEvent, error) {
	var all repeats
	err := scan(r, &all)
	return all.events, err
}

func scan(r io.Reader, all *repeats) error {
	p := newParser()
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		p.write(buf[:n])
		all.take(p.ready())
		if p.past.ring.held > maxLent {
			p.past.ring.held = 0
			p.held.settle()
			all.settle()
		}
		if err != nil {
			p.finish()
			all.take(p.ready())
			all.choose()
			all.settle()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// maxLent is how many bytes of lines are kept for contexts that nobody has asked for yet.
const maxLent = 4 << 20

// repeats joins equal failures of a whole text, whatever lies between them.
type repeats struct {
	events  []sampler.OOMEvent
	moments []*moment // for the contexts of events
	newest  []*found  // the last printing of each, if that came long after the one before
	index   map[identity]int
	most    int // that are wanted; 0: all
	others  int // that were not kept
}

// settle reads the contexts of the events.
func (r *repeats) settle() {
	for i, m := range r.moments {
		if m != nil {
			r.events[i].Context, r.moments[i] = m.context(), nil
		}
	}
	for i, last := range r.newest {
		if last != nil {
			last.settle()
			r.events[i].Again = &last.OOMEvent
		}
	}
}

func (r *repeats) add(events []sampler.OOMEvent) {
	for _, e := range events {
		f := found{OOMEvent: e}
		if e.Again != nil {
			f.again = &found{OOMEvent: *e.Again}
		}
		r.take([]found{f})
	}
	r.settle()
}

func (r *repeats) take(events []found) {
	for _, e := range events {
		id := identityOf(&e.OOMEvent)
		if i, ok := r.index[id]; ok {
			r.events[i].Occurrences += e.Occurrences
			r.events[i].Recovered = e.Recovered
			if r.newest[i] = e.again; e.again == nil {
				r.newest[i] = &e
			}
			continue
		}
		if r.index == nil {
			r.index = map[identity]int{}
		}
		r.index[id] = len(r.events)
		r.events, r.moments = append(r.events, e.OOMEvent), append(r.moments, e.moment)
		r.newest = append(r.newest, e.again)
		if len(r.events) >= 5*r.most { // seldom, because it looks at all of them
			r.choose()
		}
	}
}

// choose leaves so many events and counts the others.
func (r *repeats) choose() {
	if r.most == 0 {
		return
	}
	most := min(r.most, len(r.events))
	r.others += len(r.events) - most
	clear(r.index)
	for n, i := range Choose(r.events, most) {
		r.index[identityOf(&r.events[i])] = n
		r.events[n], r.moments[n], r.newest[n] = r.events[i], r.moments[i], r.newest[i]
	}
	clear(r.events[most:])
	clear(r.moments[most:])
	clear(r.newest[most:])
	r.events, r.moments, r.newest = r.events[:most], r.moments[:most], r.newest[:most]
}

// ScanUpTo reads a whole text as Scan does, but keeps at most so many of its failures (see Choose) and counts
// the others, so that its memory is bounded: a search over batch sizes prints tens of thousands. One that is
// not kept counts each time it is printed.
func ScanUpTo(r io.Reader, most int) (kept []sampler.OOMEvent, others int, err error) {
	all := repeats{most: most}
	err = scan(r, &all)
	return all.events, all.others, err
}
