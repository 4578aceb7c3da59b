package prom

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
)

// Names of dcgm-exporter, with its labels and units, so that dashboards made for it work.
// Source: https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv
var ofDCGM = []string{"gpu", "UUID", "pci_bus_id", "device", "modelName", "GPU_I_PROFILE", "GPU_I_ID", "Hostname", "DCGM_FI_DRIVER_VERSION", "namespace", "pod", "container"}

const mebibyte = 1.0 / (1 << 20)

var dcgmRows = []gpuRow{
	{gauge("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(bytesOf(g.Memory.Used), mebibyte) }},
	{gauge("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(bytesOf(g.Memory.Free), mebibyte) }},
	{gauge("DCGM_FI_DEV_FB_RESERVED", "Framebuffer memory reserved (in MiB).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(bytesOf(g.Memory.Reserved), mebibyte) }},
	{gauge("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.GPU, 1) }},
	{gauge("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.Memory, 1) }},
	{gauge("DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.Encoder, 1) }},
	{gauge("DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Utilization.Decoder, 1) }},
	{gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Clocks.SM, 1) }},
	{gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Clocks.Memory, 1) }},
	{gauge("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return scaled(g.Temperature, 1) }},
	{gauge("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] { return g.Power }},
	{gauge("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", ofDCGM...), func(g *sampler.GPU) sampler.Opt[float64] {
		if !g.LastXID.Known() && stateOf(g) == silent {
			return sampler.Opt[float64]{}
		}
		return sampler.Some(float64(g.LastXID.Or(0))) // 0: none
	}},
}

// sendDCGM sends a GPU under those names.
func sendDCGM(ch chan<- prometheus.Metric, s *sampler.Snapshot, g *sampler.GPU, pods Pods) {
	profile, instance := "", ""
	if g.MIG != nil {
		profile, instance = g.MIG.Profile, strconv.Itoa(g.MIG.GPUInstance)
	}
	pod := pods.only(g)
	for _, row := range dcgmRows {
		row.known(ch, row.of(g), strconv.Itoa(g.Index), g.UUID, g.PCI, "nvidia"+strconv.Itoa(g.Index), g.Name, profile, instance, s.Host, s.Driver, pod.Namespace, pod.Name, pod.Container)
	}
}
