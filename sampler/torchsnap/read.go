package torchsnap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"nvpeak/sampler"
)

// Headroom is how much of a file Sniff wants to see.
const Headroom = 4096

// Kind is what a file is by its first bytes.
type Kind int

// Kinds of files.
const (
	Other      Kind = iota // a log, most likely
	Pickle                 // to be read by Read
	Checkpoint             // a zip archive, as torch.save writes
)

// Sniff tells what a file is by its first bytes, whatever its name.
func Sniff(head []byte) Kind {
	switch {
	case len(head) >= 2 && head[0] == opProto && head[1] <= 5:
		return Pickle
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return Checkpoint
	case bytes.HasPrefix(head, []byte("(dp")), bytes.HasPrefix(head, []byte("}q")), bytes.HasPrefix(head, []byte("(lp")), bytes.HasPrefix(head, []byte("]q")):
		for _, key := range []string{"segments", "device_traces", "allocator_settings", "external_annotations", "segment_type", "total_size"} {
			if bytes.Contains(head, []byte(key)) {
				return Pickle
			}
		}
	}
	return Other
}

// Read reads a memory snapshot of any size. One that is cut gives what was there, and Cut says how far that is.
func Read(r io.Reader) (sampler.TorchSnapshot, error) {
	in := &input{r: bufio.NewReaderSize(r, 1<<18)}
	m := newMachine(in)
	err := m.run()
	cut := ""
	switch {
	case err == nil:
	case errors.Is(err, ErrRefused):
		return sampler.TorchSnapshot{}, err
	default:
		m.salvage()
		m.fold.cut = true
		cut = fmt.Sprintf("it ends in the middle, after %d bytes", in.at)
		if !ended(err) {
			cut += ": " + err.Error()
		}
	}
	s := m.fold.result()
	s.Read, s.Cut = in.at, sampler.Clean(cut)
	switch {
	case cut != "" && len(s.Devices) == 0:
		return s, fmt.Errorf("%w, or it is cut before anything of one: %s", ErrNoSnapshot, cut)
	case !m.fold.found:
		return s, ErrNoSnapshot
	}
	return s, nil
}
