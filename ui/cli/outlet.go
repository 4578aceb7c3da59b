package cli

import (
	"bytes"
	"io"
	"sync"
	"time"

	"nvpeak/sampler"
)

// outlet writes to a reader that may stall, such as a pipe that nobody reads, and is never
// waited for: what is written waits in memory, up to a limit in bytes, then there is no room.
type outlet struct {
	out    io.Writer
	limit  int
	failed func(error) // the reader is gone; called once, from run

	mu      sync.Mutex
	waiting [][]byte // one Write each
	size    int      // of those and of the one on the way
	more    chan struct{}
	empty   chan struct{}
}

// maxWaiting is 6 minutes of 8 GPUs, one snapshot a second.
const maxWaiting = 4 << 20

func newOutlet(out io.Writer, limit int, failed func(error)) *outlet {
	o := &outlet{out: out, limit: limit, failed: failed, more: make(chan struct{}, 1), empty: make(chan struct{}, 1)}
	go o.run()
	return o
}

// room says whether something may be put in; what that is may be larger than the rest of
// the limit.
func (o *outlet) room() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size < o.limit
}

func (o *outlet) put(text []byte) {
	o.mu.Lock()
	o.waiting, o.size = append(o.waiting, text), o.size+len(text)
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *outlet) run() {
	defer sampler.Guard(o.failed)
	for range o.more {
		for text := o.next(0); text != nil; text = o.next(len(text)) {
			if _, err := o.out.Write(text); err != nil {
				o.failed(err)
				return
			}
		}
		select {
		case o.empty <- struct{}{}:
		default:
		}
	}
}

// next is what to write after so many bytes were written; nil: nothing now.
func (o *outlet) next(written int) (text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= written
	if len(o.waiting) > 0 {
		text, o.waiting = o.waiting[0], o.waiting[1:]
	}
	return text
}

// close waits until all is written, at most so long. Nothing may be put in after it.
func (o *outlet) close(most time.Duration) {
	defer close(o.more)
	limit := time.After(most)
	for {
		o.mu.Lock()
		done := o.size == 0
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-o.empty:
		case <-limit:
			return
		}
	}
}

// text is what a function writes.
func text(write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
