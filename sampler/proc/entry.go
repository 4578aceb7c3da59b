package proc

import (
	"os"
	"strconv"
	"time"

	"nvpeak/sampler"
)

// entry is what is known of one process. The map goes by pid; start makes it the same
// process and not a later one of that number.
type entry struct {
	start uint64 // ticks after boot
	fd    int    // its stat, kept open; -1: not
	seen  time.Time

	name, uid, user, command string
	container, framework     string
	launch                   string
	parents                  []sampler.Parent  // the nearest first
	environment              map[string]string // nil: not permitted
	environAt                uint64            // where it has the address of that; 0: not known
	foreign                  bool              // the pid is somebody else's in our namespace

	learned time.Time
	mapped  int // how often the maps were looked through

	cpuTicks uint64
	cpuTime  time.Time
	cpu      sampler.Opt[float64]
	rss      uint64
}

const (
	// learnEvery is how long what rarely changes is believed. Servers set their title
	// after loading (vLLM, Ray), which no field of stat shows.
	learnEvery = 30 * time.Second
	// cpuWindow is the shortest time a CPU share is taken over: ticks have 10 ms, so
	// this gives steps of 5 %.
	cpuWindow = 200 * time.Millisecond
	// mapsTries: libraries load within the first minutes. Reading maps takes a lock of
	// the process read, so it is not done for ever.
	mapsTries = 3
)

// stale says whether the rare fields are to be read again: after execve, which changes
// the name but not the start, and now and then.
func (e *entry) stale(s stat, now time.Time) bool {
	d := now.Sub(e.learned)
	return s.name != e.name || d >= learnEvery || d < 0
}

// readers is what an entry learns from.
type readers struct {
	files files
	users users
	live  liveEnviron
	maps  int // how many more maps may be read in this call
}

// learn reads what rarely changes. What cannot be read keeps its old value: a dying
// process has no command line any more, and its last one is what people want to see.
func (e *entry) learn(r *readers, pid int, s stat, now time.Time) {
	renamed := s.name != e.name
	e.name, e.learned = s.name, now
	dir := strconv.Itoa(pid) + "/"
	if b, err := r.files.read(dir+"status", maxStatus); err == nil {
		if uid, ok := parseUID(b); ok {
			e.uid = uid
		}
	}
	if e.uid != "" {
		e.user = r.users.name(e.uid)
	}
	if b, err := r.files.read(dir+"cgroup", maxCgroup); err == nil {
		e.container = parseCgroup(b).Or("")
	}
	b, err := r.files.read(dir+"environ", maxEnviron)
	empty := err == nil && len(b) == 0
	if err == nil && !empty {
		e.environment = parseEnviron(b)
	}
	if e.parents == nil { // a launcher that has ended is still the one
		l := r.files.lineage(s.up, now)
		e.parents, e.launch = l.parents, l.launch
	}
	b, err = r.files.read(dir+"cmdline", maxCommand)
	args, command := parseCommand(b)
	if empty && e.environment == nil && (len(b) > 0 || s.state == idle) { // else its memory is gone, as it ends: the kernel tells neither of the two then
		e.environment = parseEnviron(nil)
	}
	switch {
	case err == nil && command != "":
		e.command = command
	case e.command == "" || renamed && s.state != 'Z':
		e.command = "[" + s.name + "]"
	}
	e.lookThrough(r, pid, args, renamed, now)
	if e.environAt != 0 && e.environment != nil {
		if changed := r.live.read(&r.files, pid, e.environAt); changed != nil {
			e.environment = changed
		}
	}
}

// lookThrough finds what only the memory map of a process tells: the framework, from the libraries, where the command line does not, else from
// the environment; once known it stays, unless the process became another program. And where its environment is.
func (e *entry) lookThrough(r *readers, pid int, args []string, renamed bool, now time.Time) {
	if renamed {
		e.mapped, e.environAt = 0, 0
	}
	named := frameworkOfCommand(args)
	if named != "" {
		e.framework = named
	}
	guess := named == "" && (e.framework == "" || renamed)
	place := r.live.permitted && e.environment != nil && e.environAt == 0
	if !guess && !place || e.mapped >= mapsTries || len(args) == 0 {
		return
	}
	if r.maps == 0 {
		e.learned = now.Add(time.Second - learnEvery) // its turn comes in a second
		return
	}
	r.maps--
	e.mapped++
	var libraries libraryFinder
	var environ environFinder
	if place {
		environ.exe, _ = os.Readlink(r.files.root + "/" + strconv.Itoa(pid) + "/exe") // without it a variable of its own is not found
	}
	err := r.files.pieces(strconv.Itoa(pid)+"/maps", maxMaps, func(piece []byte) bool {
		known := !guess || libraries.add(piece)
		placed := !place || environ.add(piece)
		return known && placed
	})
	switch {
	case !guess:
	case libraries.name() != "":
		e.framework = libraries.name()
	case err != nil:
		e.framework = frameworkOfEnviron(e.name, e.environment)
	}
	if place {
		e.environAt = r.live.place(&r.files, pid, &environ)
	}
}

// measure takes what changes all the time out of stat.
func (e *entry) measure(s stat, now time.Time) {
	e.seen, e.rss = now, s.rss
	window := now.Sub(e.cpuTime)
	switch {
	case e.cpuTime.IsZero() || window < 0 || s.cpu < e.cpuTicks:
		e.cpu = sampler.Opt[float64]{}
	case window < cpuWindow:
		return // the same tick for another GPU, or too short to say
	default:
		e.cpu = sampler.Some(100 * float64(s.cpu-e.cpuTicks) / userHZ / window.Seconds())
	}
	e.cpuTicks, e.cpuTime = s.cpu, now
}

// fillEnded writes what was known of a process that is no more.
func (e *entry) fillEnded(p *sampler.Process, boot time.Time) {
	e.fill(p, boot)
	p.Visible, p.Ended = false, true
	p.CPU, p.HostMemory = sampler.Opt[float64]{}, sampler.Opt[sampler.Bytes]{}
}

// fill writes what is known into p.
func (e *entry) fill(p *sampler.Process, boot time.Time) {
	p.Visible = true
	if start, ok := startTime(boot, e.start); ok {
		p.StartTime = sampler.Some(start)
	}
	p.User, p.Name, p.Command = e.user, e.name, e.command
	p.Environment = e.environment
	p.Container, p.Framework = known(e.container), known(e.framework)
	p.Launch, p.CPU = e.launch, e.cpu
	p.Parents = e.parents
	if rss := e.rss * uint64(os.Getpagesize()); e.rss < uint64(sampler.MaxPlausible)/uint64(os.Getpagesize()) && e.rss > 0 {
		p.HostMemory = sampler.Some(sampler.Bytes(rss))
	}
}
