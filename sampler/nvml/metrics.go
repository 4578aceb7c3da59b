package nvml

import (
	"fmt"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// setter puts a value that was read into its place.
type setter func(*sampler.Metrics)

// metric is one driver call and what becomes of its answer.
type metric struct {
	name    string
	symbols []string      // the call is made when the library has one of them
	unless  []string      // and none of these, which are newer
	every   time.Duration // 0: each time
	read    func(gonvml.Device) (setter, gonvml.Return)
}

// metrics has one row per figure. The budget of driver calls for 8 GPUs at the default
// second is 150 a second, all but those of the memory together; every call takes the
// driver's lock, and expensive ones (fan 0.14 ms, https://github.com/flightlessmango/MangoHud/pull/2104)
// change slowly, but none may be older than staleFor, also on a screen whose next picture comes a second later:
//
//	                                    calls a second of one GPU
//	utilization, power, SM clock at 1 s                     3
//	temperature, memory clock, state, reasons at 2 s        2
//	encoder, decoder, fan, PCIe generation, width at 2 s    2.5
//	power limit, ECC errors at 2 s                          1
//	PCIe throughput, both directions, at 2 s                1
//	MIG mode at 5 s; instances where it is on               0.2
//	process lists: compute; graphics, MPS at 2 s; samples   3
//	driver peaks, where accounting is on                    2 at most
//	                                                       14.7, with 8 GPUs 118
//	waiting for Xid, all GPUs together                      1
var metrics = []metric{
	{"utilization", []string{"nvmlDeviceGetUtilizationRates"}, nil, 0, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetUtilizationRates()
		return func(m *sampler.Metrics) {
			m.Utilization.GPU, m.Utilization.Memory = atMost(v.Gpu, 100), atMost(v.Memory, 100)
		}, ret
	}},
	{"temperature", []string{"nvmlDeviceGetTemperature"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetTemperature(gonvml.TEMPERATURE_GPU)
		return func(m *sampler.Metrics) { m.Temperature = atMost(v, maxCelsius) }, ret
	}},
	{"power", []string{"nvmlDeviceGetPowerUsage"}, nil, 0, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetPowerUsage()
		return func(m *sampler.Metrics) { m.Power = watts(v) }, ret
	}},
	{"SM clock", []string{"nvmlDeviceGetClockInfo"}, nil, 0, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetClockInfo(gonvml.CLOCK_SM)
		return func(m *sampler.Metrics) { m.Clocks.SM = atMost(v, maxMHz) }, ret
	}},
	{"memory clock", []string{"nvmlDeviceGetClockInfo"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetClockInfo(gonvml.CLOCK_MEM)
		return func(m *sampler.Metrics) { m.Clocks.Memory = atMost(v, maxMHz) }, ret
	}},
	{"performance state", []string{"nvmlDeviceGetPerformanceState"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetPerformanceState()
		return func(m *sampler.Metrics) { m.PerformanceState = performanceState(v) }, ret
	}},
	{"event reasons", []string{symEventReasons}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetCurrentClocksEventReasons()
		return throttleSetter(v), ret
	}},
	{"throttle reasons", []string{symThrottleReasons}, []string{symEventReasons}, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetCurrentClocksThrottleReasons()
		return throttleSetter(v), ret
	}},
	{"encoder", []string{"nvmlDeviceGetEncoderUtilization"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, _, ret := d.GetEncoderUtilization()
		return func(m *sampler.Metrics) { m.Utilization.Encoder = atMost(v, 100) }, ret
	}},
	{"decoder", []string{"nvmlDeviceGetDecoderUtilization"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, _, ret := d.GetDecoderUtilization()
		return func(m *sampler.Metrics) { m.Utilization.Decoder = atMost(v, 100) }, ret
	}},
	{"fan", []string{"nvmlDeviceGetFanSpeed"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetFanSpeed()
		return func(m *sampler.Metrics) { m.Fan = atMost(v, maxFan) }, ret
	}},
	{"PCIe generation", []string{"nvmlDeviceGetCurrPcieLinkGeneration"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetCurrPcieLinkGeneration()
		return func(m *sampler.Metrics) { m.PCIe.Generation = link(v, maxPCIeGeneration) }, ret
	}},
	{"PCIe width", []string{"nvmlDeviceGetCurrPcieLinkWidth"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetCurrPcieLinkWidth()
		return func(m *sampler.Metrics) { m.PCIe.Width = link(v, maxPCIeWidth) }, ret
	}},
	{"power limit", []string{"nvmlDeviceGetEnforcedPowerLimit"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetEnforcedPowerLimit()
		return func(m *sampler.Metrics) { m.PowerLimit = watts(v) }, ret
	}},
	{"ECC errors", []string{"nvmlDeviceGetTotalEccErrors"}, nil, everyOther, func(d gonvml.Device) (setter, gonvml.Return) {
		v, ret := d.GetTotalEccErrors(gonvml.MEMORY_ERROR_TYPE_UNCORRECTED, gonvml.VOLATILE_ECC)
		return func(m *sampler.Metrics) {
			if v < maxCount {
				m.ECCUncorrected = sampler.Some(v)
			}
		}, ret
	}},
}

// everyOther is how often a figure is asked for that changes slowly: every other second.
const everyOther = 2 * time.Second

// The first is the name since driver 535, the second the one before.
const (
	symEventReasons    = "nvmlDeviceGetCurrentClocksEventReasons"
	symThrottleReasons = "nvmlDeviceGetCurrentClocksThrottleReasons"
)

// Figures beyond these are not figures but the driver's way of saying unknown.
const (
	maxCelsius        = 200
	maxMHz            = 20_000
	maxFan            = 200 // percent of the intended maximum, which may be exceeded (nvml.h)
	maxMilliwatts     = 10_000_000
	maxPCIeGeneration = 16
	maxPCIeWidth      = 32
	maxCount          = 1 << 62
)

func atMost(v, limit uint32) (none sampler.Opt[int]) {
	if v > limit {
		return none
	}
	return sampler.Some(int(v))
}

func link(v, limit int) (none sampler.Opt[int]) {
	if v <= 0 || v > limit {
		return none
	}
	return sampler.Some(v)
}

func watts(milliwatts uint32) (none sampler.Opt[float64]) {
	if milliwatts > maxMilliwatts {
		return none
	}
	return sampler.Some(float64(milliwatts) / 1000)
}

func performanceState(p gonvml.Pstates) (none sampler.Opt[string]) {
	if p < 0 || p > 15 {
		return none
	}
	return sampler.Some(fmt.Sprintf("P%d", int(p)))
}

// reasons has one row per bit that slows the clocks. Idle, and none, are not slowed.
var reasons = []struct {
	bit  uint64
	word string
}{
	{0x002, "app_clocks"},
	{0x004, "sw_power_cap"},
	{0x008, "hw_slowdown"},
	{0x010, "sync_boost"},
	{0x020, "sw_thermal"},
	{0x040, "hw_thermal"},
	{0x080, "hw_power_brake"},
	{0x100, "display_clocks"},
}

// throttleWords never returns nil: no reason is an answer too.
func throttleWords(bits uint64) []string {
	words := []string{}
	for _, r := range reasons {
		if bits&r.bit != 0 {
			words = append(words, r.word)
		}
	}
	return words
}

func throttleSetter(bits uint64) setter {
	words := throttleWords(bits)
	return func(m *sampler.Metrics) { m.Throttle = words }
}
