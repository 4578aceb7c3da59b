package ui

// An early picture renews a GPU or two. The panes of all the others would be drawn as they were, and are most of what a frame
// has to draw: where nothing else has happened since the frame before, they are taken from it.

// drawn is a frame and the panes of GPUs on it; its zero value is none of which anything may be kept.
type drawn struct {
	canvas *canvas
	panes  []placed
}

// keeps says whether the n-th pane is as it was.
func (d *drawn) keeps(n int, p placed, c *canvas) bool {
	if d.canvas == nil || d.canvas.w != c.w || d.canvas.h != c.h || n >= len(d.panes) || d.panes[n].rect != p.rect {
		return false
	}
	return !p.gpu.Renewed(d.panes[n].gpu)
}

// copy takes a part of another canvas of the same size.
func (c *canvas) copy(from *canvas, r rect) {
	left, right := max(r.x, 0), min(r.x+r.w, c.w)
	for y := max(r.y, 0); y < min(r.y+r.h, c.h) && left < right; y++ {
		copy(c.cells[y*c.w+left:y*c.w+right], from.cells[y*c.w+left:y*c.w+right])
	}
}
