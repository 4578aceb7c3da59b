package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Children of a fork hold what their parent holds: it is told once.
func TestForkStorm(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	p := s.start(`init
time.sleep(0.4)
for n in range(50):
    if os.fork() == 0:
        print('stray') if len(os.listdir('/proc/self/task')) > 1 else None
        try: torch.refuse(1 << 30)
        except torch.OutOfMemoryError: pass
        time.sleep(2.5)
        os._exit(0)
for n in range(50): os.wait()
time.sleep(30)`, nil)
	for end := time.Now().Add(3500 * time.Millisecond); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, q := range s.reports()[0] {
			if q.PID != p.Process.Pid || q.Allocator.LastOOM != nil {
				t.Fatalf("process %d reports, the parent is %d: %+v", q.PID, p.Process.Pid, q.Allocator.LastOOM)
			}
		}
	}
	if len(s.reports()[0]) != 1 {
		t.Error("the parent does not report")
	}
	// 3.12 warns of a fork while there are threads. The first releases of 3.13 count those that begin right after it too.
	if out := p.out.String(); out != "" && !(strings.Contains(out, "DeprecationWarning") && strings.Contains(s.run("import sys; print(sys.version)", nil), "3.13.")) {
		t.Errorf("printed %q", out)
	}
}

// A child that was forked before CUDA was initialized reports by itself: also one that daemonizes.
func TestForkedBefore(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"import torch", "pass"} {
		s := newScene(t, 1)
		p := s.start("import os, sys, time\n"+before+`
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    os.closerange(0, 256)
    os.chdir('/')
    import torch
    torch.cuda.init()
    time.sleep(20)
os.wait()
time.sleep(30)`, nil)
		if row := s.allocator(); row.PID == p.Process.Pid {
			t.Errorf("%s: the parent reports", before)
		} else {
			syscall.Kill(row.PID, syscall.SIGKILL) //nolint:errcheck // of a test
		}
	}
}

// Children of multiprocessing, both ways of starting them, and one below another.
func TestMultiprocessing(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "train.py")
	text := `import multiprocessing, os, sys, time
def rank(n):
    import torch
    torch.cuda.init()
    time.sleep(20)
if __name__ == '__main__':
    context = multiprocessing.get_context(sys.argv[1])
    for n in range(2): context.Process(target=rank, args=(n,), daemon=True).start()
    time.sleep(20)
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"spawn", "fork", "forkserver"} {
		s := newScene(t, 1)
		p := &program{Cmd: exec.Command(python(t), script, way)}
		p.Env, p.Stderr, p.SysProcAttr = s.env, &p.out, &syscall.SysProcAttr{Setpgid: true}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		s.await("two ranks, "+way, func() bool { return len(s.reports()[0]) == 2 })
		syscall.Kill(-p.Process.Pid, syscall.SIGKILL) //nolint:errcheck // of a test
		p.Wait()                                      //nolint:errcheck // killed
		if p.out.String() != "" {
			t.Errorf("%s: %s", way, p.out.String())
		}
	}
}

// A program that closes all descriptors and uses their numbers again finds in them only what it has put there.
func TestClosedDescriptors(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	p := s.start(`init
import socket
time.sleep(0.5)
os.closerange(3, 256)
pairs = [socket.socketpair() for n in range(20)]
time.sleep(2.5)
for a, b in pairs:
    for c in (a, b):
        c.setblocking(False)
        try: print('got', c.recv(100))
        except BlockingIOError: pass
print('closed', flush=True)
time.sleep(20)`, nil)
	s.await("the program", func() bool { return p.out.String() != "" })
	if p.out.String() != "closed\n" || len(s.reports()[0]) != 1 {
		t.Errorf("%q, %v", p.out.String(), s.reports())
	}
}

// A signal comes to the program also while the reporter runs, and Ctrl-C ends it as it would.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	p := s.start(`init
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print('ready', flush=True)
got = signal.sigwait([signal.SIGTERM])
try:
    print(int(got), flush=True)
    time.sleep(20)
except KeyboardInterrupt: print('interrupted')`, nil)
	s.allocator()
	s.await("the program", func() bool { return p.out.String() == "ready\n" })
	p.Process.Signal(syscall.SIGTERM) //nolint:errcheck // the output tells
	s.await("SIGTERM", func() bool { return p.out.String() == "ready\n15\n" })
	p.Process.Signal(syscall.SIGINT) //nolint:errcheck // the output tells
	if out := s.finish(p); out != "ready\n15\ninterrupted\n" {
		t.Error(out)
	}
}

// Nobody listens, or nobody reads: the program goes on at its speed.
func TestDeadReceiver(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	for name, spoil := range map[string]func(dir string){
		"a socket that nobody reads": func(dir string) { s.conn.SetReadBuffer(1) }, //nolint:errcheck // of a test
		"no directory":               func(dir string) { os.RemoveAll(dir) },
		"a file":                     func(dir string) { os.WriteFile(dir, nil, 0o600) }, //nolint:errcheck // of a test
	} {
		s.mu.Lock() // it reads no further
		spoil(filepath.Join(s.base, monitors))
		out := s.run(`init
began = time.monotonic()
for n in range(100):
    try: torch.refuse(1 << 30)
    except torch.OutOfMemoryError: pass
    time.sleep(0.01)
print('fine' if time.monotonic() - began < 3 else time.monotonic() - began)`, nil)
		s.mu.Unlock()
		if out != "fine\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
	os.RemoveAll(filepath.Join(s.base, monitors))
}

// The interpreters of the machine that are too old or have no torch at all notice nothing.
func TestOtherInterpreters(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	for _, name := range []string{"python2", "python2.7", "python3.6"} {
		c := exec.Command(name, "-c", "import sys; sys.stdout.write('fine')")
		c.Env = s.env
		if out, err := c.CombinedOutput(); err == nil && string(out) != "fine" {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// With a torch that is installed: it is imported and used as without, on the CPU and in the workers of a data loader, and
// nothing is told, for CUDA is not initialized.
func TestRealTorch(t *testing.T) {
	t.Parallel()
	name := ""
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import torch").Run() == nil {
			name = python
			break
		}
	}
	if name == "" {
		t.Skip("no python3 with torch here (Debian: python3-torch); the stand-in has to do")
	}
	s := newScene(t, 1)
	script := filepath.Join(t.TempDir(), "train.py")
	text := `import torch
from torch.utils.data import DataLoader, TensorDataset
if __name__ == '__main__':
    for way in ('fork', 'spawn'):
        data = DataLoader(TensorDataset(torch.arange(100.)), batch_size=10, num_workers=2, multiprocessing_context=way)
        print(sum(batch[0].sum().item() for batch in data), torch.cuda.is_initialized())
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(name, script)
	for _, entry := range s.env {
		c.Env = append(c.Env, strings.TrimSuffix(entry, ":"+standin(t)))
	}
	if out, err := c.CombinedOutput(); err != nil || string(out) != "4950.0 False\n4950.0 False\n" || len(s.reports()) > 0 {
		t.Errorf("%v: %s, %v", err, out, s.reports())
	}
}
