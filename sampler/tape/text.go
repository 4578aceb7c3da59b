package tape

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// ErrMuch ends a packed log that unpacks to more than one of its size may hold.
var ErrMuch = errors.New("it unpacks to more than a file of its size can hold")

// Text reads any log as plain UTF-8: gzip and zstd are unpacked, UTF-16 with a byte order
// mark is decoded. A packed log that is cut or damaged ends there, one that holds far more than
// its size with ErrMuch. Its memory is bounded whatever the log holds.
func Text(r io.Reader) io.Reader {
	packed := &metered{r: r}
	in := bufio.NewReader(packed)
	head, _ := in.Peek(4)
	switch packingOf(head) {
	case zstdText:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return in
		}
		return &bounded{r: &lenient{z, z.Close}, packed: packed}
	case gzipText:
		return &bounded{r: &gunzip{source: in}, packed: packed}
	case utf16Text:
		return wide(in)
	}
	return in
}

// unread are the beginnings of what other programs pack, and what unpacks it.
var unread = []struct{ head, with string }{{"\xfd7zXZ\x00", "xz -dc"}, {"BZh", "bzip2 -dc"}, {"\x04\x22\x4d\x18", "lz4 -dc"}}

// Unpacker is the command that unpacks a log which begins like this and is not read as it is; empty: it is no such log.
func Unpacker(head []byte) string {
	for _, u := range unread {
		if bytes.HasPrefix(head, []byte(u.head)) {
			return u.with
		}
	}
	return ""
}

// wide decodes UTF-16. Without a byte order mark the high byte of its first character, which is
// 0, tells the order.
func wide(r io.Reader) io.Reader {
	in, order := bufio.NewReader(r), unicode.LittleEndian
	if head, _ := in.Peek(1); bytes.Equal(head, []byte{0}) {
		order = unicode.BigEndian
	}
	return transform.NewReader(in, unicode.UTF16(order, unicode.UseBOM).NewDecoder())
}

// metered counts what is read.
type metered struct {
	r io.Reader
	n int64
}

func (c *metered) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded holds what is unpacked to the limit of a file, by what was read of it so far: that
// of a pipe is not known before.
type bounded struct {
	r      io.Reader
	packed *metered
	plain  int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if tooMuch(b.plain, b.packed.n) {
		return 0, ErrMuch
	}
	n, err := b.r.Read(p)
	b.plain += int64(n)
	return n, err
}

// lenient ends where its source is damaged, and closes it at its end.
type lenient struct {
	r     io.Reader
	close func()
}

func (l *lenient) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil {
		l.close()
		l.r, err = eof{}, io.EOF
	}
	return n, err
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
