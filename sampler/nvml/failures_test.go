package nvml

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

func TestOpenErrors(t *testing.T) {
	tests := []struct {
		name, scenario string
		want           error
		text           string
	}{
		{"mismatch", "gpu 0\ninit LIB_RM_VERSION_MISMATCH\n", sampler.ErrMismatch, "reboot"},
		{"notloaded", "gpu 0\ninit DRIVER_NOT_LOADED\n", sampler.ErrDriverNotLoaded, "modprobe nvidia"},
		{"nogpu", "nogpu\n", sampler.ErrNoGPU, "--gpus all"},
		{"nopermission", "gpu 0\ninit NO_PERMISSION\n", sampler.ErrNoPermission, "/dev/nvidia"},
		{"unknown", "gpu 0\ninit UNKNOWN\n", sampler.ErrTransient, "container"},
		{"lost", "gpu 0\ninit GPU_IS_LOST\n", sampler.ErrLost, "dmesg"},
		{"power", "gpu 0\ninit INSUFFICIENT_POWER\n", sampler.ErrTransient, "INSUFFICIENT_POWER"},
		{"system", "gpu 0\ninit OPERATING_SYSTEM\n", sampler.ErrTransient, "OPERATING_SYSTEM"},
		{"handles refused", "gpu 0-1\nfail nvmlDeviceGetHandleByIndex* code=NO_PERMISSION\n", sampler.ErrNoPermission, "/dev/nvidia"},
		{"count refused", "gpu 0\nfail nvmlDeviceGetCount* code=UNKNOWN\n", sampler.ErrTransient, "UNKNOWN"},
		{"handles void", "gpu 0-1\nfail nvmlDeviceGetHandleByIndex* code=NOT_FOUND\n", sampler.ErrNoGPU, "lists none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, inside := playText(t, test.scenario)
			if !inside {
				return
			}
			_, err := s.Open(context.Background())
			checkOpenError(t, err, test.want, test.text)
			if _, err := s.Memory(0); !errors.Is(err, sampler.ErrReconnect) {
				t.Errorf("memory without a connection: %v", err)
			}
		})
	}
}

func checkOpenError(t *testing.T, err, want error, text string) {
	t.Helper()
	wantErr(t, "open", err, want)
	if err == nil {
		return
	}
	msg := err.Error()
	if !strings.Contains(msg, text) || strings.ContainsAny(msg, "\n\x1b") || strings.Contains(msg, "--demo") {
		t.Errorf("text %q; want one line with %q", msg, text)
	}
}

func TestNoLibrary(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk\x1b]0;x\x07.so")
	if err := os.WriteFile(junk, []byte("not an ELF file, but long enough to have a header of 64 bytes ........"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(dir, "absent.so"): "No such file",
		junk:                            "cannot be loaded",
		dir:                             "cannot be loaded",
		"libc.so.6":                     "not the NVIDIA driver library",
	} {
		_, err := New(Options{Library: path}).Open(context.Background())
		checkOpenError(t, err, sampler.ErrNoLibrary, text)
		checkOpenError(t, err, sampler.ErrNoLibrary, "--nvml-lib")
	}
	s := New(Options{})
	if _, err := s.Open(context.Background()); err != nil { // a machine may have a driver
		checkOpenError(t, err, err, ":")
	}
	s.Close()
	s.Close()
}

func TestLost(t *testing.T) {
	s, inside := playText(t, "gpu 0-2\nmem * used=30GiB\nproc * pid=5 memory=rest\nfail nvmlDevice* gpu=1 from=400ms to=900ms code=GPU_IS_LOST\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	ask := func(dev int) [3]error {
		_, a := s.Memory(dev)
		m, b := s.Metrics(dev)
		if b == nil && (!m.Temperature.Known() || !m.Clocks.SM.Known() || !m.PowerLimit.Known()) {
			t.Errorf("GPU %d: metrics %+v", dev, m)
		}
		_, c := s.Processes(dev)
		return [3]error{a, b, c}
	}
	if e := ask(1); e != [3]error{} {
		t.Errorf("before: %v", e)
	}
	time.Sleep(500 * time.Millisecond)
	for range 3 {
		for i, err := range ask(1) {
			wantErr(t, []string{"memory", "metrics", "processes"}[i], err, sampler.ErrLost)
		}
		if e := ask(0); e != [3]error{} {
			t.Errorf("another GPU: %v", e)
		}
	}
	time.Sleep(500 * time.Millisecond)
	if e := ask(1); e != [3]error{} {
		t.Errorf("after: %v", e)
	}
}

// A GPU that is shut off, as by a cgroup that denies its device, has errors of its own; the connection stands for the others.
func TestShutOff(t *testing.T) {
	for _, code := range []string{"OPERATING_SYSTEM", "UNINITIALIZED", "UNKNOWN", "DRIVER_NOT_LOADED", "LIB_RM_VERSION_MISMATCH"} {
		t.Run(code, func(t *testing.T) {
			s, inside := playText(t, "gpu 0-2\nmem * used=30GiB\nproc * pid=5 memory=rest\nfail nvmlDevice* gpu=1 from=400ms code="+code+"\n")
			if !inside {
				return
			}
			mustOpen(t, s)
			for dev := range 3 {
				if _, err := s.Memory(dev); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(500 * time.Millisecond)
			for range 2 * goneInARow {
				for dev := range 3 {
					_, a := s.Memory(dev)
					_, b := s.Metrics(dev)
					_, c := s.Processes(dev)
					if own := dev == 1; (a != nil) != own || own && !errors.Is(a, sampler.ErrTransient) || !own && errors.Join(b, c) != nil ||
						errors.Is(errors.Join(b, c), sampler.ErrReconnect) {
						t.Fatalf("GPU %d: memory %v, metrics %v, processes %v", dev, a, b, c)
					}
				}
			}
		})
	}
}

// A GPU that is lost before the start, or does not describe itself, is still listed.
func TestBrokenAtOpen(t *testing.T) {
	s, inside := playText(t, "gpu 0-3\nmem * used=30GiB\nfail nvmlDeviceGetHandleByIndex* gpu=1 to=1s code=GPU_IS_LOST\n"+
		"hang nvmlDeviceGetName gpu=2 to=1s\n")
	if !inside {
		return
	}
	s.timeout = 200 * time.Millisecond
	c := useClock(s)
	inv := mustOpen(t, s)
	if len(inv.Devices) != 4 || inv.Devices[1].Index != 1 || inv.Devices[3].UUID == "" {
		t.Fatalf("inventory %+v", inv)
	}
	_, err := s.Memory(1)
	wantErr(t, "lost", err, sampler.ErrLost)
	_, err = s.Metrics(2)
	wantErr(t, "silent", err, sampler.ErrNotAnswering)
	for _, dev := range []int{0, 3} {
		if _, err := s.Memory(dev); err != nil {
			t.Errorf("GPU %d: %v", dev, err)
		}
	}
	for dev, want := range []sampler.Sweepable{sampler.SweepNow, sampler.SweepLater, sampler.SweepLater, sampler.SweepNow} {
		if got := s.CanSweep(dev); got != want {
			t.Errorf("GPU %d can be swept: %v, want %v", dev, got, want)
		}
	}
	time.Sleep(1100 * time.Millisecond)
	_, err = s.Memory(1)
	wantErr(t, "too early to ask again", err, sampler.ErrLost)
	c.add(retryEvery)
	_, err = s.Memory(1)
	wantErr(t, "back", err, sampler.ErrReconnect)
	s.Close()
	inv = mustOpen(t, s)
	if inv.Devices[1].UUID == "" {
		t.Errorf("inventory %+v", inv)
	}
}

// A GPU whose description hangs is waited for once, and called back when it has described itself, not because there is a handle for it.
func TestDescriptionHangs(t *testing.T) {
	s, inside := playText(t, "gpu 0-2\nmem * used=30GiB\nhang nvmlDeviceGetName gpu=1 to=1500ms\n")
	if !inside {
		return
	}
	s.timeout = 500 * time.Millisecond
	c := useClock(s)
	mustOpen(t, s)
	began := time.Now()
	for range 2 {
		for range 3 {
			_, err := s.Memory(1)
			wantErr(t, "while it hangs", err, sampler.ErrNotAnswering)
			c.add(retryEvery)
		}
		mustOpen(t, s) // waits for Close only
	}
	if took := time.Since(began); took > 2*closeWait+s.timeout/2 {
		t.Errorf("opened again twice in %v", took)
	}
	time.Sleep(time.Until(began.Add(1200 * time.Millisecond)))
	s.Memory(1) //nolint:errcheck // the first call asks nothing
	c.add(retryEvery)
	_, err := s.Memory(1)
	wantErr(t, "when it has described itself", err, sampler.ErrReconnect)
	if inv := mustOpen(t, s); inv.Devices[1].UUID == "" {
		t.Errorf("inventory %+v", inv)
	}
}

// A GPU that takes long to describe itself is waited for when the source is opened again: it would be called back for ever.
func TestDescriptionIsSlow(t *testing.T) {
	s, inside := playText(t, "gpu 0-1\nmem * used=30GiB\nlatency nvmlDeviceGetUUID 600ms gpu=1\n")
	if !inside {
		return
	}
	s.timeout = 200 * time.Millisecond
	c := useClock(s)
	mustOpen(t, s)
	time.Sleep(600 * time.Millisecond)
	s.Memory(1) //nolint:errcheck // the first call asks nothing
	c.add(retryEvery)
	_, err := s.Memory(1)
	wantErr(t, "when it has described itself", err, sampler.ErrReconnect)
	for range 2 {
		if inv := mustOpen(t, s); inv.Devices[1].UUID == "" {
			t.Fatalf("inventory %+v", inv)
		}
		if _, err := s.Memory(1); err != nil {
			t.Error(err)
		}
	}
}

func TestReload(t *testing.T) {
	s, inside := playText(t, "gpu 0-3\nmem 0 used=10GiB\nmem 1 used=20GiB\nmem 2 used=30GiB\nmem 3 used=40GiB\n"+
		"reload at=500ms down=500ms order=3,2,1,0\n")
	if !inside {
		return
	}
	before := mustOpen(t, s)
	used := map[string]sampler.Bytes{}
	for i, d := range before.Devices {
		r, err := s.Memory(i)
		if err != nil {
			t.Fatal(err)
		}
		used[d.UUID] = r.Used
	}
	time.Sleep(600 * time.Millisecond)
	_, err := s.Memory(0)
	wantErr(t, "memory of one GPU", err, sampler.ErrTransient)
	for range goneInARow {
		for i := range before.Devices {
			_, err = s.Memory(i)
		}
	}
	wantErr(t, "memory", err, sampler.ErrReconnect)
	_, err = s.Metrics(0)
	wantErr(t, "metrics", err, sampler.ErrReconnect)
	s.Close()
	_, err = s.Open(context.Background())
	wantErr(t, "open while down", err, sampler.ErrDriverNotLoaded)
	time.Sleep(500 * time.Millisecond)
	after := mustOpen(t, s)
	for i, d := range after.Devices {
		r, err := s.Memory(i)
		if err != nil || r.Used != used[d.UUID] {
			t.Errorf("%s: used %v, want %v (%v)", d.UUID, r.Used, used[d.UUID], err)
		}
	}
	if after.Devices[0].UUID != before.Devices[3].UUID {
		t.Error("the order should have changed")
	}
}

// After a driver update only a new process helps.
func TestMismatchWhileRunning(t *testing.T) {
	s, inside := playText(t, "gpu 0\nmem 0 used=1GiB\nfail * from=300ms code=LIB_RM_VERSION_MISMATCH\ninit LIB_RM_VERSION_MISMATCH from=300ms\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	time.Sleep(400 * time.Millisecond)
	var err error
	for range goneInARow { // one answer alone may be of one call
		_, err = s.Memory(0)
	}
	wantErr(t, "memory", err, sampler.ErrReconnect)
	wantErr(t, "memory", err, sampler.ErrMismatch)
	s.Close()
	_, err = s.Open(context.Background())
	checkOpenError(t, err, sampler.ErrMismatch, "start nvpeak again")
}

func TestUnknown(t *testing.T) {
	s, inside := playText(t, "gpu 0-1\nmem * used=1GiB\nfail nvmlDeviceGetMemoryInfo* gpu=0 code=UNKNOWN\n"+
		"fail nvmlDeviceGetMemoryInfo* gpu=1 from=300ms code=UNKNOWN\n")
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	for range 5 {
		_, err := s.Memory(0)
		wantErr(t, "one GPU", err, sampler.ErrTransient)
		if _, err := s.Memory(1); err != nil {
			t.Fatal(err)
		}
	}
	c.add(silentFor + time.Second)
	if _, err := s.Memory(0); !errors.Is(err, sampler.ErrNotAnswering) || errors.Is(err, sampler.ErrTransient) {
		t.Errorf("after %v: %v", silentFor, err)
	}
	time.Sleep(400 * time.Millisecond)
	var last error
	for range goneInARow {
		s.Memory(0)
		_, last = s.Memory(1)
	}
	wantErr(t, "all GPUs", last, sampler.ErrReconnect)
}

// A call that hangs holds up nothing: neither another GPU, nor Close, nor Open.
func TestHang(t *testing.T) {
	s, inside := playText(t, "gpu 0-1 temp=50\nmem * used=1GiB\nhang nvmlDeviceGetMemoryInfo* gpu=1 from=200ms to=3s\n"+
		"hang nvmlDeviceGetTemperature gpu=1 from=200ms to=3s\n", nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	mustOpen(t, s)
	time.Sleep(300 * time.Millisecond)
	returned := make(chan error, 2)
	go func() { _, err := s.Memory(1); returned <- err }()
	go func() { _, err := s.Metrics(1); returned <- err }()
	time.Sleep(50 * time.Millisecond)
	within(t, "memory of another GPU", 100*time.Millisecond, func() {
		if _, err := s.Memory(0); err != nil {
			t.Error(err)
		}
	})
	within(t, "metrics of another GPU", 100*time.Millisecond, func() {
		if _, err := s.Metrics(0); err != nil {
			t.Error(err)
		}
	})
	within(t, "processes of the same GPU", 100*time.Millisecond, func() {
		if _, err := s.Processes(1); err != nil {
			t.Error(err)
		}
	})
	within(t, "close", time.Second, s.Close)
	within(t, "open", time.Second, func() { mustOpen(t, s) })
	if _, err := s.Memory(0); err != nil {
		t.Error(err)
	}
	time.Sleep(1100 * time.Millisecond) // the fake writes its statistics every second
	if n := readStats(t).Calls["nvmlShutdown"].Count; n != 0 {
		t.Errorf("%d × Shutdown while a call hangs in the library", n)
	}
	for range 2 {
		select {
		case <-returned:
		case <-time.After(10 * time.Second):
			t.Fatal("a call that hung did not return")
		}
	}
	time.Sleep(100 * time.Millisecond) // the late shutdown of the first connection
	if _, err := s.Memory(1); err != nil {
		t.Errorf("after the hang: %v", err)
	}
	s.Close()
	if st := readStats(t); st.Calls["nvmlShutdown"].Count != 2 || st.Calls["nvmlInit_v2"].Count != 2 {
		t.Errorf("calls %v", st.Calls)
	}
}

func TestOpenGivesUpWithItsContext(t *testing.T) {
	s, inside := playText(t, "gpu 0\nmem 0 used=1GiB\nlatency nvmlInit* 700ms\n")
	if !inside {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	within(t, "open", 400*time.Millisecond, func() {
		_, err := s.Open(ctx)
		wantErr(t, "open", err, context.DeadlineExceeded)
	})
	mustOpen(t, s)
	if _, err := s.Memory(0); err != nil {
		t.Error(err)
	}
}

// Shutdown must come as often as Init, also after a connection that was given up.
func TestShutdownAsOftenAsInit(t *testing.T) {
	stats := statsFile(t)
	s, inside := playText(t, "gpu 0\nmem 0 used=1GiB\n", nvmltest.StatsTo(stats))
	if !inside {
		return
	}
	for range 3 {
		mustOpen(t, s)
		mustOpen(t, s) // closes the one before
		s.Close()
	}
	got := readStats(t)
	if i, d := got.Calls["nvmlInit_v2"].Count, got.Calls["nvmlShutdown"].Count; i != 6 || d != 6 {
		t.Errorf("%d × Init, %d × Shutdown", i, d)
	}
}

func readStats(t *testing.T) nvmltest.Stats {
	t.Helper()
	st, err := nvmltest.ReadStats(os.Getenv("FAKENVML_STATS"))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestHandleGoneForAWhile: a GPU that the driver does not know by its number for a while stays listed with the reason, and is back soon after.
func TestHandleGoneForAWhile(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"INVALID_ARGUMENT", "NOT_FOUND"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s, inside := playText(t, "gpu 0-2\nmem * used=10GiB\nfail nvmlDevice*Get* gpu=1 from=1500ms to=5s code="+code+"\n")
			if !inside {
				return
			}
			began := time.Now()
			told, back := "", false
			for _, snap := range follow(t, s, sampler.Options{}, 10*time.Second) {
				if len(snap.GPUs) != 3 {
					t.Fatalf("%d GPUs after %v", len(snap.GPUs), snap.Time.Sub(began))
				}
				g := &snap.GPUs[1]
				if why := g.Error.Or(""); strings.Contains(why, "opening GPU 1") {
					told = why
				}
				back = g.Memory.Used.Known() && !g.Error.Known()
			}
			if !strings.HasPrefix(told, "not answering (") || !strings.HasSuffix(told, " s): the driver has no handle for it: opening GPU 1 ("+code+")") || !back {
				t.Errorf("told %q; it is back: %v", told, back)
			}
		})
	}
}
