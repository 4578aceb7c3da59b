//go:build linux && (amd64 || arm64)

package uprobe

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler/request"
)

// Await returns when there is a libcuda to look at: in the places of the system, or in a process that the driver lists. A
// machine without one pays for no probes. It is false when the context ended first, or this process may not set any.
func Await(ctx context.Context, t *request.Tracker, libraries []string) bool {
	if !capable(false) {
		return false
	}
	if libraries == nil {
		libraries = systemLibraries(os.Getenv)
	}
	tries := map[int]int{}
	for turn := 0; ; turn++ {
		if turn%installs == 0 && slices.ContainsFunc(libraries, func(path string) bool { list, _, _ := functionsOf(path); return len(list) > 0 }) {
			return true
		}
		for pid := range t.PIDs() {
			if tries[pid]++; due(tries[pid]) && tries[pid] <= youngFor && len(libcudaOf(pid)) > 0 {
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(untilNext(time.Second)):
		}
	}
}

// untilNext is how long it is until the next whole multiple of d, at which the rest of the program wakes up, too.
func untilNext(d time.Duration) time.Duration {
	now := time.Now()
	return now.Truncate(d).Add(d).Sub(now)
}

// installs is each how many seconds somebody may have installed a driver.
const installs = 15

// due tells whether a process is looked at in its n-th search: the 1st, 2nd, 4th and so on.
func due(n int) bool { return n&(n-1) == 0 }

const (
	// youngFor is until which search a process that has begun is looked at: what uses CUDA has loaded it by then, and
	// from then on the driver lists it.
	youngFor = 32
	// maxSearches of one process: who is listed and has no libcuda by then uses the GPU in another way.
	maxSearches = 8
	// maxYoung bounds the cost of a machine that begins hundreds of processes a second: the newest are left out.
	maxYoung = 64
)

// search looks for libraries that are not looked at yet: of those that have begun since the last search and, if all, of the
// processes that the driver lists. What the system has is looked at already, so this is for copies, as in containers.
func (d *Door) search(all bool) {
	d.begin()
	for pid := range d.young {
		d.young[pid]++
		if n := d.young[pid]; due(n) && d.searchIn(pid) || n >= youngFor {
			delete(d.young, pid)
		}
	}
	if !all {
		return
	}
	if d.missed {
		d.missed = false
		for pid := range running() {
			d.load(loads{pid: pid})
		}
	}
	listed := d.tracker.PIDs()
	for pid := range listed {
		d.searchIn(pid)
	}
	for pid := range d.searched {
		if _, young := d.young[pid]; !young && !listed[pid] {
			delete(d.searched, pid)
		}
	}
}

// begin notes which processes have begun since the last search, if the kernel does not tell what they load.
func (d *Door) begin() {
	if d.toldOfLoads() {
		return
	}
	last := lastPID()
	for pid := d.lastPID + 1; pid <= last && len(d.young) < maxYoung; pid++ {
		d.young[pid] = 0
	}
	d.lastPID = last
}

// lastPID is the number of the process that has begun last. Numbers are given one after another, so this tells which
// are new without a look at all there are.
func lastPID() int {
	b, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(b))
	if err != nil || len(fields) < 5 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[4])
	return pid
}

// searchIn looks at the copies of libcuda that a process has; found: it has one. If it was there before somebody
// looked, its first calls are missed.
func (d *Door) searchIn(pid int) (found bool) {
	if d.searched[pid] >= maxSearches {
		return true
	}
	d.searched[pid]++
	for _, path := range libcudaOf(pid) {
		found, d.searched[pid] = true, maxSearches
		lib, _ := d.attach(path, pid)
		if lib != nil && pid == d.fresh {
			lib.older[pid] = false // it has loaded it meanwhile
		}
		if lib != nil && len(lib.others) > 0 {
			d.tracker.Blind(pid)
		}
		if lib != nil && lib.older[pid] {
			d.tracker.Late(pid, d.clock.Now())
		}
	}
	if found {
		d.join(pid)
	}
	return found
}

// running are the processes there are.
func running() map[int]bool {
	f, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	names, _ := f.Readdirnames(-1)
	pids := make(map[int]bool, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids[pid] = true
		}
	}
	return pids
}

// libcudaOf are the copies of libcuda that a process has mapped, as paths from here.
func libcudaOf(pid int) (paths []string) {
	proc := "/proc/" + strconv.Itoa(pid)
	f, err := os.Open(proc + "/maps")
	if err != nil {
		return nil // gone, or somebody else's
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte("/libcuda.so")) { // as nearly always
			continue
		}
		line := lines.Text()
		at := strings.IndexByte(line, '/')
		if at < 0 || !strings.HasPrefix(filepath.Base(line), "libcuda.so") {
			continue
		}
		path := proc + "/root" + line[at:]
		if strings.HasSuffix(path, " (deleted)") {
			path = proc + "/map_files/" + line[:strings.IndexByte(line, ' ')]
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}
