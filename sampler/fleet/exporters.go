package fleet

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"nvpeak/sampler"
)

// exporter is a program whose metrics are understood.
type exporter struct {
	name string // as it is called
	// lacks is what its figures do not tell; empty: nothing.
	lacks string
	index string // labels that say which GPU it is
	uuid  string
	title string   // its name
	pci   string   //
	host  []string // labels that say which machine it is, the best first
	// what a server is asked all samples of, with their unit: of the memory, and of its peaks
	timed map[string]float64
	rows  map[string]row
}

// row puts the value of a series into the figures.
type row func(g *gpuFigures, s *sample)

const (
	between = "peaks between two of its readings are not seen"
	dcgm30  = "peaks between two of its readings, 30 s apart unless it was told otherwise, are not seen"
)

// exporters are those that are understood, the best first: of two that tell of one GPU the first counts. A new one is a row.
var exporters = []*exporter{
	{name: "nvpeak", index: "gpu", uuid: "uuid", host: []string{"hostname"}, timed: map[string]float64{"nvpeak_gpu_memory_scrape_peak_bytes": 1, "nvpeak_gpu_memory_used_bytes": 1}, rows: map[string]row{
		"nvpeak_info": func(g *gpuFigures, s *sample) {
			g.page.host, g.page.driver, g.page.cuda = s.label("hostname"), s.label("driver_version"), s.label("cuda_version")
		},
		"nvpeak_snapshot_age_seconds":               func(g *gpuFigures, s *sample) { g.page.age = s.value },
		"nvpeak_scrape_window_seconds":              func(g *gpuFigures, s *sample) { g.page.window = s.value },
		"nvpeak_memory_reading_period_seconds":      func(g *gpuFigures, s *sample) { g.page.period = s.value },
		"nvpeak_driver_up":                          func(g *gpuFigures, s *sample) { g.page.down = s.value == 0 },
		"nvpeak_host_memory_total_bytes":            func(g *gpuFigures, s *sample) { g.page.hostTotal = bytesOf(s.value, 1) },
		"nvpeak_host_memory_available_bytes":        func(g *gpuFigures, s *sample) { g.page.hostFree = bytesOf(s.value, 1) },
		"nvpeak_gpu_memory_total_bytes":             memory(func(m *sampler.Memory) *amount { return &m.Total }, 1),
		"nvpeak_gpu_memory_used_bytes":              memory(func(m *sampler.Memory) *amount { return &m.Used }, 1),
		"nvpeak_gpu_memory_free_bytes":              memory(func(m *sampler.Memory) *amount { return &m.Free }, 1),
		"nvpeak_gpu_memory_reserved_bytes":          memory(func(m *sampler.Memory) *amount { return &m.Reserved }, 1),
		"nvpeak_gpu_memory_unattributed_bytes":      memory(func(m *sampler.Memory) *amount { return &m.Unattributed }, 1),
		"nvpeak_gpu_memory_lowest_free_bytes":       memory(func(m *sampler.Memory) *amount { return &m.WorstFree }, 1),
		"nvpeak_gpu_memory_peak_bytes":              func(g *gpuFigures, s *sample) { g.peak = bytesOf(s.value, 1) },
		"nvpeak_gpu_memory_scrape_peak_bytes":       func(g *gpuFigures, s *sample) { g.scrapePeak = bytesOf(s.value, 1) },
		"nvpeak_gpu_utilization_ratio":              percent(func(g *sampler.GPU) *number { return &g.Utilization.GPU }, 100),
		"nvpeak_gpu_memory_utilization_ratio":       percent(func(g *sampler.GPU) *number { return &g.Utilization.Memory }, 100),
		"nvpeak_gpu_encoder_utilization_ratio":      percent(func(g *sampler.GPU) *number { return &g.Utilization.Encoder }, 100),
		"nvpeak_gpu_decoder_utilization_ratio":      percent(func(g *sampler.GPU) *number { return &g.Utilization.Decoder }, 100),
		"nvpeak_gpu_temperature_celsius":            percent(func(g *sampler.GPU) *number { return &g.Temperature }, 1),
		"nvpeak_gpu_fan_ratio":                      percent(func(g *sampler.GPU) *number { return &g.Fan }, 100),
		"nvpeak_gpu_power_watts":                    watts(func(g *sampler.GPU) *real { return &g.Power }),
		"nvpeak_gpu_power_limit_watts":              watts(func(g *sampler.GPU) *real { return &g.PowerLimit }),
		"nvpeak_gpu_sm_clock_hertz":                 percent(func(g *sampler.GPU) *number { return &g.Clocks.SM }, 1e-6),
		"nvpeak_gpu_memory_clock_hertz":             percent(func(g *sampler.GPU) *number { return &g.Clocks.Memory }, 1e-6),
		"nvpeak_gpu_pcie_generation":                percent(func(g *sampler.GPU) *number { return &g.PCIe.Generation }, 1),
		"nvpeak_gpu_pcie_lanes":                     percent(func(g *sampler.GPU) *number { return &g.PCIe.Width }, 1),
		"nvpeak_gpu_pcie_receive_bytes_per_second":  count(func(g *sampler.GPU) *counted { return &g.PCIe.RX }),
		"nvpeak_gpu_pcie_transmit_bytes_per_second": count(func(g *sampler.GPU) *counted { return &g.PCIe.TX }),
		"nvpeak_gpu_ecc_uncorrected_errors_total":   count(func(g *sampler.GPU) *counted { return &g.ECCUncorrected }),
		"nvpeak_gpu_xid_errors_total":               func(g *gpuFigures, s *sample) { g.xid(s.label("xid"), s.value) },
		"nvpeak_gpu_up":                             func(g *gpuFigures, s *sample) { g.up(s.value != 0) },
		"nvpeak_gpu_throttled":                      func(g *gpuFigures, s *sample) { g.throttle(s.label("reason")) },
		"nvpeak_process_memory_bytes":               func(g *gpuFigures, s *sample) { g.process(s).Memory = bytesOf(s.value, 1) },
		"nvpeak_process_memory_peak_bytes":          func(g *gpuFigures, s *sample) { g.processPeak(s) },
		"nvpeak_gpu_info": func(g *gpuFigures, s *sample) {
			g.Name, g.PCI = s.label("name"), s.label("pci_bus_id")
			if c := s.label("compute_capability"); c != "" {
				g.ComputeCapability = sampler.Some(c)
			}
			if g.MIG != nil {
				g.MIG.Profile = s.label("mig_profile")
			}
		},
	}},
	{name: "dcgm-exporter", lacks: dcgm30, index: "gpu", uuid: "UUID", title: "modelName", pci: "pci_bus_id", host: []string{"Hostname"}, timed: map[string]float64{"DCGM_FI_DEV_FB_USED": mebi}, rows: map[string]row{
		"DCGM_FI_DEV_FB_TOTAL":      memory(func(m *sampler.Memory) *amount { return &m.Total }, mebi),
		"DCGM_FI_DEV_FB_USED":       memory(func(m *sampler.Memory) *amount { return &m.Used }, mebi),
		"DCGM_FI_DEV_FB_FREE":       memory(func(m *sampler.Memory) *amount { return &m.Free }, mebi),
		"DCGM_FI_DEV_FB_RESERVED":   memory(func(m *sampler.Memory) *amount { return &m.Reserved }, mebi),
		"DCGM_FI_DEV_GPU_UTIL":      percent(func(g *sampler.GPU) *number { return &g.Utilization.GPU }, 1),
		"DCGM_FI_DEV_MEM_COPY_UTIL": percent(func(g *sampler.GPU) *number { return &g.Utilization.Memory }, 1),
		"DCGM_FI_DEV_ENC_UTIL":      percent(func(g *sampler.GPU) *number { return &g.Utilization.Encoder }, 1),
		"DCGM_FI_DEV_DEC_UTIL":      percent(func(g *sampler.GPU) *number { return &g.Utilization.Decoder }, 1),
		"DCGM_FI_DEV_GPU_TEMP":      percent(func(g *sampler.GPU) *number { return &g.Temperature }, 1),
		"DCGM_FI_DEV_POWER_USAGE":   watts(func(g *sampler.GPU) *real { return &g.Power }),
		"DCGM_FI_DEV_SM_CLOCK":      percent(func(g *sampler.GPU) *number { return &g.Clocks.SM }, 1),
		"DCGM_FI_DEV_MEM_CLOCK":     percent(func(g *sampler.GPU) *number { return &g.Clocks.Memory }, 1),
		"DCGM_FI_DEV_XID_ERRORS": func(g *gpuFigures, s *sample) {
			if s.value > 0 && s.value < 1e6 {
				g.LastXID = sampler.Some(uint64(s.value))
			}
		},
	}},
	{name: "nvidia_gpu_exporter", lacks: between, uuid: "uuid", timed: map[string]float64{"nvidia_smi_memory_used_bytes": 1}, rows: map[string]row{
		"nvidia_smi_memory_total_bytes":             memory(func(m *sampler.Memory) *amount { return &m.Total }, 1),
		"nvidia_smi_memory_used_bytes":              memory(func(m *sampler.Memory) *amount { return &m.Used }, 1),
		"nvidia_smi_memory_free_bytes":              memory(func(m *sampler.Memory) *amount { return &m.Free }, 1),
		"nvidia_smi_memory_reserved_bytes":          memory(func(m *sampler.Memory) *amount { return &m.Reserved }, 1),
		"nvidia_smi_utilization_gpu_ratio":          percent(func(g *sampler.GPU) *number { return &g.Utilization.GPU }, 100),
		"nvidia_smi_utilization_memory_ratio":       percent(func(g *sampler.GPU) *number { return &g.Utilization.Memory }, 100),
		"nvidia_smi_utilization_encoder_ratio":      percent(func(g *sampler.GPU) *number { return &g.Utilization.Encoder }, 100),
		"nvidia_smi_utilization_decoder_ratio":      percent(func(g *sampler.GPU) *number { return &g.Utilization.Decoder }, 100),
		"nvidia_smi_temperature_gpu":                percent(func(g *sampler.GPU) *number { return &g.Temperature }, 1),
		"nvidia_smi_fan_speed_ratio":                percent(func(g *sampler.GPU) *number { return &g.Fan }, 100),
		"nvidia_smi_power_draw_watts":               watts(func(g *sampler.GPU) *real { return &g.Power }),
		"nvidia_smi_power_limit_watts":              watts(func(g *sampler.GPU) *real { return &g.PowerLimit }),
		"nvidia_smi_enforced_power_limit_watts":     watts(func(g *sampler.GPU) *real { return &g.PowerLimit }),
		"nvidia_smi_clocks_current_sm_clock_hz":     percent(func(g *sampler.GPU) *number { return &g.Clocks.SM }, 1e-6),
		"nvidia_smi_clocks_current_memory_clock_hz": percent(func(g *sampler.GPU) *number { return &g.Clocks.Memory }, 1e-6),
		"nvidia_smi_index":                          func(g *gpuFigures, s *sample) { g.setIndex(s.value) },
		"nvidia_smi_compute_app_used_memory_bytes":  func(g *gpuFigures, s *sample) { g.process(s).Memory = bytesOf(s.value, 1) },
		"nvidia_smi_gpu_info": func(g *gpuFigures, s *sample) {
			g.Name, g.PCI, g.page.driver, g.page.cuda = s.label("name"), s.label("pci_bus_id"), s.label("driver_version"), s.label("cuda_version")
			if n, ok := whole(s.label("index")); ok {
				g.setIndex(float64(n))
			}
		},
	}},
	{name: "nvitop-exporter", lacks: between, index: "index", uuid: "uuid", title: "devicename", host: []string{"hostname"}, timed: map[string]float64{"gpu_memory_used_MiB": mebi}, rows: map[string]row{
		"gpu_memory_total_MiB":               memory(func(m *sampler.Memory) *amount { return &m.Total }, mebi),
		"gpu_memory_used_MiB":                memory(func(m *sampler.Memory) *amount { return &m.Used }, mebi),
		"gpu_memory_free_MiB":                memory(func(m *sampler.Memory) *amount { return &m.Free }, mebi),
		"gpu_utilization_Percentage":         percent(func(g *sampler.GPU) *number { return &g.Utilization.GPU }, 1),
		"gpu_memory_utilization_Percentage":  percent(func(g *sampler.GPU) *number { return &g.Utilization.Memory }, 1),
		"gpu_encoder_utilization_Percentage": percent(func(g *sampler.GPU) *number { return &g.Utilization.Encoder }, 1),
		"gpu_decoder_utilization_Percentage": percent(func(g *sampler.GPU) *number { return &g.Utilization.Decoder }, 1),
		"gpu_temperature_C":                  percent(func(g *sampler.GPU) *number { return &g.Temperature }, 1),
		"gpu_fan_speed_Percentage":           percent(func(g *sampler.GPU) *number { return &g.Fan }, 1),
		"gpu_power_usage_W":                  watts(func(g *sampler.GPU) *real { return &g.Power }),
		"gpu_power_limit_W":                  watts(func(g *sampler.GPU) *real { return &g.PowerLimit }),
		"gpu_clock_sm_MHz":                   percent(func(g *sampler.GPU) *number { return &g.Clocks.SM }, 1),
		"gpu_clock_memory_MHz":               percent(func(g *sampler.GPU) *number { return &g.Clocks.Memory }, 1),
		"host_virtual_memory_total_MiB":      func(g *gpuFigures, s *sample) { g.page.hostTotal = bytesOf(s.value, mebi) },
		"host_virtual_memory_free_MiB":       func(g *gpuFigures, s *sample) { g.page.hostFree = bytesOf(s.value, mebi) },
		"process_gpu_memory_MiB":             func(g *gpuFigures, s *sample) { g.process(s).Memory = bytesOf(s.value, mebi) },
		"process_rss_memory_MiB":             func(g *gpuFigures, s *sample) { g.process(s).HostMemory = bytesOf(s.value, mebi) },
		"process_gpu_sm_utilization_Percentage": func(g *gpuFigures, s *sample) {
			if s.value >= 0 && s.value <= 1000 {
				g.process(s).SM = sampler.Some(int(s.value))
			}
		},
		"process_info_info": func(g *gpuFigures, s *sample) { g.process(s).Command = s.label("command") },
		"nvitop_info": func(g *gpuFigures, s *sample) {
			g.page.driver, g.page.cuda = s.label("driver_version"), s.label("cuda_driver_version")
		},
	}},
}

// shared are the metrics of a page that are of the machine, not of a GPU.
var shared = map[string]bool{"nvpeak_info": true, "nvpeak_snapshot_age_seconds": true, "nvpeak_scrape_window_seconds": true, "nvpeak_memory_reading_period_seconds": true,
	"nvpeak_driver_up": true, "nvpeak_host_memory_total_bytes": true, "nvpeak_host_memory_available_bytes": true,
	"host_virtual_memory_total_MiB": true, "host_virtual_memory_free_MiB": true, "nvitop_info": true}

// metric is a row with the exporter that has it.
type metric struct {
	of     *exporter
	put    row
	shared bool
}

// metrics has the metrics of all exporters by their names.
var metrics = sync.OnceValue(func() map[string]*metric {
	all := map[string]*metric{}
	for _, e := range exporters {
		for name, put := range e.rows {
			all[name] = &metric{e, put, shared[name]}
		}
	}
	return all
})

// known says whether a metric has a use here.
func known(name []byte) bool { return metrics()[string(name)] != nil }

// metricNames are those of all exporters, as a regular expression; timedNames those of which all samples are asked for.
func metricNames() string { return alternatives(maps.Keys(metrics())) }

func timedNames() string {
	return alternatives(func(yield func(string) bool) {
		for _, e := range exporters {
			for name := range e.timed {
				if !yield(name) {
					return
				}
			}
		}
	})
}

func alternatives(names iter.Seq[string]) string { return strings.Join(slices.Sorted(names), "|") }

const mebi = 1 << 20

type (
	amount  = sampler.Opt[sampler.Bytes]
	number  = sampler.Opt[int]
	real    = sampler.Opt[float64]
	counted = sampler.Opt[uint64]
)

// bytesOf is a value in bytes; absent: it cannot be.
func bytesOf(v, unit float64) amount {
	if v *= unit; v >= 0 && v < float64(mostTotal) {
		return sampler.Some(sampler.Bytes(v))
	}
	return amount{}
}

func memory(of func(*sampler.Memory) *amount, unit float64) row {
	return func(g *gpuFigures, s *sample) { *of(&g.Memory) = bytesOf(s.value, unit) }
}

// percent puts a value, times a factor, into a whole number.
func percent(of func(*sampler.GPU) *number, factor float64) row {
	return func(g *gpuFigures, s *sample) {
		if v := s.value * factor; v > -1e6 && v < 1e6 {
			*of(&g.GPU) = sampler.Some(int(v + 0.5))
		}
	}
}

func watts(of func(*sampler.GPU) *real) row {
	return func(g *gpuFigures, s *sample) { *of(&g.GPU) = sampler.Some(s.value) }
}

func count(of func(*sampler.GPU) *counted) row {
	return func(g *gpuFigures, s *sample) {
		if s.value >= 0 && s.value < 1<<63 {
			*of(&g.GPU) = sampler.Some(uint64(s.value))
		}
	}
}
