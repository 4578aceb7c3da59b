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
// so the memory of the process is asked, where that is permitted: the C library has the address of its environment in a variable. Where the
// program names that variable (Debian's python3, most of C), the linker has put a copy into the program, which is used by all instead
// (R_X86_64_COPY, https://refspecs.linuxfoundation.org/elf/x86_64-abi-0.99.pdf).

// liveEnviron finds the environments of processes as they are by now.
type liveEnviron struct {
	permitted bool
	variables map[libraryFile]variable // of programs and C libraries
}

func newLiveEnviron() liveEnviron {
	return liveEnviron{permitted: mayReadMemory(), variables: map[libraryFile]variable{}}
}

type libraryFile struct{ device, inode uint64 }

// variable is where a file has the address of the environment.
type variable struct {
	at    uint64 // 0: it has it not
	fixed bool   // that is an address, and not what is to be added to where the file is loaded
}

// Bounds of what is read of one process.
const (
	maxPointers = 1024 // variables
	nameFirst   = 64   // bytes by which it is told whether a variable is wanted

	maxVariables = 1024 // files
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
func (l *liveEnviron) place(f *files, pid int, found *environFinder) uint64 {
	dir := f.root + "/" + strconv.Itoa(pid)
	switch v := l.variable(dir + "/exe"); {
	case v.fixed:
		return v.at
	case v.at != 0 && found.program != 0:
		return found.program + v.at
	case v.at != 0 || found.libc == 0: // what the C library has is not in use then
		return 0
	}
	if v := l.variable(dir + "/root" + found.path); v.at != 0 {
		return found.libc + v.at
	}
	return 0
}

// variable is where a program or a library has that variable.
func (l *liveEnviron) variable(path string) variable {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return variable{}
	}
	id := libraryFile{st.Dev, st.Ino}
	v, known := l.variables[id]
	if !known {
		if len(l.variables) >= maxVariables { // programs are built anew and anew
			clear(l.variables)
		}
		v = environSymbol(path)
		l.variables[id] = v
	}
	return v
}

func environSymbol(path string) variable {
	f, err := elf.Open(path)
	if err != nil {
		return variable{}
	}
	defer f.Close() //nolint:errcheck // it was only read
	if f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return variable{}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return variable{}
	}
	for _, s := range symbols {
		if (s.Name == "__environ" || s.Name == "environ") && s.Section != elf.SHN_UNDEF {
			return variable{s.Value, f.Type == elf.ET_EXEC}
		}
	}
	return variable{}
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

// environFinder looks for the program and for the C library in /proc/PID/maps, which arrives in pieces.
type environFinder struct {
	exe     string // path of the program, as the kernel tells it; its inode is another in an overlay
	program uint64 // where that is loaded; 0: not found
	libc    uint64 // and the C library; 0: not found yet
	path    string // of the C library
	rest    []byte
}

// add takes the next piece and says whether the C library was found. The program comes before it: it is loaded at lower addresses.
func (l *environFinder) add(piece []byte) (found bool) {
	l.rest = append(l.rest, piece...)
	for l.libc == 0 {
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
	return l.libc != 0
}

func (l *environFinder) take(line []byte) {
	libc := bytes.Contains(line, []byte("/libc.so")) || bytes.Contains(line, []byte("/libc-2.")) || bytes.Contains(line, []byte("/ld-musl-"))
	program := l.program == 0 && l.exe != "" && bytes.HasSuffix(line, []byte(" "+l.exe))
	if !libc && !program {
		return
	}
	words := strings.Fields(string(line))
	if len(words) < 6 || words[2] != "00000000" { // its beginning
		return
	}
	from, _, _ := strings.Cut(words[0], "-")
	base, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return
	}
	switch {
	case program:
		l.program = base
	case len(words) == 6:
		l.libc, l.path = base, words[5]
	}
}
