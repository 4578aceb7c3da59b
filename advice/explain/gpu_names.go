package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// gpuNames gives the compute capability by name, the first part found decides. From
// https://developer.nvidia.com/cuda-gpus and https://developer.nvidia.com/cuda-legacy-gpus
var gpuNames = []struct {
	parts        []string
	major, minor int
}{
	{[]string{"quadro rtx", "titan rtx"}, 7, 5}, {[]string{"ada"}, 8, 9}, // before "rtx 40", "rtx 50"
	{[]string{"gb300", "b300"}, 10, 3}, {[]string{"gb200", "b200", "b100"}, 10, 0}, {[]string{"gb10"}, 12, 1}, {[]string{"thor"}, 11, 0},
	{[]string{"rtx pro", "rtx 50", "rtx50"}, 12, 0},
	{[]string{"gh200", "h100", "h200", "h800", "h20"}, 9, 0},
	{[]string{"l40", "l4", "rtx 40", "rtx40"}, 8, 9},
	{[]string{"orin"}, 8, 7},
	{[]string{"a100", "a800", "a30"}, 8, 0}, {[]string{"xavier"}, 7, 2},
	{[]string{"rtx a", "a40", "a10", "a16", "a2", "rtx 30", "rtx30"}, 8, 6},
	{[]string{"t4", "rtx 20", "rtx20", "gtx 16", "t1000", "t600", "t400", "t2000", "mx450", "mx550"}, 7, 5},
	{[]string{"v100", "titan v", "gv100"}, 7, 0},
	{[]string{"p100", "gp100"}, 6, 0}, {[]string{"p40", "p4", "gtx 10", "gtx10", "titan xp", "titan x", "p6000", "p5000", "p4000", "p3000", "p2200", "p2000", "p1000", "p620", "p600", "p400", "mx150", "gt 1030"}, 6, 1},
	{[]string{"m60", "m40", "m4", "m6000", "m5000", "m4000", "m2000", "gtx 9", "gtx 75"}, 5, 2}, {[]string{"k80"}, 3, 7}, {[]string{"k40", "k20"}, 3, 5},
}

// modelOf reads the capability, or looks the name up.
func modelOf(name, capability string) gpuModel {
	g := gpuModel{name: sampler.Clean(name)}
	lower := " " + strings.ToLower(name) + " "
	g.soc = slices.ContainsFunc([]string{"orin", "xavier", "tegra", "jetson", "nvgpu", "thor"}, func(p string) bool { return strings.Contains(lower, p) })
	if major, minor, ok := strings.Cut(capability, "."); ok {
		a, errA := strconv.Atoi(major)
		b, errB := strconv.Atoi(minor)
		if errA == nil && errB == nil && a > 0 {
			g.major, g.minor = a, b
			return g
		}
	}
	for _, row := range gpuNames {
		for _, part := range row.parts {
			if namesPart(lower, part) {
				g.major, g.minor = row.major, row.minor
				return g
			}
		}
	}
	return g
}

// namesPart looks for a part that begins a word and, when it ends in a digit, is not followed by
// another one, unless it names a family ("rtx 30" fits "rtx 3090").
func namesPart(lower, part string) bool {
	family := strings.Contains(part, "rtx") || strings.Contains(part, "gtx")
	for from := 0; ; {
		i := strings.Index(lower[from:], part)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(part)
		before, after := lower[i-1], lower[end]
		letterBefore := before >= 'a' && before <= 'z' || before >= '0' && before <= '9'
		digitAfter := after >= '0' && after <= '9'
		if !letterBefore && (family || !digitAfter) {
			return true
		}
		from = i + 1
	}
}

// beforeAmpere: the GPU has 11 GB, as of whole GPUs the GTX 1080 Ti and the RTX 2080 Ti do and none since: https://developer.nvidia.com/cuda-gpus
func (f *facts) beforeAmpere() bool {
	total := f.total.Or(0)
	return total > partOf(sampler.GiB, 10.5) && total < partOf(sampler.GiB, 11.05)
}

// namedGiB is the memory that the name of a GPU ends in.
var namedGiB = sampler.Pattern{Source: `(\d{1,3}) ?GB\b`}

// gpuGiB is the memory of GPUs by their names, the most that one of the name has: https://developer.nvidia.com/cuda-gpus and the makers' data sheets.
var gpuGiB = []struct {
	part string
	gib  int
}{
	{"rtx 5090", 32}, {"rtx 5080", 16}, {"rtx 5070 ti", 16}, {"rtx 5070", 12}, {"rtx 5060", 16}, {"rtx 4090", 24}, {"rtx 4080", 16}, {"rtx 4070 ti", 16}, {"rtx 4070", 12}, {"rtx 4060", 16}, {"rtx 4050", 6},
	{"rtx 3090", 24}, {"rtx 3080 ti", 16}, {"rtx 3080", 16}, {"rtx 3070", 8}, {"rtx 3060 ti", 8}, {"rtx 3060", 12}, {"rtx 3050", 8}, {"rtx 2080 ti", 11}, {"rtx 2080", 8}, {"rtx 2070", 8}, {"rtx 2060", 12},
	{"gtx 1660", 6}, {"gtx 1650", 4}, {"gtx 1080 ti", 11}, {"gtx 1080", 8}, {"gtx 1070", 8}, {"gtx 1060", 6}, {"gtx 1050", 4}, {"gtx 980 ti", 6}, {"gtx 980", 8}, {"gtx 970", 4}, {"gtx 960", 4},
	{"rtx a6000", 48}, {"rtx a5000", 24}, {"rtx a4000", 16}, {"rtx a2000", 12}, {"titan xp", 12}, {"titan v", 32}, {"titan rtx", 24}, {"titan x", 12},
	{"h200", 141}, {"h100", 94}, {"h800", 80}, {"a100", 80}, {"a800", 80}, {"v100", 32}, {"p100", 16}, {"p40", 24}, {"l40", 48}, {"l4", 24}, {"a40", 48}, {"a30", 24}, {"a10", 24}, {"t4", 16}, {"m60", 8}, {"m40", 24}, {"k80", 12},
}

// namedTotal is the memory of the GPU by its name, 0: not in it.
func (f *facts) namedTotal() sampler.Bytes {
	at := namedGiB.Get().FindStringSubmatch(f.context.GPUName)
	if at == nil {
		return 0
	}
	n, _ := strconv.Atoi(at[1])
	return sampler.Bytes(n) * sampler.GiB
}

// saidTotal is what the GPU has: as the message says, else its name, else whoever wrote the text; 0: not known.
func (f *facts) saidTotal() sampler.Bytes {
	if total := f.total.Or(f.namedTotal()); total > 0 {
		return total
	}
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldGPUHas); is {
			gib, _ := strconv.Atoi(n)
			return sampler.Bytes(gib) * sampler.GiB
		}
	}
	return soldWith(f.context.GPUName)
}

// slice is the memory of the slice that is used instead of a whole GPU, as its profile is named; 0: none is named.
func (f *facts) slice() sampler.Bytes {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldSlice); is {
			gib, _ := strconv.Atoi(n)
			return sampler.Bytes(gib) * sampler.GiB
		}
	}
	return 0
}

// soldWith is the memory of a GPU of that name, 0: not known, or there are several.
func soldWith(name string) sampler.Bytes {
	lower := " " + strings.ToLower(name) + " "
	for _, row := range gpuGiB {
		if namesPart(lower, row.part) {
			return sampler.Bytes(row.gib) * sampler.GiB
		}
	}
	return 0
}
