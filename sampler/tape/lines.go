package tape

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// maxLine bounds one line, in bytes: a snapshot of 64 GPUs with 32 processes each has 1.3 MiB.
const maxLine = 32 << 20

// lines cuts a stream into lines. What it returns is valid until the next call.
type lines struct {
	r     *bufio.Reader
	n     int // lines so far
	long  []byte
	ended bool // the last line returned had a newline
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 256<<10)} }

var errLongLine = errors.New("line too long")

// next returns the next line without its end, io.EOF after the last one.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.r.ReadSlice('\n')
			if len(l.long) <= maxLine {
				l.long = append(l.long, line...)
			}
		}
		line = l.long
	}
	if len(line) == 0 && err != nil {
		return nil, io.EOF
	}
	l.n++
	l.ended = err == nil
	if len(line) > maxLine {
		return nil, errLongLine
	}
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// packing is how a file is compressed, by its first bytes.
type packing int

const (
	plainText packing = iota
	zstdText
	gzipText
	utf16Text // what PowerShell writes with >
)

func packingOf(head []byte) packing {
	switch {
	case bytes.HasPrefix(head, zstdMagic), len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return zstdText
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipText
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return utf16Text
	}
	return plainText
}

// gunzip reads gzip to where it is cut or damaged.
type gunzip struct {
	source io.Reader
	r      *gzip.Reader
	damage error
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.r == nil {
		r, err := gzip.NewReader(g.source)
		if err != nil {
			g.damage = err
			return 0, io.EOF
		}
		g.r = r
	}
	n, err := g.r.Read(p)
	if err != nil && err != io.EOF {
		g.damage, err = err, io.EOF
	}
	return n, err
}
