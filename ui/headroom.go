package ui

import (
	"nvpeak/sampler"
	"nvpeak/theme"
)

// noProblems says so with the headroom that is left, and nothing of the kind where that is little or unknown.
func (v *view) noProblems(w int) []textLine {
	g, free := v.tightest()
	if g == nil {
		return paragraph(theme.Text, "", v.words.Say("panel.no_headroom"), w)
	}
	role, id := theme.Ok, "panel.no_problems"
	if level := theme.Level(100-percent(free, g.Memory.Total.Or(0)), gpuLevels); level == theme.Critical && v.byDesign(g) == "" {
		role, id = level, "panel.scarce"
	}
	lines := paragraph(role, "", v.words.Say(id, "gpu", g.Label(), "free", free.Few()), w)
	for i := range v.snap.GPUs {
		g := &v.snap.GPUs[i]
		if said := v.verdict(g); said.text != "" {
			lines = append(lines, wrapped(pick(said.role == theme.Dim, theme.Text, said.role), v.words.Say("panel.of_gpu", "gpu", g.Label(), "text", said.text), w)...)
		} else if free, ok := g.Memory.WorstFree.Else(g.Memory.Free).Value(); ok {
			lines = append(lines, wrapped(theme.Text, v.words.Say("panel.min_free", "gpu", g.Label(), "free", free.Few()), w)...)
		}
	}
	return lines
}

// tightest is the GPU of which the least part has been free at worst, of those that are not full by design unless all
// are; nil: nothing is known of any.
func (v *view) tightest() (least *sampler.GPU, free sampler.Bytes) {
	if v.snap == nil {
		return nil, 0
	}
	share, meant := 0.0, false // least is full by design
	for i := range v.snap.GPUs {
		g := &v.snap.GPUs[i]
		worst, ok := g.Memory.WorstFree.Else(g.Memory.Free).Value()
		s, full := percent(worst, g.Memory.Total.Or(0)), v.byDesign(g) != ""
		if ok && (least == nil || meant && !full || meant == full && s < share) {
			least, free, share, meant = g, worst, s, full
		}
	}
	return least, free
}
