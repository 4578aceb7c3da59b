package oomlog

// A word set finds a few hundred words in one pass over the bytes of a line (Aho-Corasick as a
// dense automaton, ASCII case folded). It is what keeps ordinary lines cheap: no regexp sees them.

// wordMask says which words of the set were seen.
type wordMask [8]uint64

const maxWords = len(wordMask{}) * 64

func (m *wordMask) set(i int) { m[i>>6] |= 1 << (i & 63) }

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

// trieNode is a node while the set is being built.
type trieNode struct {
	kids map[uint8]int
	fail int
	outs []uint16
}

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

func (w *wordSet) trie() []trieNode {
	nodes := []trieNode{{kids: map[uint8]int{}}}
	for s, id := range w.index {
		n := 0
		for i := range len(s) {
			c := w.class[s[i]]
			k, ok := nodes[n].kids[c]
			if !ok {
				k = len(nodes)
				nodes = append(nodes, trieNode{kids: map[uint8]int{}})
				nodes[n].kids[c] = k
			}
			n = k
		}
		nodes[n].outs = append(nodes[n].outs, uint16(id))
	}
	return nodes
}

// flatten turns the trie into a table, breadth first, with the states that end words at the end
// so that one comparison tells them.
func (w *wordSet) flatten(nodes []trieNode) {
	order := []int{0}
	full := make([][]int, len(nodes)) // node → column → node
	for i := 0; i < len(order); i++ {
		n := order[i]
		full[n] = make([]int, w.columns)
		for c := range w.columns {
			k, ok := nodes[n].kids[uint8(c)]
			switch {
			case ok:
				if n != 0 {
					nodes[k].fail = full[nodes[n].fail][c]
				}
				nodes[k].outs = append(nodes[k].outs, nodes[nodes[k].fail].outs...)
				full[n][c] = k
				order = append(order, k)
			case n != 0:
				full[n][c] = full[nodes[n].fail][c]
			}
		}
	}
	w.number(nodes, order, full)
}

func (w *wordSet) number(nodes []trieNode, order []int, full [][]int) {
	id := make([]int, len(nodes))
	count := 0
	for _, ends := range []bool{false, true} {
		if ends {
			w.first = uint32(count * w.columns)
		}
		for _, n := range order {
			if (len(nodes[n].outs) > 0) == ends {
				id[n] = count
				count++
			}
		}
	}
	w.next = make([]uint32, count*w.columns)
	w.outs = make([][]uint16, count)
	for n := range nodes {
		w.outs[id[n]] = nodes[n].outs
		for c, k := range full[n] {
			w.next[id[n]*w.columns+c] = uint32(id[k] * w.columns)
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
