//go:build linux && (amd64 || arm64)

package uprobe

import (
	"encoding/binary"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler/uprobe/cudatest"
)

func TestNumbers(t *testing.T) {
	for list, want := range map[string][]int{"0-3,8\n": {0, 1, 2, 3, 8}, "0": {0}, "": nil, "x-3": nil, "1-x": nil, "3-1": nil, "2,,4": {2, 4}} {
		if got := numbers(list); !slices.Equal(got, want) {
			t.Errorf("%q: %v", list, got)
		}
	}
	if n := len(numbers("0-999999999")); n != maxCPUs {
		t.Errorf("%d processors", n)
	}
}

// record is one of a mapping, padded as the kernel does it.
func record(kind uint32, pid int, file string) []byte {
	b := binary.NativeEndian.AppendUint32(nil, kind)
	b = append(b, 0, 0, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, uint32(pid))
	b = append(b, make([]byte, 60)...)
	b = append(append(b, file...), make([]byte, 8-len(file)%8)...)
	binary.NativeEndian.PutUint16(b[6:], uint16(len(b)))
	return b
}

// Records go around the end of the ring, and what is none ends the reading.
func TestRing(t *testing.T) {
	r := ring{page: &unix.PerfEventMmapPage{}, data: make([]byte, 256)}
	put := func(b []byte) {
		for _, x := range b {
			r.data[r.page.Data_head%256] = x
			r.page.Data_head++
		}
	}
	var got []int
	read := func() { r.read(func(l loads) { got = append(got, l.pid) }) }
	for i, file := range []string{"/usr/lib/libcuda.so.1", "/usr/lib/libc.so.6", "/opt/libcuda.so.550.54.14", "/libcuda.so/x", "//anon", "", "/a/libcuda.so" + strings.Repeat("x", 100)} {
		put(record(unix.PERF_RECORD_MMAP2, i+1, file))
		read()
	}
	put(record(unix.PERF_RECORD_LOST, 8, "/usr/lib/libcuda.so.1"))
	put(make([]byte, 16)) // of size 0
	read()
	put(record(unix.PERF_RECORD_MMAP2, -1, "/usr/lib/libcuda.so.1")) // of another namespace
	put(record(unix.PERF_RECORD_MMAP2, 9, "/usr/lib/libcuda.so.1"))
	read()
	if !slices.Equal(got, []int{1, 3, 7, anybody, 9}) || r.page.Data_tail != r.page.Data_head {
		t.Errorf("%v", got)
	}
}

// A library that nobody has had before is looked at when it is loaded, however long after its process has begun, and though no driver
// lists that.
func TestLoadedLate(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) { loadedLate(t, o, func() {}) })
}

// Programs that are not for the GPU begin all the time: it is looked soon where few do, and seldom where many do, unless a ring fills up.
func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	p := pace{left: wakesAtOnce, last: now}
	for look := range 60 {
		pause := p.pause(now, false)
		if want := map[bool]time.Duration{true: wakesApart, false: wakesSeldom}[look < wakesAtOnce]; pause != want && look != wakesAtOnce {
			t.Errorf("look %d: %v, not %v", look, pause, want)
		}
		now = now.Add(pause)
		if look == wakesAtOnce { // from then on with the rest of the program
			now = now.Truncate(wakesSeldom)
		}
	}
	if pause := p.pause(now, true); pause != wakesFilled {
		t.Errorf("filled: %v", pause)
	}
	now = now.Add(10 * wakesSeldom)
	for look := range 3 {
		if pause := p.pause(now, true); pause != wakesApart {
			t.Errorf("look %d after a while: %v", look, pause)
		}
	}
}

// Where programs begin all the time, it is so a quarter of a second after it was loaded (probes that are set one at a time take half a second).
func TestLoadedSoon(t *testing.T) {
	r := newRig(t, 1, Options{Libraries: []string{}})
	if r.door.Single() {
		t.Skip("this kernel sets probes one at a time")
	}
	for range 3 * wakesAtOnce {
		if err := exec.Command("/bin/true").Run(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wakesApart / 2)
	}
	p := cudatest.Play(t, r.dir)
	p.Do("device 0")
	time.Sleep(2 * wakesSeldom) // for a busy machine
	p.Do("alloc a 1000")
	r.settled(1)
}

// It is looked at as well where so many programs begin that the kernel cannot tell of each.
func TestLoadedLateAmongMany(t *testing.T) {
	loadedLate(t, Options{}, func() {
		many := exec.Command("sh", "-c", "i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i+1)); done")
		if err := many.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { many.Process.Kill(); many.Wait() }) //nolint:errcheck // it ends so or so
	})
}

// loadedLate loads a copy of libcuda into a process that has used another one for a while.
func loadedLate(t *testing.T, o Options, beside func()) {
	t.Helper()
	needTool(t, "cp")
	o.Libraries = []string{}
	r := newRig(t, 1, o)
	at := t.TempDir()
	if out, err := exec.Command("cp", cudatest.Library(r.dir), at).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := cudatest.Play(t, r.dir)
	p.Do("device 0", "alloc a 1000")
	r.until("the first one is seen", func() bool { p.Do("alloc b 1000"); r.snapshot(); return len(r.seen) > 0 })
	beside()
	time.Sleep(2 * tickEvery)
	p.Do("load "+cudatest.Library(at), "device 0")
	r.until("the second one is looked at", func() bool {
		p.Do("alloc c 2000", "free c")
		r.snapshot()
		return r.seen[len(r.seen)-1].Bytes == 2000
	})
}

// Who ends does not wait for the next look, however many programs begin.
func TestListenEnds(t *testing.T) {
	needDoor(t, map[bool]error{false: ErrPrivilege}[capable(false)])
	m := listen(func(loads) {})
	if m == nil {
		t.Fatal("the kernel does not tell")
	}
	for range 2 * wakesAtOnce {
		if err := exec.Command("/bin/true").Run(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wakesApart)
	}
	began := time.Now()
	if m.close(); time.Since(began) > wakesSeldom/4 {
		t.Errorf("it took %v", time.Since(began))
	}
}
