//go:build linux && (amd64 || arm64)

package uprobe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nvpeak/sampler/uprobe/cudatest"
)

// Another pid and mount namespace, with the library under another path there: the same file.
func TestNamespaces(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		needTool(t, "unshare")
		r := newRig(t, 1, o)
		inside := t.TempDir()
		script := fmt.Sprintf("mount --bind %s %s && exec %s/play %s/libcuda.so.1", r.dir, inside, inside, inside)
		cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script)
		p := cudatest.Start(t, cmd)
		p.Do("device 0")
		r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
		if pid := r.seen[0].PID; pid == p.PID() || pid < 3 {
			t.Errorf("pid %d is not the one outside", pid)
		}
	})
}

// Two containers of one image: the kernel has one library, which looks like two.
func TestOneImage(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		cudatest.Alone(t)
		dir, at := cudatest.Build(t), t.TempDir()
		image := mount(t, at, "tmpfs", "")
		for _, name := range []string{"play", "libcuda.so.1"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(image, name), b, 0o700) //nolint:gosec // it is run
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var boxes []string
		for _, name := range []string{"1", "2"} {
			upper, work := filepath.Join(at, "upper"+name), filepath.Join(at, "work"+name)
			if err := errors.Join(os.Mkdir(upper, 0o700), os.Mkdir(work, 0o700)); err != nil {
				t.Fatal(err)
			}
			box := mount(t, t.TempDir(), "overlay", fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", image, upper, work))
			boxes = append(boxes, box)
			o.Libraries = append(o.Libraries, cudatest.Library(box))
		}
		r := rigOf(t, dir, 1, o)
		var want []string
		for _, box := range boxes {
			p := cudatest.Play(t, box)
			want = append(want, asked(p.Do("device 0", "piece a 20971520", "alloc b 1000", "free b", "alloc c 2000"))...)
			s := r.settled(len(want))
			if q := r.of(p.PID()); q == nil || q.Live != 20971520+2000 || !q.Whole {
				t.Errorf("%+v of %+v", q, s.GPUs[0].Processes)
			}
		}
		if got := said(r.seen); !slices.Equal(got, want) {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if n := r.count("cuMemFree_v2"); n != 2 {
			t.Errorf("%d calls of cuMemFree_v2", n)
		}
	})
}

// mount mounts a file system until the test ends.
func mount(t *testing.T, at, kind, options string) string {
	t.Helper()
	if err := unix.Mount(kind, at, kind, 0, options); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("mounting %s: %v", kind, err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) }) //nolint:errcheck // it was only for this
	return at
}
