package nvmltest

import (
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Other tests rely on the spikes being where the scenario's comment says.
func TestShippedSpikes(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	after := func(spike int) time.Duration {
		return 1500*time.Millisecond + time.Duration(spike)*2900*time.Millisecond
	}
	for _, row := range []struct {
		name, scenario string
		at             time.Duration
		gpu            int
		used           uint64
	}{
		{"first", "spikes50", after(0), 0, 30 * gib},
		{"first is over", "spikes50", after(0) + 50*time.Millisecond, 0, 20 * gib},
		{"last of the last GPU", "spikes50", after(19) + 119*time.Millisecond, 7, 49 * gib},
		{"last is over", "spikes50", after(19) + 120*time.Millisecond, 7, 20 * gib},
		{"no twenty-first", "spikes50", after(20) + 20*time.Millisecond, 0, 20 * gib},
		{"wide", "spikes200", after(7) + 199*time.Millisecond, 0, 37 * gib},
		{"wide is over", "spikes200", after(7) + 200*time.Millisecond, 0, 20 * gib},
		{"exact among wobble", "peers", after(3) + 25*time.Millisecond, 0, 55 * gib},
		{"slow driver", "slow30us", after(3) + 25*time.Millisecond, 0, 55 * gib},
	} {
		t.Run(row.name, func(t *testing.T) {
			lib, inside := Child(t, Current, Shipped(t, row.scenario), StopAt(row.at))
			if !inside {
				return
			}
			l := driver(t, lib)
			d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(row.gpu))
			near(t, "used", must[nvml.Memory_v2](t)(d.GetMemoryInfo_v2()).Used, row.used, mib/2)
		})
	}
}

func TestShippedSizes(t *testing.T) {
	for _, row := range []struct {
		scenario        string
		gpus, processes int
	}{
		{"h100x8", 8, 8}, {"peers", 8, 26}, {"slow30us", 8, 26}, {"big64x32", 64, 64 * 32}, {"nogpu", 0, 0}, {"unified", 1, 2},
	} {
		t.Run(row.scenario, func(t *testing.T) {
			lib, inside := Child(t, Current, Shipped(t, row.scenario), StopAt(time.Second))
			if !inside {
				return
			}
			l := driver(t, lib)
			n := must[int](t)(l.DeviceGetCount())
			equal(t, "GPUs", n, row.gpus)
			seen := 0
			for i := range n {
				d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(i))
				seen += len(must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses()))
				seen += len(must[[]nvml.ProcessInfo](t)(d.GetGraphicsRunningProcesses()))
			}
			equal(t, "processes", seen, row.processes)
		})
	}
}

func TestShippedLost(t *testing.T) {
	lib, inside := Child(t, Current, Shipped(t, "lost"), StopAt(10*time.Second))
	if !inside {
		return
	}
	l := driver(t, lib)
	_, ret := l.DeviceGetHandleByIndex(2)
	equal(t, "handle of the lost GPU", ret, nvml.ERROR_GPU_IS_LOST)
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(3))
	must[nvml.Memory_v2](t)(d.GetMemoryInfo_v2())
}

// What no process holds must be left over, and what is not told must be 2^64-1.
func TestShippedHidden(t *testing.T) {
	lib, inside := Child(t, Current, Shipped(t, "hidden"), StopAt(time.Second))
	if !inside {
		return
	}
	l := driver(t, lib)
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	used := must[nvml.Memory_v2](t)(d.GetMemoryInfo_v2()).Used
	procs := must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses())
	equal(t, "unattributed", used-procs[0].UsedGpuMemory, 9<<30)
	d = must[nvml.Device](t)(l.DeviceGetHandleByIndex(1))
	procs = must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses())
	equal(t, "not told", procs[0].UsedGpuMemory, ^uint64(0))
}

func TestShippedAbsurd(t *testing.T) {
	lib, inside := Child(t, Current, Shipped(t, "absurd"), StopAt(time.Second))
	if !inside {
		return
	}
	l := driver(t, lib)
	read := func(i int) nvml.Memory_v2 {
		return must[nvml.Memory_v2](t)(must[nvml.Device](t)(l.DeviceGetHandleByIndex(i)).GetMemoryInfo_v2())
	}
	equal(t, "used", read(0).Used, ^uint64(0))
	equal(t, "total", read(1).Total, 0)
	if m := read(2); m.Used <= m.Total {
		t.Errorf("used %d is within total %d", m.Used, m.Total)
	}
}

// Unified memory has no memory calls, but its processes have figures.
func TestShippedUnified(t *testing.T) {
	lib, inside := Child(t, Current, Shipped(t, "unified"))
	if !inside {
		return
	}
	l := driver(t, lib)
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	_, ret := d.GetMemoryInfo()
	equal(t, "memory", ret, nvml.ERROR_NOT_SUPPORTED)
	_, ret = d.GetMemoryInfo_v2()
	equal(t, "memory v2", ret, nvml.ERROR_NOT_SUPPORTED)
	equal(t, "process", must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses())[0].UsedGpuMemory, 4<<30)
}
