package ui

import (
	"fmt"
	"math"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// layer is a part of the memory of a GPU, as one process sees it.
type layer struct {
	size sampler.Bytes
	role theme.Role
	fill rune
	name string // a word of the catalog
}

// layers are all of a GPU's memory from the bottom: what the process holds, in as many parts as are known, what others
// hold, what is free, what the driver keeps.
func (v *view) layers(row procRow) []layer {
	m, g := &row.gpu.Memory, v.glyphs
	held, full := row.memory().Or(0), g.Bar[len(g.Bar)-1]
	var list []layer
	if p := row.proc; p == nil {
		list = append(list, layer{held, theme.Unknown, g.BarUnknown, "layer.unattributed"})
	} else if a := p.Allocator; a != nil {
		allocated, reserved := min(a.Allocated, held), min(a.Reserved, held)
		list = append(list, layer{allocated, theme.Ok, full, "layer.allocated"}, layer{reserved.Less(allocated), theme.Ok, g.BarUnknown, "layer.cached"},
			layer{held.Less(reserved), theme.Ok, g.BarReserve, "layer.outside"})
	} else if r := p.Requests; r != nil && r.Whole && r.Live > 0 && r.Live < held {
		list = append(list, layer{r.Live, theme.Ok, full, "layer.asked"}, layer{held - r.Live, theme.Ok, g.BarReserve, "layer.unasked"})
	} else {
		list = append(list, layer{held, theme.Ok, full, "layer.process"})
	}
	unattributed := pick(row.proc == nil, 0, m.Unattributed.Or(0))
	return append(list, layer{m.Used.Or(0).Less(held).Less(unattributed), theme.Text, g.Thin[len(g.Thin)-1], "layer.others"},
		layer{unattributed, theme.Unknown, g.BarUnknown, "layer.unattributed"},
		layer{m.Free.Or(0), theme.Faint, g.BarEmpty, "layer.free"}, layer{m.Reserved.Or(0), theme.Reserved, g.BarReserve, "layer.driver"})
}

// layerLines are a bar of the layers on w columns, and what they are.
func (v *view) layerLines(list []layer, w int) []textLine {
	var all, sum float64 // absurd amounts would not fit into bytes
	for _, l := range list {
		all += float64(l.size)
	}
	if all == 0 || w < 1 {
		return nil
	}
	var bar, names textLine
	lines, used, at := []textLine(nil), 0, 0
	for _, l := range list {
		if l.size == 0 {
			continue
		}
		sum += float64(l.size)
		to := int(math.Round(sum / all * float64(w)))
		bar = append(bar, piece{l.role, strings.Repeat(string(l.fill), max(to-at, 0))})
		at = to
		text := fmt.Sprintf(" %s %s", gib(l.size), v.words.Say(l.name))
		if n := width(text) + 3; used > 0 && used+n > w {
			lines, names, used = append(lines, names), nil, 0
		}
		names = append(names, piece{l.role, string(l.fill)}, piece{theme.Text, text + "  "})
		used += width(text) + 3
	}
	return append(append([]textLine{bar}, lines...), names)
}
