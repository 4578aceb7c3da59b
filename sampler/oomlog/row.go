package oomlog

import "sync"

// A row says what one wording of a failure looks like and what it means.
type row struct {
	name      string // unique, for tests and for people
	framework string
	kind      string
	memory    string
	// words are lower-case substrings; a line without any of them is never shown to start.
	words []string
	// start is the pattern of the line that begins the message.
	start string
	// fields are looked for, each on its own, in the message: the start line and the lines after it.
	fields []string
	// lines is how many lines after the first may belong to the message.
	lines int
	// near must match in the message or in the lines around it; empty: always.
	near string
	// limit is the kind of MemoryLimit that <limit> and <frac> of this row fill.
	limit string
	// loose wordings also stand in questions and hints: without numbers they count only where an
	// error stands, alone on their line or behind an exception's name (see guard.go).
	loose bool
	// numbers: the row is only for a message with more numbers than the request.
	numbers bool
	// recovered: the wording itself says that the program goes on.
	recovered bool
	// follows: the wording only repeats, with fewer numbers, a failure of its family printed shortly
	// before or after (see merge.go).
	follows bool
	// hostNear and gpuNear set the kind of memory where the lines around tell it.
	hostNear, gpuNear string
}

// compiledRow is a row ready for use.
type compiledRow struct {
	row
	order    int
	mask     wordMask
	start    *template
	fields   []*template
	near     *lazy
	hostNear *lazy
	gpuNear  *lazy
}

// tables is everything that is compiled once from the rows.
type tables struct {
	words      *wordSet
	rows       []*compiledRow
	events     wordMask // words that may begin a failure
	recoveries wordMask
	facts      wordMask
	memory     wordMask
	recovered  []*compiledRecovery
}

// compiled is built from the tables when the first parser is made; nothing changes it later.
var compiled = sync.OnceValue(func() *tables { return buildTables(allRows(), recoveries, factWords) })

func allRows() []row {
	var rows []row
	for _, t := range [][]row{specificRows, libraryRows, servingRows, pytorchRows, genericRows, hostRows} {
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
	words = append(words, memoryWords()...)
	t := &tables{words: newWordSet(append(words, facts...))}
	for i, r := range rows {
		c := &compiledRow{row: r, order: i, mask: t.words.mask(r.words), start: compile(r.start), fields: compileAll(r.fields)}
		c.near, c.hostNear, c.gpuNear = optional(r.near), optional(r.hostNear), optional(r.gpuNear)
		t.events.merge(c.mask)
		t.rows = append(t.rows, c)
	}
	for _, r := range recs {
		m := t.words.mask(r.words)
		t.recoveries.merge(m)
		t.recovered = append(t.recovered, &compiledRecovery{recovery: r, mask: m, re: pattern("(?i)" + loosen(r.pattern))})
	}
	t.facts, t.memory = t.words.mask(facts), t.words.mask(memoryWords())
	return t
}

func optional(text string) *lazy {
	if text == "" {
		return nil
	}
	return pattern("(?i)" + loosen(text))
}
