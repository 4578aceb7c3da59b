package tape

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Say returns the sentence of an id, with its values by name: that of a catalog.
type Say func(id string, values ...any) string

// note is one sentence, by its id.
type note struct {
	id     string
	values []any
}

// said are its values, those that are lines in words.
func (n *note) said(say Say) []any {
	values := slices.Clone(n.values)
	for i, v := range values {
		if lines, ok := v.(func(Say) string); ok {
			values[i] = lines(say)
		}
	}
	return values
}

// notes gathers what was wrong, bounded however wrong it is.
type notes struct {
	texts        []note
	cut          int // the line that is incomplete
	cutAfter     int // the last line before a cut between lines
	bad, back    counted
	gaps, orphan counted
	flaws        [flaws]counted
	largestGap   time.Duration
	farthestBack time.Duration
	unknown      map[string]int
}

// counted is a number of lines, and the first few by name.
type counted struct {
	n     int
	last  int
	first []string
}

const namedLines = 10

func (c *counted) add(line int) {
	c.n++
	if len(c.first) < namedLines {
		c.first = append(c.first, fmt.Sprint(line))
	}
}

// lines names them: "line 7", "lines 7, 9, 12, …".
func (c *counted) lines(say Say) string {
	list := strings.Join(c.first, ", ")
	if c.n > len(c.first) {
		list += ", …"
	}
	if c.n == 1 {
		return say("count.line.one", "lines", list)
	}
	return say("count.line.many", "lines", list)
}

func (n *notes) corrupt(line int) { n.bad.add(line) }

// flawed notes the flaws of a line.
func (n *notes) flawed(line int, m *meter) {
	for l, is := range m.flaws {
		if c := &n.flaws[l]; is && c.last != line {
			c.last = line
			c.add(line)
		}
	}
}

func (n *notes) gap(line int, d time.Duration) {
	n.gaps.add(line)
	n.largestGap = max(n.largestGap, d)
}

func (n *notes) backwards(line int, d time.Duration) {
	n.back.add(line)
	n.farthestBack = max(n.farthestBack, d)
}

// other counts lines of a type that this version does not know.
func (n *notes) other(kind string) {
	if n.unknown == nil {
		n.unknown = map[string]int{}
	}
	if len(kind) > 40 || len(n.unknown) >= 10 {
		kind = "…"
	}
	n.unknown[kind]++
}

func (n *notes) add(id string, values ...any) { n.texts = append(n.texts, note{id, values}) }

// list says them all. noEnd: the end of the recording is missing.
func (n *notes) list(say Say, noEnd bool) (list []string) {
	add := func(text string) { list = append(list, text) }
	for _, t := range n.texts {
		add(say(t.id, t.said(say)...))
	}
	if n.bad.n > 0 {
		add(say("tape.corrupt", "count", n.bad.n, "lines", n.bad.lines(say)))
	}
	for l := range n.flaws {
		if t := flawTexts[l]; n.flaws[l].n > 0 {
			add(say(t.id, "lines", n.flaws[l].lines(say), "most", t.most))
		}
	}
	if n.orphan.n > 0 {
		add(say("tape.orphan", "count", n.orphan.n, "lines", n.orphan.lines(say)))
	}
	if n.gaps.n > 0 {
		add(say("tape.gaps", "count", n.gaps.n, "span", n.largestGap.Round(time.Millisecond), "lines", n.gaps.lines(say)))
	}
	if n.back.n > 0 {
		add(say("tape.backwards", "count", n.back.n, "span", n.farthestBack.Round(time.Millisecond), "lines", n.back.lines(say)))
	}
	total := 0
	for _, count := range n.unknown {
		total += count
	}
	if total > 0 {
		add(say("tape.unknown", "count", total))
	}
	switch {
	case n.cut > 0:
		add(say("tape.cut_in", "line", n.cut))
	case n.cutAfter > 0:
		add(say("tape.cut_after", "line", n.cutAfter))
	case noEnd:
		add(say("tape.no_end"))
	}
	return list
}
