package sampler

import "math"

const (
	earlyShare  = 100 // a rise of one part in so many of the memory can be seen in a bar
	recordShare = 800 // a rise of the peak by one in so many changes its figure: 0.1 GiB of 80
	earlyMemory = 10  // windows after which a height that did not come again is news again
)

// height judges whether the memory of a GPU has risen so far that it is worth an early
// picture. What moves up and down within the heights of late is not.
type height struct {
	most   Bytes // of late
	record Bytes // of all windows: the peak
	old    int   // windows since most was reached
	step   Bytes // how much more than most is worth it; 0: there is no window before
	more   Bytes // the same of the record
	news   bool  // it has, and was not shown yet
}

// begin begins a window after one with that most.
func (h *height) begin(most Bytes, total Opt[Bytes]) {
	step := total.Or(0) / earlyShare
	if h.old++; most+step >= h.most || h.old > earlyMemory {
		h.most, h.old = most, 0
	}
	h.step, h.more, h.news = step, total.Or(0)/recordShare, false
	h.record = max(h.record, most)
}

// forget lets the peak begin again, with what is used now.
func (h *height) forget(used Bytes) { h.most, h.record = used, used }

// see takes a reading and says whether it is news.
func (h *height) see(used Bytes) bool {
	if uint64(used) <= h.above() {
		return false
	}
	h.news = true
	return true
}

// shown notes that the memory was shown.
func (h *height) shown(most Bytes) {
	h.most, h.record, h.old, h.news = most, max(h.record, most), 0, false
}

// above is more than which is news.
func (h *height) above() uint64 {
	if h.news || h.step == 0 {
		return math.MaxUint64
	}
	return uint64(min(h.most+h.step, h.record+h.more))
}
