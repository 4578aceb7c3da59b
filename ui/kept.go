package ui

// drawn is a frame and the panes of GPUs on it; its zero value is none of which anything may be kept.
type drawn struct {
	canvas *canvas
	panes  []placed
}

// keeps says whether the n-th pane is as it was. An early picture renews a GPU or two: where nothing else has happened since the frame
// before, the panes of all the others are in it, and they are most of what there is to draw.
func (v *view) keeps(n int, p placed) bool {
	d := v.before
	return v.peeks && d.canvas != nil && n < len(d.panes) && d.panes[n].rect == p.rect && !p.gpu.Renewed(d.panes[n].gpu)
}

// copy takes a part of another canvas of the same size.
func (c *canvas) copy(from *canvas, r rect) {
	left, right := max(r.x, 0), min(r.x+r.w, c.w)
	for y := max(r.y, 0); y < min(r.y+r.h, c.h) && left < right; y++ {
		copy(c.cells[y*c.w+left:y*c.w+right], from.cells[y*c.w+left:y*c.w+right])
	}
}
