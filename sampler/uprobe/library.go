//go:build linux && (amd64 || arm64)

package uprobe

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"nvpeak/sampler/request"
)

// A uprobe belongs to a file and a place in it, whatever it is called and whoever has it open: containers have the host's
// libcuda under another path, and a copy for compatibility is another file.
type file struct{ device, inode uint64 }

// library is one libcuda that is looked at.
type library struct {
	number     uint16   // below maxLibraries
	file       *os.File // open, for the process by whose path it was found may end
	pid        int      // of that process; 0: the system has it
	executable *link.Executable
	functions  []int                  // of request.Functions, that it has
	places     map[int]uint64         // of those, in the file
	others     []string               // that it has in the place of such, which nobody looks at
	links      map[int][]link.Link    // of all processes, by function; all at once by together
	apart      map[target][]link.Link // of single processes
	older      map[int]bool           // processes that were there before; false: that has loaded it just before, as was heard
	since      time.Time              // when it was looked at
}

// heardOf says whether it was heard that a process has loaded it just before it was looked at.
func (l *library) heardOf(pid int) bool {
	before, known := l.older[pid]
	return known && !before
}

// together is in the place of a function for all those whose probes are set at once.
const together = -1

// all are its probes.
func (l *library) all() []link.Link { return slices.Concat(flat(l.links), flat(l.apart)) }

func flat[K comparable](links map[K][]link.Link) []link.Link {
	return slices.Concat(slices.Collect(maps.Values(links))...)
}

// atOnce is how many probes are taken out at the same time.
const atOnce = 16

// closeAll takes probes out, several at the same time: the kernel waits for whoever may be in one, tens of milliseconds for each.
func closeAll(links []link.Link) {
	var all sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, x := range links {
		free <- struct{}{}
		all.Go(func() {
			x.Close() //nolint:errcheck // nothing can be done about it
			<-free
		})
	}
	all.Wait()
}

// systemLibraries is where systems keep libcuda, and where this process would find it.
func systemLibraries(env func(string) string) []string {
	dirs := filepath.SplitList(env("LD_LIBRARY_PATH"))
	dirs = append(dirs, "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
		"/usr/local/nvidia/lib64", "/run/opengl-driver/lib", "/usr/local/cuda/compat")
	for i, dir := range dirs {
		dirs[i] = filepath.Join(dir, "libcuda.so.1")
	}
	return dirs
}

// maxLibraries are looked at: each container may have one of its own, and they come and go. It is LIBRARIES of probe.c.
const maxLibraries = 64

// attach looks at a library, once for each file; pid: the process that has it, 0: the system.
func (d *Door) attach(path string, pid int) (lib *library, err error) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return nil, nil
	}
	id := file{st.Dev, st.Ino}
	if lib = d.files[id]; lib != nil {
		return lib, nil
	}
	if len(d.files) >= maxLibraries && !d.makeRoom() {
		return nil, nil
	}
	d.attached++
	lib = &library{number: d.freeNumber(), pid: pid, older: running(), apart: map[target][]link.Link{}}
	lib.functions, lib.places, lib.others = functionsOf(path)
	d.files[id] = lib
	d.place(lib)
	if len(lib.functions) == 0 { // of 32 bits, or no library at all
		return lib, nil
	}
	if lib.file, err = os.Open(path); err == nil {
		lib.executable, err = link.OpenExecutable("/proc/self/fd/" + strconv.Itoa(int(lib.file.Fd())))
	}
	if err != nil {
		lib.functions = nil
		return lib, nil
	}
	if pid > 0 && pid != d.fresh {
		d.tracker.Late(pid, d.clock.Now()) // before its calls come
	}
	d.objects.Libraries.Set(uint32(len(d.files))) //nolint:errcheck,gosec // the map is there; below maxLibraries
	if lib.links, err = d.whole(lib); err == nil {
		lib.since = d.clock.Now()
		d.separate = !d.inseparable && d.separable(lib)
	}
	return lib, err
}

// freeNumber is one that no library has.
func (d *Door) freeNumber() uint16 {
	var taken [maxLibraries]bool
	for _, lib := range d.files {
		taken[lib.number] = true
	}
	return uint16(slices.Index(taken[:], false)) //nolint:gosec // there is one where there is room for a library
}

// place tells the programs in the kernel where the functions of a library are, by which they tell apart the copies that a process has.
func (d *Door) place(lib *library) {
	for n, at := range lib.places {
		d.places[lib.number][n] = at
	}
	d.objects.Places.Set(d.places) //nolint:errcheck // the map is there
}

// makeRoom takes the probes from libraries whose processes, as far as is known, have ended.
func (d *Door) makeRoom() (made bool) {
	var old []link.Link
	for id, lib := range d.files {
		if lib.pid > 0 && unix.Kill(lib.pid, 0) == unix.ESRCH {
			old, made = append(old, d.forget(id)...), true
		}
	}
	d.closing.Go(func() { closeAll(old) }) // the new one does not wait for that
	return made
}

// forget does not look at a library any more; the probes are left to be taken out.
func (d *Door) forget(id file) []link.Link {
	lib := d.files[id]
	lib.file.Close() //nolint:errcheck // it was only read
	delete(d.files, id)
	return lib.all()
}

// arrange sets the probes as they have to be now: first the new ones, which count from one moment on, then the old ones are taken
// out, so that no call is missed.
func (d *Door) arrange() {
	if !d.single { // else each function by itself takes the place of nothing
		d.set = d.set%(apart-1) + 1
	}
	var old []link.Link
	for id, lib := range d.files {
		links, err := d.whole(lib)
		if err != nil { // it was allowed before; else it is found again
			old = append(old, flat(links)...)
			old = append(old, d.forget(id)...)
			continue
		}
		for n, x := range lib.links {
			if !d.single || links[n] == nil {
				old = append(old, x...)
			}
		}
		lib.links = links
	}
	old = append(old, d.arrangeApart()...)
	d.count()
	closeAll(old)
}

// count makes the probes of now count, and no others.
func (d *Door) count() {
	var live [maxFunctions]uint32
	for n := range live {
		if live[n] = uint32(d.set); d.isApart(n) {
			live[n] = apart
		}
	}
	d.objects.Live.Set(live) //nolint:errcheck // the map is there
}

// whole looks at the functions of a library in all processes that have it, without those that were let go of.
func (d *Door) whole(lib *library) (links map[int][]link.Link, err error) {
	var list []int
	for _, n := range lib.functions {
		if d.bounds.pause[n].IsZero() && !d.isApart(n) {
			list = append(list, n)
		}
	}
	links = map[int][]link.Link{}
	if !d.single {
		links[together], err = d.probes(lib, list, d.set, 0)
		return links, err
	}
	for _, n := range list {
		if links[n] = lib.links[n]; links[n] == nil {
			if links[n], err = d.probes(lib, []int{n}, d.set, 0); err != nil {
				return links, err
			}
		}
	}
	return links, nil
}

// probes looks at functions of a library, in one process or, of 0, in all. All at once takes the kernel milliseconds; one at a
// time, half a second.
func (d *Door) probes(lib *library, functions []int, set uint16, pid int) (links []link.Link, err error) {
	var enter, leave group
	for _, n := range functions {
		cookie := request.Cookie(n, lib.number, set)
		enter.add(n, lib.places[n], cookie)
		if request.Functions[n].Answered() {
			leave.add(n, lib.places[n], cookie)
		}
	}
	// Returns first: an entry whose return is not looked at would stay open.
	for _, g := range []struct {
		*group
		leaving bool
	}{{&leave, true}, {&enter, false}} {
		more, err := d.probe(lib, g.group, g.leaving, pid)
		if links = append(links, more...); err != nil {
			closeAll(links)
			return nil, err
		}
	}
	return links, nil
}

// group is functions that are looked at in one way.
type group struct {
	symbols []string
	places  []uint64
	cookies []uint64
}

func (g *group) add(n int, place, cookie uint64) {
	g.symbols, g.places, g.cookies = append(g.symbols, request.Functions[n].Name), append(g.places, place), append(g.cookies, cookie)
}

// probe attaches to the entries of functions or to their returns.
func (d *Door) probe(lib *library, g *group, leaving bool, pid int) (links []link.Link, err error) {
	one, all := lib.executable.Uprobe, lib.executable.UprobeMulti
	if leaving {
		one, all = lib.executable.Uretprobe, lib.executable.UretprobeMulti
	}
	if !d.single && len(g.symbols) > 0 {
		x, err := all(nil, d.program(leaving), &link.UprobeMultiOptions{Addresses: g.places, Cookies: g.cookies, PID: uint32(pid)}) //nolint:gosec // below 2^22
		if err != nil {
			return nil, err
		}
		return []link.Link{x}, nil
	}
	for i, symbol := range g.symbols {
		program, options := d.program(leaving), &link.UprobeOptions{Address: g.places[i], Cookie: g.cookies[i], PID: pid}
		if d.copies != nil {
			if program, err = d.copyFor(leaving, options.Cookie); err != nil {
				return links, err
			}
			options.Cookie = 0
		}
		x, err := one(symbol, program, options)
		if d.copies != nil {
			program.Close() //nolint:errcheck // the probe keeps it
		}
		if err != nil {
			return links, err
		}
		links = append(links, x)
	}
	return links, nil
}

func (d *Door) program(leaving bool) *ebpf.Program {
	if leaving {
		return d.objects.Returned
	}
	return d.objects.Entered
}

// copyFor is a program for one probe alone, of which the cookie is a part.
func (d *Door) copyFor(leaving bool, cookie uint64) (*ebpf.Program, error) {
	spec, name := d.copies.Copy(), "entered"
	if leaving {
		name = "returned"
	}
	spec.Programs = map[string]*ebpf.ProgramSpec{name: spec.Programs[name]}
	if err := spec.Variables["only_cookie"].Set(cookie); err != nil {
		return nil, err
	}
	all, err := ebpf.NewCollectionWithOptions(spec, *d.shared())
	if err != nil {
		return nil, err
	}
	defer all.Close()
	return all.DetachProgram(name), nil
}
