package proc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of what is read of one process, in bytes.
const (
	maxStat    = 4 << 10
	maxStatus  = 16 << 10
	maxCommand = 64 << 10
	maxCgroup  = 32 << 10
	maxEnviron = 256 << 10
	maxMaps    = 4 << 20 // a PyTorch job has about 1 MiB
	maxFDs     = 4096    // looked through for a device
)

// files reads below a /proc. Its buffer is used again: what read returns is valid until
// the next call. Not safe for concurrent use.
type files struct {
	root  string
	buf   []byte
	piece [4096]byte // the kernel hands out its texts a page at a time

	lines   map[uint64]lineage // by the parent: the ranks of a job have one
	linesAt time.Time          // of the oldest
}

// read returns up to limit bytes of a file. It goes past package os, which costs as much
// again in bookkeeping for a file that is read once.
func (f *files) read(path string, limit int) ([]byte, error) {
	f.buf = f.buf[:0]
	err := f.pieces(path, limit, func(piece []byte) bool {
		f.buf = append(f.buf, piece...)
		return false
	})
	return f.buf, err
}

// pieces hands a file over in pieces until limit, or until done says true.
func (f *files) pieces(path string, limit int, done func([]byte) bool) error {
	// O_NONBLOCK: a FIFO in a fixture or a strange root must not hold us.
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(f.root+"/"+path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return &os.PathError{Op: "open", Path: f.root + "/" + path, Err: err}
	}
	defer unix.Close(fd)
	for total := 0; total < limit; {
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, f.piece[:min(len(f.piece), limit-total)]) })
		if err != nil {
			return &os.PathError{Op: "read", Path: f.root + "/" + path, Err: err}
		}
		if n <= 0 || done(f.piece[:n]) {
			break
		}
		total += n
	}
	return nil
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// stat reads and parses the stat of one process.
func (f *files) stat(pid int) (stat, error) {
	b, err := f.read(strconv.Itoa(pid)+"/stat", maxStat)
	if err != nil {
		return stat{}, err
	}
	return parseStat(b)
}

// keep opens the stat of one process for statAgain; -1 when it cannot.
func (f *files) keep(pid int) int {
	fd, err := unix.Open(f.root+"/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// statAgain reads a kept stat, which costs half of opening it. Such a descriptor stays
// with the process it was opened for: once that has ended every read fails with ESRCH,
// also when the pid is used again.
func (f *files) statAgain(fd int) (stat, error) {
	n, err := ignoringEINTR(func() (int, error) { return unix.Pread(fd, f.piece[:], 0) })
	if err != nil {
		return stat{}, err
	}
	return parseStat(f.piece[:n])
}

// isProc says whether the root is a mounted proc and no tree of plain files.
func (f *files) isProc() bool {
	var st unix.Statfs_t
	return unix.Statfs(f.root, &st) == nil && int64(st.Type) == unix.PROC_SUPER_MAGIC
}

// opensDevice says whether a process has a GPU device open. sure is false when its open
// files may not be listed.
func (f *files) opensDevice(pid int) (open, sure bool) {
	dir, err := os.Open(filepath.Join(f.root, strconv.Itoa(pid), "fd"))
	if err != nil {
		return false, false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxFDs)
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(dir.Name(), name))
		if err != nil {
			continue
		}
		for _, device := range []string{"/dev/nvidia", "/dev/dxg", "/dev/nvhost", "/dev/nvmap", "/dev/dri/"} {
			if strings.HasPrefix(target, device) {
				return true, true
			}
		}
	}
	return false, len(names) > 0 && len(names) < maxFDs
}

// parseUID finds the real user id in /proc/PID/status. The owner of /proc/PID will not do:
// it is root for processes that must not be dumped.
func parseUID(b []byte) (string, bool) {
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("Uid:")); ok {
			uid := bytes.Fields(rest)
			if len(uid) == 0 {
				return "", false
			}
			_, ok := number(uid[0])
			return string(uid[0]), ok
		}
	}
	return "", false
}

// parseCommand splits /proc/PID/cmdline. Programs that set their title leave one string
// with blanks or trailing zeros.
func parseCommand(b []byte) (args []string, line string) {
	b = bytes.TrimRight(b, "\x00 ")
	if len(b) == 0 {
		return nil, ""
	}
	line = string(b)
	return strings.Split(line, "\x00"), strings.ReplaceAll(line, "\x00", " ")
}

// owner is the user id that the directory of a process belongs to.
func (f *files) owner(pid int) (string, bool) {
	var st unix.Stat_t
	if err := unix.Stat(f.root+"/"+strconv.Itoa(pid), &st); err != nil {
		return "", false
	}
	return strconv.FormatUint(uint64(st.Uid), 10), true
}
