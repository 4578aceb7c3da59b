package oomlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"nvpeak/sampler"
)

const (
	pollEvery = 500 * time.Millisecond
	// settleAfter is how long a log must be silent before what was found in it counts as complete. It is
	// longer than a traceback takes to print.
	settleAfter = 2 * time.Second
)

// Follow reads a growing log and sends its failures as they happen, in the order in which they become
// complete: when 400 further lines have come, or the log has been silent for two seconds. It begins at the
// start of the file, waits for a file that is not there yet, and starts over when the file is replaced
// (rotation) or becomes shorter (truncation). The channel is closed when ctx ends; what was found until
// then is sent before if somebody receives. The file is polled twice a second.
func Follow(ctx context.Context, path string) <-chan sampler.OOMEvent {
	f := &follower{path: path, parser: NewParser(), out: make(chan sampler.OOMEvent, 16), every: pollEvery, settle: settleAfter}
	go f.run(ctx)
	return f.out
}

type follower struct {
	path   string
	parser *Parser
	out    chan sampler.OOMEvent
	every  time.Duration
	settle time.Duration

	file   *os.File
	offset int64
	buf    [64 << 10]byte
	quiet  time.Duration // since the last growth
}

func (f *follower) run(ctx context.Context) {
	defer close(f.out)
	defer f.drop()
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		if !f.poll(ctx) {
			return
		}
		select {
		case <-ctx.Done():
			f.lastWords()
			return
		case <-tick.C:
			f.quiet += f.every
		}
	}
}

// poll reads what is new. It is false when ctx ended while an event waited for its receiver.
func (f *follower) poll(ctx context.Context) bool {
	if f.replaced() {
		// The rest of the old file first: rotation renames it with lines in it that were not read yet.
		if !f.read(ctx) || !f.send(ctx, f.parser.Flush()) {
			return false
		}
		f.drop()
	}
	if f.file == nil {
		file, err := os.Open(f.path)
		if err != nil {
			return true // not there yet, or not readable now: ask again
		}
		f.file, f.offset = file, 0
		f.parser = NewParser()
	}
	if !f.read(ctx) {
		return false
	}
	if f.quiet >= f.settle && f.parser.Waiting() {
		return f.send(ctx, f.parser.Flush())
	}
	return true
}

// replaced says whether the path is another file now, or the file became shorter.
func (f *follower) replaced() bool {
	if f.file == nil {
		return false
	}
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false // renamed away; the new one will come, keep reading the old one
	}
	open, err2 := f.file.Stat()
	if err != nil || err2 != nil {
		return false
	}
	return !os.SameFile(now, open) || open.Size() < f.offset
}

// read feeds the parser everything between the offset and the end of the file.
func (f *follower) read(ctx context.Context) bool {
	if f.file == nil {
		return true
	}
	for ctx.Err() == nil {
		n, err := f.file.ReadAt(f.buf[:], f.offset)
		if n > 0 {
			f.offset += int64(n)
			f.quiet = 0
			f.parser.write(f.buf[:n])
			if !f.send(ctx, f.parser.take()) {
				return false
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.drop()
			}
			return true
		}
	}
	return true
}

func (f *follower) send(ctx context.Context, events []sampler.OOMEvent) bool {
	for _, e := range events {
		select {
		case f.out <- e:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// lastWords sends what is found so far, as far as there is room.
func (f *follower) lastWords() {
	for _, e := range f.parser.Flush() {
		select {
		case f.out <- e:
		default:
			return
		}
	}
}

func (f *follower) drop() {
	if f.file != nil {
		_ = f.file.Close() // it was only read
		f.file = nil
	}
}
