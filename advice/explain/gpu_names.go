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

// namedTotal is the memory of the GPU by its name, 0: not in it.
func (f *facts) namedTotal() sampler.Bytes {
	at := namedGiB.Get().FindStringSubmatch(f.context.GPUName)
	if at == nil {
		return 0
	}
	n, _ := strconv.Atoi(at[1])
	return sampler.Bytes(n) * sampler.GiB
}
