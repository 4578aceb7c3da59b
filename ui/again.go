package ui

import "slices"

// Three of four pictures are early ones, in which a GPU or two have a new peak: the panes of the others are taken
// from the picture before.

// drawn is the main screen as it was drawn last, as long as nothing but early pictures came since.
type drawn struct {
	canvas *canvas // nil: something else came
	panes  []placed
}

// again takes the pane of a GPU from the picture before, if it is the same.
func (d *drawn) again(c *canvas, p placed) bool {
	if d.canvas == nil || d.canvas.w != c.w || d.canvas.h != c.h || p.x+p.w > c.w || p.y+p.h > c.h || !slices.ContainsFunc(d.panes, p.same) {
		return false
	}
	for y := p.y; y < p.y+p.h; y++ {
		copy(c.row(p.x, y, p.w), d.canvas.row(p.x, y, p.w))
	}
	return true
}

// same says whether another pane has the same figures in the same place: a GPU with a new peak has a new window.
func (p placed) same(o placed) bool {
	was, is := &o.gpu.Memory, &p.gpu.Memory
	return o.rect == p.rect && o.gpu.Key() == p.gpu.Key() && is.Window != nil && was.Window == is.Window && was.Peak == is.Peak
}

// onlyPeaks says whether a message brings nothing but an early picture.
func onlyPeaks(msg any) bool {
	p, ok := msg.(peakArrived)
	return ok && len(p.before.snapshots) == 0
}
