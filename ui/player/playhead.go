package player

import (
	"time"

	"nvpeak/sampler"
)

// playhead is the place where the tape is read.
type playhead struct {
	tape     Tape
	options  Options
	marks    *sampler.Watermarks
	next     *Frame // read and not yet due
	ended    bool
	sent     time.Time // wall clock, of the last scene
	reported bool      // the notes of the recording were handed over
	waiting  bool      // something was asked that the index cannot give yet
}

// peek reads the next frame, nil at the end.
func (h *playhead) peek() *Frame {
	if h.next != nil || h.ended {
		return h.next
	}
	f := &Frame{}
	for {
		e, err := h.tape.Next()
		if err != nil {
			h.ended = true
			return nil
		}
		if f.add(e, h.options, h.marks) {
			h.next = f
			return f
		}
	}
}

// take takes up to n frames while more wants them, the first one always.
func (h *playhead) take(more func(*Frame) bool, n int) (list []Frame) {
	for heavy := 0; len(list) < n && heavy < maxHeavy; {
		f := h.peek()
		if f == nil || len(list) > 0 && !more(f) {
			break
		}
		list, heavy = append(list, *f), heavy+f.weight
		h.next = nil
	}
	return list
}

// seek reads on from a time.
func (h *playhead) seek(to time.Time, o Options, marks *sampler.Watermarks) error {
	h.waiting, h.next, h.ended = false, nil, false
	h.options, h.marks = o, marks
	return h.tape.Seek(to)
}
