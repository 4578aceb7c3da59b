package torchsnap

// memo is what a pickle remembers of its objects, in pages: a file of a gigabyte remembers tens of millions. Four
// bytes do for each, as numbers are never remembered and the tables are bounded.
type memo struct {
	pages [][]uint32
	n     int // one behind the last
}

const (
	memoPage = 1 << 16
	// memoMost is 256 MiB of memo: a snapshot of a gigabyte with the shortest entries there are has two thirds of it.
	memoMost = 64 << 20
	// memoKind is where the kind of a value stands in its four bytes.
	memoKind = 29
	// memoGap: numbers follow on each other, whoever writes the pickle.
	memoGap = 4096
)

// put remembers a value; false: at a place that no snapshot has.
func (m *memo) put(i uint64, v value) bool {
	if i >= memoMost || i > uint64(m.n+memoGap) {
		return false
	}
	for int(i)/memoPage >= len(m.pages) {
		m.pages = append(m.pages, make([]uint32, memoPage))
	}
	if v.kind() == kindNumber || v.place() >= 1<<memoKind {
		v = opaque
	}
	m.pages[i/memoPage][i%memoPage] = uint32(v.kind()<<memoKind | v.place())
	m.n = max(m.n, int(i)+1)
	return true
}

// get is what was remembered.
func (m *memo) get(i uint64) (value, bool) {
	if i >= uint64(m.n) {
		return 0, false
	}
	v := m.pages[i/memoPage][i%memoPage]
	return make60(int(v>>memoKind), uint64(v&(1<<memoKind-1))), true
}
