package watch

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Group is a finding on one GPU, or the same on several: what a text says in one line. Its alert is
// that of the GPU with the least left, its text names them all.
type Group struct {
	sampler.Alert
	GPUs string           // their indices: "0–3", or the label of one MIG instance; empty: it is of the machine
	Keys []sampler.GPUKey // of all its GPUs; of the machine the zero key
}

const (
	// Figures are near each other within a quarter of the largest that the alert names, or a GiB.
	groupShare = 0.25
	groupLeast = float64(sampler.GiB)
	// groupSeconds: past alerts that were raised within a minute of each other were of one moment, and
	// times left are alike within that or half.
	groupSeconds = 60
)

// Groups joins open alerts that say the same of several GPUs, in their order.
func Groups(alerts []sampler.Alert, words lang.Catalog) []Group {
	return group(alerts, words, math.Inf(1))
}

// PastGroups joins past alerts that were raised together. A group lasts from the first to the last of them.
func PastGroups(alerts []sampler.Alert, words lang.Catalog) []Group {
	return group(alerts, words, groupSeconds)
}

func group(alerts []sampler.Alert, words lang.Catalog, within float64) []Group {
	var joined [][]sampler.Alert
	for _, a := range alerts {
		at := slices.IndexFunc(joined, func(g []sampler.Alert) bool {
			return math.Abs(a.T-g[0].T) <= within && alike(g[0], a, words) && !slices.ContainsFunc(g, func(b sampler.Alert) bool { return a.GPU == b.GPU })
		})
		if at < 0 {
			joined = append(joined, []sampler.Alert{a})
			continue
		}
		joined[at] = append(joined[at], a)
	}
	groups := make([]Group, len(joined))
	for i, g := range joined {
		groups[i] = groupOf(g, words)
	}
	return groups
}

// alike says whether two alerts say the same of two GPUs of a host.
func alike(a, b sampler.Alert, words lang.Catalog) bool {
	if a.Line != "" && b.Line != "" {
		return a.Line == b.Line
	}
	if !sameFinding(a, b) || !near(a, b) {
		return false
	}
	_, first := withoutGPU(a, words)
	_, second := withoutGPU(b, words)
	return first && second
}

// sameFinding: one kind, level and job, on GPUs of one host. MIG instances have sizes of their own, and each its line.
func sameFinding(a, b sampler.Alert) bool {
	return a.MIG == nil && b.MIG == nil && a.Kind == b.Kind && a.Level == b.Level && a.Key.Host == b.Key.Host && a.GPU.Known() && b.GPU.Known() && a.Job == b.Job
}

// near: the same fix comes first, and the figures are near each other.
func near(a, b sampler.Alert) bool {
	if a.PID.Known() != b.PID.Known() || a.ETA.Known() != b.ETA.Known() || len(a.Numbers) != len(b.Numbers) || !sameFirst(a.Advice, b.Advice) ||
		math.Abs(a.ETA.Or(0)-b.ETA.Or(0)) > max(groupSeconds, max(a.ETA.Or(0), b.ETA.Or(0))/2) {
		return false
	}
	for key, x := range a.Numbers {
		if y, known := b.Numbers[key]; !known || key == "xid" && x != y || !nearNumbers(a, b, key) {
			return false
		}
	}
	return true
}

// nearNumbers says whether an amount of two alerts is about the same. What is needed and free counts from the use
// of this second, which two GPUs reach seconds apart: where an alert says what is short, that counts.
func nearNumbers(a, b sampler.Alert, key string) bool {
	_, short := a.Numbers["short_bytes"]
	if !strings.HasSuffix(key, "_bytes") || short && (key == "free_bytes" || key == "need_bytes") {
		return true
	}
	most := 0.0
	for k, x := range a.Numbers {
		if strings.HasSuffix(k, "_bytes") {
			most = max(most, x, b.Numbers[k])
		}
	}
	return NearFigures(a.Numbers[key], b.Numbers[key], most)
}

func sameFirst(a, b []sampler.Advice) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return sameFix(a[0], b[0])
}

// withoutGPU is what an alert says after the GPU.
func withoutGPU(a sampler.Alert, words lang.Catalog) (text string, ok bool) {
	return strings.CutPrefix(a.Text, words.Say("alert.at_gpu", "gpu", a.Label()))
}

// groupOf makes a group of alerts that are alike.
func groupOf(list []sampler.Alert, words lang.Catalog) Group {
	g := Group{Alert: slices.MinFunc(list, leastLeft)}
	slices.SortStableFunc(list, func(a, b sampler.Alert) int { return cmp.Compare(a.GPU.Or(0), b.GPU.Or(0)) })
	var indices []int
	for _, a := range list {
		g.Keys, indices = append(g.Keys, a.Key), append(indices, a.GPU.Or(0))
		g.T = min(g.T, a.T)
		if a.Time.Before(g.Time) {
			g.Time = a.Time
		}
		if end, over := a.End.Value(); !over || !g.End.Known() {
			g.End = sampler.Opt[float64]{}
		} else {
			g.End = sampler.Some(max(end, g.End.Or(0)))
		}
	}
	switch {
	case g.MIG != nil:
		g.GPUs = g.Label()
	case g.GPU.Known():
		g.GPUs = GPUList(indices)
	}
	if len(list) > 1 {
		_, measured := left(g.Alert)
		g.Text = OnGPUs(g.Text, g.GPU.Or(0), indices, measured, words)
	}
	return g
}

// OnGPUs is what a text says of one GPU, said of several. measured: its figures are those of that one, the worst.
func OnGPUs(text string, gpu int, gpus []int, measured bool, words lang.Catalog) string {
	text = words.Say("alert.at_gpus", "gpus", GPUList(gpus)) + strings.TrimPrefix(text, words.Say("alert.at_gpu", "gpu", gpu))
	if measured {
		text = words.Say("alert.worst", "text", text, "gpu", gpu)
	}
	return text
}

// NearFigures says whether two amounts are so near each other that one line can stand for both, where
// most is the largest amount that it names.
func NearFigures(a, b, most float64) bool { return math.Abs(a-b) <= max(groupLeast, groupShare*most) }

// leastLeft orders alerts by how little is left.
func leastLeft(a, b sampler.Alert) int {
	x, _ := left(a)
	y, _ := left(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.GPU.Or(0), b.GPU.Or(0)))
}

// left is what an alert says is left: less than nothing where something is short.
func left(a sampler.Alert) (bytes float64, known bool) {
	if v, ok := a.Numbers["short_bytes"]; ok && v > 0 {
		return -v, true
	}
	for _, key := range []string{"worst_free_bytes", "free_bytes"} {
		if v, ok := a.Numbers[key]; ok {
			return v, true
		}
	}
	return 0, false
}

// GPUList names GPUs by their indices, in order: "0–3", "0, 2, 5", "0–3, 6".
func GPUList(indices []int) string {
	var parts []string
	for i := 0; i < len(indices); {
		n := 1
		for i+n < len(indices) && indices[i+n] == indices[i]+n {
			n++
		}
		if n > 2 {
			parts = append(parts, strconv.Itoa(indices[i])+"–"+strconv.Itoa(indices[i+n-1]))
			i += n
			continue
		}
		parts = append(parts, strconv.Itoa(indices[i]))
		i++
	}
	return strings.Join(parts, ", ")
}
