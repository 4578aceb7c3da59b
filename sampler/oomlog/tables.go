package oomlog

import (
	"math/bits"
	"slices"
	"sync"
)

// tables is everything that is compiled once from the rows.
type tables struct {
	words      *wordSet
	rows       []*compiledRow
	rowsOf     [maxWords]rowMask // rows with a word
	events     wordMask          // words that may begin a failure
	recoveries wordMask
	facts      wordMask
	memory     wordMask
	pace       wordMask
	sizes      wordMask
	soFar      wordMask
	recovered  []*compiledRecovery
	programs   wordMask
	memoryRows []int // the word of each of memoryRows
	hints      func() *gate
}

// compiled is built from the tables when the first parser is made; nothing changes it later.
var compiled = sync.OnceValue(func() *tables { return buildTables(allRows(), recoveries, factWords) })

func allRows() []row {
	var rows []row
	for _, t := range [][]row{specificRows, libraryRows, servingRows, pytorchRows, graphicsRows, nativeRows, genericRows, hostRows} {
		rows = append(rows, t...)
	}
	return rows
}

func buildTables(rows []row, recs []recovery, facts []string) *tables {
	var words []string
	for _, r := range rows {
		words = append(words, r.words...)
	}
	for _, r := range recs {
		words = append(words, r.words...)
	}
	words = slices.Concat(words, memoryWords(), paceWords(), sizeNames, keptWords(), programWords(), []string{soFarWord})
	t := &tables{words: newWordSet(append(words, facts...))}
	var hints []*lazy
	add := func(text string) *hint {
		if text == "" {
			return nil
		}
		hints = append(hints, pattern("(?i)"+loosen(text)))
		return &hint{hints[len(hints)-1], len(hints) - 1}
	}
	for _, r := range rows {
		c := &compiledRow{row: r, mask: t.words.mask(r.words), start: compile(r.start), fields: compileAll(r.fields)}
		c.near, c.hostNear, c.gpuNear = add(r.near), add(r.hostNear), add(r.gpuNear)
		t.events.merge(&c.mask)
		for _, w := range r.words {
			t.rowsOf[t.words.index[w]].set(len(t.rows))
		}
		t.rows = append(t.rows, c)
	}
	for _, r := range recs {
		m := t.words.mask(r.words)
		t.recoveries.merge(&m)
		t.recovered = append(t.recovered, &compiledRecovery{recovery: r, mask: m, re: pattern("(?i)" + loosen(r.pattern))})
	}
	t.facts, t.memory, t.programs = t.words.mask(facts), t.words.mask(memoryWords()), t.words.mask(programWords())
	t.pace, t.sizes = t.words.mask(paceWords()), t.words.mask(slices.Concat(sizeNames, keptWords()))
	t.soFar = t.words.mask([]string{soFarWord})
	for _, r := range memoryRows {
		t.memoryRows = append(t.memoryRows, t.words.index[r.word])
	}
	t.hints = sync.OnceValue(func() *gate { return newGate(hints) })
	return t
}

// rowMask says which rows.
type rowMask [7]uint64

func (m *rowMask) set(i int) { m[i>>6] |= 1 << (i & 63) }

// rowsWith are the rows that have one of the words.
func (t *tables) rowsWith(found *wordMask) (rows rowMask) {
	for i, some := range found {
		for some &= t.events[i]; some != 0; some &= some - 1 {
			for j, more := range t.rowsOf[i<<6+bits.TrailingZeros64(some)] {
				rows[j] |= more
			}
		}
	}
	return rows
}

// recovers says whether a line with these words says that the program went on.
func (t *tables) recovers(text part, found *wordMask) bool {
	if !found.meets(&t.recoveries) {
		return false
	}
	for _, r := range t.recovered {
		if found.meets(&r.mask) && r.re.in(text) {
			return !spoken.MatchString(text.text)
		}
	}
	return false
}

// wordsIn are the words of the tables in a line.
func wordsIn(line string) (found wordMask) {
	compiled().words.scanString(line, &found)
	return found
}
