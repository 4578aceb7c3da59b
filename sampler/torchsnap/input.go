package torchsnap

import (
	"bufio"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
)

// input reads the arguments of opcodes. A text longer than keptText is skipped behind that, so no length in
// the file makes anything grow.
type input struct {
	r    *bufio.Reader
	at   int64 // bytes read
	text [keptText]byte
}

// keptText is the longest text that is kept: the longest path of Linux.
const keptText = 4096

func (in *input) byte() (byte, error) {
	b, err := in.r.ReadByte()
	if err == nil {
		in.at++
	}
	return b, err
}

// little reads an unsigned number of up to 8 bytes.
func (in *input) little(n int) (uint64, error) {
	var b [8]byte
	if err := in.full(b[:n]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

func (in *input) full(b []byte) error {
	n, err := io.ReadFull(in.r, b)
	in.at += int64(n)
	return err
}

// sized reads a text whose length stands before it in n bytes; what is too long to keep is cut.
func (in *input) sized(n int) ([]byte, error) {
	size, err := in.little(n)
	if err != nil {
		return nil, err
	}
	b := in.text[:min(size, keptText)]
	if err := in.full(b); err != nil {
		return nil, err
	}
	return b, in.skip(size - uint64(len(b)))
}

// skip passes over bytes. More than are there is the end of the file.
func (in *input) skip(size uint64) error {
	for size > 0 {
		n, err := in.r.Discard(int(min(size, 1<<20)))
		in.at += int64(n)
		if err != nil {
			return err
		}
		size -= uint64(n)
	}
	return nil
}

// line reads to the end of a line, as protocol 0 writes its arguments.
func (in *input) line() (string, error) {
	kept := in.text[:0]
	for {
		part, err := in.r.ReadSlice('\n')
		in.at += int64(len(part))
		kept = append(kept, part[:min(len(part), keptText-len(kept))]...)
		switch err {
		case nil:
			return strings.TrimSuffix(string(kept), "\n"), nil
		case bufio.ErrBufferFull:
		default:
			return "", err
		}
	}
}

// decimal reads a number of protocol 0: 12, 12L, and 00 and 01 for False and True.
func (in *input) decimal() (value, error) {
	text, err := in.line()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(text, "L"), 10, 64)
	if err != nil {
		return opaque, nil // too large for any amount
	}
	return number(n), nil
}

// long reads an integer of any length; one of more than 8 bytes is no amount.
func (in *input) long(n int) (value, error) {
	size, err := in.little(n)
	if err != nil {
		return 0, err
	}
	if size > 8 {
		return opaque, in.skip(size)
	}
	b, err := in.little(int(size))
	if err != nil {
		return 0, err
	}
	shift := 64 - 8*size
	return number(int64(b<<shift) >> shift), nil
}
