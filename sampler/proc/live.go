package proc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Programs change their environment before they use CUDA: os.environ in Python, setenv in C. /proc/PID/environ stays as it was at the start,
// so the memory of the process is asked, where that is permitted: the C library has the address of its environment in a variable.

// liveEnviron finds the environments of processes as they are by now.
type liveEnviron struct {
	permitted bool
	variables map[libraryFile]uint64 // where the variable is in a C library; 0: it has none
}

func newLiveEnviron() liveEnviron {
	return liveEnviron{permitted: mayReadMemory(), variables: map[libraryFile]uint64{}}
}

type libraryFile struct{ device, inode uint64 }

// Bounds of what is read of one process.
const (
	maxPointers = 1024 // variables
	nameFirst   = 64   // bytes by which it is told whether a variable is wanted
)

// mayReadMemory says whether this process may read the memory of others, of its user at least. Where Yama forbids it, an attempt would be
// logged by the kernel (https://docs.kernel.org/admin-guide/LSM/Yama.html).
func mayReadMemory() bool {
	var header = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if unix.Capget(&header, &have[0]) == nil && have[0].Effective&(1<<unix.CAP_SYS_PTRACE) != 0 {
		return true
	}
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err != nil || string(bytes.TrimSpace(scope)) == "0"
}

// place is where a process has the address of its environment; 0: it is not known.
func (l *liveEnviron) place(f *files, pid int, libc *libcFinder) uint64 {
	if libc.base == 0 {
		return 0
	}
	at := l.variable(f.root + "/" + strconv.Itoa(pid) + "/root" + libc.path)
	if at == 0 {
		return 0
	}
	return libc.base + at
}

// variable is where a C library has that variable, from where it is loaded on.
func (l *liveEnviron) variable(path string) uint64 {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0
	}
	id := libraryFile{st.Dev, st.Ino}
	at, known := l.variables[id]
	if !known {
		at = environSymbol(path)
		l.variables[id] = at
	}
	return at
}

func environSymbol(path string) uint64 {
	f, err := elf.Open(path)
	if err != nil || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return 0
	}
	defer f.Close() //nolint:errcheck // it was only read
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return 0
	}
	for _, s := range symbols {
		if s.Name == "__environ" || s.Name == "environ" {
			return s.Value
		}
	}
	return 0
}

// read is the environment that a process has now, with what is wanted of it; nil: that cannot be told.
func (l *liveEnviron) read(f *files, pid int, at uint64) map[string]string {
	memory, err := os.Open(f.root + "/" + strconv.Itoa(pid) + "/mem")
	if err != nil {
		return nil
	}
	defer memory.Close() //nolint:errcheck // it was only read
	words := make([]byte, 8*maxPointers)
	if n, _ := memory.ReadAt(words[:8], int64(at)); n < 8 { //nolint:gosec // an address of a process
		return nil
	}
	n, _ := memory.ReadAt(words, int64(binary.LittleEndian.Uint64(words))) //nolint:gosec // the same
	var all []byte
	ended := false
	for i := 0; i+8 <= n; i += 8 {
		text := binary.LittleEndian.Uint64(words[i:])
		if text == 0 {
			ended = true
			break
		}
		var first [nameFirst]byte
		got, _ := memory.ReadAt(first[:], int64(text)) //nolint:gosec // the same
		name, _, ok := strings.Cut(string(first[:got]), "=")
		if !ok || !wanted(name) {
			continue
		}
		value := make([]byte, len(name)+1+maxEnvironValue)
		got, _ = memory.ReadAt(value, int64(text)) //nolint:gosec // the same
		value, _, _ = bytes.Cut(value[:got], []byte{0})
		all = append(append(all, value...), 0)
	}
	if !ended {
		return nil // it is being changed, or has more than anybody
	}
	return parseEnviron(all)
}

// libcFinder looks for the C library in /proc/PID/maps, which arrives in pieces.
type libcFinder struct {
	base uint64 // where it is loaded; 0: not found yet
	path string
	rest []byte
}

// add takes the next piece and says whether it was found.
func (l *libcFinder) add(piece []byte) (found bool) {
	l.rest = append(l.rest, piece...)
	for l.base == 0 {
		line, rest, whole := bytes.Cut(l.rest, []byte{'\n'})
		if !whole {
			break
		}
		l.rest = rest
		l.take(line)
	}
	if len(l.rest) > maxMapsLine {
		l.rest = nil
	}
	return l.base != 0
}

func (l *libcFinder) take(line []byte) {
	if !bytes.Contains(line, []byte("/libc.so")) && !bytes.Contains(line, []byte("/libc-2.")) && !bytes.Contains(line, []byte("/ld-musl-")) {
		return
	}
	words := strings.Fields(string(line))
	if len(words) != 6 || words[2] != "00000000" { // its beginning
		return
	}
	from, _, _ := strings.Cut(words[0], "-")
	if base, err := strconv.ParseUint(from, 16, 64); err == nil {
		l.base, l.path = base, words[5]
	}
}
