package nvmltest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// The clock is stopped, so each row is exact.
func TestCourseOfMemory(t *testing.T) {
	scenario := Scenario(t, `
gpu 0-1 total=100GiB reserved=0
mem * used=10GiB
mem * at=2s ramp=4s used=30GiB
mem * at=10s used=5GiB
spike * at=3s width=50ms height=40GiB grow=1GiB every=1s count=3 stagger=100ms
hidden 0 size=1GiB
proc 0 pid=1 memory=2GiB start=1s stop=5s
proc 0 pid=2 memory=rest
accounting 0
`)
	const mib, gib = 1 << 20, 1 << 30
	for _, row := range []struct {
		name string
		at   time.Duration
		used [2]uint64
		rest uint64
		peak uint64
	}{
		{"start", 0, [2]uint64{10 * gib, 10 * gib}, 9 * gib, 9 * gib},
		{"neighbour", time.Second, [2]uint64{10 * gib, 10 * gib}, 7 * gib, 9 * gib},
		{"before spike", 2999 * time.Millisecond, [2]uint64{15355 * mib, 15355 * mib}, 12283 * mib, 12283 * mib},
		{"spike", 3 * time.Second, [2]uint64{55 * gib, 15 * gib}, 52 * gib, 52 * gib},
		{"after spike", 3050 * time.Millisecond, [2]uint64{15.25 * gib, 15.25 * gib}, 12.25 * gib, 52.25 * gib},
		{"staggered", 3100 * time.Millisecond, [2]uint64{15.5 * gib, 55.5 * gib}, 12.5 * gib, 52.25 * gib},
		{"last spike", 5 * time.Second, [2]uint64{67 * gib, 25 * gib}, 66 * gib, 66 * gib},
		{"down", 12 * time.Second, [2]uint64{5 * gib, 5 * gib}, 4 * gib, 66.25 * gib},
	} {
		t.Run(row.name, func(t *testing.T) {
			lib, inside := Child(t, Current, scenario, StopAt(row.at))
			if !inside {
				return
			}
			l := driver(t, lib)
			for i, want := range row.used {
				d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(i))
				near(t, "used", must[nvml.Memory_v2](t)(d.GetMemoryInfo_v2()).Used, want, mib)
			}
			d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
			for _, p := range must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses()) {
				if p.Pid == 2 {
					near(t, "rest", p.UsedGpuMemory, row.rest, mib)
				}
			}
			near(t, "peak", must[nvml.AccountingStats](t)(d.GetAccountingStats(2)).MaxMemoryUsage, row.peak, mib)
		})
	}
}

func near(t *testing.T, what string, got, want, by uint64) {
	t.Helper()
	if max(got, want)-min(got, want) > by {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

func TestFailureInItsSpan(t *testing.T) {
	scenario := Scenario(t, "gpu 0-3\nmem * used=1GiB\nfail nvmlDeviceGetMemoryInfo_v2 gpu=3 from=10s to=20s code=GPU_IS_LOST\n")
	for _, row := range []struct {
		name string
		at   time.Duration
		want nvml.Return
	}{
		{"before", 9999 * time.Millisecond, nvml.SUCCESS},
		{"in", 10 * time.Second, nvml.ERROR_GPU_IS_LOST},
		{"after", 20 * time.Second, nvml.SUCCESS},
	} {
		t.Run(row.name, func(t *testing.T) {
			lib, inside := Child(t, Current, scenario, StopAt(row.at))
			if !inside {
				return
			}
			l := driver(t, lib)
			for i, want := range []nvml.Return{nvml.SUCCESS, nvml.SUCCESS, nvml.SUCCESS, row.want} {
				d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(i))
				_, ret := d.GetMemoryInfo_v2()
				equal(t, "memory", ret, want)
				_, ret = d.GetMemoryInfo()
				equal(t, "the other call", ret, nvml.SUCCESS)
			}
		})
	}
}

func TestInitFails(t *testing.T) {
	for name, want := range map[string]nvml.Return{
		"mismatch":     nvml.ERROR_LIB_RM_VERSION_MISMATCH,
		"notloaded":    nvml.ERROR_DRIVER_NOT_LOADED,
		"nopermission": nvml.ERROR_NO_PERMISSION,
	} {
		t.Run(name, func(t *testing.T) {
			lib, inside := Child(t, Current, Shipped(t, name))
			if !inside {
				return
			}
			l := nvml.New(nvml.WithLibraryPath(lib))
			equal(t, "Init", l.Init(), want)
		})
	}
}

func TestReload(t *testing.T) {
	lib, inside := Child(t, Current, Scenario(t, "gpu 0-1 uuid=GPU-{i}\nreload at=300ms down=300ms order=1,0\n"))
	if !inside {
		return
	}
	l := driver(t, lib)
	began := time.Now()
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	equal(t, "uuid", must[string](t)(d.GetUUID()), "GPU-0")
	time.Sleep(400*time.Millisecond - time.Since(began))
	_, ret := d.GetUUID()
	equal(t, "after the reload", ret, nvml.ERROR_UNINITIALIZED)
	l.Shutdown() // go-nvml closes the library here: the fake must remember all the same
	equal(t, "Init while down", l.Init(), nvml.ERROR_DRIVER_NOT_LOADED)
	time.Sleep(700*time.Millisecond - time.Since(began))
	equal(t, "Init", l.Init(), nvml.SUCCESS)
	_, ret = d.GetUUID()
	equal(t, "old handle", ret, nvml.ERROR_INVALID_ARGUMENT)
	d = must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	equal(t, "new order", must[string](t)(d.GetUUID()), "GPU-1")
}

func TestHangAndLatency(t *testing.T) {
	stats := filepath.Join(t.TempDir(), "stats")
	lib, inside := Child(t, Current, Scenario(t, `
gpu 0-1
hang nvmlDeviceGetMemoryInfo_v2 gpu=1 to=600ms
latency nvmlDeviceGetPowerUsage 60us
latency nvmlDeviceGetPcieThroughput 20ms
`), StatsTo(stats))
	if !inside {
		return
	}
	stats = statsFile()
	l := driver(t, lib)
	began := time.Now()
	free := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	hung := must[nvml.Device](t)(l.DeviceGetHandleByIndex(1))
	took := func(call func()) time.Duration { from := time.Now(); call(); return time.Since(from) }
	if d := took(func() { free.GetMemoryInfo_v2() }); d > 300*time.Millisecond {
		t.Errorf("the other GPU took %v", d)
	}
	hung.GetMemoryInfo_v2()
	if d := time.Since(began); d < 500*time.Millisecond {
		t.Errorf("hung for %v only", d)
	}
	if d := took(func() { hung.GetPowerUsage() }); d < 60*time.Microsecond {
		t.Errorf("power took %v", d)
	}
	if d := took(func() { hung.GetPcieThroughput(nvml.PCIE_UTIL_RX_BYTES) }); d < 20*time.Millisecond {
		t.Errorf("throughput took %v", d)
	}
	l.Shutdown()
	s, err := ReadStats(stats)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "memory calls", s.Calls["nvmlDeviceGetMemoryInfo_v2"].Count, 2)
	if b := s.Calls["nvmlDeviceGetPcieThroughput"].Busy; b < 20*time.Millisecond || b > s.Elapsed {
		t.Errorf("busy %v", b)
	}
	if off := began.Sub(s.Start).Abs(); off > time.Second {
		t.Errorf("scenario began %v away", off)
	}
	l.Init()
}

func TestXid(t *testing.T) {
	lib, inside := Child(t, Current, Scenario(t, "gpu 0-1\nxid 1 at=300ms code=79\nxid 0 at=310ms code=31\n"))
	if !inside {
		return
	}
	l := driver(t, lib)
	set := must[nvml.EventSet](t)(l.EventSetCreate())
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(1))
	types := must[uint64](t)(d.GetSupportedEventTypes())
	equal(t, "register", d.RegisterEvents(types&nvml.EventTypeXidCriticalError, set), nvml.SUCCESS)
	_, ret := set.Wait(50)
	equal(t, "nothing yet", ret, nvml.ERROR_TIMEOUT)
	e := must[nvml.EventData](t)(set.Wait(5000))
	equal(t, "xid", e.EventData, 79)
	equal(t, "type", e.EventType, nvml.EventTypeXidCriticalError)
	equal(t, "uuid", must[string](t)(e.Device.GetUUID()), must[string](t)(d.GetUUID()))
	_, ret = set.Wait(100)
	equal(t, "the other GPU was not registered", ret, nvml.ERROR_TIMEOUT)
	equal(t, "free", set.Free(), nvml.SUCCESS)
}

// go-nvml's wrapper doubles its buffer without end; the latency and the span bound it here.
func TestInsufficient(t *testing.T) {
	lib, inside := Child(t, Current, Scenario(t, `
gpu 0
proc 0 pid=1
insufficient nvmlDeviceGetComputeRunningProcesses_v3 to=300ms
latency nvmlDeviceGetComputeRunningProcesses_v3 50ms to=300ms
`), StatsTo(filepath.Join(t.TempDir(), "stats")))
	if !inside {
		return
	}
	l := driver(t, lib)
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	equal(t, "afterwards", len(must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses())), 1)
	l.Shutdown()
	s, err := ReadStats(statsFile())
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Calls["nvmlDeviceGetComputeRunningProcesses_v3"].Count; n < 3 || n > 8 {
		t.Errorf("%d calls within 300 ms", n)
	}
	l.Init()
}
