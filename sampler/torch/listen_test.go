package torch

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// short is a directory whose path is short enough for a socket below it.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "nvpeak-test") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func runtimeDir(dir string) Options {
	return Options{Host: people{}, Clock: sampler.NewSteady(), Env: func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": dir}[name] }}
}

// Two monitors of a user both hear of a run, whichever began it; the one that ends takes nothing of the other's.
func TestMonitorBeside(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	beside, err := Listen(runtimeDir(filepath.Dir(s.base)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beside.Env(nil); err != nil {
		t.Fatal(err)
	}
	p := s.start(stay, nil)
	heard := func(r *Receiver) func() bool {
		return func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.processes[p.Process.Pid] != nil }
	}
	s.await("the run's own", heard(s.Receiver))
	s.await("the monitor beside", heard(beside))
	beside.Close()
	beside.Close()
	s.mu.Lock()
	clear(s.processes)
	s.mu.Unlock()
	s.await("the run's own goes on", heard(s.Receiver))
}

// What a killed monitor left goes when the next begins; what is in use stays.
func TestSweep(t *testing.T) {
	dir := short(t)
	live, err := Listen(runtimeDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if _, err := live.Env(nil); err != nil {
		t.Fatal(err)
	}
	killed, err := Listen(runtimeDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := killed.Env(nil); err != nil {
		t.Fatal(err)
	}
	killed.conn.Close() // its files stay
	next, err := Listen(runtimeDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	left := strings.Join(tree(t, dir), " ")
	if strings.Contains(left, killed.name) || strings.Count(left, live.name) != 2 || !strings.Contains(left, next.name) {
		t.Errorf("left: %s", left)
	}
}

// A directory that cannot be, is open to others or has too long a path is passed over.
func TestDirectories(t *testing.T) {
	dir := short(t)
	good := filepath.Join(dir, "good")
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{filepath.Join(dir, strings.Repeat("x", 100)), filepath.Join(dir, "no", "where"), open, link, file} {
		conn, base, name, err := listen([]string{bad, good})
		if err != nil || base != good {
			t.Errorf("%s: in %q, %v", bad, base, err)
			continue
		}
		conn.Close()
		os.Remove(filepath.Join(good, monitors, name+socket))
		if _, _, _, err := listen([]string{bad}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// Env puts itself in front, leaves no empty entry, and leaves the environment where its file cannot be.
func TestEnv(t *testing.T) {
	dir := short(t)
	r, err := Listen(runtimeDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	site := filepath.Join(dir, "nvpeak", sites, r.name)
	report := filepath.Join(dir, "nvpeak", monitors)
	for _, row := range []struct{ old, path, report string }{
		{"", site, report}, {"PYTHONPATH=", site, report}, {"PYTHONPATH=/a:/b:", site + ":/a:/b:", report}, {"NVPEAK_REPORT=/outer", site, report + ":/outer"},
	} {
		old := append(slices.DeleteFunc([]string{row.old}, func(s string) bool { return s == "" }), "A=b")
		r.bases = r.bases[:1]
		got, err := r.Env(old)
		if want := []string{"A=b", "PYTHONPATH=" + row.path, "NVPEAK_REPORT=" + row.report}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", row.old, got, err, want)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "nvpeak", sites)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "nvpeak", sites), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Env([]string{"A=b"}); err == nil || !slices.Equal(got, []string{"A=b"}) {
		t.Errorf("without a directory: %q, %v", got, err)
	}
	os.Remove(filepath.Join(dir, "nvpeak", sites))
}

// The kernel says who has sent a line, whatever the line says, and one that is too long is none.
func TestSender(t *testing.T) {
	dir := short(t)
	o := runtimeDir(dir)
	o.Host = people{os.Getpid(): {}}
	r, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: filepath.Join(r.base, monitors, r.name+socket), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, text := range []string{string(line(0, 1, "")) + strings.Repeat(" ", maxLine), "", "{", string(line(1, 1, `,"pid":1`))} {
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		p, n := r.processes[os.Getpid()], len(r.processes)
		r.mu.Unlock()
		if p != nil {
			if n != 1 || p.seats[0] != nil || p.seats[1] == nil {
				t.Errorf("%d processes, seats %v", n, p.seats)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("the line does not arrive")
		}
	}
}

// A run within a run: both hear of a process, which has one reporter.
func TestNested(t *testing.T) {
	t.Parallel()
	outer, inner := newScene(t, 1), newScene(t, 1)
	var err error
	if inner.env, err = inner.Env(outer.env); err != nil {
		t.Fatal(err)
	}
	p := inner.start(stay, nil)
	if a, b := outer.allocator(), inner.allocator(); a.PID != p.Process.Pid || b.PID != a.PID {
		t.Errorf("%d and %d, not %d", a.PID, b.PID, p.Process.Pid)
	}
	if threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.Process.Pid), "task")); err != nil || len(threads) != 2 {
		t.Errorf("%d threads, %v", len(threads), err)
	}
}
