package torch

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/proc"
)

const (
	mib = sampler.MiB
	gib = sampler.GiB
)

// scene is a receiver on a machine with GPUs of 80 GiB.
type scene struct {
	*Receiver
	t    *testing.T
	gpus int
	env  []string
	exit int // that programs have to have
}

// heard is how many processes have told something.
func (s *scene) heard() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.processes)
}

// newScene listens in a directory of its own, in /tmp: the path of a socket must be short.
func newScene(t *testing.T, gpus int) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "nvpeak-test") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	r, err := Listen(Options{Host: proc.New(proc.Options{}), Clock: sampler.NewSteady(), Env: func(name string) string {
		return map[string]string{"XDG_RUNTIME_DIR": dir}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if left := tree(t, dir); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		os.RemoveAll(dir)
	})
	r.bases = r.bases[:1] // no other monitor of this machine
	s := &scene{Receiver: r, t: t, gpus: gpus}
	if s.env, err = r.Env([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PYTHONPATH=" + standin(t), "PYTHONDONTWRITEBYTECODE=1"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func standin(t *testing.T) string {
	dir, err := filepath.Abs("testdata/standin")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree are the files below a directory.
func tree(t *testing.T, dir string) (names []string) {
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	return names
}

// python finds an interpreter, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here: the reporter cannot be tried")
	}
	if err := exec.Command(name, "-c", "import sys; sys.exit(sys.version_info < (3, 7))").Run(); err != nil {
		t.Skip("python3 is older than 3.7, which the reporter does without")
	}
	return name
}

// program is a Python program that is running.
type program struct {
	*exec.Cmd
	out  output
	done chan error
}

// output is what it has printed.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start begins a program with more variables; it imports the stand-in and initializes CUDA if it begins with "init".
func (s *scene) start(script string, env []string, args ...string) *program {
	s.t.Helper()
	if rest, ok := strings.CutPrefix(script, "init\n"); ok {
		script = "import os, sys, time, torch\ntorch.cuda.init()\n" + rest
	}
	p := &program{done: make(chan error, 1)}
	p.Cmd = exec.Command(python(s.t), append(args, "-c", script)...)
	p.Env, p.Stdout, p.Stderr = append(s.env, env...), &p.out, &p.out
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { p.done <- p.Wait() }()
	s.t.Cleanup(func() { syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }) //nolint:errcheck // it is over already
	return p
}

// finish waits for the end of a program that has to end well, and returns what it has printed.
func (s *scene) finish(p *program) string {
	s.t.Helper()
	select {
	case err := <-p.done:
		if code := p.ProcessState.ExitCode(); code != s.exit {
			s.t.Errorf("exit %d, %v: %s", code, err, p.out.String())
		}
	case <-time.After(30 * time.Second):
		s.t.Fatalf("the program does not end")
	}
	return p.out.String()
}

// run is start and finish.
func (s *scene) run(script string, env []string, args ...string) string {
	s.t.Helper()
	return s.finish(s.start(script, env, args...))
}

// snapshot is that of now.
func (s *scene) snapshot() *sampler.Snapshot {
	snap := &sampler.Snapshot{Time: s.clock.Now()}
	for i := range s.gpus {
		snap.GPUs = append(snap.GPUs, sampler.GPU{Index: i, UUID: uuid(i), Name: "A", Memory: sampler.Memory{Total: sampler.Some(80 * gib)}})
	}
	s.Apply(snap)
	return snap
}

func uuid(i int) string { return fmt.Sprintf("GPU-00000000-1111-2222-3333-00000000000%d", i) }

// reports are the processes that report, by GPU, in a snapshot of now.
func (s *scene) reports() map[int][]sampler.Process {
	found := map[int][]sampler.Process{}
	for _, g := range s.snapshot().GPUs {
		for _, p := range g.Processes {
			if p.Allocator != nil {
				found[g.Index] = append(found[g.Index], p)
			}
		}
	}
	return found
}

// await looks until something is so.
func (s *scene) await(what string, so func() bool) {
	s.t.Helper()
	for end := time.Now().Add(15 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not in 15 s: %s", what)
		}
	}
}

// allocator is what the only process on GPU 0 reports, as soon as it does.
func (s *scene) allocator() (p sampler.Process) {
	s.t.Helper()
	s.await("a report", func() bool {
		list := s.reports()[0]
		if len(list) == 1 {
			p = list[0]
		}
		return len(list) == 1
	})
	return p
}

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("8") //nolint:errcheck // the tests mostly wait, so more than one a core
	}
	os.Exit(m.Run())
}
