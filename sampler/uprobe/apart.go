//go:build linux && (amd64 || arm64)

package uprobe

import (
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// A probe of a file is in every process that has it, and a trap costs microseconds even where the program in the kernel returns
// at once. So where one process calls a function too often, that function is looked at in each of the others by itself.

// apart is the set of probes of single processes; those of files are counted from 1.
const apart = math.MaxUint16

// busy is a process that calls a function too often.
type busy struct {
	pid, function int
	until         time.Time // by the clock of the door
}

// target is a function in one process, which is not that of its number only.
type target struct {
	process  *os.Process
	function int
}

// users are processes with a libcuda, as far as they are known, while some function is looked at process by process.
type users map[int]*os.Process

// add notes one, in the place of one that has ended.
func (u users) add(pid int) {
	if old := u[pid]; old != nil {
		if !gone(old) {
			return
		}
		u.remove(pid)
	}
	if p, err := os.FindProcess(pid); err == nil {
		u[pid] = p
	}
}

func (u users) remove(pid int) {
	u[pid].Release() //nolint:errcheck // it is not waited for
	delete(u, pid)
}

// gone says whether the process is gone, whoever has its number now.
func gone(p *os.Process) bool { return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) }

// headless says whether the first thread of a process has ended before the others, as by pthread_exit in main. The kernel knows a process to be
// looked at by the memory of that thread, which has none any more. Of a process that has ended no thread has any.
func headless(pid int) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	if has, known := hasMemory(proc); has || !known {
		return false
	}
	threads, _ := os.ReadDir(proc + "/task") //nolint:errcheck // it is gone
	return slices.ContainsFunc(threads, func(thread os.DirEntry) bool {
		has, _ := hasMemory(proc + "/task/" + thread.Name())
		return has
	})
}

// hasMemory says whether a thread has memory mapped; not known: it is gone, or somebody else's.
func hasMemory(proc string) (has, known bool) {
	f, err := os.Open(proc + "/maps")
	if err != nil {
		return false, false
	}
	defer f.Close() //nolint:errcheck // it was only read
	n, err := f.Read(make([]byte, 1))
	return n > 0, n > 0 || errors.Is(err, io.EOF)
}

// separable says whether the kernel can look at one process. From Linux 6.6 until a correction (6.10, 6.6.33) it
// looked at one thread of it, and took numbers for those of processes that cannot be any.
func (d *Door) separable(lib *library) bool {
	if d.single {
		return true
	}
	n := lib.functions[0]
	x, err := lib.executable.UprobeMulti(nil, d.objects.Entered, &link.UprobeMultiOptions{Addresses: []uint64{lib.places[n]}, PID: math.MaxUint32})
	if err == nil {
		x.Close() //nolint:errcheck // it is nobody's
	}
	return err != nil && !errors.Is(err, os.ErrNotExist)
}

// isApart says whether a function is looked at process by process.
func (d *Door) isApart(n int) bool { return len(d.away[n]) > 0 }

// letGo takes the function of a process that calls it too often from the probes.
func (d *Door) letGo(b busy) {
	if !d.separate {
		return
	}
	if len(d.away) == 0 {
		for pid := range running() {
			if len(libcudaOf(pid)) > 0 {
				d.users.add(pid)
			}
		}
		for pid := range d.met {
			d.users.add(pid)
		}
		for pid := range d.tracker.PIDs() {
			d.users.add(pid)
		}
	}
	if d.users.add(b.pid); d.users[b.pid] == nil {
		return // it has ended
	}
	if d.away[b.function] == nil {
		d.away[b.function] = map[int]time.Time{}
	}
	d.away[b.function][b.pid] = b.until
	d.arrange()
}

// meet notes a process that calls.
func (d *Door) meet(pid int) {
	if len(d.met) >= maxMet { // most of them have ended
		clear(d.met)
	}
	d.met[pid] = true
	for _, lib := range d.files {
		if lib.older[pid] || len(lib.others) > 0 { // it may have called before anybody looked at its library, or by what nobody looks at
			d.searched[pid] = 0
			d.searchIn(pid)
			break
		}
	}
	d.join(pid)
}

// join looks at processes by themselves, if that is how it has to be. What those called before that are new is missed.
func (d *Door) join(pids ...int) {
	if len(d.away) == 0 {
		return
	}
	fresh := slices.DeleteFunc(pids, func(pid int) bool {
		old := d.users[pid]
		d.users.add(pid)
		return d.users[pid] == old
	})
	old := d.arrangeApart()
	now := d.clock.Now()
	for _, pid := range fresh {
		d.tracker.LookedAt(pid, now)
	}
	d.closing.Go(func() { closeAll(old) }) // the next one does not wait for that
}

// maxMet is as many as probe.c keeps.
const maxMet = 1024

// comeBack looks again at those whose time is over, and forgets those that have ended.
func (d *Door) comeBack() {
	if len(d.away) == 0 {
		return
	}
	for pid, p := range d.users {
		switch {
		case gone(p):
			d.users.remove(pid)
		case headless(pid):
			d.tracker.Blind(pid)
		}
	}
	now, changed := d.clock.Now(), false
	for n, list := range d.away {
		for pid, until := range list {
			if d.users[pid] == nil || now.After(until) {
				delete(list, pid)
			}
		}
		if len(list) == 0 {
			delete(d.away, n)
			changed = true
		}
	}
	if len(d.away) == 0 {
		for pid := range d.users {
			d.users.remove(pid)
		}
	}
	if changed {
		d.arrange()
		return
	}
	listed := slices.Collect(maps.Keys(d.tracker.PIDs()))
	d.join(slices.DeleteFunc(listed, func(pid int) bool { return unix.Kill(pid, 0) == unix.ESRCH })...) // the driver may list it a little longer
}

// arrangeApart sets the probes of single processes, and returns those that are not needed any more.
func (d *Door) arrangeApart() (old []link.Link) {
	for pid, p := range d.users {
		for n := range d.away {
			for _, lib := range d.files {
				at := target{p, n}
				_, away := d.away[n][pid]
				if away || lib.apart[at] != nil || !slices.Contains(lib.functions, n) {
					continue
				}
				if links, err := d.probes(lib, []int{n}, apart, pid); err == nil {
					lib.apart[at] = links
				}
			}
		}
	}
	for _, lib := range d.files {
		for at, links := range lib.apart {
			pid := at.process.Pid
			if _, away := d.away[at.function][pid]; away || !d.isApart(at.function) || d.users[pid] != at.process {
				old = append(old, links...)
				delete(lib.apart, at)
			}
		}
	}
	return old
}
