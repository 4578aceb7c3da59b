//go:build linux && (amd64 || arm64)

package uprobe

import (
	"bufio"
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
	if !capable() {
		return false
	}
	if libraries == nil {
		libraries = systemLibraries(os.Getenv)
	}
	tries := map[int]int{}
	for {
		if slices.ContainsFunc(libraries, func(path string) bool { return len(functionsOf(path)) > 0 }) {
			return true
		}
		for _, pid := range t.PIDs() {
			if tries[pid]++; tries[pid] <= youngFor && len(libcudaOf(pid)) > 0 {
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Second):
		}
	}
}

// youngFor is in how many searches a process that has begun is looked at: what uses CUDA has loaded it by then, and from
// then on the driver lists it.
const youngFor = 8

// search looks for libraries that are not looked at yet: of the processes that the driver lists, and of those that have
// begun since the last search.
func (d *Door) search() {
	now := running()
	for pid := range now {
		if !d.running[pid] {
			d.young[pid] = 0
		}
	}
	for pid := range d.young {
		if d.young[pid]++; !now[pid] || d.young[pid] > youngFor || d.searchIn(pid) {
			delete(d.young, pid)
		}
	}
	for _, pid := range d.tracker.PIDs() {
		d.searchIn(pid)
	}
	for pid := range d.searched {
		if !now[pid] {
			delete(d.searched, pid)
		}
	}
	d.running = now
}

// searchIn looks at the copies of libcuda that a process has; found: it has one. If it was there before somebody
// looked, its first calls are missed.
func (d *Door) searchIn(pid int) (found bool) {
	if d.searched[pid] {
		return true
	}
	for _, path := range libcudaOf(pid) {
		found, d.searched[pid] = true, true
		if lib, _ := d.attach(path); lib != nil && lib.older[pid] {
			d.tracker.Late(pid)
		}
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
