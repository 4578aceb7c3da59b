package oomlog

import (
	"cmp"
	"errors"
	"io"

	"nvpeak/sampler"
)

// Scan reads a whole text and returns its failures in the order in which they begin, each once.
// An error is one of r; the events found until then are returned with it.
func Scan(r io.Reader) ([]sampler.OOMEvent, error) {
	var all repeats
	err := scan(r, &all)
	return all.list(), err
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
	events []*found
	index  map[identity]int
	most   int // that are wanted; 0: all
	others int // that were not kept
}

// settle reads the contexts of the events.
func (r *repeats) settle() {
	for _, e := range r.events {
		e.settle()
	}
}

// list is the events themselves.
func (r *repeats) list() (events []sampler.OOMEvent) {
	for _, e := range r.events {
		events = append(events, e.OOMEvent)
	}
	return events
}

func (r *repeats) add(events []sampler.OOMEvent) {
	for _, e := range events {
		f := &found{OOMEvent: e}
		if e.Again != nil {
			f.again = &found{OOMEvent: *e.Again}
		}
		r.take([]*found{f})
	}
	r.settle()
}

func (r *repeats) take(events []*found) {
	for _, e := range events {
		id := identityOf(&e.OOMEvent)
		if i, ok := r.index[id]; ok {
			first := r.events[i]
			first.Occurrences += e.Occurrences
			first.Recovered = e.Recovered
			first.again = cmp.Or(e.again, e)
			continue
		}
		if r.index == nil {
			r.index = map[identity]int{}
		}
		r.index[id] = len(r.events)
		r.events = append(r.events, e)
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
	for n, i := range choose(len(r.events), most, func(i int) *sampler.OOMEvent { return &r.events[i].OOMEvent }) {
		r.index[identityOf(&r.events[i].OOMEvent)] = n
		r.events[n] = r.events[i]
	}
	clear(r.events[most:])
	r.events = r.events[:most]
}

// ScanUpTo reads a whole text as Scan does, but keeps at most so many of its failures (see Choose) and counts
// the others, so that its memory is bounded: a search over batch sizes prints tens of thousands. One that is
// not kept counts each time it is printed.
func ScanUpTo(r io.Reader, most int) (kept []sampler.OOMEvent, others int, err error) {
	all := repeats{most: most}
	err = scan(r, &all)
	return all.list(), all.others, err
}
