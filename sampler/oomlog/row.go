package oomlog

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
	// warning: the allocator says itself that it is no failure. It counts where it stands alone, and is
	// neither counted beside a failure of its process nor part of one.
	warning bool
	// launcher: it is what a launcher says of a process that was ended. After a failure of a GPU launchers end the
	// others of the job themselves: then it is no failure of its own.
	launcher bool
	// hostNear and gpuNear set the kind of memory where the lines around tell it.
	hostNear, gpuNear string
}

// compiledRow is a row ready for use.
type compiledRow struct {
	row
	mask     wordMask
	start    *template
	fields   []*template
	near     *hint
	hostNear *hint
	gpuNear  *hint
}

// hint is a pattern for the lines around a message.
type hint struct {
	*lazy
	index int // in the gate of the hints
}

// looksAround says whether the row wants the lines around the message.
func (r *compiledRow) looksAround() bool {
	return r.near != nil || r.hostNear != nil || r.gpuNear != nil
}
