package nvml

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"nvpeak/sampler"
)

// hostMemory reads the machine's memory for a GPU that has none of its own.
type hostMemory struct {
	path string
	file *os.File // kept open: it is read many times a second
	buf  [4096]byte
}

// read gives what the kernel has and could give; used is everything else.
func (h *hostMemory) read() (sampler.Reading, error) {
	if h.file == nil {
		f, err := os.Open(h.path)
		if err != nil {
			return sampler.Reading{}, fmt.Errorf("%w: the machine's memory: %w", sampler.ErrNotSupported, err)
		}
		h.file = f
	}
	n, err := h.file.ReadAt(h.buf[:], 0)
	if err != nil && err != io.EOF {
		return sampler.Reading{}, fmt.Errorf("%w: the machine's memory: %w", sampler.ErrTransient, err)
	}
	return parseMeminfo(h.buf[:n])
}

// parseMeminfo reads the text of /proc/meminfo
// (https://www.kernel.org/doc/html/latest/filesystems/proc.html#meminfo).
func parseMeminfo(text []byte) (sampler.Reading, error) {
	total, ok := meminfoField(text, "MemTotal:")
	available, ok2 := meminfoField(text, "MemAvailable:")
	if !ok || !ok2 || total == 0 {
		return sampler.Reading{}, fmt.Errorf("%w: the machine's memory is not stated", sampler.ErrNotSupported)
	}
	available = min(available, total)
	return sampler.Reading{Total: total, Used: total - available, Free: available}, nil
}

// meminfoField finds a line "Name:   123 kB".
func meminfoField(text []byte, name string) (sampler.Bytes, bool) {
	i := bytes.Index(text, []byte(name))
	if i < 0 || i > 0 && text[i-1] != '\n' {
		return 0, false
	}
	var kib, digits uint64
	for _, c := range text[i+len(name):] {
		switch {
		case c >= '0' && c <= '9' && digits < 15:
			kib = kib*10 + uint64(c-'0')
			digits++
			continue
		case c == ' ' && digits == 0:
			continue
		}
		break
	}
	return sampler.Bytes(kib) * sampler.KiB, digits > 0
}
