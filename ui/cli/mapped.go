package cli

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startOver is when a monitor has long shown its first figures.
const startOver = 2 * time.Second

// unmapStart gives back what the start has touched of the program's file: code and constants, a third of which nothing looks
// at any more. What does is mapped again from the page cache, which costs a few hundred short page faults once.
func unmapStart() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // what is mapped stays
	}
	defer maps.Close() //nolint:errcheck // it was only read
	for _, r := range asInFile(maps, exe) {
		for _, p := range everyOther(r) {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, p.from, p.to-p.from, unix.MADV_DONTDUMP) // it is mapped in more at once, no more
		}
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, r.from, r.to-r.from, syscall.MADV_DONTNEED) // the same
	}
}

// addresses are those from from up to to.
type addresses struct{ from, to uintptr }

// pieceBytes is how large the pieces are in which what is looked at again is mapped at most.
//
// From Linux 6.18 on a page fault maps the whole folio of the page cache, as far as the mapping goes. Of a file that was just written, as by
// go build, these have up to 2 MiB, so that all of the program would be mapped again. Pieces that differ in what a dump of
// the process leaves out, which has no code in it anyway, are mappings of their own. Of small folios it maps the 64 KiB around the
// fault, of which half a piece is less: that is 2.2 MiB less resident after a minute, for 1.5 ms more of CPU time once (docs/measurements.md).
const pieceBytes = 32 << 10

// everyOther is every other piece of a mapping.
func everyOther(r addresses) (list []addresses) {
	for from := (r.from/pieceBytes + 1) * pieceBytes; from < r.to; from += 2 * pieceBytes {
		list = append(list, addresses{from, min(from+pieceBytes, r.to)})
	}
	return list
}

// asInFile lists, from the text of /proc/PID/smaps, where a file is mapped of which this process has changed nothing and cannot: not
// where the dynamic linker has put addresses into constants, nor where a debugger has set a breakpoint.
func asInFile(smaps io.Reader, file string) (list []addresses) {
	var now addresses
	ours := false // the mapping that the lines are about is one so far
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		switch {
		case len(f) < 2:
		case f[0] == "VmFlags:": // the last line of each
			if ours {
				list = append(list, now)
			}
			ours = false
		case f[0] == "Anonymous:" || f[0] == "Swap:":
			ours = ours && f[1] == "0"
		case !strings.HasSuffix(f[0], ":"):
			_, name, _ := strings.Cut(lines.Text(), "/")
			from, to, ok := strings.Cut(f[0], "-")
			a, bad := strconv.ParseUint(from, 16, 64)
			b, worse := strconv.ParseUint(to, 16, 64)
			now = addresses{uintptr(a), uintptr(b)}
			ours = ok && bad == nil && worse == nil && a < b && strings.HasPrefix(f[1], "r-") && "/"+name == file
		}
	}
	return list
}
