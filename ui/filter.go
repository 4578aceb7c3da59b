package ui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
)

// filter chooses rows of the process table: those that fit every word.
type filter struct {
	text  string
	words []func(procRow) bool
}

func (f *filter) fits(r procRow) bool {
	return !slices.ContainsFunc(f.words, func(fits func(procRow) bool) bool { return !fits(r) })
}

// parseFilter reads words such as ann, 4242, gpu:3, user:ann, pid:4242 and mem>10G. bad is the first that says nothing;
// the others count.
func parseFilter(text string) (f filter, bad string) {
	f.text = strings.Join(strings.Fields(text), " ")
	for word := range strings.FieldsSeq(text) {
		if fits := filterWord(word); fits != nil {
			f.words = append(f.words, fits)
		} else if bad == "" {
			bad = word
		}
	}
	return f, bad
}

// filterWord is nil for a word that says nothing.
func filterWord(word string) func(procRow) bool {
	low := strings.ToLower(word)
	if rest, ok := strings.CutPrefix(low, "mem"); ok && strings.ContainsAny(rest[:min(1, len(rest))], "<>") {
		return memoryWord(rest)
	}
	name, value, _ := strings.Cut(low, ":")
	switch {
	case name == "gpu" && value != "":
		return gpuWord(value)
	case name == "pid" && value != "":
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil
		}
		return func(r procRow) bool { return r.proc != nil && r.proc.PID == n }
	case name == "user" && value != "":
		return func(r procRow) bool { return r.proc != nil && strings.ToLower(r.proc.User) == value }
	case name == "host" && value != "":
		any := anyWord(low)
		return func(r procRow) bool { return strings.Contains(strings.ToLower(r.machine()), value) || any(r) }
	case (name == "gpu" || name == "pid" || name == "user" || name == "host") && strings.HasSuffix(low, ":"):
		return nil
	}
	return anyWord(low)
}

// anyWord is in the user, the pid, the name, the command, the container or the machine.
func anyWord(low string) func(procRow) bool {
	return func(r procRow) bool {
		p := r.proc
		return p != nil && slices.ContainsFunc([]string{p.User, strconv.Itoa(p.PID), p.Name, p.Command, p.Container.Or(""), r.host},
			func(s string) bool { return strings.Contains(strings.ToLower(s), low) })
	}
}

// gpuWord is "3", or "3:0" of an instance; 3 fits all instances of it.
func gpuWord(value string) func(procRow) bool {
	index, _, _ := strings.Cut(value, ":")
	if _, err := strconv.Atoi(index); err != nil {
		return nil
	}
	return func(r procRow) bool { return r.gpu.Label() == value || strconv.Itoa(r.gpu.Index) == value }
}

// memoryWord compares what a row holds: ">10G", "<=300MiB".
func memoryWord(rest string) func(procRow) bool {
	size, equal := strings.CutPrefix(rest[1:], "=")
	limit, err := sampler.ParseBytes(size)
	if err != nil {
		return nil
	}
	more := rest[0] == '>'
	return func(r procRow) bool {
		held, ok := r.memory().Value()
		switch {
		case !ok:
			return false
		case held == limit:
			return equal
		}
		return held > limit == more
	}
}

// openFilter asks for a filter, beginning with the one that counts.
func (m *Model) openFilter() tea.Cmd {
	m.prompt.open(modeFilter)
	m.prompt.typed = m.table.filter.text
	return nil
}

// filterKey takes a key while a filter is typed. The table follows what is typed.
func (m *Model) filterKey(msg tea.KeyPressMsg) tea.Cmd {
	complete := m.prompt.edit(msg)
	if m.prompt.mode != modeFilter { // Esc
		m.prompt.typed = ""
	}
	bad := m.setFilter()
	switch {
	case !complete:
		if bad == "" {
			m.notices.text = "" // it was about what was typed
		}
		return nil
	case bad != "":
		return m.note(m.words.Say("say.filter_bad", "word", bad))
	}
	m.prompt.open(modeMain)
	return nil
}

// setFilter filters by what is typed, and returns what of it says nothing.
func (m *Model) setFilter() (bad string) {
	m.table.filter, bad = parseFilter(m.prompt.typed)
	m.list()
	if m.table.lost() && m.table.cursor >= 0 { // by the filter: the next row is selected
		m.table.move(m.table.cursor)
	}
	return bad
}

// escape takes back one thing: the filter, the tags, the cursor, or the focus.
func (m *Model) escape() tea.Cmd {
	switch {
	case m.overviewed() && m.table.filter.text == "":
		m.escapeFleet()
	case m.table.filter.text != "":
		m.prompt.typed = ""
		m.setFilter()
	case len(m.table.tagged) > 0:
		clear(m.table.tagged)
	case m.table.sideways > 0:
		m.table.sideways = 0
	case m.table.cursor >= 0:
		m.table.leave()
	case m.fleet != nil && !m.gpus.focus.Known():
		m.leaveMachine()
	default:
		return focusOn(-1)(m)
	}
	return nil
}
