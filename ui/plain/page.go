package plain

import (
	"io"
	"strings"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Options say how a text is written.
type Options struct {
	Width int  // columns, 40 to 120; others are brought into that range
	Color bool // ANSI colors; leave it off where the output is no terminal
	ASCII bool // only characters of ASCII, but for letters
	// Rows is the height of the terminal. What is longer would scroll the verdict away: then the details
	// are left out, and the last line says how to see them. 0: everything.
	Rows int
}

// page collects the lines of a text.
type page struct {
	out   strings.Builder
	width int
	paint paint
	marks marks
	words lang.Catalog
	ascii bool
}

// clean is a text from outside, or one of our own, as it may be written.
func (p *page) clean(s string) string {
	if s = sampler.Clean(s); p.ascii {
		return ASCII(s)
	}
	return s
}

// write writes the lines. What was cut on the way has its mark in the same column.
func (p *page) write(w io.Writer, lines string) error {
	if p.ascii {
		lines = strings.Map(ASCIIRune, lines)
	}
	_, err := io.WriteString(w, lines)
	return err
}

// line writes one line as it is.
func (p *page) line(s string) { p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// wrap breaks a text into lines that have room for at least two wide characters.
func wrap(s string, width int) []string { return Wrap(s, max(width, 4), columns) }

// text wraps a sentence; the first line begins with head, the others are indented as far.
func (p *page) text(head, s string, paint func(string) string) {
	indent := columns(head)
	for i, part := range wrap(p.clean(s), p.width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		p.line(head + paint(part))
	}
}

func newPage(o Options, words lang.Catalog) page {
	return page{width: min(max(o.Width, 40), 120), paint: paintFor(o.Color), marks: marksFor(o.ASCII), words: words, ascii: o.ASCII}
}

// label is a word at the left edge, as wide as the widest of its column.
func (p *page) label(id string) string { return pad(p.words.Say(id), 7) }

// flow writes items side by side, as many as fit on a line.
func (p *page) flow(indent int, items []string) {
	line, used := strings.Repeat(" ", indent), indent
	for i, item := range items {
		n := columns(stripPaint(item))
		if i > 0 && used+2+n > p.width {
			p.line(line)
			line, used = strings.Repeat(" ", indent), indent
		} else if i > 0 {
			line, used = line+"  ", used+2
		}
		line, used = line+item, used+n
	}
	if used > indent {
		p.line(line)
	}
}

// Apart parts a line that is to be typed from the remark behind it, where both do not fit into a width; a remark alone is no code.
func Apart(line string, width int, columns func(string) int) (code, remark string) {
	if remark, alone := strings.CutPrefix(line, "# "); alone {
		return "", remark
	}
	if code, remark, both := strings.Cut(line, "  # "); both && columns(line) > width {
		return code, remark
	}
	return line, ""
}

// commands writes what to type. Comments that follow code go to a line of their own when both
// do not fit.
func (p *page) commands(list []string, indent int) {
	space := strings.Repeat(" ", indent)
	for _, entry := range list {
		for line := range strings.SplitSeq(entry, "\n") {
			line = p.clean(line)
			code, remark := Apart(line, p.width-indent, columns)
			if remark != "" {
				p.comment(space, remark)
			}
			if code, beside, both := strings.Cut(code, "  # "); both {
				p.line(space + code + p.paint.dim("  # "+beside))
			} else if code != "" || remark == "" {
				p.line(space + code)
			}
		}
	}
}

// comment wraps a remark so that each of its lines stays one.
func (p *page) comment(space, s string) {
	for _, part := range wrap(s, p.width-len(space)-2) {
		p.line(space + p.paint.dim("# "+part))
	}
}
