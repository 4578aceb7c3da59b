package tape

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Text reads any log as plain UTF-8: gzip and zstd are unpacked, UTF-16 with a byte order
// mark is decoded. A packed log that is cut or damaged ends there. Its memory is bounded
// whatever the log holds.
func Text(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	head, _ := in.Peek(4)
	switch packingOf(head) {
	case zstdText:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return in
		}
		return &lenient{z, z.Close}
	case gzipText:
		return &gunzip{source: in}
	case utf16Text:
		return wide(in)
	}
	return in
}

// wide decodes UTF-16. Without a byte order mark the high byte of its first character, which is
// 0, tells the order.
func wide(r io.Reader) io.Reader {
	in, order := bufio.NewReader(r), unicode.LittleEndian
	if head, _ := in.Peek(1); len(head) > 0 && head[0] == 0 {
		order = unicode.BigEndian
	}
	return transform.NewReader(in, unicode.UTF16(order, unicode.UseBOM).NewDecoder())
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
