package sampler

import "math"

const (
	earlyShare  = 100 // a rise of one part in so many of the memory can be seen in a bar
	earlyMemory = 10  // windows after which a height that did not come again is news again
)

// height judges whether the memory of a GPU has risen so far that it is worth an early
// picture. What moves up and down within the heights of late is not.
type height struct {
	most Bytes // of late
	old  int   // windows since that was reached
	step Bytes // how much more is worth it; 0: there is no window before
	news bool  // it has, and was not shown yet
}

// begin begins a window after one with that most.
func (h *height) begin(most Bytes, total Opt[Bytes]) {
	step := total.Or(0) / earlyShare
	if h.old++; most+step >= h.most || h.old > earlyMemory {
		h.most, h.old = most, 0
	}
	h.step, h.news = step, false
}

// see takes a reading and says whether it is news.
func (h *height) see(used Bytes) bool {
	if h.news || h.step == 0 || used <= h.most+h.step {
		return false
	}
	h.news = true
	return true
}

// shown notes that the memory was shown.
func (h *height) shown(most Bytes) { *h = height{most: most, step: h.step} }

// above is more than which is news.
func (h *height) above() uint64 {
	if h.news || h.step == 0 {
		return math.MaxUint64
	}
	return uint64(h.most + h.step)
}
