package prom

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
)

// ofGPU are the labels of every series of a GPU: its index and UUID, and of a MIG instance its number on the GPU.
var ofGPU = []string{"gpu", "uuid", "mig"}

func gpuLabels(g *sampler.GPU, more ...string) []string {
	mig := ""
	if g.MIG != nil {
		mig = strconv.Itoa(g.MIG.Index)
	}
	return append([]string{strconv.Itoa(g.Index), g.UUID, mig}, more...)
}

// gpuRow is a figure of a GPU that a snapshot has. A new one is a row.
type gpuRow struct {
	family
	of func(*sampler.GPU) sampler.Opt[float64]
}

const (
	percent   = 0.01
	megahertz = 1e6
)

var gpuRows = []gpuRow{
	{gauge("nvpeak_gpu_memory_total_bytes", "GPU memory in all.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return bytesOf(g.Memory.Total) }},
	{gauge("nvpeak_gpu_memory_used_bytes", "GPU memory in use now, without what the driver reserves.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return bytesOf(g.Memory.Used) }},
	{gauge("nvpeak_gpu_memory_free_bytes", "GPU memory that is free now.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return bytesOf(g.Memory.Free) }},
	{gauge("nvpeak_gpu_memory_reserved_bytes", "GPU memory that driver and firmware keep for themselves.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return bytesOf(g.Memory.Reserved) }},
	{gauge("nvpeak_gpu_memory_unattributed_bytes", "GPU memory in use by no process that the driver names.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return bytesOf(g.Memory.Unattributed) }},
	{gauge("nvpeak_gpu_memory_peak_bytes", "Most GPU memory in use since the exporter began.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] {
		if g.Memory.Peak == nil {
			return sampler.Opt[float64]{}
		}
		return sampler.Some(float64(g.Memory.Peak.Bytes))
	}},
	{gauge("nvpeak_gpu_memory_lowest_free_bytes", "Least GPU memory free since the exporter began.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return bytesOf(g.Memory.WorstFree) }},
	{gauge("nvpeak_gpu_utilization_ratio", "Share of the time in which a kernel ran, 0 to 1.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.GPU, percent) }},
	{gauge("nvpeak_gpu_memory_utilization_ratio", "Share of the time in which GPU memory was read or written, 0 to 1.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.Memory, percent) }},
	{gauge("nvpeak_gpu_encoder_utilization_ratio", "Use of the video encoder, 0 to 1.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.Encoder, percent) }},
	{gauge("nvpeak_gpu_decoder_utilization_ratio", "Use of the video decoder, 0 to 1.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.Decoder, percent) }},
	{gauge("nvpeak_gpu_temperature_celsius", "Temperature of the GPU.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Temperature, 1) }},
	{gauge("nvpeak_gpu_fan_ratio", "Speed of the fan as the driver asks for it, 1 is its most.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Fan, percent) }},
	{gauge("nvpeak_gpu_power_watts", "Power that the board draws.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return g.Power }},
	{gauge("nvpeak_gpu_power_limit_watts", "Power that the board may draw.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return g.PowerLimit }},
	{gauge("nvpeak_gpu_sm_clock_hertz", "Clock of the multiprocessors.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Clocks.SM, megahertz) }},
	{gauge("nvpeak_gpu_memory_clock_hertz", "Clock of the GPU memory.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Clocks.Memory, megahertz) }},
	{gauge("nvpeak_gpu_pcie_generation", "Generation of the PCIe link as it runs now.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.PCIe.Generation, 1) }},
	{gauge("nvpeak_gpu_pcie_lanes", "Lanes of the PCIe link as it runs now.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.PCIe.Width, 1) }},
	{gauge("nvpeak_gpu_pcie_receive_bytes_per_second", "Traffic to the GPU in the last interval of the driver (20 ms).", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.PCIe.RX, 1) }},
	{gauge("nvpeak_gpu_pcie_transmit_bytes_per_second", "Traffic from the GPU in the last interval of the driver (20 ms).", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.PCIe.TX, 1) }},
	{counter("nvpeak_gpu_ecc_uncorrected_errors_total", "Uncorrected ECC errors since the driver was loaded.", ofGPU...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.ECCUncorrected, 1) }},
}

var (
	gpuInfo     = gauge("nvpeak_gpu_info", "What the GPU is; always 1.", append(ofGPU[:3:3], "name", "pci_bus_id", "mig_profile", "compute_capability")...)
	gpuUp       = gauge("nvpeak_gpu_up", "Whether the driver gives the figures of the GPU: 1, or 0 where it is lost or does not answer.", ofGPU...)
	gpuThrottle = gauge("nvpeak_gpu_throttled", "Why the clocks are held down now, one series for each reason; 1.", append(ofGPU[:3:3], "reason")...)
	gpuXID      = counter("nvpeak_gpu_xid_errors_total", "Xid errors since the exporter began, by their number.", append(ofGPU[:3:3], "xid")...)

	scrapePeak = gauge("nvpeak_gpu_memory_scrape_peak_bytes", "Most GPU memory in use since this scraper's scrape before: see nvpeak_scrape_window_seconds.", ofGPU...)
	scrapeFree = gauge("nvpeak_gpu_memory_scrape_lowest_free_bytes", "Least GPU memory free since this scraper's scrape before.", ofGPU...)
	above      = counter("nvpeak_gpu_memory_above_seconds_total", "Time in which more than that share of the GPU memory was in use.", append(ofGPU[:3:3], "share")...)
)

// sendGPU sends what a snapshot says of a GPU.
func sendGPU(ch chan<- prometheus.Metric, g *sampler.GPU) {
	profile := ""
	if g.MIG != nil {
		profile = g.MIG.Profile
	}
	gpuInfo.send(ch, 1, gpuLabels(g, g.Name, g.PCI, profile, g.ComputeCapability.Or(""))...)
	gpuUp.send(ch, oneIf(!g.Silent()), gpuLabels(g)...)
	for _, row := range gpuRows {
		row.known(ch, row.of(g), gpuLabels(g)...)
	}
	seen := map[string]bool{}
	for _, reason := range g.Throttle {
		if reason = label(reason); !seen[reason] {
			seen[reason] = true
			gpuThrottle.send(ch, 1, gpuLabels(g, reason)...)
		}
	}
}
