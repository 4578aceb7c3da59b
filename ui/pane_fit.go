package ui

import (
	"slices"
	"strings"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// maxHolders is how many of those who hold memory the panel names.
const maxHolders = 3

// fitGroup is the need compared with a GPU, or with several of which this one has the least left.
type fitGroup struct {
	gpuFit
	indices []int
}

// fitGroups joins GPUs of a host on which the need fits, or does not, by figures near each other.
func fitGroups(fits []gpuFit) (groups []fitGroup) {
	for _, f := range fits {
		at := slices.IndexFunc(groups, func(g fitGroup) bool { return alikeFits(g.gpuFit, f) })
		if at < 0 {
			groups = append(groups, fitGroup{f, []int{f.gpu.Index}})
			continue
		}
		g := &groups[at]
		g.indices = append(g.indices, f.gpu.Index)
		if f.WorstFree.Or(0) < g.WorstFree.Or(0) {
			g.gpuFit = f
		}
	}
	for _, g := range groups {
		slices.Sort(g.indices)
	}
	return groups
}

func alikeFits(a, b gpuFit) bool {
	need, _ := a.Need.Value()
	return a.gpu.MIG == nil && b.gpu.MIG == nil && a.gpu.Host == b.gpu.Host && a.Need == b.Need && a.Near() == b.Near() && (a.Short > 0) == (b.Short > 0) &&
		a.WorstFree.Known() && b.WorstFree.Known() && watch.NearFigures(float64(a.WorstFree.Or(0)), float64(b.WorstFree.Or(0)), float64(need.Bytes))
}

// needText says on how many GPUs the need that was typed fits; nothing without one.
func (v *view) needText() string {
	if v.need == 0 {
		return ""
	}
	places := v.snap.Assignable()
	n, of := v.fitCount(places), len(places)
	if v.several() {
		n, of = v.fleet.total.fits, v.fleet.total.places
	}
	return v.words.Say("say.fits", "need", v.need.Needed(), "count", n, "all", v.words.Count("count.gpu", of))
}

// fitCount is on how many of some GPUs the need fits.
func (v *view) fitCount(of []*sampler.GPU) (n int) {
	for _, f := range v.fits {
		if fits, known := f.Fits(); fits && known && slices.Contains(of, f.gpu) {
			n++
		}
	}
	return n
}

// fitText is a sentence about the GPUs of a group.
func (v *view) fitText(f fitGroup, id string, pairs ...any) string {
	text := v.words.Say(id, append(pairs, "gpu", f.gpu.Label())...)
	if len(f.indices) > 1 {
		text = watch.OnGPUs(text, f.gpu.Index, f.indices, true, v.words)
	}
	return text
}

// fitLines is the arithmetic of the need against the GPUs of a group, in words.
func (v *view) fitLines(f fitGroup, w int) []textLine {
	need, _ := f.Need.Value()
	if fits, known := f.Fits(); known && fits && !f.Near() {
		return paragraph(theme.Ok, "  ", v.fitText(f, "panel.fits", "need", need.Bytes.Needed(), "free", freeOr(f.WorstFree)), w)
	}
	if need.Source == watch.NeedAsked && !need.Again { // it may have been given, and never be asked for again
		text := v.fitText(f, "panel.asked", "pid", need.PID.Or(0), "need", need.Bytes.Needed(), "free", freeOr(f.Free))
		return wrapped(theme.Text, text, w)
	}
	role, id := theme.Warning, "panel.just_fits"
	if f.Short > 0 {
		role, id = theme.Critical, "panel.too_large"
	}
	text := v.fitText(f, id, "need", need.Bytes.Needed(), "source", need.Source.In(v.words), "short", f.Short.Needed())
	lines := alertLines(role, v.glyphs.Alert, text, w)
	free := v.words.Say("panel.free", "now", freeOr(f.Free), "lowest", freeOr(f.WorstFree))
	lines = append(lines, wrapped(theme.Text, free, w)...)
	return append(lines, wrapped(theme.Dim, v.words.Say("panel.held", "who", v.holdersText(f.Holders)), w)...)
}

// wrapped is a text below a sentence.
func wrapped(role theme.Role, text string, w int) (lines []textLine) {
	return paragraph(role, "  ", text, w)
}

func (v *view) holdersText(hs []watch.Holder) string {
	var parts []string
	for i, h := range hs {
		if i == maxHolders {
			var rest sampler.Bytes
			for _, h := range hs[i:] {
				rest += h.Bytes
			}
			parts = append(parts, v.words.Say("panel.more", "count", len(hs)-i, "size", rest))
			break
		}
		if h.PID == 0 {
			parts = append(parts, v.words.Say("panel.unattributed", "size", h.Bytes))
			continue
		}
		parts = append(parts, strings.TrimSpace(v.words.Say("panel.pid", "pid", h.PID, "who", strings.TrimSpace(h.Name+" "+h.User)))+" "+h.Bytes.String())
	}
	if len(parts) == 0 {
		return v.words.Say("panel.nobody")
	}
	return strings.Join(parts, v.words.Say("list.comma"))
}
