package tape

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// zstdMagic begins a zstd frame, https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxWindow bounds the memory that a file may ask for; `zstd --long=27` needs this much.
const maxWindow = 128 << 20

// frames decompresses a zstd file frame by frame, so that damage ends with its frame, and
// reading can begin at any of them.
type frames struct {
	file    io.ReaderAt
	near    *window // of it, for find: the decoder reads on its own goroutine
	size    int64
	decoder *zstd.Decoder
	blocks  *bufio.Reader // of walk

	next    int64 // where to look for the next frame
	inside  bool
	state   frameState // of the current frame
	damaged int        // frames that could not be read to their end
	places  counted    // the lines from which on something is missing there
	rows    int        // lines given since the last seek
	cut     bool       // the last frame has no end
	newline bool       // a broken line is to be ended before the next frame
	wasted  int64      // bytes that were followed without finding an end
	plain   int64      // bytes given
}

func newFrames(file io.ReaderAt, size int64) (*frames, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &frames{file: file, near: &window{file: file}, size: size, decoder: decoder, blocks: bufio.NewReaderSize(nil, 4096)}, nil
}

func (f *frames) Close() { f.decoder.Close() }

// seek makes the next Read begin at the frame at offset.
func (f *frames) seek(offset int64) {
	f.next, f.inside, f.newline, f.wasted, f.plain, f.rows = offset, false, false, 0, 0, 0
}

func (f *frames) Read(p []byte) (int, error) {
	for !tooMuch(f.plain, f.size) {
		if f.newline {
			f.newline = false
			f.rows++
			p[0] = '\n'
			return 1, nil
		}
		if !f.inside && !f.enter() {
			return 0, io.EOF
		}
		n, err := f.decoder.Read(p)
		f.rows += bytes.Count(p[:n], lineEnd)
		if err != nil {
			f.inside = false
			f.leave(err)
		}
		if n > 0 {
			f.plain += int64(n)
			return n, nil
		}
	}
	return 0, io.EOF
}

// skippable is where the frames end that hold no text and begin at offset, as tools write them around the others.
// https://www.rfc-editor.org/rfc/rfc8878#section-3.1.2
func (f *frames) skippable(offset int64) int64 {
	for {
		var head [8]byte
		if n, _ := f.near.ReadAt(head[:], offset); n < len(head) || head[0]&0xf0 != 0x50 || string(head[1:4]) != "\x2a\x4d\x18" {
			return offset
		}
		end := offset + 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		if end > f.size {
			return offset
		}
		offset = end
	}
}

func (f *frames) enter() bool {
	f.next = f.skippable(f.next)
	start, end, state, ok := f.find(f.next)
	if !ok || f.damaged >= maxDamaged {
		f.next = f.size
		return false
	}
	if start > f.next {
		f.damage() // what is between frames should not be there
	}
	f.next, f.state, f.inside = end, state, true
	source := bufio.NewReaderSize(io.NewSectionReader(f.file, start, end-start), int(min(64<<10, end-start)))
	if f.decoder.Reset(source) != nil {
		f.inside = false
		f.damage()
	}
	return true
}

var lineEnd = []byte{'\n'}

// damage notes that something is missing here.
func (f *frames) damage() {
	f.damaged++
	f.places.add(f.rows + 1)
}

func (f *frames) leave(err error) {
	if errors.Is(err, io.EOF) && f.state == frameWhole {
		return
	}
	if f.state == frameCut {
		f.cut = true // the usual end of a recording that was killed
		return
	}
	f.damage()
	f.newline = true
}

// find looks for the first frame at or after offset. One whose blocks cannot be followed
// to its end ends where the next one begins, or with the file.
func (f *frames) find(offset int64) (start, end int64, state frameState, ok bool) {
	for start = f.skippable(offset); ; start++ {
		if start, ok = f.magic(start); !ok {
			return 0, 0, noFrame, false
		}
		length, state := int64(0), frameBroken
		if f.wasted <= 2*f.size {
			length, state = f.walk(start)
		}
		switch state {
		case frameWhole:
			return start, start + length, state, true
		case frameCut, frameBroken:
			f.wasted += length
			if end, ok = f.magic(start + 4); !ok {
				return start, f.size, state, true
			}
			return start, end, frameBroken, true // there is more: it was no cut
		}
	}
}

type frameState int

const (
	noFrame     frameState = iota // the magic number stood there by chance
	frameWhole                    // of that length
	frameCut                      // the file ends within it
	frameBroken                   // damaged
)

// walk follows the blocks of the frame at start by their headers, and returns how far it came.
func (f *frames) walk(start int64) (int64, frameState) {
	r := f.blocks
	r.Reset(io.NewSectionReader(f.near, start, f.size-start))
	head, _ := r.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		if int64(len(head)) == f.size-start {
			return 0, frameCut
		}
		return 0, noFrame
	}
	length := int64(h.HeaderSize)
	if _, err := r.Discard(h.HeaderSize); err != nil {
		return 0, frameCut
	}
	for {
		var b [3]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return length, frameCut
		}
		size := int64(b[0])>>3 | int64(b[1])<<5 | int64(b[2])<<13
		kind := b[0] >> 1 & 3
		if kind == 3 || size > 128<<10 {
			return length, frameBroken
		}
		if kind == 1 {
			size = 1
		}
		if _, err := r.Discard(int(size)); err != nil {
			return f.size - start, frameCut
		}
		length += 3 + size
		if b[0]&1 == 0 {
			continue
		}
		if h.HasCheckSum {
			length += 4
		}
		if start+length > f.size {
			return f.size - start, frameCut
		}
		return length, frameWhole
	}
}

// magic finds the next place where a frame may begin.
func (f *frames) magic(offset int64) (int64, bool) {
	for {
		buf := f.near.at(offset)
		if len(buf) < 4 {
			return 0, false
		}
		if i := bytes.Index(buf, zstdMagic); i >= 0 {
			return offset + int64(i), true
		}
		offset += int64(len(buf)) - 3
	}
}

// window keeps the part of a file that was read last: a damaged one is looked at in small steps.
type window struct {
	file  io.ReaderAt
	begin int64
	kept  []byte
	room  [64 << 10]byte
}

// at is what the file holds from offset on, some of it at least.
func (w *window) at(offset int64) []byte {
	// Of what is at the end of the window too little may be left for a magic number.
	if left := w.begin + int64(len(w.kept)) - offset; offset < w.begin || left < 4 {
		n, _ := w.file.ReadAt(w.room[:], offset)
		w.begin, w.kept = offset, w.room[:max(n, 0)]
	}
	return w.kept[offset-w.begin:]
}

// ReadAt reads through the window.
func (w *window) ReadAt(p []byte, offset int64) (int, error) {
	for n := 0; ; {
		if n == len(p) {
			return n, nil
		}
		part := copy(p[n:], w.at(offset+int64(n)))
		if n += part; part == 0 {
			return n, io.EOF
		}
	}
}
