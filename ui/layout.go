package ui

import (
	"cmp"
	"slices"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// plan is where everything goes on the screen. A rect of height 0 is not shown.
type plan struct {
	header, footer rect
	timeline       rect     // of a replay
	panes          []placed // GPUs with a pane of their own
	lines          []placed // GPUs with one line
	hidden         int      // GPUs that scroll out
	advice, procs  rect
	text           []textLine // of the advice
	boxes          bool       // around the table
	framed         bool       // the advice is more than headlines, and has one, too
}

type placed struct {
	rect
	gpu *sampler.GPU
}

const (
	gridMinWidth  = 44 // of a pane in a grid
	gridMinHeight = 7
	leadMinHeight = 6 // of the one pane above lines
	lineMinWidth  = 31
	lineGap       = 2 // between columns of lines
)

// Sizes of the screen from which on there is a header, a footer, an alert on top, and boxes around everything.
const (
	headerHeight = 6
	footerHeight = 14
	boxesHeight  = 30
	boxesWidth   = 60
)

// arrange plans the screen: what is to be done first, then the GPUs, then who holds their memory; a header and a
// footer only where they cost little. On a slit, where all is seen at once, the GPUs come first.
func (v *view) arrange(w, h int) plan {
	p := v.around(w, h)
	top, bottom := p.header.h, h-p.footer.h-p.timeline.h
	p.boxes = boxed(w, h)
	border := pick(p.boxes, 2, 0)
	body := bottom - top
	advice := 0
	if h >= footerHeight {
		aw, ah := v.adviceRoom(w, h)
		p.text = v.adviceLines(aw, ah)
		n := len(p.text)
		if n > 0 || len(v.overLines(aw)) > 0 {
			n = max(n, v.room.rows)
		}
		if p.framed = p.boxes && v.advised(aw); n > 0 {
			p.advice = rect{0, top, w, min(n, ah) + pick(p.framed, border, 0)}
			top += p.advice.h
		}
	} else {
		p.text = v.slitLines(w)
		advice = min(len(p.text), max(1, body-len(v.snap.GPUs)))
	}
	used := 0
	shares := tableShares
	if v.table.group != ungrouped {
		shares = treeShares // whoever asks for a tree wants to see it
	}
	for _, share := range shares { // the table gets less where more GPUs get panes, or their panes a box
		was, before := p, used
		p.panes, p.lines, p.hidden = nil, nil, 0
		table := v.tableHeight(body, border, share)
		used = v.placeGPUs(&p, rect{0, top, w, max(bottom-top-advice-table, min(body, 1))})
		if len(was.panes) > 0 && paneWorth(p.panes) <= paneWorth(was.panes) {
			p, used = was, before
		}
	}
	top += used
	if advice > 0 {
		p.advice = rect{0, top, w, min(advice, bottom-top)}
		top += p.advice.h
	}
	p.procs = rect{0, top, w, bottom - top}
	return p
}

// around plans what stands above and below all else: the header, the footer, the time of a replay.
func (v *view) around(w, h int) (p plan) {
	if h >= headerHeight || v.label != "" && h > 1 {
		p.header = rect{0, 0, w, 1}
	}
	if h >= footerHeight {
		p.footer = rect{0, h - 1, w, 1}
	}
	if v.timeline != nil && h >= 4 {
		p.timeline = rect{0, h - 1 - p.footer.h, w, 1}
	}
	return p
}

// adviceRoom is the room for the text of the advice on such a screen: two fifths of what stands between header and footer, at most.
func (v *view) adviceRoom(w, h int) (columns, rows int) {
	p := v.around(w, h)
	rows = max(1, (h-p.header.h-p.footer.h-p.timeline.h)*2/5)
	if boxed(w, h) {
		return w - 4, max(1, rows-2)
	}
	return w, rows
}

// boxed says whether a screen has boxes around everything.
func boxed(w, h int) bool { return h >= boxesHeight && w >= boxesWidth }

// tableShares are the parts of the screen that the table may take, treeShares those of one in groups.
var (
	tableShares = []int{3, 4}
	treeShares  = []int{2}
)

// paneWorth is higher for more panes, and for those with a box.
func paneWorth(panes []placed) int {
	if len(panes) > 0 && panes[0].h >= boxMinHeight {
		return 2*len(panes) + 1
	}
	return 2 * len(panes)
}

// tableHeight is the least room for the process table, of which a part of the screen is enough.
func (v *view) tableHeight(body, border, share int) int {
	if body < 10 {
		return 0
	}
	return min(max(len(v.table.rows), v.table.lately, 1)+1+border, max(body/share, 3))
}

// placeGPUs fills the area from the top and returns the rows it took.
func (v *view) placeGPUs(p *plan, r rect) int {
	list := v.gpus.ordered(v.snap)
	switch {
	case len(list) == 0:
		return 0
	case v.focus == nil || len(list) == 1:
		busy, idle := v.atRest(list)
		cols := columnsFor(len(idle), 1, max(1, r.w/lineMinWidth))
		lines := rowsIn(len(idle), cols)
		if used := placeGrid(p, rect{r.x, r.y, r.w, r.h - lines}, busy); used > 0 {
			return used + v.placeColumns(p, rect{r.x, r.y + used, r.w, lines}, idle, cols)
		}
	}
	return v.placeLines(p, r, list)
}

// atRest parts the GPUs that nobody has used over the time of the plots, and those whose memory their instances show,
// from the others, who get their room. Where all are at rest, none is.
func (v *view) atRest(list []*sampler.GPU) (busy, idle []*sampler.GPU) {
	for _, g := range list {
		if v.unused(g) || v.snap.Split(g) {
			idle = append(idle, g)
		} else {
			busy = append(busy, g)
		}
	}
	if len(busy) == 0 {
		return list, nil
	}
	return busy, idle
}

// placeGrid gives every GPU a pane, if there is room; 0 if there is not.
func placeGrid(p *plan, r rect, list []*sampler.GPU) int {
	n := len(list)
	best, bestScore := 0, -1.0
	for cols := 1; cols <= n && r.w/cols >= gridMinWidth || cols == 1; cols++ {
		rows := (n + cols - 1) / cols
		height := r.h / rows
		if height < gridMinHeight && (n > 1 || r.h < paneMinHeight || r.w < paneMinWidth) {
			continue
		}
		if score := paneScore(r.w/cols, height, cols*rows-n); score > bestScore {
			best, bestScore = cols, score
		}
	}
	if best == 0 {
		return 0
	}
	rows := (n + best - 1) / best
	height := r.h / rows
	w := (r.w - best + 1) / best // a blank column between panes
	for i, gpu := range list {
		p.panes = append(p.panes, placed{rect{r.x + i%best*(r.w-w)/max(best-1, 1), r.y + i/best*height, w, height}, gpu})
	}
	return rows * height
}

// paneScore likes panes about three and a half times as wide as high (in cells), and no
// gaps in the grid.
func paneScore(w, h, gaps int) float64 {
	ratio := float64(w) / float64(h) / 5
	if ratio > 1 {
		ratio = 1 / ratio
	}
	return ratio * float64(min(w*h, 1400)) / float64(1+gaps)
}

// placeLines gives every GPU a line, in as few columns as it can, and one of them a pane
// above when there is room.
func (v *view) placeLines(p *plan, r rect, list []*sampler.GPU) int {
	most := max(1, r.w/lineMinWidth)
	if room := (r.h - leadMinHeight) * most; room >= len(list)-1 && r.h > leadMinHeight && r.w >= paneMinWidth {
		lead := v.lead(list)
		list = without(list, lead)
		cols := columnsFor(len(list), r.h-leadMinHeight-leadMinHeight/2, most)
		h := r.h - rowsIn(len(list), cols)
		p.panes = append(p.panes, placed{rect{r.x, r.y, r.w, h}, lead})
		return h + v.placeColumns(p, rect{r.x, r.y + h, r.w, r.h - h}, list, cols)
	}
	return v.placeColumns(p, r, list, columnsFor(len(list), r.h, most))
}

// columnsFor is the least number of columns in which n lines take at most h rows.
func columnsFor(n, h, most int) int {
	cols := 1
	for cols < most && rowsIn(n, cols) > max(h, 1) {
		cols++
	}
	return cols
}

func rowsIn(n, cols int) int { return (n + cols - 1) / cols }

// placeColumns lays lines out in columns; what does not fit scrolls.
func (v *view) placeColumns(p *plan, r rect, list []*sampler.GPU, cols int) int {
	rows := rowsIn(len(list), cols)
	if cols > 1 || rows > r.h { // or else all are seen at one glance
		list = v.scarceFirst(list)
	}
	if rows > r.h {
		rows = r.h
		p.hidden = len(list) - rows*cols
		first := max(0, min(v.gpus.scroll, p.hidden))
		list = list[first : first+rows*cols]
	}
	for i, gpu := range list {
		col, row := i/max(rows, 1), i%max(rows, 1)
		w := (r.w - (cols-1)*lineGap) / cols
		p.lines = append(p.lines, placed{rect{r.x + col*(w+lineGap), r.y + row, w, 1}, gpu})
	}
	return rows
}

// lead is the GPU that gets a pane when the others get lines: the focused one, the one
// with the most urgent alert, the one whose peaks leave least where that is little, or the first.
func (v *view) lead(list []*sampler.GPU) *sampler.GPU {
	if v.focus != nil {
		return v.focus
	}
	for _, a := range urgentFirst(v.alerts) {
		if g := v.snap.Find(a.Key); g != nil && a.GPU.Known() {
			return g
		}
	}
	for _, f := range v.fits {
		if f.Near() {
			return f.gpu
		}
	}
	worst, most := list[0], 0
	for _, g := range list {
		if n := v.scarcity(g); n > most {
			worst, most = g, n
		}
	}
	return worst
}

// scarceSteps are the steps in which GPUs are compared, of which nearly equal ones must not take turns.
const scarceSteps = 1000

// scarcity is how little a GPU has left at worst, in steps; 0 where that is no worry.
func (v *view) scarcity(g *sampler.GPU) int {
	total := g.Memory.Total.Or(0)
	if said := v.verdict(g); said.role == theme.Dim || said.text == "" || total == 0 {
		return 0
	}
	return scarceSteps - int(scarceSteps*float64(min(g.Memory.WorstFree.Or(total), total))/float64(total))
}

// scarceFirst are GPUs in their order, but before all others the focused one, and those whose peaks leave next to nothing, unless by design,
// the worst of them first: what matters must neither scroll out nor be looked for.
func (v *view) scarceFirst(list []*sampler.GPU) []*sampler.GPU {
	place := make(map[*sampler.GPU]float64, len(list))
	for _, g := range list {
		left := headroom(g)
		if theme.Level(100-left, gpuLevels) != theme.Critical || v.byDesign(g) != "" {
			left = 100
		}
		place[g] = pick(g == v.focus, -2, left)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *sampler.GPU) int { return cmp.Compare(place[a], place[b]) })
	return list
}

func without(list []*sampler.GPU, x *sampler.GPU) []*sampler.GPU {
	return slices.DeleteFunc(slices.Clone(list), func(g *sampler.GPU) bool { return g == x })
}
