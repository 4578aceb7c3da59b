package tape

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// lines cuts a stream into lines. What it returns is valid until the next call.
type lines struct {
	r     *bufio.Reader
	n     int   // lines so far
	begin int64 // where the last one begins, in bytes
	read  int64 // and ends
	long  []byte
	ended bool // the last line returned had a newline
}

func newLines(r io.Reader) *lines { return newLinesOf(r, 256<<10) }

func newLinesOf(r io.Reader, buffer int) *lines { return &lines{r: bufio.NewReaderSize(r, buffer)} }

// ErrLongLine is the error of a line that is too long to be held.
var ErrLongLine = errors.New("line too long")

// next returns the next line without its end, io.EOF after the last one.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.begin = l.read
	l.read += int64(len(line))
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.r.ReadSlice('\n')
			l.read += int64(len(line))
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
		return nil, ErrLongLine
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
	utf16Text // what PowerShell writes with >, and others without a byte order mark
)

func packingOf(head []byte) packing {
	switch {
	case bytes.HasPrefix(head, zstdMagic), len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return zstdText
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipText
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return utf16Text
	case len(head) >= 4 && !bytes.Contains(head, zstdMagic):
		high, low := []byte{head[0], head[2]}, []byte{head[1], head[3]}
		if isASCII(high) && string(low) == "\x00\x00" || isASCII(low) && string(high) == "\x00\x00" {
			return utf16Text
		}
	}
	return plainText
}

func isASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r > '~' })
}

// fromMac reads lines that end in a bare carriage return, where there are no others.
func (l *lines) fromMac() {
	head, _ := l.r.Peek(64 << 10)
	if bytes.ContainsRune(head, '\r') && !bytes.ContainsRune(head, '\n') {
		l.r = bufio.NewReaderSize(returns{l.r}, 256<<10)
	}
}

// returns reads carriage returns as ends of lines.
type returns struct{ r io.Reader }

func (c returns) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// gunzip reads gzip to where it is cut or damaged.
type gunzip struct {
	source io.Reader
	r      *gzip.Reader
	damage error
	size   int64 // of the source; 0: not known
	plain  int64 // bytes given
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.size > 0 && tooMuch(g.plain, g.size) {
		return 0, io.EOF
	}
	if g.r == nil {
		r, err := gzip.NewReader(g.source)
		if err != nil {
			g.damage = err
			return 0, io.EOF
		}
		g.r = r
	}
	n, err := g.r.Read(p)
	g.plain += int64(n)
	if err != nil && err != io.EOF {
		g.damage, err = err, io.EOF
	}
	return n, err
}
