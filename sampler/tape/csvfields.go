package tape

import (
	"math"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// csvFields has a row per column of `nvidia-smi --query-gpu` that is read, with the other
// names it goes by. `nvidia-smi --help-query-gpu` lists them:
// https://nvidia.custhelp.com/app/answers/detail/a_id/3751
var csvFields = []struct {
	names []string
	set   func(g *sampler.GPU, c cell)
}{
	{[]string{"index"}, func(g *sampler.GPU, c cell) { g.Index = c.whole().Or(g.Index) }},
	{[]string{"uuid", "gpu_uuid"}, func(g *sampler.GPU, c cell) { g.UUID = c.text }},
	{[]string{"pci.bus_id", "gpu_bus_id"}, func(g *sampler.GPU, c cell) { g.PCI = c.text }},
	{[]string{"name", "gpu_name"}, func(g *sampler.GPU, c cell) { g.Name = c.text }},
	{[]string{"compute_cap"}, func(g *sampler.GPU, c cell) { g.ComputeCapability = c.word() }},
	{[]string{"memory.total"}, func(g *sampler.GPU, c cell) { g.Memory.Total = c.bytes() }},
	{[]string{"memory.used"}, func(g *sampler.GPU, c cell) { g.Memory.Used = c.bytes() }},
	{[]string{"memory.free"}, func(g *sampler.GPU, c cell) { g.Memory.Free = c.bytes() }},
	{[]string{"memory.reserved"}, func(g *sampler.GPU, c cell) { g.Memory.Reserved = c.bytes() }},
	{[]string{"utilization.gpu"}, func(g *sampler.GPU, c cell) { g.Utilization.GPU = c.whole() }},
	{[]string{"utilization.memory"}, func(g *sampler.GPU, c cell) { g.Utilization.Memory = c.whole() }},
	{[]string{"utilization.encoder"}, func(g *sampler.GPU, c cell) { g.Utilization.Encoder = c.whole() }},
	{[]string{"utilization.decoder"}, func(g *sampler.GPU, c cell) { g.Utilization.Decoder = c.whole() }},
	{[]string{"temperature.gpu"}, func(g *sampler.GPU, c cell) { g.Temperature = c.whole() }},
	{[]string{"fan.speed"}, func(g *sampler.GPU, c cell) { g.Fan = c.whole() }},
	{[]string{"power.draw.instant"}, func(g *sampler.GPU, c cell) { g.Power = g.Power.Else(c.float()) }},
	{[]string{"power.draw", "power.draw.average"}, func(g *sampler.GPU, c cell) { g.Power = c.float().Else(g.Power) }},
	{[]string{"power.limit", "enforced.power.limit"}, func(g *sampler.GPU, c cell) { g.PowerLimit = c.float().Else(g.PowerLimit) }},
	{[]string{"clocks.sm", "clocks.current.sm"}, func(g *sampler.GPU, c cell) { g.Clocks.SM = c.whole() }},
	{[]string{"clocks.mem", "clocks.current.memory"}, func(g *sampler.GPU, c cell) { g.Clocks.Memory = c.whole() }},
	{[]string{"pcie.link.gen.current", "pcie.link.gen.gpucurrent"}, func(g *sampler.GPU, c cell) { g.PCIe.Generation = c.whole() }},
	{[]string{"pcie.link.width.current"}, func(g *sampler.GPU, c cell) { g.PCIe.Width = c.whole() }},
	{[]string{"pstate"}, func(g *sampler.GPU, c cell) { g.PerformanceState = c.word() }},
	{[]string{"ecc.errors.uncorrected.volatile.total"}, func(g *sampler.GPU, c cell) {
		if n, ok := c.whole().Value(); ok && n >= 0 {
			g.ECCUncorrected = sampler.Some(uint64(n))
		}
	}},
}

// csvRow finds the row of a column by its name.
func csvRow(name string) (func(*sampler.GPU, cell), bool) {
	for _, f := range csvFields {
		for _, n := range f.names {
			if n == name {
				return f.set, true
			}
		}
	}
	return nil, false
}

// cell is one value, with the unit that it or its column names.
type cell struct {
	text string
	unit string
}

// noValue says whether a cell holds one of the ways to say that there is none.
func noValue(s string) bool {
	s = strings.ToLower(strings.Trim(s, "[] "))
	switch s {
	case "", "n/a", "na", "nan", "null", "none", "not supported", "unknown error", "not available", "insufficient permissions", "requested functionality has been deprecated", "err!", "gpu is lost", "unknown":
		return true
	}
	return false
}

func (c cell) word() sampler.Opt[string] {
	if noValue(c.text) {
		return sampler.Opt[string]{}
	}
	return sampler.Some(c.text)
}

// split cuts "9216 MiB" into the number and its unit.
func (c cell) split() (float64, string, bool) {
	if noValue(c.text) {
		return 0, "", false
	}
	n := strings.LastIndexAny(c.text, "0123456789.") + 1
	f, err := strconv.ParseFloat(plainNumber(strings.TrimSpace(c.text[:n])), 64)
	unit := strings.TrimSpace(c.text[n:])
	if unit == "" {
		unit = c.unit
	}
	return f, unit, err == nil
}

// grouped is a number with its thousands set apart, and with a comma as decimal point.
var (
	grouped = sampler.Pattern{Source: `^\d{1,3}(?:,\d{3})+(?:\.\d+)?$|^\d{1,3}(?:[ '_\x{a0}\x{202f}\x{2019}]\d{3})+(?:[.,]\d+)?$|^\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?$|^\d{1,3}\.\d{3},\d+$`}
	unsure  = sampler.Pattern{Source: `^\d{1,3}\.\d{3}$`}
)

// plainNumber is a number without marks between thousands, and with a decimal point.
func plainNumber(text string) string {
	if i := strings.LastIndexByte(text, ','); i >= 0 && !grouped.Get().MatchString(text) && strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		return text[:i] + "." + text[i+1:]
	}
	if !grouped.Get().MatchString(text) {
		return text
	}
	point := ""
	if i := strings.LastIndexAny(text, ".,"); i >= 0 && (len(text)-i != 4 || strings.Count(text, text[i:i+1]) == 1 && strings.ContainsAny(text[:i], ",. '_\u00a0\u202f\u2019")) {
		text, point = text[:i], "."+text[i+1:]
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text) + point
}

// amount says whether a cell holds an amount, and notes one that can be another.
func (c cell) amount(m *meter) bool {
	if !c.bytes().Known() {
		m.flaws[badAmount] = true
		return false
	}
	n := strings.LastIndexAny(c.text, "0123456789.") + 1
	m.flaws[unsureAmount] = m.flaws[unsureAmount] || unsure.Get().MatchString(strings.TrimSpace(c.text[:n]))
	return true
}

// index says whether a cell can be the index of a GPU.
func (c cell) index(m *meter) bool {
	f, _, ok := c.split()
	bad := ok && (f != math.Trunc(f) || f < 0 || f >= maxDevices) || !ok && !noValue(c.text)
	m.flaws[badIndex] = bad
	return !bad
}

func (c cell) float() sampler.Opt[float64] {
	f, _, ok := c.split()
	if !ok || f < 0 || f > 1e9 {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(f)
}

func (c cell) whole() sampler.Opt[int] {
	f, _, ok := c.split()
	if !ok || math.Abs(f) > 1e15 {
		return sampler.Opt[int]{}
	}
	return sampler.Some(int(f))
}

// bytes is an amount; without any unit it is MiB, which nvidia-smi means by nounits.
func (c cell) bytes() sampler.Opt[sampler.Bytes] {
	f, name, ok := c.split()
	unit := sampler.MiB
	if name != "" {
		unit = sampler.Unit(name)
	}
	if b, real := unit.Times(f); ok && real {
		return sampler.Some(b)
	}
	return unknown
}
