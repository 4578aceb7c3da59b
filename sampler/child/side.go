package child

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	maxWaiting = 1 << 20  // bytes that wait for whoever reads beside; of more, the oldest go
	maxTail    = 64 << 10 // bytes of the end that are kept
	maxPartial = 16 << 10 // a line that is longer is passed on before it ends

	// Whoever reads beside is woken for so many bytes, or so long after the first of fewer: little pieces cost more to
	// pass on than to read.
	worthReading = 256 << 10
	readAfter    = 100 * time.Millisecond
)

// Side takes what a command prints, for somebody who reads beside it and may be slow. Writing never
// waits, and its memory is bounded.
type Side struct {
	Each func(output int, lines []byte) // is told the whole lines of each output by itself, in their order; nil: nobody asks

	mu      sync.Mutex
	more    sync.Cond
	waiting []byte
	tail    []byte
	total   int64
	closed  bool
	outputs int
	ready   bool        // there is something to be read, until all is
	timer   *time.Timer // makes it so
}

// NewSide makes an empty one.
func NewSide() *Side {
	s := &Side{}
	s.more.L = &s.mu
	s.timer = time.AfterFunc(readAfter, s.due)
	s.timer.Stop()
	return s
}

// put takes whole lines.
func (s *Side) put(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += int64(len(b))
	s.tail = newest(s.tail, b, maxTail)
	first := len(s.waiting) == 0
	s.waiting = newest(s.waiting, b, maxWaiting)
	switch {
	case len(s.waiting) >= worthReading:
		s.ready = true
		s.more.Signal()
	case first:
		s.timer.Reset(readAfter)
	}
}

func (s *Side) due() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = len(s.waiting) > 0
	s.more.Signal()
}

// newest appends b and leaves the newest bytes, from the beginning of a line on; a copy is made only
// now and then.
func newest(have, b []byte, most int) []byte {
	if len(b) > most {
		b, have = b[len(b)-most:], have[:0]
	}
	if len(have)+len(b) > 2*most {
		have = append(have[:0], have[len(have)+len(b)-most:]...)
	}
	return append(have, b...)
}

// fromLine leaves out the line whose beginning is missing.
func fromLine(b []byte) []byte {
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
		return b[i+1:]
	}
	return b
}

// Read gives what was printed, at most a tenth of a second late, and io.EOF after Close.
func (s *Side) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ready && !s.closed {
		s.more.Wait()
	}
	if len(s.waiting) == 0 {
		return 0, io.EOF
	}
	if len(s.waiting) > maxWaiting {
		s.waiting = fromLine(s.waiting[len(s.waiting)-maxWaiting:])
	}
	n := copy(b, s.waiting)
	s.waiting = s.waiting[n:]
	s.ready = len(s.waiting) > 0
	return n, nil
}

// Close ends the reading, once all is read.
func (s *Side) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.more.Broadcast()
	return nil
}

// Tail is a copy of the end of what was printed, and how much was printed in all.
func (s *Side) Tail() (end []byte, printed int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end = s.tail
	if s.total > int64(len(end)) || len(end) > maxTail {
		end = fromLine(end[max(0, len(end)-maxTail):])
	}
	return bytes.Clone(end), s.total
}

// Ended says whether the last line that was printed has its end.
func (s *Side) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tail) == 0 || s.tail[len(s.tail)-1] == '\n'
}

// stream is one of the outputs: lines of two do not mix.
type stream struct {
	side    *Side
	number  int
	partial []byte
}

// output makes a stream of its own.
func (s *Side) output() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outputs++
	return &stream{side: s, number: s.outputs}
}

func (t *stream) put(b []byte) {
	if t.side.Each != nil {
		t.side.Each(t.number, b)
	}
	t.side.put(b)
}

func (t *stream) Write(b []byte) (int, error) {
	n := len(b)
	if i := bytes.LastIndexAny(b, "\r\n"); i >= 0 {
		t.end()
		t.put(b[:i+1])
		b = b[i+1:]
	}
	t.partial = append(t.partial, b...)
	if len(t.partial) > maxPartial {
		t.end()
	}
	return n, nil
}

// end passes on a line that has no end.
func (t *stream) end() {
	if len(t.partial) > 0 {
		t.put(t.partial)
		t.partial = t.partial[:0]
	}
}
