package trainlog

import (
	"bytes"

	"nvpeak/sampler"
)

// Listener takes a log while it is written and gives the readings of the allocator that it
// prints. Memory is bounded; Write never waits and never fails.
type Listener struct {
	line  []byte
	marks chan sampler.LogMark
}

// heardMarks wait for somebody to take them; of more, the oldest go.
const heardMarks = 256

// NewListener makes a Listener.
func NewListener() *Listener {
	return &Listener{marks: make(chan sampler.LogMark, heardMarks)}
}

// Marks are the readings in the order in which they came, without a time. It is never closed.
func (l *Listener) Marks() <-chan sampler.LogMark { return l.marks }

// Write takes the next piece of the log, at most maxLine bytes of a line.
func (l *Listener) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n")
		part, rest := b, []byte(nil)
		if i >= 0 {
			part, rest = b[:i], b[i+1:]
		}
		l.line = append(l.line, part[:min(len(part), maxLine-len(l.line))]...)
		if i >= 0 {
			l.hear(string(l.line))
			l.line = l.line[:0]
		}
		b = rest
	}
	return n, nil
}

func (l *Listener) hear(line string) {
	for _, m := range marksOf(line, true) {
		if (m.Kind != sampler.MarkAllocator || !m.Allocated.Known()) && m.Kind != sampler.MarkStage {
			continue
		}
		for sent := false; !sent; {
			select {
			case l.marks <- m:
				sent = true
			default:
				select {
				case <-l.marks:
				default:
				}
			}
		}
	}
}
