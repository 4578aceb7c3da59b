package oomlog

import (
	"context"
	"errors"
	"io"
	"time"

	"nvpeak/sampler"
)

// quietAfter is how long a text must be silent before what was found in it counts as complete. It is
// longer than a traceback takes to print.
const quietAfter = 2 * time.Second

// Follow reads a growing log and sends its failures as they happen, as FollowReader does. It begins at the
// start of the file, waits for a file that is not there yet, and starts over when the file is replaced
// (rotation) or becomes shorter (truncation). The channel is closed when ctx ends. The file is polled twice
// a second. What is read is also written to others, which must not wait or keep it.
func Follow(ctx context.Context, path string, others ...io.Writer) <-chan sampler.OOMEvent {
	f, t := newFollower(), &tail{ctx: ctx, path: path}
	f.others = io.MultiWriter(others...)
	go func() {
		defer t.close()
		f.read(ctx, t)
	}()
	go f.run(ctx)
	return f.out
}

// FollowReader reads a text while it is written and sends its failures in the order in which they become
// complete: when 400 further lines have come, or r has been silent for two seconds. The channel is closed
// when r ends or fails, and when ctx ends; what was found until then is sent before, after the end of ctx
// only as far as there is room. While nobody receives, r is not read. A Read that does not return keeps its
// goroutine, even after ctx has ended: close r.
func FollowReader(ctx context.Context, r io.Reader) <-chan sampler.OOMEvent {
	f := newFollower()
	f.others = io.Discard
	go f.read(ctx, r)
	go f.run(ctx)
	return f.out
}

type follower struct {
	pieces chan piece
	out    chan sampler.OOMEvent
	others io.Writer
}

func newFollower() *follower {
	return &follower{pieces: make(chan piece), out: make(chan sampler.OOMEvent, 16)}
}

// piece is what one Read returned.
type piece struct {
	text []byte
	last bool // of its text; another one follows
}

// read passes on what r has. Two buffers suffice: one is filled while the other is parsed.
func (f *follower) read(ctx context.Context, r io.Reader) {
	defer close(f.pieces)
	var buffers [2][64 << 10]byte
	for i := 0; ; i = 1 - i {
		n, err := r.Read(buffers[i][:])
		another := errors.Is(err, errReplaced)
		select {
		case f.pieces <- piece{buffers[i][:n], another}:
		case <-ctx.Done():
			return
		}
		if err != nil && !another {
			return
		}
	}
}

// run parses the pieces until they end.
func (f *follower) run(ctx context.Context) {
	defer close(f.out)
	p := newParser()
	quiet := time.NewTimer(quietAfter)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			f.send(ctx, p.flush())
			return
		case <-quiet.C:
			if p.waiting() && !f.send(ctx, p.flush()) {
				return
			}
		case piece, more := <-f.pieces:
			p.write(piece.text)
			f.others.Write(piece.text) //nolint:errcheck // they take what they can
			events := p.events()
			if !more || piece.last {
				events = append(events, p.flush()...)
				p = newParser()
			}
			if !f.send(ctx, events) || !more {
				return
			}
			quiet.Reset(quietAfter)
		}
	}
}

// send is false when ctx ended while an event waited for its receiver.
func (f *follower) send(ctx context.Context, events []sampler.OOMEvent) bool {
	for _, e := range events {
		select {
		case f.out <- e: // there is room, even if ctx has ended
			continue
		default:
		}
		select {
		case f.out <- e:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
