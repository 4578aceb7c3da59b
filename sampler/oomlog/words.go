package oomlog

// A word set finds a few hundred words in one pass over the bytes of a line (Aho-Corasick as a
// dense automaton, ASCII case folded). It is what keeps ordinary lines cheap: no regexp sees them.

// wordMask says which words of the set were seen.
type wordMask [12]uint64

const maxWords = len(wordMask{}) * 64

func (m *wordMask) set(i int) { m[i>>6] |= 1 << (i & 63) }

func (m *wordMask) has(i int) bool { return m[i>>6]&(1<<(i&63)) != 0 }

func (m *wordMask) merge(o *wordMask) {
	for i := range m {
		m[i] |= o[i]
	}
}

// meets says whether the two masks share a word.
func (m *wordMask) meets(o *wordMask) bool {
	for i := range m {
		if m[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

type wordSet struct {
	class   [256]uint8 // byte → column; 0 is every byte that no word has
	columns int
	next    []uint32   // state*columns+column → state, premultiplied by columns
	outs    [][]uint16 // words that end in a state; states from firstOut on have some
	first   uint32     // premultiplied; states >= first end at least one word
	index   map[string]int
	longest int // bytes of a word
}

// trie is the set while it is being built.
type trie struct {
	columns int
	kids    []int32    // node*columns+column → node; 0 is the root, which is nobody's kid
	outs    [][]uint16 // node → words that end in it
}

func (t *trie) grow() (node int32) {
	t.kids = t.kids[:len(t.kids)+t.columns]
	t.outs = append(t.outs, nil)
	return int32(len(t.outs) - 1)
}

func (t *trie) row(node int32) []int32 { return t.kids[int(node)*t.columns:][:t.columns] }

// newWordSet builds the automaton. Words are lower case; more than maxWords is a mistake of the tables.
func newWordSet(words []string) *wordSet {
	w := &wordSet{index: map[string]int{}}
	for _, s := range words {
		if _, ok := w.index[s]; !ok && s != "" {
			w.index[s] = len(w.index)
			w.longest = max(w.longest, len(s))
		}
	}
	if len(w.index) > maxWords {
		panic("oomlog: too many words in the pattern tables")
	}
	w.classes()
	w.flatten(w.trie())
	return w
}

// classes numbers the bytes that words use; both cases of a letter share a column.
func (w *wordSet) classes() {
	w.columns = 1
	for s := range w.index {
		for i := range len(s) {
			if w.class[s[i]] == 0 {
				w.class[s[i]] = uint8(w.columns)
				w.columns++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		w.class[c-'a'+'A'] = w.class[c]
	}
}

func (w *wordSet) trie() *trie {
	most := 1 // nodes
	for s := range w.index {
		most += len(s)
	}
	t := &trie{columns: w.columns, kids: make([]int32, 0, most*w.columns), outs: make([][]uint16, 0, most)}
	t.grow()
	for s, id := range w.index {
		n := int32(0)
		for i := range len(s) {
			c := w.class[s[i]]
			k := t.row(n)[c]
			if k == 0 {
				k = t.grow()
				t.row(n)[c] = k
			}
			n = k
		}
		t.outs[n] = append(t.outs[n], uint16(id))
	}
	return t
}

// flatten turns the trie into a table, breadth first, with the states that end words at the end
// so that one comparison tells them. A node without a kid goes on as the node of the longest end of its word that
// is a beginning of another.
func (w *wordSet) flatten(t *trie) {
	order, ends := []int32{0}, make([]int32, len(t.outs)) // ends: node → that node
	for i := 0; i < len(order); i++ {
		n := order[i]
		row, other := t.row(n), t.row(ends[n])
		for c, k := range row {
			switch {
			case k != 0:
				if n != 0 {
					ends[k] = other[c]
				}
				t.outs[k] = append(t.outs[k], t.outs[ends[k]]...)
				order = append(order, k)
			case n != 0:
				row[c] = other[c]
			}
		}
	}
	w.number(t, order)
}

func (w *wordSet) number(t *trie, order []int32) {
	id := make([]uint32, len(order)) // node → state
	count := 0
	for _, ends := range []bool{false, true} {
		if ends {
			w.first = uint32(count * w.columns)
		}
		for _, n := range order {
			if (len(t.outs[n]) > 0) == ends {
				id[n] = uint32(count * w.columns)
				count++
			}
		}
	}
	w.next = make([]uint32, len(t.kids))
	w.outs = make([][]uint16, count)
	for n, outs := range t.outs {
		w.outs[int(id[n])/w.columns] = outs
		next := w.next[id[n]:]
		for c, k := range t.row(int32(n)) {
			next[c] = id[k]
		}
	}
}

// scan reports the words of line.
func (w *wordSet) scan(line []byte, found *wordMask) bool { return scanWords(w, line, found) }

func (w *wordSet) scanString(line string, found *wordMask) bool { return scanWords(w, line, found) }

func scanWords[T []byte | string](w *wordSet, line T, found *wordMask) bool {
	state, hit := uint32(0), false
	next, first := w.next, w.first
	for i := range len(line) {
		state = next[int(state)+int(w.class[line[i]])]
		if state >= first {
			hit = true
			for _, o := range w.outs[int(state)/w.columns] {
				found.set(int(o))
			}
		}
	}
	return hit
}

// mask is the set of the given words.
func (w *wordSet) mask(words []string) wordMask {
	var m wordMask
	for _, s := range words {
		m.set(w.index[s])
	}
	return m
}
