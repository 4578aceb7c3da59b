package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What Create refuses. The errors name the file and what to do.
var (
	ErrExists = errors.New("the file already holds something: choose another name or remove it")
	ErrBusy   = errors.New("another nvpeak is recording to it")
	ErrNoFile = errors.New("not a regular file")
)

// Create begins a recording at path, compressed when the name ends in .zst. The file must be new
// or empty, or with rotation a recording that nobody writes any more: that becomes a finished
// part, as it was left. The file is readable by its owner only. Errors wrap ErrExists, ErrBusy,
// ErrNoFile or what the system says.
func Create(path string, o Options) (*Writer, error) {
	f, err := openNew(path)
	if errors.Is(err, ErrExists) && (o.RotateSize > 0 || o.RotateAge > 0) {
		f, err = openAfter(path, o.Keep)
	}
	if err != nil {
		return nil, err
	}
	next := func() (file, error) {
		if err := retire(path, o.Keep); err != nil {
			return nil, fmt.Errorf("cannot begin the next part of %s: %w", path, err)
		}
		return openNewFile(path)
	}
	return newWriter(f, strings.HasSuffix(path, ".zst"), next, o)
}

// openAfter makes the recording at path a finished part, and opens a new file. What is no
// recording stays where it is.
func openAfter(path string, keep int) (*os.File, error) {
	old, err := openLocked(path) // until the new file is there: two that restart take turns
	if err != nil {
		return nil, err
	}
	defer old.Close() //nolint:errcheck // nothing was written
	if !isRecording(old) {
		return nil, fmt.Errorf("cannot record to %s: %w", path, ErrExists)
	}
	if err := retire(path, keep); err != nil {
		return nil, fmt.Errorf("cannot keep what %s holds as a finished part: %w", path, err)
	}
	return openNew(path)
}

// isRecording says whether a file begins as a recording of nvpeak does, also one that was cut
// within its first second.
func isRecording(f *os.File) bool {
	head := make([]byte, 64)
	n, _ := f.ReadAt(head, 0)
	head = head[:n]
	begin := []byte(`{"type":"header"`)
	return bytes.HasPrefix(head, begin) || n > 0 && bytes.HasPrefix(begin, head) || bytes.HasPrefix(head, zstdMagic)
}

func openNewFile(path string) (file, error) {
	f, err := openNew(path)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

// NewWriter records to w, uncompressed: standard output, a pipe. Rotation does not apply.
func NewWriter(w io.Writer, o Options) *Writer {
	o.RotateSize, o.RotateAge = 0, 0
	writer, _ := newWriter(stream{w}, false, nil, o)
	return writer
}

// stream makes a file of a writer that cannot be cut back.
type stream struct{ io.Writer }

func (stream) Close() error                   { return nil }
func (stream) Truncate(int64) error           { return os.ErrInvalid }
func (stream) Seek(int64, int) (int64, error) { return 0, os.ErrInvalid }

// openNew opens a file for one recording: new or empty, a regular file and no symbolic
// link, readable by its owner only, and locked against a second writer. Recordings hold
// command lines, and a name in /tmp can be somebody's trap.
func openNew(path string) (*os.File, error) {
	f, err := openLocked(path)
	if err != nil {
		return nil, err
	}
	if err := claim(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot record to %s: %w", path, err)
	}
	return f, nil
}

// openLocked opens a regular file that no other nvpeak is recording to, or makes one.
func openLocked(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("cannot record to %s: %w: it is a symbolic link", path, ErrNoFile)
	case errors.Is(err, unix.EISDIR):
		return nil, fmt.Errorf("cannot record to %s: %w: it is a directory", path, ErrNoFile)
	case errors.Is(err, unix.ENXIO):
		return nil, fmt.Errorf("cannot record to %s: %w", path, ErrNoFile)
	case err != nil:
		return nil, fmt.Errorf("cannot record to %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	if err := lock(fd); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot record to %s: %w", path, err)
	}
	return f, nil
}

func lock(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ErrNoFile
	}
	// The lock goes away with the process, whatever it dies of.
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return nil
}

// claim makes a file that is empty readable by its owner only. Some network file systems have no
// locks; their files still must be empty.
func claim(f *os.File) error {
	fd := int(f.Fd())
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Size > 0 {
		return ErrExists
	}
	if err := unix.Fchmod(fd, 0o600); !errors.Is(err, unix.EPERM) {
		return err
	}
	return nil
}

// splitName cuts "run.jsonl.zst" into "run" and ".jsonl.zst".
func splitName(path string) (stem, ending string) {
	for _, ending := range []string{".jsonl.zst", ".jsonl", ".zst"} {
		if stem, ok := strings.CutSuffix(path, ending); ok && filepath.Base(stem) != "" {
			return stem, ending
		}
	}
	return path, ""
}

// parts lists the finished parts of a recording beside path: numbers in "run.0007.jsonl.zst".
func parts(path string) (numbers []int) {
	stem, ending := splitName(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(stem)+".")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		n, _ := strconv.Atoi(strings.TrimSuffix(rest, ending))
		if n > 0 && filepath.Base(partName(path, n)) == e.Name() {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func partName(path string, n int) string {
	stem, ending := splitName(filepath.Clean(path))
	return fmt.Sprintf("%s.%04d%s", stem, n, ending)
}

// retire gives the file at path the name of the next finished part, overwriting nothing,
// and removes the oldest parts when keep > 0.
func retire(path string, keep int) error {
	newest := 0
	numbers := parts(path)
	for _, n := range numbers {
		newest = max(newest, n)
	}
	for n := newest + 1; ; n++ {
		err := unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, partName(path, n), unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // not every file system can
			if err = os.Link(path, partName(path, n)); err == nil {
				err = os.Remove(path)
			}
		}
		if errors.Is(err, os.ErrExist) && n < newest+100 {
			continue
		}
		if err != nil {
			return err
		}
		newest = n
		break
	}
	for _, n := range numbers {
		if keep > 0 && n <= newest-keep {
			os.Remove(partName(path, n))
		}
	}
	return nil
}
