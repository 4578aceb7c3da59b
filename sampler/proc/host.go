package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

// Options of a Host. The zero value is this machine.
type Options struct {
	Root   string                           // where proc is mounted; "" is /proc
	Dev    string                           // where device nodes are; "" is /dev
	Clock  sampler.Clock                    // nil is the time of day
	Lookup func(uid string) (string, error) // name of a user id; nil asks the system
}

// Host is a sampler.Host that reads /proc. Safe for concurrent use.
type Host struct {
	mu sync.Mutex
	readers
	clock  sampler.Clock
	name   string
	boot   time.Time
	strict bool // a pid may be somebody else's here: ask for an open device
	keeps  int  // how many more stat files may stay open

	entries map[int]*entry
	absent  map[int]time.Time // pids without a directory, and when that was seen
	swept   time.Time
}

const (
	forgetAfter = time.Minute      // a process that nobody asks for any more
	sweepEvery  = 10 * time.Second // looks for those
	maxKept     = 256              // stat files that stay open
	maxMapped   = 32               // maps read in one call: a box full of processes must not hold the first tick
)

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

// New makes a Host. It never fails: what cannot be read is absent later.
func New(o Options) *Host {
	h := &Host{
		readers: readers{
			files: files{root: strings.TrimRight(o.Root, "/")},
			users: users{lookup: o.Lookup, names: map[string]string{}},
			live:  newLiveEnviron(),
		},
		clock:   o.Clock,
		entries: map[int]*entry{},
		absent:  map[int]time.Time{},
	}
	if o.Root == "" {
		h.files.root = "/proc"
	}
	if o.Dev == "" {
		o.Dev = "/dev"
	}
	if h.clock == nil {
		h.clock = wallClock{}
	}
	if h.users.lookup == nil {
		h.users.lookup = lookupUser
	}
	// The time of boot is read once: the kernel moves it by a second when the clock is
	// set, and start times are part of the identity of processes.
	if b, err := h.files.read("stat", 1<<20); err == nil {
		h.boot, _ = parseBoot(b)
	}
	if h.files.isProc() {
		h.keeps = maxKept
	}
	h.name = h.hostName()
	h.strict = h.foreignPIDs(o.Dev)
	return h
}

// absentFor is how long a pid that has no directory is not looked for again: in a
// container a driver may name thousands that belong to the host.
const absentFor = 3 * time.Second

// initialPIDNamespace is the number that the kernel gives to the first pid namespace
// (PROC_PID_INIT_INO): https://github.com/torvalds/linux/blob/master/include/linux/proc_ns.h
const initialPIDNamespace = "pid:[4026531836]"

// foreignPIDs says whether the pids that a driver names may be those of another pid
// namespace, where the same number is another process: in a container that sees the GPU.
// Drivers before the 560 series give host pids there.
func (h *Host) foreignPIDs(dev string) bool {
	namespace, err := os.Readlink(filepath.Join(h.files.root, "self/ns/pid"))
	if err != nil || namespace == initialPIDNamespace {
		return false
	}
	_, err = os.Stat(filepath.Join(dev, "nvidiactl"))
	return err == nil
}

func (h *Host) hostName() string {
	if b, err := h.files.read("sys/kernel/hostname", 256); err == nil {
		if name := strings.TrimSpace(string(b)); name != "" {
			return name
		}
	}
	name, _ := os.Hostname()
	return name
}

// Name is the name of the machine.
func (h *Host) Name() string { return h.name }

// Memory is the memory of the machine, absent where /proc/meminfo does not say it.
func (h *Host) Memory() sampler.Opt[sampler.HostMemory] {
	h.mu.Lock()
	defer h.mu.Unlock()
	b, err := h.files.read("meminfo", 64<<10)
	if err != nil {
		return sampler.Opt[sampler.HostMemory]{}
	}
	return parseMeminfo(b)
}

// Refresh has what rarely changes of a process read again the next time somebody asks for it.
func (h *Host) Refresh(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[pid]; e != nil {
		e.learned = time.Time{}
	}
}

// Identify fills in, in place, what the driver does not know of the processes. Visible is
// false for a pid that does not exist here: one of another pid namespace, hidden, or gone.
// Its other fields are left empty, unless it was here before: then it is Ended, with what was known of it.
func (h *Host) Identify(processes []sampler.Process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	h.maps = maxMapped
	for i := range processes {
		h.identify(&processes[i], now)
	}
	if now.Sub(h.swept) < sweepEvery && !now.Before(h.swept) {
		return
	}
	h.swept = now
	for pid, at := range h.absent {
		if d := now.Sub(at); d < 0 || d >= absentFor {
			delete(h.absent, pid)
		}
	}
	for pid, e := range h.entries {
		if d := now.Sub(e.seen); d > forgetAfter || d < -forgetAfter {
			h.forget(pid)
		}
	}
}

func (h *Host) identify(p *sampler.Process, now time.Time) {
	if p.PID <= 0 {
		return
	}
	e := h.entries[p.PID]
	if d := now.Sub(h.absent[p.PID]); e == nil && d >= 0 && d < absentFor {
		h.hidden(p, os.ErrNotExist)
		return
	}
	s, err := h.stat(p.PID, e)
	if err != nil {
		gone := errors.Is(err, os.ErrNotExist)
		if gone && e != nil && !e.foreign {
			h.release(e)
			e.seen = now
			e.fillEnded(p, h.boot)
			return
		}
		h.forget(p.PID)
		if gone {
			h.absent[p.PID] = now
		}
		h.hidden(p, err)
		return
	}
	switch {
	case e == nil || e.start != s.start:
		h.forget(p.PID)
		e = h.meet(p.PID, s)
		e.learn(&h.readers, p.PID, s, now)
	case e.stale(s, now):
		e.learn(&h.readers, p.PID, s, now)
	}
	e.measure(s, now)
	if e.foreign {
		p.Visible = false
		return
	}
	e.fill(p, h.boot)
}

// stat of a process, from the open file of its entry where there is one.
func (h *Host) stat(pid int, e *entry) (stat, error) {
	if e != nil && e.fd >= 0 {
		if s, err := h.files.statAgain(e.fd); err == nil {
			return s, nil
		}
	}
	return h.files.stat(pid)
}

// meet begins the entry of a process not known so far.
func (h *Host) meet(pid int, s stat) *entry {
	e := &entry{start: s.start, fd: -1, foreign: h.strict && h.somebodyElse(pid)}
	if h.keeps > 0 {
		if e.fd = h.files.keep(pid); e.fd >= 0 {
			h.keeps--
		}
	}
	h.entries[pid] = e
	return e
}

func (h *Host) forget(pid int) {
	if e := h.entries[pid]; e != nil {
		h.release(e)
	}
	delete(h.entries, pid)
}

// release closes what an entry holds open.
func (h *Host) release(e *entry) {
	if e.fd >= 0 {
		unix.Close(e.fd)
		e.fd = -1
		h.keeps++
	}
}

// Close gives up what is held open. The Host can be used on.
func (h *Host) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for pid := range h.entries {
		h.forget(pid)
	}
}

func (h *Host) somebodyElse(pid int) bool {
	open, sure := h.files.opensDevice(pid)
	return sure && !open
}

// hidden is a process whose stat cannot be read. With /proc mounted hidepid=1 it is
// there, and the owner of its directory is all there is to know; root owns that of
// processes that must not be dumped too, so root says nothing.
func (h *Host) hidden(p *sampler.Process, err error) {
	p.Visible = errors.Is(err, fs.ErrPermission)
	if !p.Visible {
		return
	}
	if uid, ok := h.files.owner(p.PID); ok && uid != "0" {
		p.User = h.users.name(uid)
	}
}
