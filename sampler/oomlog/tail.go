package oomlog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const pollEvery = 500 * time.Millisecond

// errReplaced ends the text of a file in whose place is another one. Reading may go on.
var errReplaced = errors.New("the file was replaced")

// tail reads a file and what is appended to it, until ctx ends. It waits for a file that is not there.
type tail struct {
	ctx    context.Context
	path   string
	file   *os.File
	offset int64
	ending bool   // the file was replaced; the rest of it is being read
	first  []byte // of what was read, and
	last   []byte // before offset: other text in their place is another text
}

func (t *tail) Read(b []byte) (int, error) {
	for t.ctx.Err() == nil {
		if t.file == nil && !t.open() {
			t.wait()
			continue
		}
		if t.rewritten() {
			t.close()
			return 0, errReplaced
		}
		n, err := t.file.ReadAt(b, t.offset)
		t.remember(b[:n])
		switch {
		case n > 0:
			return n, nil
		case !errors.Is(err, io.EOF): // not readable now: begin again
			t.close()
			t.wait()
			return 0, errReplaced
		case t.ending:
			t.close()
			return 0, errReplaced
		case t.replaced(): // rotation renames a file with lines in it that were not read yet
			t.ending = true
		default:
			t.wait()
		}
	}
	return 0, t.ctx.Err()
}

// errNoFile says why something is not followed. Who writes to a pipe is killed when its reader goes.
var errNoFile = errors.New("no file that can be followed: a pipe's writer is killed when its reader ends, so let it write to a file (… 2>&1 | tee train.log)")

// Followable says whether a path can be followed: a file, or nothing yet.
func Followable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return errors.New("a directory, and no file that can be followed")
	case info.Mode()&fs.ModeNamedPipe == 0:
		return errors.New("a device or a socket, and no file that can be followed")
	}
	return errNoFile
}

func (t *tail) open() bool {
	if Followable(t.path) != nil {
		return false
	}
	file, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe meanwhile
	if err != nil {
		return false // not there yet, or not readable now
	}
	t.file, t.offset, t.ending, t.first, t.last = file, 0, false, nil, nil
	return true
}

// replaced says whether the path is another file now, or the file became shorter.
func (t *tail) replaced() bool {
	now, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false // renamed away; the new one will come, keep reading the old one
	}
	open, err2 := t.file.Stat()
	if err != nil || err2 != nil {
		return false
	}
	return !os.SameFile(now, open) || open.Size() < t.offset
}

// kept is how much is remembered of either end of what was read.
const kept = 512

// remember notes what was read from offset on.
func (t *tail) remember(b []byte) {
	if t.offset == 0 {
		t.first = bytes.Clone(b[:min(kept, len(b))])
	}
	if t.offset += int64(len(b)); len(b) > 0 {
		t.last = bytes.Clone(b[max(0, len(b)-kept):])
	}
}

// rewritten says whether the file holds another text where it was read already: it was written anew in place.
func (t *tail) rewritten() bool {
	return t.differs(t.first, 0) || t.differs(t.last, t.offset-int64(len(t.last)))
}

func (t *tail) differs(text []byte, at int64) bool {
	var room [kept]byte
	n, err := t.file.ReadAt(room[:len(text)], at)
	return (err == nil || errors.Is(err, io.EOF)) && n == len(text) && !bytes.Equal(room[:n], text)
}

func (t *tail) wait() {
	select {
	case <-t.ctx.Done():
	case <-time.After(pollEvery):
	}
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
		t.file = nil
	}
}
