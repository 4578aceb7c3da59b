package tape

import (
	"fmt"
	"strings"
	"time"
)

// notes gathers what was wrong, bounded however wrong it is.
type notes struct {
	texts        []string
	cut          int // the line that is incomplete
	cutAfter     int // the last line before a cut between lines
	bad, back    counted
	gaps, orphan counted
	largestGap   time.Duration
	farthestBack time.Duration
	unknown      map[string]int
}

// counted is a number of lines, and the first few by name.
type counted struct {
	n     int
	first []string
}

const namedLines = 10

func (c *counted) add(line int) {
	c.n++
	if len(c.first) < namedLines {
		c.first = append(c.first, fmt.Sprint(line))
	}
}

// lines names them: "line 7", "lines 7, 9, 12 and 30 more".
func (c *counted) lines() string {
	word := "lines "
	if c.n == 1 {
		word = "line "
	}
	s := word + strings.Join(c.first, ", ")
	if c.n > len(c.first) {
		s += fmt.Sprintf(" and %d more", c.n-len(c.first))
	}
	return s
}

func (n *notes) corrupt(line int) { n.bad.add(line) }

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

func (n *notes) add(format string, args ...any) {
	n.texts = append(n.texts, fmt.Sprintf(format, args...))
}

func (n *notes) list(noEnd bool) []string {
	list := append([]string(nil), n.texts...)
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if n.bad.n > 0 {
		add("%d corrupt line(s) skipped: %s", n.bad.n, n.bad.lines())
	}
	if n.orphan.n > 0 {
		add("%d line(s) skipped that build on a snapshot that is missing: %s", n.orphan.n, n.orphan.lines())
	}
	if n.gaps.n > 0 {
		add("%d gap(s), the longest of %s: before %s", n.gaps.n, n.largestGap.Round(time.Millisecond), n.gaps.lines())
	}
	if n.back.n > 0 {
		add("time runs backwards %d time(s), by up to %s: at %s", n.back.n, n.farthestBack.Round(time.Millisecond), n.back.lines())
	}
	total := 0
	for _, count := range n.unknown {
		total += count
	}
	if total > 0 {
		add("%d line(s) of an unknown type skipped", total)
	}
	switch {
	case n.cut > 0:
		add("the file is cut in line %d: everything before it was read", n.cut)
	case n.cutAfter > 0:
		add("the file is cut after line %d: everything before it was read", n.cutAfter)
	case noEnd:
		add("the recording has no end line: it was cut off, or is still being written")
	}
	return list
}
