//go:build linux && (amd64 || arm64)

package uprobe

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// Two names of one function are looked at once.
func TestAliases(t *testing.T) {
	dir := t.TempDir()
	source := "int cuMemAllocAsync(void *p, long n, void *s) { return 0; }\nint cuMemAllocAsync_ptsz(void *p, long n, void *s) __attribute__((alias(\"cuMemAllocAsync\")));\n"
	if err := os.WriteFile(filepath.Join(dir, "x.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(dir, "libcuda.so.1")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", lib, filepath.Join(dir, "x.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if list, _, _ := functionsOf(lib); len(list) != 1 || request.Functions[list[0]].Name != "cuMemAllocAsync" {
		t.Errorf("%v", list)
	}
}

// withoutSections is a copy of the fake libcuda that has none.
func withoutSections(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(cudatest.Library(dir))
	if err != nil {
		t.Fatal(err)
	}
	clear(b[0x28:0x30]) // where they are
	clear(b[0x3c:0x40]) // how many, and which has their names
	return b
}

// A library without sections, as some tools leave it, is found by what loads it.
func TestWithoutSections(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		r := newRig(t, 1, o)
		lib := filepath.Join(t.TempDir(), "libcuda.so.1")
		if err := os.WriteFile(lib, withoutSections(t, r.dir), 0o700); err != nil { //nolint:gosec // it is loaded
			t.Fatal(err)
		}
		want, at, _ := functionsOf(cudatest.Library(r.dir))
		if list, places, _ := functionsOf(lib); !slices.Equal(list, want) || !maps.Equal(places, at) || len(list) == 0 {
			t.Errorf("%v, not %v", list, want)
		}
		p := cudatest.Start(t, exec.Command(filepath.Join(r.dir, "play"), lib))
		p.Do("device 0")
		r.until("a request is seen", func() bool { p.Do("async a 1000", "freeasync a"); r.snapshot(); return len(r.seen) > 0 })
		told := asked(p.Do("alloc b 2000", "alloc c 90000000000", "async d 3000"))
		r.until("all are seen", func() bool { r.snapshot(); return said(r.seen)[len(r.seen)-1] == told[2] })
		if got := said(r.seen[len(r.seen)-3:]); !slices.Equal(got, told) {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(told, "\n"))
		}
	})
}

// Whatever is in the file, nothing of it ends nvpeak.
func FuzzFunctions(f *testing.F) {
	whole, err := os.ReadFile(cudatest.Library(cudatest.Build(f)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[:4096])
	f.Add(withoutSections(f, cudatest.Build(f)))
	f.Add(bytes.Repeat([]byte{0xff}, 512))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		list, places, _ := functionsOf(path)
		if len(list) != len(places) {
			t.Errorf("%v, %v", list, places)
		}
	})
}

// A libcuda of which some functions have only names that are not known, as those of before CUDA 3.2: that is told, and no process that has it is said to be seen whole.
func TestOtherVersions(t *testing.T) {
	r := newRig(t, 1, Options{Libraries: []string{}})
	at := t.TempDir()
	b, err := os.ReadFile(cudatest.Library(r.dir))
	if err == nil { // a name of the same length, which is none of libcuda's: what is looked for by the old one is not there
		err = os.WriteFile(cudatest.Library(at), bytes.ReplaceAll(b, []byte("cuMemFree_v2\x00"), []byte("cuMemFree_v9\x00")), 0o700) //nolint:gosec // it is loaded
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, others := functionsOf(cudatest.Library(r.dir)); len(others) > 0 {
		t.Errorf("of one that has all: %v", others)
	}
	p := cudatest.Start(t, exec.Command(filepath.Join(r.dir, "play"), cudatest.Library(at))) //nolint:gosec // a test
	p.Do("sleep 300", "device 0", "alloc a 1000")
	r.settled(1)
	r.until("not all of it is heard", func() bool { // known once the library is looked at, before or after that call
		q := r.of(p.PID())
		return q != nil && !q.Whole && q.Missed
	})
	r.until("it is told", func() bool { return slices.Equal(r.snapshot().Door.Other, []string{"cuMemFree_v9"}) })
}
