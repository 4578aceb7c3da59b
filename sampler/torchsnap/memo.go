package torchsnap

// memo is what a pickle remembers of its objects, in pages: a file of a gigabyte remembers tens of millions.
type memo struct {
	pages [][]value
	n     int // one behind the last
}

const (
	memoPage = 1 << 16
	// memoMost is 256 MiB of memo: a snapshot of a gigabyte with the shortest entries there are has less.
	memoMost = 32 << 20
	// memoGap: numbers follow on each other, whoever writes the pickle.
	memoGap = 4096
)

// put remembers a value; false: at a place that no snapshot has.
func (m *memo) put(i uint64, v value) bool {
	if i >= memoMost || i > uint64(m.n+memoGap) {
		return false
	}
	for int(i)/memoPage >= len(m.pages) {
		m.pages = append(m.pages, make([]value, memoPage))
	}
	m.pages[i/memoPage][i%memoPage] = v
	m.n = max(m.n, int(i)+1)
	return true
}

// get is what was remembered.
func (m *memo) get(i uint64) (value, bool) {
	if i >= uint64(m.n) {
		return 0, false
	}
	return m.pages[i/memoPage][i%memoPage], true
}
