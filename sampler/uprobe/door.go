//go:build linux && (amd64 || arm64)

package uprobe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

// Options of a Door. Zero values mean the defaults.
type Options struct {
	Clock     sampler.Clock
	Libraries []string // of libcuda that are looked at before a process has them; nil: where systems have them
	Single    bool     // one uprobe at a time, as before Linux 6.6

	dearLocks   bool // who takes the lock of a process's mappings is told at a cost, as up to Linux 6.12
	mappings    bool // what is loaded is told by records of the kernel's only, as before Linux 5.15
	inseparable bool // single processes cannot be looked at, as in some kernels since
	cookieless  bool // with Single: probes have no cookies, as before Linux 5.15

	pause time.Duration // for which a process is let go of at first; 0: as probe.c has it
}

// Door sees calls and passes them to a Tracker.
type Door struct {
	tracker  *request.Tracker
	clock    sampler.Clock
	objects  objects
	ends     []link.Link // and other programs, of processes that have called; none: the kernel does not tell
	loading  bool        // a program in the kernel tells who loads a libcuda
	mappings *mappings   // else its records; nil: the kernel does not tell
	single   bool
	copies   *ebpf.CollectionSpec // each probe has programs of its own, made from this; nil: it has a cookie
	inside   bool                 // only processes of its own pid namespace are seen
	calls    *ringbuf.Reader
	reading  sync.Mutex
	reads    bool          // somebody reads the calls
	flushed  chan struct{} // he has read what there was
	files    map[file]*library
	bounds   bounds

	inseparable bool // Options.inseparable
	separate    bool // the kernel can look at single processes
	attached    int  // libraries, ever
	places      [maxLibraries][maxFunctions]uint64
	set         uint16                    // the probes of files that count, see arrange
	away        map[int]map[int]time.Time // processes that call a function too often, until when they are let go of
	users       users                     // while there are any
	met         map[int]bool              // processes that have called
	closing     sync.WaitGroup            // probes that are on their way out
	news        chan any                  // from the reader: a busy, the number of a process that calls, or loads

	fresh    int         // the process that has just loaded a libcuda; 0: none
	searched map[int]int // how often the libraries of a process were looked for; maxSearches: they are known
	lastPID  int
	young    map[int]int // processes that have begun lately: how often they were searched
	missed   bool        // the kernel could not tell of all that were loaded
}

// objects is what is in the kernel in any case.
type objects struct {
	Entered  *ebpf.Program `ebpf:"entered"`
	Returned *ebpf.Program `ebpf:"returned"`
	Memory   *ebpf.Map     `ebpf:".bss"` // of the variables
	probeMaps
	probeVariables
}

func (o *objects) Close() error { return _ProbeClose(o.Entered, o.Returned, o.Memory, &o.probeMaps) }

// Open loads the programs and looks at the libraries of the system. Its errors wrap those of why.go.
func Open(t *request.Tracker, o Options) (*Door, error) {
	allowLocked() // else not even what the kernel can do is told while somebody else looks
	o.Single = o.Single || !haveMulti()
	return open(t, o)
}

func open(t *request.Tracker, o Options) (*Door, error) {
	d := &Door{tracker: t, clock: o.Clock, files: map[file]*library{}, searched: map[int]int{}, young: map[int]int{},
		inseparable: o.inseparable, set: 1, away: map[int]map[int]time.Time{}, users: users{}, met: map[int]bool{}, news: make(chan any, 256), flushed: make(chan struct{}, 1)}
	if d.clock == nil {
		d.clock = sampler.NewSteady()
	}
	err := d.install(o)
	if err == nil && o.Single && !capable(true) { // the programs are allowed, and what a libcuda would need that may come later is not
		d.objects.Close() //nolint:errcheck // nothing can be done about it
		closeAll(d.ends)
		err = os.ErrPermission
	}
	if err != nil {
		return nil, whyNot(err, o.Single)
	}
	if d.calls, err = ringbuf.NewReader(d.objects.Events); err != nil {
		d.objects.Close() //nolint:errcheck // that it failed before is what counts
		return nil, whyNot(err, o.Single)
	}
	for n := range d.bounds.most {
		d.bounds.most[n] = mostCalls
	}
	d.objects.Most.Set(d.bounds.most) //nolint:errcheck // the map is there
	d.count()
	if o.Libraries == nil {
		o.Libraries = systemLibraries(os.Getenv)
	}
	for _, path := range o.Libraries {
		if _, err := d.attach(path, 0); err != nil {
			d.Close()
			return nil, whyNot(err, o.Single)
		}
	}
	if !d.loading {
		d.mappings = listen(func(l loads) {
			l.at = d.clock.Now().Add(-time.Since(l.at))
			d.tell(l)
		})
	}
	d.lastPID = lastPID()
	d.search(true)
	older := running()
	t.Begin(older)
	for pid := range older { // one that has loaded a copy may use it later
		d.searchIn(pid)
	}
	t.Ask(d.catchUp, d.underWay)
	return d, nil
}

// install puts the programs into the kernel.
func (d *Door) install(o Options) error {
	spec, err := loadProbe()
	if err != nil {
		return err
	}
	for _, p := range spec.Programs {
		p.KernelVersion = 1 // else it is read from memory that a binary with capabilities must not read
		if o.Single {
			p.AttachType = ebpf.AttachNone
		}
	}
	if device, inode := ownNamespace(); inode != 0 {
		d.inside = true
		if err := errors.Join(spec.Variables["namespace_device"].Set(device), spec.Variables["namespace_inode"].Set(inode)); err != nil {
			return err
		}
	}
	if o.pause > 0 {
		if err := spec.Variables["first_pause"].Set(uint64(o.pause)); err != nil {
			return err
		}
	}
	d.single = o.Single
	if o.Single && (o.cookieless || !haveCookies()) {
		d.copies = spec
		if err := spec.Variables["only_cookie"].Set(uint64(1)); err != nil { // these will not run
			return err
		}
	}
	if err := spec.LoadAndAssign(&d.objects, nil); err != nil {
		return err
	}
	d.watchEnds(spec)
	if !o.mappings {
		d.watchLoads(spec, o.dearLocks || !cheapLocks())
	}
	return nil
}

// watchEnds asks how processes end that have called, and which give way to another program. A kernel without a
// description of itself (BTF) does not tell.
func (d *Door) watchEnds(spec *ebpf.CollectionSpec) {
	o := struct {
		Ended  *ebpf.Program `ebpf:"ended"`
		Execed *ebpf.Program `ebpf:"execed"`
	}{}
	if spec.LoadAndAssign(&o, d.shared()) == nil {
		d.watch("sched_process_exit", o.Ended)
		d.watch("sched_process_exec", o.Execed)
	}
}

// watchLoads asks who loads a libcuda. Kernels before 5.15 do not tell.
func (d *Door) watchLoads(spec *ebpf.CollectionSpec, dearLocks bool) {
	if !dearLocks {
		o := struct {
			Mapping *ebpf.Program `ebpf:"mapping"`
		}{}
		d.loading = spec.LoadAndAssign(&o, d.shared()) == nil && d.watch("mmap_lock_acquire_returned", o.Mapping)
	}
	if !d.loading {
		o := struct {
			Loading *ebpf.Program `ebpf:"loading"`
		}{}
		d.loading = spec.LoadAndAssign(&o, d.shared()) == nil && d.watch("vm_unmapped_area", o.Loading)
	}
}

// cheapLocks says whether the kernel can tell that the lock of a process's mappings was taken without a cost that others notice. Older ones look up the path
// of the process's memory group for it each time, which makes mmap and mprotect on all the machine an eighth slower (6.12; docs/measurements.md), and before
// 6.4 page faults take that lock, too. Newer ones tell the group's number.
func cheapLocks() bool {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return false
	}
	var told *btf.Struct
	return kernel.TypeByName("trace_event_raw_mmap_lock_acquire_returned", &told) == nil && slices.ContainsFunc(told.Members, func(m btf.Member) bool { return m.Name == "memcg_id" })
}

// shared are the maps that all programs have together.
func (d *Door) shared() *ebpf.CollectionOptions {
	o := &d.objects
	return &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{"events": o.Events, "callers": o.Callers, "threads": o.Threads,
		"calls": o.Calls, "answers": o.Answers, "entries": o.Entries, "paces": o.Paces, ".bss": o.Memory}}
}

// watch runs a program at a tracepoint.
func (d *Door) watch(tracepoint string, p *ebpf.Program) bool {
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: tracepoint, Program: p})
	if err == nil {
		d.ends = append(d.ends, l)
	}
	p.Close() //nolint:errcheck // the link keeps it
	return err == nil
}

// allowLocked lifts the limit under which kernels before 5.11 count what BPF keeps.
func allowLocked() {
	most := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	unix.Setrlimit(unix.RLIMIT_MEMLOCK, &most) //nolint:errcheck // newer ones do not ask
}

// initialNamespace is the number that the kernel gives to the first pid namespace (PROC_PID_INIT_INO):
// https://github.com/torvalds/linux/blob/master/include/linux/proc_ns.h
const initialNamespace = 0xEFFFFFFC

// ownNamespace is the pid namespace in which pids are told; 0: that of the machine.
func ownNamespace() (device, inode uint64) {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil || st.Ino == initialNamespace {
		return 0, 0
	}
	// As the kernel numbers devices inside: 12 bits and 20.
	return uint64(unix.Major(st.Dev))<<20 | uint64(unix.Minor(st.Dev)), st.Ino
}

// Run passes calls on until the context ends, or until one cannot be.
func (d *Door) Run(ctx context.Context) {
	stop, broken := d.startReading()
	defer func() {
		stop()
		left := d.leave()
		d.Close()
		left()
	}()
	tick := time.NewTimer(untilNext(tickEvery))
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-broken:
			return
		case news := <-d.news:
			switch x := news.(type) {
			case busy:
				d.letGo(x)
			case int:
				d.meet(x)
			case loads:
				d.load(x)
			}
		case <-tick.C:
			calls := d.bound()
			d.comeBack()
			d.search(n%ticksOfSearch == 0 || n < eagerTicks || !calls)
			if n++; calls || n < eagerTicks || !d.toldOfLoads() || len(d.away) > 0 {
				tick.Reset(untilNext(tickEvery))
			} else {
				tick.Reset(untilNext(idleEvery))
			}
		}
	}
}

const (
	tickEvery     = 500 * time.Millisecond
	idleEvery     = 2 * time.Second // while nobody calls
	ticksOfSearch = 4
	eagerTicks    = 4 // in which the processes become known
)

// tell passes something on to Run, if that has the time.
func (d *Door) tell(news any) bool {
	select {
	case d.news <- news:
		return true
	default:
		return false
	}
}

// Close takes everything out of the kernel.
func (d *Door) Close() {
	links := d.ends
	for _, lib := range d.files {
		links = append(links, lib.all()...)
		lib.links, lib.apart = nil, nil
		lib.file.Close() //nolint:errcheck // it was only read
	}
	closeAll(links)
	d.closing.Wait()
	d.mappings.close()
	d.calls.Close()   //nolint:errcheck // nothing can be done about it
	d.objects.Close() //nolint:errcheck // the same
}

// Single says whether each probe is set by itself, as before Linux 6.6.
func (d *Door) Single() bool { return d.single }

// Inside says whether only processes of nvpeak's own pid namespace are seen, as in a container without the host's.
func (d *Door) Inside() bool { return d.inside }

// Libraries counts the copies of libcuda that are looked at.
func (d *Door) Libraries() (n int) {
	for _, lib := range d.files {
		if len(lib.links) > 0 {
			n++
		}
	}
	return n
}

// whyNot says why there is no door, as far as the error and the system tell.
func whyNot(err error, single bool) error {
	switch {
	case locked(): // however it is said: a function that may not be called is one that is not known
		return ErrLockdown
	case errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: %w", ErrKernel, err)
	case !errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: %w", ErrBroken, err)
	case capable(single):
		return ErrSeccomp // what the library adds is about limits of memory, which this is not
	}
	return ErrPrivilege // the same
}
