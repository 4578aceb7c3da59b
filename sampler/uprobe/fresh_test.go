//go:build linux && (amd64 || arm64)

package uprobe

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// copyOf is a directory with a libcuda that nobody has had before.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	at := t.TempDir()
	b, err := os.ReadFile(cudatest.Library(dir))
	if err == nil {
		err = os.WriteFile(cudatest.Library(at), b, 0o700) //nolint:gosec // it is loaded
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// brief runs a program with a libcuda, which does what it is told and ends.
func brief(t *testing.T, dir, library string, commands ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "play"), cudatest.Library(library))
	cmd.Stdin = strings.NewReader(strings.Join(append(commands, "exit 0"), "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return cmd.Process.Pid
}

// many begins some 300 programs a second until the test ends.
func many(t *testing.T) {
	t.Helper()
	loop := exec.Command("sh", "-c", "while :; do /bin/true; /bin/true; /bin/true; sleep 0.01; done")
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loop.Process.Kill(); loop.Wait() }) //nolint:errcheck // it ends so
}

// Who reads a libcuda, as linkers do, does not load it.
func TestRead(t *testing.T) {
	r := newRig(t, 1, Options{Libraries: []string{}})
	if !r.door.loading {
		t.Skip("this kernel does not tell who loads a libcuda")
	}
	f, err := os.Open(cudatest.Library(copyOf(t, r.dir)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b) //nolint:errcheck // the same
	runs := 0
	r.until("who loads one is told", func() bool {
		runs++
		brief(t, r.dir, copyOf(t, r.dir), "sleep 50") // one may have its probes in time, and is then seen
		return r.snapshot().Door.Unseen > 0
	})
	if n := r.door.attached; n > runs {
		t.Errorf("%d were looked at, of %d that loaded one", n, runs)
	}
}

// Each run of a program has a libcuda that nobody had before and lives for 45 ms, while others begin all the time: what it calls 15 ms after it
// has loaded that is seen, and that its first calls were missed is told.
func TestFresh(t *testing.T) {
	for name, o := range map[string]Options{"a program tells": {Libraries: []string{}}, "that for older kernels tells": {Libraries: []string{}, dearLocks: true}, "records tell": {Libraries: []string{}, mappings: true}} {
		t.Run(name, func(t *testing.T) {
			leaving.Wait() // the kernel sets no probes meanwhile
			r := newRig(t, 1, o)
			if r.door.Single() {
				t.Skip("this kernel sets probes one at a time")
			}
			if r.door.loading == o.mappings {
				needDoor(t, errors.New("the kernel does not tell who loads a libcuda"))
			}
			many(t)
			time.Sleep(time.Second)    // until it is looked seldom
			const runs, rounds = 12, 3 // the machine may be busy for one
			for round := 1; ; round++ {
				missed, seen := r.snapshot().Door.Unseen, len(r.seen)
				for range runs {
					brief(t, r.dir, copyOf(t, r.dir), "device 0", "alloc a 1000", "sleep 15", "alloc b 2000", "sleep 15", "alloc c 3000", "sleep 15", "alloc d 4000")
					time.Sleep(50 * time.Millisecond)
					r.snapshot()
				}
				told := map[sampler.Bytes]int{}
				r.until("those that missed are counted", func() bool {
					s := r.snapshot()
					clear(told)
					for _, q := range r.seen[seen:] {
						told[q.Bytes]++
					}
					return s.Door.Unseen-missed >= runs-told[1000]
				})
				if n := r.snapshot().Door.Unseen - missed; n > runs { // also of whom only its begin and its context were
					t.Errorf("%d were missed", n)
				}
				if o.mappings || told[2000] >= runs/2 && told[4000] >= runs-2 {
					break
				}
				if t.Logf("of %d: %v", runs, told); round == rounds {
					t.Error("they are told too late")
					break
				}
			}
		})
	}
}

// A program that has loaded a libcuda of its own before anybody looked, and uses it later, is seen from its first call on.
func TestLoadedBefore(t *testing.T) {
	cudatest.Alone(t)
	dir := cudatest.Build(t)
	p := cudatest.Start(t, exec.Command(filepath.Join(dir, "play"), cudatest.Library(copyOf(t, dir)))) //nolint:gosec // a test
	r := rigOf(t, dir, 1, Options{Libraries: []string{}})
	want := asked(p.Do("device 0", "alloc a 1000000000", "alloc b 70000000"))
	r.settled(len(want))
	if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := r.snapshot().Door.Unseen; n > 0 {
		t.Errorf("%d processes are said to have been missed", n)
	}
}

// A library whose alignment is above a page is loaded in another way, from glibc 2.35 on: its place is reserved first.
func TestAligned(t *testing.T) {
	for name, o := range map[string]Options{"a program tells": {Libraries: []string{}}, "that for older kernels tells": {Libraries: []string{}, dearLocks: true}} {
		t.Run(name, func(t *testing.T) { testAligned(t, o) })
	}
}

func testAligned(t *testing.T, o Options) {
	t.Helper()
	r := newRig(t, 1, o)
	at := copyOf(t, r.dir)
	b, err := os.ReadFile(cudatest.Library(at))
	if err != nil {
		t.Fatal(err)
	}
	// The alignment of the first segment, which lies at 0: https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html
	const headers, size, alignment = 32, 56, 48
	for p := b[binary.LittleEndian.Uint64(b[headers:]):]; ; p = p[size:] {
		if elf.ProgType(binary.LittleEndian.Uint32(p)) == elf.PT_LOAD {
			binary.LittleEndian.PutUint64(p[alignment:], 1<<16)
			break
		}
	}
	if err := os.WriteFile(cudatest.Library(at), b, 0o700); err != nil { //nolint:gosec // it is loaded
		t.Fatal(err)
	}
	p := cudatest.Start(t, exec.Command(filepath.Join(r.dir, "play"), cudatest.Library(at))) //nolint:gosec // a test
	p.Do("device 0")
	r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
}

// A second library of a process is waited for, though that has the first one, until it is mapped.
func TestSecond(t *testing.T) {
	cudatest.Alone(t)
	dir := cudatest.Build(t)
	at := copyOf(t, dir)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{}, mappings: true})
	needDoor(t, err)
	defer d.Close()
	d.mappings.close() // the test tells
	d.mappings = nil
	var st unix.Stat_t
	if err := unix.Stat(cudatest.Library(at), &st); err != nil {
		t.Fatal(err)
	}
	p := cudatest.Play(t, dir)
	p.Do("device 0")
	d.load(loads{pid: p.PID(), inode: st.Ino})
	p.Do("load " + cudatest.Library(at))
	for d.withInode(st.Ino) == nil {
		select {
		case news := <-d.news:
			if l, ok := news.(loads); ok {
				d.load(l)
			}
		case <-time.After(time.Second):
			t.Fatal("it is not looked for any more")
		}
	}
}

// A library that asks for an address, as its first segment is to lie at another one than 0, is looked at as it is loaded, too.
func TestPlacedLibrary(t *testing.T) {
	if !cheapLocks() {
		t.Skip("this kernel does not tell who loads such a one")
	}
	r := newRig(t, 1, Options{Libraries: []string{}})
	at := t.TempDir()
	build := exec.Command("gcc", "-shared", "-fPIC", "-O2", "-Wl,-Ttext-segment=0x12345000", "-o", cudatest.Library(at), filepath.Join(cudatest.Source(t), "fakecuda.c"), "-lpthread") //nolint:gosec // a test
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	brief(t, r.dir, at, "sleep 200", "device 0", "alloc a 1000", "alloc b 2000")
	want := []string{"cuMemAlloc_v2 1000 0 0", "cuMemAlloc_v2 2000 0 0"}
	if r.settled(len(want)); !slices.Equal(said(r.seen), want) {
		t.Errorf("%v", said(r.seen))
	}
}

// The first process of a new libcuda makes a context some time after it has loaded that: none of its calls was missed that matters.
func TestFirstOfItsLibrary(t *testing.T) {
	r := newRig(t, 1, Options{Libraries: []string{}})
	if !r.door.toldOfLoads() || r.door.Single() {
		t.Skip("this kernel does not tell who loads a libcuda, or sets probes one at a time")
	}
	p := cudatest.Start(t, exec.Command(filepath.Join(r.dir, "play"), cudatest.Library(copyOf(t, r.dir)))) //nolint:gosec // a test
	p.Do("sleep 300", "device 0", "alloc a 1000", "alloc b 2000", "free a")
	r.settled(2)
	if q := r.of(p.PID()); q == nil || !q.Whole || q.Live != 2000 || q.Peak != 3000 {
		t.Errorf("%+v", q)
	}
	if n := r.snapshot().Door.Unseen; n > 0 {
		t.Errorf("%d processes are said to have been missed", n)
	}
}
