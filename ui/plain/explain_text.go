package plain

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// columns is how many terminal columns a text takes. Line-drawing characters count one whatever
// the locale says, as terminals draw them.
func columns(s string) int {
	return (&runewidth.Condition{EastAsianWidth: false}).StringWidth(s)
}

// padTo adds blanks up to a number of columns.
func padTo(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// noLineStart are characters that must not begin a line in Chinese text.
const noLineStart = "，。；：、）”？！)"

// wrapText breaks a text into lines of at most width columns, at blanks and between wide
// characters; a single word that is longer is cut.
func wrapText(s string, width int) []string {
	width = max(width, 4)
	var lines []string
	line, used := "", 0
	for _, piece := range pieces(s) {
		n := columns(piece)
		if used > 0 && used+columns(strings.TrimRight(piece, " ")) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line, used = "", 0
		}
		for n > width { // longer than a whole line
			head := runewidth.Truncate(piece, width, "")
			if head == "" {
				break
			}
			lines = append(lines, head)
			piece = piece[len(head):]
			n = columns(piece)
		}
		line, used = line+piece, used+n
	}
	if line = strings.TrimRight(line, " "); line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// pieces are the parts between which a line may break: words with the blanks behind them, and
// single wide characters with the punctuation behind them.
func pieces(s string) []string {
	var list []string
	var now strings.Builder
	end := func() {
		if now.Len() > 0 {
			list = append(list, now.String())
			now.Reset()
		}
	}
	blank, wide := false, false
	for _, r := range s {
		isWide := runewidth.RuneWidth(r) == 2
		sticks := strings.ContainsRune(noLineStart, r)
		if !sticks && r != ' ' && (blank || wide || isWide) {
			end()
		}
		now.WriteRune(r)
		blank, wide = r == ' ', isWide
	}
	end()
	return list
}

// explainPaint colours by meaning. Without colour every paint leaves the text as it is.
type explainPaint struct{ bold, dim, bad, accent, warn, other func(string) string }

func plainly(s string) string { return s }

func paintFor(o ExplainOptions) explainPaint {
	with := func(code string) func(string) string {
		if !o.Color {
			return plainly
		}
		return func(s string) string {
			if s == "" {
				return ""
			}
			return "\x1b[" + code + "m" + s + "\x1b[0m"
		}
	}
	return explainPaint{bold: with("1"), dim: with("2"), bad: with("1;31"), accent: with("36"), warn: with("33"), other: with("35")}
}

// stripPaint takes nvpeak's own colours out, to measure a text.
func stripPaint(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		j := strings.IndexByte(s[i:], 'm')
		if j < 0 {
			return s
		}
		s = s[:i] + s[i+j+1:]
	}
}

// explainMarks are the characters of the picture.
type explainMarks struct {
	left, right, allocated, holes, outside, others, free, bullet, first string
	needLeft, needLine, needRight, line                                 string
}

func marksFor(o ExplainOptions) explainMarks {
	if o.ASCII {
		return explainMarks{"[", "]", "#", "%", ":", "o", ".", "-", ">", "|", "-", "|", "-"}
	}
	return explainMarks{"▐", "▌", "█", "▒", "░", "▚", "·", "•", "▸", "├", "─", "┤", "─"}
}

// need is the request as a span.
func (m explainMarks) need(n int) string {
	if n < 2 {
		return m.needLeft
	}
	return m.needLeft + strings.Repeat(m.needLine, n-2) + m.needRight
}

// rule is a line with a word in it.
func (m explainMarks) rule(word string, width int) string {
	return strings.Repeat(m.line, 2) + " " + word + " " + strings.Repeat(m.line, max(0, width-4-columns(word)))
}
