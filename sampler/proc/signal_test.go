package proc

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

// The real /proc: a child of ours is found, measured and signalled, and only it.
func TestSignal(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer child.Process.Kill()
	h := New(Options{Dev: "testdata/nowhere"})
	p := identify(h, child.Process.Pid)
	start, ok := p.StartTime.Value()
	if !p.Visible || !ok || time.Since(start).Abs() > time.Minute {
		t.Fatalf("%+v", p)
	}
	if err := h.Signal(p.PID, start.Add(-time.Second), unix.SIGTERM); !errors.Is(err, sampler.ErrGone) {
		t.Errorf("an earlier process of that pid: %v", err)
	}
	for _, pid := range []int{0, -1} {
		if err := h.Signal(pid, start, unix.SIGTERM); err == nil {
			t.Errorf("pid %d: no error", pid)
		}
	}
	if err := h.Signal(p.PID, time.Time{}, unix.SIGTERM); err == nil {
		t.Error("no start time: no error")
	}
	if err := h.Signal(p.PID, start, unix.SIGTERM); err != nil {
		t.Error(err)
	}
	err := child.Wait()
	status, ok := child.ProcessState.Sys().(interface{ Signal() unix.Signal })
	if err == nil || !ok || status.Signal() != unix.SIGTERM {
		t.Errorf("the child ended by %v", err)
	}
	if err := h.Signal(p.PID, start, unix.SIGTERM); !errors.Is(err, sampler.ErrGone) {
		t.Errorf("after its end: %v", err)
	}
	if p := identify(h, p.PID); p.Visible || !p.Ended || h.keeps != maxKept {
		t.Errorf("after its end: %+v, %d entries, %d files free", p, len(h.entries), h.keeps)
	}
}

// A pid that belongs to another process by now is never signaled, however often it is tried; and who is alive is known.
func TestSignalAfterReuse(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer child.Process.Kill()
	h := New(Options{Dev: "testdata/nowhere"})
	start := identify(h, child.Process.Pid).StartTime.Or(time.Time{})
	for i := range 100 {
		earlier := start.Add(-time.Duration(i+1) * time.Second / userHZ)
		if err := h.Signal(child.Process.Pid, earlier, unix.SIGKILL); !errors.Is(err, sampler.ErrGone) {
			t.Fatalf("try %d: the process that had the pid before: %v", i, err)
		}
		if h.Alive(child.Process.Pid, earlier) {
			t.Fatalf("try %d: a process that is gone is alive", i)
		}
	}
	if !h.Alive(child.Process.Pid, start) {
		t.Fatal("the process that has the pid now was hit")
	}
	if err := h.Signal(child.Process.Pid, start, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if !h.Alive(child.Process.Pid, start) { // not waited for: it is a zombie
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("killed, and alive after 2 s")
}

// Both costs are of this very process, in the real /proc.
func BenchmarkIdentify(b *testing.B) {
	self := unix.Getpid()
	list := []sampler.Process{{PID: self}}
	b.Run("refresh", func(b *testing.B) {
		h := New(Options{})
		for b.Loop() {
			list[0] = sampler.Process{PID: self}
			h.Identify(list)
		}
	})
	b.Run("full", func(b *testing.B) {
		h := New(Options{})
		for b.Loop() {
			h.Close()
			list[0] = sampler.Process{PID: self}
			h.Identify(list)
		}
	})
}
