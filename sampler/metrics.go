package sampler

// Metric is one figure of a GPU: how it is called, read from a snapshot and kept.
// A new metric is a field of Metrics, a row here and a row in sampler/nvml.
type Metric struct {
	Name string // as typed: in --csv, and for the plot
	CSV  string // nvidia-smi's --query-gpu name; empty: not in nvidia-smi
	Unit string // as nvidia-smi writes it: "MiB", "%", "W", "MHz"; empty for a bare number
	Plot bool   // has a history
	Of   func(*GPU) Opt[float64]
}

func number[T int | uint64 | float64](o Opt[T]) Opt[float64] {
	v, ok := o.Value()
	if !ok {
		return Opt[float64]{}
	}
	return Some(float64(v))
}

func mebibytes(o Opt[Bytes]) Opt[float64] {
	v, ok := o.Value()
	if !ok {
		return Opt[float64]{}
	}
	return Some(v.MiB())
}

func kibPerSecond(o Opt[uint64]) Opt[float64] {
	v, ok := o.Value()
	if !ok {
		return Opt[float64]{}
	}
	return Some(float64(v) / float64(KiB))
}

func peakOf(g *GPU) Opt[Bytes] {
	if g.Memory.Peak == nil {
		return Opt[Bytes]{}
	}
	return Some(g.Memory.Peak.Bytes)
}

// MetricTable is the table of all figures, in the order in which they are offered.
func MetricTable() []Metric { return metrics }

var metrics = []Metric{
	{"memory.total", "memory.total", "MiB", false, func(g *GPU) Opt[float64] { return mebibytes(g.Memory.Total) }},
	{"memory.reserved", "memory.reserved", "MiB", false, func(g *GPU) Opt[float64] { return mebibytes(g.Memory.Reserved) }},
	{"memory.used", "memory.used", "MiB", true, func(g *GPU) Opt[float64] { return mebibytes(g.Memory.Used) }},
	{"memory.free", "memory.free", "MiB", false, func(g *GPU) Opt[float64] { return mebibytes(g.Memory.Free) }},
	{"memory.peak", "", "MiB", false, func(g *GPU) Opt[float64] { return mebibytes(peakOf(g)) }},
	{"memory.worst_free", "", "MiB", false, func(g *GPU) Opt[float64] { return mebibytes(g.Memory.WorstFree) }},
	{"memory.unattributed", "", "MiB", false, func(g *GPU) Opt[float64] { return mebibytes(g.Memory.Unattributed) }},
	{"utilization.gpu", "utilization.gpu", "%", true, func(g *GPU) Opt[float64] { return number(g.Utilization.GPU) }},
	{"utilization.memory", "utilization.memory", "%", false, func(g *GPU) Opt[float64] { return number(g.Utilization.Memory) }},
	{"utilization.encoder", "utilization.encoder", "%", false, func(g *GPU) Opt[float64] { return number(g.Utilization.Encoder) }},
	{"utilization.decoder", "utilization.decoder", "%", false, func(g *GPU) Opt[float64] { return number(g.Utilization.Decoder) }},
	{"temperature.gpu", "temperature.gpu", "", true, func(g *GPU) Opt[float64] { return number(g.Temperature) }},
	{"fan.speed", "fan.speed", "%", false, func(g *GPU) Opt[float64] { return number(g.Fan) }},
	{"power.draw", "power.draw", "W", true, func(g *GPU) Opt[float64] { return g.Power }},
	{"power.limit", "power.limit", "W", false, func(g *GPU) Opt[float64] { return g.PowerLimit }},
	{"clocks.sm", "clocks.current.sm", "MHz", false, func(g *GPU) Opt[float64] { return number(g.Clocks.SM) }},
	{"clocks.mem", "clocks.current.memory", "MHz", false, func(g *GPU) Opt[float64] { return number(g.Clocks.Memory) }},
	{"pcie.link.gen.current", "pcie.link.gen.current", "", false, func(g *GPU) Opt[float64] { return number(g.PCIe.Generation) }},
	{"pcie.link.width.current", "pcie.link.width.current", "", false, func(g *GPU) Opt[float64] { return number(g.PCIe.Width) }},
	{"pcie.rx", "", "KiB/s", false, func(g *GPU) Opt[float64] { return kibPerSecond(g.PCIe.RX) }},
	{"pcie.tx", "", "KiB/s", false, func(g *GPU) Opt[float64] { return kibPerSecond(g.PCIe.TX) }},
	{"ecc.errors.uncorrected.volatile.total", "ecc.errors.uncorrected.volatile.total", "", false, func(g *GPU) Opt[float64] { return number(g.ECCUncorrected) }},
}
