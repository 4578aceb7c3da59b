package nvml

import (
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

// sweepOf asks for the memory of n devices every 5 ms.
func sweepOf(n int, d time.Duration) *sampler.Sweep {
	w := &sampler.Sweep{Period: 5 * time.Millisecond, For: d, Calls: make([]int, n), Counts: make([]int, n),
		Failed: make([]bool, n), Least: make([]int64, n), Every: make([]int64, n), Still: make([]int64, n), Phase: make([]int64, n), Quiet: make([]uint8, n)}
	for i := range n {
		w.Devices, w.Every[i], w.Still[i] = append(w.Devices, i), 1, 1
		w.Above, w.News = append(w.Above, math.MaxUint64), append(w.News, math.MaxUint64)
	}
	return w
}

// TestSweepTurns: each device is read at its turn, and what its quickest call took is told.
func TestSweepTurns(t *testing.T) {
	s, inside := playText(t, "gpu 0-2\nmem * used=1GiB\nlatency nvmlDeviceGetMemoryInfo_v2 90us gpu=1\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	w := sweepOf(3, 500*time.Millisecond)
	w.Every[2], w.Still[2] = 10, 10
	if err := s.Sweep(w); err != nil {
		t.Fatal(err)
	}
	if n := w.Calls[0]; n+w.Missed < 95 || n > 105 || w.Calls[1] != n || w.Calls[2] < n/10 || w.Calls[2] > (n+w.Missed)/10+1 {
		t.Errorf("calls %v, missed %d; want 100, 100 and 10", w.Calls, w.Missed)
	}
	if w.Least[0] <= 0 || w.Least[0] > int64(60*time.Microsecond) || w.Least[1] < int64(90*time.Microsecond) || w.Least[1] > int64(time.Millisecond) {
		t.Errorf("the quickest calls took %v ns; that of device 1 takes 90 us", w.Least)
	}
}

// TestSweepStill: a device whose memory stands still is read half as often, all in the same periods, also the last;
// when it has moved, as before for a while.
func TestSweepStill(t *testing.T) {
	s, inside := playText(t, "gpu 0-2\nmem * used=1GiB\nwobble 1 height=9MiB every=2ms\nmem 2 used=2GiB at=1s\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	runtime.LockOSThread()
	begin := time.Now()
	w := sweepOf(3, 0)
	if err := s.Sweep(w); err != nil { // the first reading is a change
		t.Fatal(err)
	}
	const late = 10 // the control word that says when it was
	sweep := func(lateAt int64, devices ...int) []int {
		w.Control[late] = lateAt
		w.Devices, w.For = devices, 500*time.Millisecond
		w.Counts, w.Calls, w.Missed = make([]int, 3), make([]int, 3), 0
		w.Still = []int64{2, 2, 2}
		if err := s.Sweep(w); err != nil {
			t.Fatal(err)
		}
		return w.Calls[:len(devices)]
	}
	time.Sleep(200 * time.Millisecond)
	n := sweep(0, 0, 1, 2)
	if w.Control[late] == 0 && (n[0] < 45 || n[0] > 55 || n[1] < 95 || n[1] > 105 || n[2] != n[0]) {
		t.Errorf("read %v times, want 50, 100 and 50", n)
	}
	time.Sleep(time.Until(begin.Add(900 * time.Millisecond)))
	n = sweep(0, 0, 2)
	if w.Control[late] == 0 && (n[1] < n[0]+7 || n[1] > n[0]+13) {
		t.Errorf("one that stands still and one that moves once were read %v times, want the latter 10 more", n)
	}
	for range 2 { // the second begins where the first has ended
		before := switches()
		n = sweep(0, 0)
		if woken := int(switches() - before); w.Control[late] == 0 && w.Missed == 0 && woken > n[0]+n[0]/10 { // the runtime sends a signal now and then
			t.Errorf("%d readings took %d wake-ups", n[0], woken)
		}
	}
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) //nolint:errcheck // it always succeeds
	if n = sweep(now.Nano(), 0); n[0]+w.Missed < 95 || n[0] > 105 {
		t.Errorf("where wake-ups are late it was read %d times, want 100", n[0])
	}
}

// switches is how often this thread has gone to sleep.
func switches() int64 {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &u) //nolint:errcheck // it always succeeds
	return u.Nvcsw
}

// TestSweepEndsEarly: when a quiet GPU moves, also between two sweeps, and when the calls
// take most of the period.
func TestSweepEndsEarly(t *testing.T) {
	s, inside := playText(t, "gpu 0-1\nmem 0 used=0\nmem 0 used=300MiB at=600ms\nmem 0 used=400MiB at=900ms\n"+
		"latency nvmlDeviceGetMemoryInfo_v2 4ms gpu=1\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	begin := time.Now()
	took := func(devices int, quiet uint8) time.Duration {
		w := sweepOf(devices, 5*time.Second)
		w.Quiet[0] = quiet
		now := time.Now()
		if err := s.Sweep(w); err != nil {
			t.Fatal(err)
		}
		return time.Since(now)
	}
	if d := took(2, 0); d > 200*time.Millisecond {
		t.Errorf("calls of 4 ms every 5 ms: the sweep goes on for %v", d)
	}
	if took(1, 1); time.Since(begin) > 800*time.Millisecond {
		t.Error("a change at 600 ms does not end the sweep")
	}
	time.Sleep(time.Until(begin.Add(time.Second)))
	if d := took(1, 1); d > 200*time.Millisecond {
		t.Errorf("a change between two sweeps: the second goes on for %v", d)
	}
}

// TestSweepNeverStarves: a thread whose calls are long, or hang, has no precedence.
func TestSweepNeverStarves(t *testing.T) {
	s, inside := playText(t, "gpu 0\nlatency nvmlDeviceGetMemoryInfo_v2 8ms from=200ms\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	runtime.LockOSThread()
	policy := func() uintptr {
		p, _, _ := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, uintptr(syscall.Gettid()), 0, 0)
		return p &^ 0x40000000 // reset on fork
	}
	if err := s.Sweep(sweepOf(1, 0)); err != nil {
		t.Fatal(err)
	}
	if p := policy(); p != 0 && p != 2 {
		t.Errorf("policy %d, want SCHED_RR or the ordinary one", p)
	}
	time.Sleep(300 * time.Millisecond)
	if err := s.Sweep(sweepOf(1, 100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if p := policy(); p != 0 {
		t.Errorf("with calls of 8 ms the policy is %d", p)
	}
}

// TestSweepHangsCalmly: the thread in a call that hangs loses its precedence.
func TestSweepHangsCalmly(t *testing.T) {
	s, inside := playText(t, "gpu 0\nhang nvmlDeviceGetMemoryInfo_v2 to=700ms\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	w := sweepOf(1, 0)
	after := make(chan uintptr)
	go func() {
		runtime.LockOSThread()
		s.Sweep(w) //nolint:errcheck // what it finds does not matter
		p, _, _ := syscall.RawSyscall(syscall.SYS_SCHED_GETSCHEDULER, uintptr(syscall.Gettid()), 0, 0)
		after <- p &^ 0x40000000
	}()
	time.Sleep(300 * time.Millisecond)
	s.Calm(w)
	if p := <-after; p != 0 {
		t.Errorf("policy %d", p)
	}
}

// TestSweepFollowsDown: once memory has fallen the next rise ends the sweep, though it was higher before. The
// times of readings are not of the clock that people set.
func TestSweepFollowsDown(t *testing.T) {
	s, inside := playText(t, "gpu 0\nmem 0 used=40GiB\nmem 0 used=20GiB at=600ms\nmem 0 used=30GiB at=900ms\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	begin := time.Now()
	w := sweepOf(1, 5*time.Second)
	w.Above[0], w.Step = uint64(41*sampler.GiB), uint64(sampler.GiB)
	if err := s.Sweep(w); err != nil {
		t.Fatal(err)
	}
	if n := len(w.Readings); n == 0 || w.Readings[n-1].Used != 30*sampler.GiB || time.Since(begin) > 2*time.Second {
		t.Errorf("after %v: %+v", time.Since(begin), w.Readings)
	}
	for _, r := range w.Readings {
		if d := r.Time.Sub(begin); d < 0 || d > 2*time.Second || r.Time == r.Time.Round(0) { //nolint:staticcheck // without a monotonic part both are one
			t.Errorf("a reading of %v, %v after the begin", r.Time, d)
		}
	}
}

// TestSweepRefuses: a sweep of GPUs that there are not, or without room for its answers, is refused before memory is touched.
func TestSweepRefuses(t *testing.T) {
	s, inside := playText(t, "gpu 0-1\nmem * used=1GiB\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	for what, change := range map[string]func(w *sampler.Sweep){
		"a GPU before the first":  func(w *sampler.Sweep) { w.Devices[0] = -1 },
		"a GPU behind the last":   func(w *sampler.Sweep) { w.Devices[1] = 2 },
		"no room for the news":    func(w *sampler.Sweep) { w.News = w.News[:1] },
		"no room for the turns":   func(w *sampler.Sweep) { w.Every = w.Every[:1] },
		"no room for phases":      func(w *sampler.Sweep) { w.Phase = w.Phase[:1] },
		"no room for still turns": func(w *sampler.Sweep) { w.Still = w.Still[:1] },
		"no room for the quiet":   func(w *sampler.Sweep) { w.Quiet = w.Quiet[:1] },
		"no room for the calls":   func(w *sampler.Sweep) { w.Least = w.Least[:1] },
		"no turn at all":          func(w *sampler.Sweep) { w.Every[1] = 0 },
	} {
		w := sweepOf(2, 10*time.Millisecond)
		if change(w); s.Sweep(w) == nil {
			t.Errorf("%s: it was done", what)
		}
	}
}

// TestSweepIsRescued: what a sweep saw before a call that hangs is not lost; the alarm tells of that call, and of no other.
func TestSweepIsRescued(t *testing.T) {
	s, inside := playText(t, "gpu 0-1\nmem * used=40GiB\nmem 0 used=50GiB at=600ms\nhang nvmlDeviceGetMemoryInfo_v2 gpu=1 from=700ms to=2s\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	w := sweepOf(2, 5*time.Second)
	begin := time.Now()
	ended := make(chan error)
	go func() { ended <- s.Sweep(w) }()
	if !s.Overdue() {
		t.Fatal("there is no alarm")
	}
	if d := time.Since(begin); d < 700*time.Millisecond+sampler.CallOverdue || d > 1800*time.Millisecond {
		t.Errorf("the alarm goes off after %v", d)
	}
	w.Stop()
	if !s.Rescue(w) || len(w.Readings) == 0 || w.Readings[len(w.Readings)-1].Used != 50*sampler.GiB || w.Counts[1] < 10 {
		t.Errorf("rescued: %+v, %v readings", w.Readings, w.Counts)
	}
	if err := <-ended; err != nil || s.Rescue(w) {
		t.Errorf("the sweep ends with %v, and can be rescued after it", err)
	}
	s.Close()
	if s.Overdue() {
		t.Error("there is an alarm when all is over")
	}
}

// TestSweepBefore: of each change it is told when the device was read before, also by the sweep before.
func TestSweepBefore(t *testing.T) {
	s, inside := playText(t, "gpu 0\nmem * used=1GiB\nmem 0 used=2GiB at=300ms\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	begin := time.Now()
	w := sweepOf(1, 0)
	if err := s.Sweep(w); err != nil {
		t.Fatal(err)
	}
	if len(w.Readings) != 1 || !w.Readings[0].Before.IsZero() {
		t.Fatalf("first: %+v", w.Readings)
	}
	first := w.Readings[0].Time
	w.Readings, w.For = nil, time.Until(begin.Add(600*time.Millisecond))
	if err := s.Sweep(w); err != nil {
		t.Fatal(err)
	}
	if len(w.Readings) != 2 {
		t.Fatalf("then: %+v", w.Readings)
	}
	if gap := w.Readings[0].Before.Sub(first).Abs(); gap > time.Millisecond {
		t.Errorf("the sweep before was %v from what is told", gap)
	}
	change := w.Readings[1]
	if gap := change.Time.Sub(change.Before); change.Used != 2*sampler.GiB || gap <= 0 || gap > 100*time.Millisecond {
		t.Errorf("%v after the reading before: %+v", gap, change)
	}
}
