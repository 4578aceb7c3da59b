package nvmltest

import (
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// must is for calls whose failure leaves nothing to look at.
func must[T any](t *testing.T) func(T, nvml.Return) T {
	return func(v T, ret nvml.Return) T {
		t.Helper()
		if ret != nvml.SUCCESS {
			t.Fatalf("%v (%d)", ret.Error(), ret)
		}
		return v
	}
}

// driver opens the fake through go-nvml as the real thing is opened.
func driver(t *testing.T, lib string) nvml.Interface {
	t.Helper()
	l := nvml.New(nvml.WithLibraryPath(lib))
	if ret := l.Init(); ret != nvml.SUCCESS {
		t.Fatalf("Init: %v (%d)", ret.Error(), ret)
	}
	t.Cleanup(func() { l.Shutdown() })
	return l
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

const layoutScenario = `
driver 575.57.08
cuda 12.9
gpu 0-1 name="Card \x1b]0;x\x07" total=1000MiB reserved=100MiB pci=00000001:A0:1f.0 cc=8.6 util=93 memutil=61 temp=64 fan=41 fans=2 power=612.5 limit=700 sm=1755 memclk=2500 pstate=2 throttle=0x20 gen=4 width=8 rx=1111 tx=2222 enc=3 dec=4 ecc=5
gpu 1 uuid=GPU-of-{i} util=na
mem 0 used=200MiB
proc 0 pid=11 memory=rest sm=55
proc 0 pid=12 memory=30MiB type=graphics
proc 0 pid=13 memory=na type=mps+compute
accounting 0
`

func TestLayoutOfFigures(t *testing.T) {
	lib, inside := Child(t, Current, Scenario(t, layoutScenario))
	if !inside {
		return
	}
	l := driver(t, lib)
	equal(t, "driver", must[string](t)(l.SystemGetDriverVersion()), "575.57.08")
	equal(t, "cuda", must[int](t)(l.SystemGetCudaDriverVersion_v2()), 12090)
	equal(t, "count", must[int](t)(l.DeviceGetCount()), 2)
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	equal(t, "name", must[string](t)(d.GetName()), "Card \x1b]0;x\a")
	m := must[nvml.Memory](t)(d.GetMemoryInfo())
	equal(t, "memory", m, nvml.Memory{Total: 1000 << 20, Free: 700 << 20, Used: 300 << 20})
	m2 := must[nvml.Memory_v2](t)(d.GetMemoryInfo_v2())
	equal(t, "memory v2", m2, nvml.Memory_v2{Version: m2.Version, Total: 1000 << 20, Reserved: 100 << 20, Free: 700 << 20, Used: 200 << 20})
	equal(t, "utilization", must[nvml.Utilization](t)(d.GetUtilizationRates()), nvml.Utilization{Gpu: 93, Memory: 61})
	for _, row := range []struct {
		what string
		call func() (uint32, nvml.Return)
		want uint32
	}{
		{"temperature", func() (uint32, nvml.Return) { return d.GetTemperature(nvml.TEMPERATURE_GPU) }, 64},
		{"fan", d.GetFanSpeed, 41},
		{"fan 1", func() (uint32, nvml.Return) { return d.GetFanSpeed_v2(1) }, 41},
		{"power", d.GetPowerUsage, 612500},
		{"limit", d.GetEnforcedPowerLimit, 700000},
		{"sm clock", func() (uint32, nvml.Return) { return d.GetClockInfo(nvml.CLOCK_SM) }, 1755},
		{"memory clock", func() (uint32, nvml.Return) { return d.GetClockInfo(nvml.CLOCK_MEM) }, 2500},
		{"rx", func() (uint32, nvml.Return) { return d.GetPcieThroughput(nvml.PCIE_UTIL_RX_BYTES) }, 1111},
		{"tx", func() (uint32, nvml.Return) { return d.GetPcieThroughput(nvml.PCIE_UTIL_TX_BYTES) }, 2222},
		{"encoder", func() (uint32, nvml.Return) { v, _, r := d.GetEncoderUtilization(); return v, r }, 3},
		{"decoder", func() (uint32, nvml.Return) { v, _, r := d.GetDecoderUtilization(); return v, r }, 4},
		{"state", func() (uint32, nvml.Return) { v, r := d.GetPerformanceState(); return uint32(v), r }, 2},
		{"throttle", func() (uint32, nvml.Return) { v, r := d.GetCurrentClocksEventReasons(); return uint32(v), r }, 0x20},
		{"ecc", func() (uint32, nvml.Return) {
			v, r := d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC)
			return uint32(v), r
		}, 5},
	} {
		equal(t, row.what, must[uint32](t)(row.call()), row.want)
	}
	mode := must[nvml.DeviceAddressingMode](t)(d.GetAddressingMode())
	equal(t, "addressing", mode.Value, uint32(nvml.DEVICE_ADDRESSING_MODE_HMM))
	second := must[nvml.Device](t)(l.DeviceGetHandleByIndex(1))
	_, ret := second.GetUtilizationRates()
	equal(t, "absent utilization", ret, nvml.ERROR_NOT_SUPPORTED)
	major, minor, _ := d.GetCudaComputeCapability()
	equal(t, "capability", [2]int{major, minor}, [2]int{8, 6})
}

func TestLayoutOfHandles(t *testing.T) {
	lib, inside := Child(t, Current, Scenario(t, layoutScenario))
	if !inside {
		return
	}
	l := driver(t, lib)
	d := must[nvml.Device](t)(l.DeviceGetHandleByUUID("GPU-of-1"))
	equal(t, "index", must[int](t)(d.GetIndex()), 1)
	pci := must[nvml.PciInfo](t)(d.GetPciInfo())
	equal(t, "bus id", text(pci.BusId[:]), "00000001:A1:1F.0")
	equal(t, "old bus id", text(pci.BusIdLegacy[:]), "0001:A1:1F.0")
	again := must[nvml.Device](t)(l.DeviceGetHandleByPciBusId("00000001:A1:1F.0"))
	equal(t, "uuid", must[string](t)(again.GetUUID()), "GPU-of-1")
	_, ret := l.DeviceGetHandleByIndex(2)
	equal(t, "past the end", ret, nvml.ERROR_INVALID_ARGUMENT)
	_, ret = l.DeviceGetHandleByUUID("GPU-of-9")
	equal(t, "unknown uuid", ret, nvml.ERROR_NOT_FOUND)
	l.Shutdown()
	equal(t, "second Init", l.Init(), nvml.SUCCESS)
	_, ret = d.GetName()
	equal(t, "handle from before", ret, nvml.ERROR_INVALID_ARGUMENT)
}

func TestLayoutOfProcesses(t *testing.T) {
	lib, inside := Child(t, Current, Scenario(t, layoutScenario))
	if !inside {
		return
	}
	l := driver(t, lib)
	d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	none := ^uint32(0)
	compute := must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses())
	if len(compute) != 2 {
		t.Fatalf("compute: %+v", compute)
	}
	equal(t, "first", compute[0], nvml.ProcessInfo{Pid: 11, UsedGpuMemory: 170 << 20, GpuInstanceId: none, ComputeInstanceId: none})
	equal(t, "second", compute[1], nvml.ProcessInfo{Pid: 13, UsedGpuMemory: ^uint64(0), GpuInstanceId: none, ComputeInstanceId: none})
	graphics := must[[]nvml.ProcessInfo](t)(d.GetGraphicsRunningProcesses())
	mps := must[[]nvml.ProcessInfo](t)(d.GetMPSComputeRunningProcesses())
	if len(graphics) != 1 || graphics[0].Pid != 12 || len(mps) != 1 || mps[0].Pid != 13 {
		t.Errorf("graphics %+v, mps %+v", graphics, mps)
	}
	samples := must[[]nvml.ProcessUtilizationSample](t)(d.GetProcessUtilization(0))
	if len(samples) != 1 || samples[0].Pid != 11 || samples[0].SmUtil != 55 {
		t.Errorf("utilization: %+v", samples)
	}
	_, ret := d.GetProcessUtilization(samples[0].TimeStamp)
	equal(t, "nothing new", ret, nvml.ERROR_NOT_FOUND)
	pids := must[[]int](t)(d.GetAccountingPids())
	equal(t, "accounted", len(pids), 2)
	stats := must[nvml.AccountingStats](t)(d.GetAccountingStats(11))
	equal(t, "peak", stats.MaxMemoryUsage, 170<<20)
	equal(t, "running", stats.IsRunning, 1)
	other := must[nvml.Device](t)(l.DeviceGetHandleByIndex(1))
	_, ret = other.GetAccountingPids()
	equal(t, "accounting off", ret, nvml.ERROR_NOT_SUPPORTED)
}

func TestLayoutOfMIG(t *testing.T) {
	lib, inside := Child(t, Current, Shipped(t, "mig"))
	if !inside {
		return
	}
	l := driver(t, lib)
	gpu := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
	on, _, ret := gpu.GetMigMode()
	equal(t, "mode", on, 1)
	equal(t, "mode's answer", ret, nvml.SUCCESS)
	equal(t, "most", must[int](t)(gpu.GetMaxMigDeviceCount()), 7)
	_, ret = gpu.GetMigDeviceHandleByIndex(2)
	equal(t, "hole", ret, nvml.ERROR_NOT_FOUND)
	m := must[nvml.Device](t)(gpu.GetMigDeviceHandleByIndex(1))
	equal(t, "gi", must[int](t)(m.GetGpuInstanceId()), 9)
	equal(t, "ci", must[int](t)(m.GetComputeInstanceId()), 0)
	equal(t, "is MIG", must[bool](t)(m.IsMigDeviceHandle()), true)
	a := must[nvml.DeviceAttributes](t)(m.GetAttributes())
	equal(t, "attributes", [3]uint64{uint64(a.MultiprocessorCount), uint64(a.GpuInstanceSliceCount), a.MemorySizeMB}, [3]uint64{16, 1, 9984})
	name := must[string](t)(m.GetName())
	if !strings.HasSuffix(name, " MIG 1g.10gb") {
		t.Errorf("name %q", name)
	}
	equal(t, "total", must[nvml.Memory_v2](t)(m.GetMemoryInfo_v2()).Total, 9984<<20)
	parent := must[nvml.Device](t)(m.GetDeviceHandleFromMigDeviceHandle())
	equal(t, "parent", must[int](t)(parent.GetIndex()), 0)
	_, ret = m.GetUtilizationRates()
	equal(t, "utilization", ret, nvml.ERROR_NOT_SUPPORTED)
	all := must[[]nvml.ProcessInfo](t)(gpu.GetComputeRunningProcesses())
	if len(all) != 2 || all[0].GpuInstanceId != 2 || all[1].GpuInstanceId != 9 {
		t.Errorf("processes of the GPU: %+v", all)
	}
	equal(t, "of the instance", len(must[[]nvml.ProcessInfo](t)(m.GetComputeRunningProcesses())), 1)
}

func TestOldDrivers(t *testing.T) {
	for _, row := range []struct {
		name    string
		variant Variant
		missing []string
	}{
		{"R470", R470, []string{"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetCurrentClocksEventReasons"}},
		{"R418", R418, []string{"nvmlDeviceGetMigMode", "nvmlDeviceGetMPSComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetPciInfo_v3", "nvmlEventSetWait_v2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			lib, inside := Child(t, row.variant, Scenario(t, layoutScenario))
			if !inside {
				return
			}
			l := driver(t, lib)
			for _, symbol := range row.missing {
				if l.Extensions().LookupSymbol(symbol) == nil {
					t.Errorf("%s is there", symbol)
				}
			}
			d := must[nvml.Device](t)(l.DeviceGetHandleByIndex(0))
			equal(t, "used", must[nvml.Memory](t)(d.GetMemoryInfo()).Used, 300<<20)
			procs := must[[]nvml.ProcessInfo](t)(d.GetComputeRunningProcesses())
			if len(procs) != 2 || procs[0].Pid != 11 || procs[0].UsedGpuMemory != 170<<20 || procs[1].Pid != 13 {
				t.Errorf("processes: %+v", procs)
			}
			pci := must[nvml.PciInfo](t)(d.GetPciInfo())
			equal(t, "bus id", text(pci.BusIdLegacy[:]), "0001:A0:1F.0")
		})
	}
}

// text reads a C string.
func text[T int8 | uint8](c []T) string {
	var b strings.Builder
	for _, v := range c {
		if v == 0 {
			break
		}
		b.WriteByte(byte(v))
	}
	return b.String()
}
