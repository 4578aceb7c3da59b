//go:build linux && (amd64 || arm64)

package uprobe

import (
	"debug/elf"
	"path/filepath"
	"sync"

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
	executable *link.Executable
	functions  []int // of request.Functions, that it has
	links      []link.Link
	older      map[int]bool // processes that were there before
}

// close takes the probes out, all at the same time: the kernel waits for whoever may be in one, tens of milliseconds for
// each link.
func (l *library) close() {
	var all sync.WaitGroup
	for _, x := range l.links {
		all.Go(func() { x.Close() }) //nolint:errcheck // nothing can be done about it
	}
	all.Wait()
	l.links = nil
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

// attach looks at a library, once for each file.
func (d *Door) attach(path string) (lib *library, err error) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return nil, nil
	}
	id := file{st.Dev, st.Ino}
	if lib = d.files[id]; lib != nil {
		return lib, nil
	}
	lib = &library{functions: functionsOf(path), older: running()}
	d.files[id] = lib
	if len(lib.functions) == 0 { // of 32 bits, or no library at all
		return lib, nil
	}
	if lib.executable, err = link.OpenExecutable(path); err != nil {
		lib.functions = nil
		return lib, nil
	}
	return lib, d.look(lib)
}

// functionsOf are the functions that a library has, as a program that is linked with it would find them.
func functionsOf(path string) (list []int) {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	symbols, err := f.DynamicSymbols()
	if err != nil || f.Class != elf.ELFCLASS64 {
		return nil
	}
	has, twice := map[string]uint64{}, map[uint64]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			has[s.Name] = s.Value
		}
	}
	for n := range request.Functions {
		at, ok := has[request.Functions[n].Name]
		if ok && !twice[at] { // two names of one function are one
			list, twice[at] = append(list, n), true
		}
	}
	return list
}

// look begins to look at the functions of a library, or begins again without those that were let go of. All
// at once takes the kernel milliseconds; one at a time, half a second.
func (d *Door) look(lib *library) error {
	lib.close()
	var enter, leave group
	for _, n := range lib.functions {
		if !d.bounds.pause[n].IsZero() {
			continue
		}
		enter.add(n)
		if request.Functions[n].Answered() {
			leave.add(n)
		}
	}
	// Returns first: an entry whose return is not looked at would stay open.
	if err := d.probe(lib, &leave, true); err != nil {
		return err
	}
	return d.probe(lib, &enter, false)
}

// group is functions that are looked at in one way.
type group struct {
	symbols []string
	cookies []uint64
}

func (g *group) add(n int) {
	g.symbols, g.cookies = append(g.symbols, request.Functions[n].Name), append(g.cookies, request.Cookie(n))
}

// probe attaches to the entries of functions or to their returns.
func (d *Door) probe(lib *library, g *group, leaving bool) error {
	one, all := lib.executable.Uprobe, lib.executable.UprobeMulti
	if leaving {
		one, all = lib.executable.Uretprobe, lib.executable.UretprobeMulti
	}
	if !d.single && len(g.symbols) > 0 {
		x, err := all(g.symbols, d.program(leaving), &link.UprobeMultiOptions{Cookies: g.cookies})
		if err == nil {
			lib.links = append(lib.links, x)
		}
		return err
	}
	for i, symbol := range g.symbols {
		x, err := one(symbol, d.program(leaving), &link.UprobeOptions{Cookie: g.cookies[i]})
		if err != nil {
			return err
		}
		lib.links = append(lib.links, x)
	}
	return nil
}

func (d *Door) program(leaving bool) *ebpf.Program {
	if leaving {
		return d.objects.Returned
	}
	return d.objects.Entered
}
