package plain

import "strings"

// paint colors by meaning. Without color every paint leaves the text as it is.
type paint struct{ bold, dim, bad, accent, warn, other func(string) string }

func plainly(s string) string { return s }

func paintFor(color bool) paint {
	with := func(code string) func(string) string {
		if !color {
			return plainly
		}
		return func(s string) string {
			if s == "" {
				return ""
			}
			return "\x1b[" + code + "m" + s + "\x1b[0m"
		}
	}
	return paint{bold: with("1"), dim: with("2"), bad: with("1;31"), accent: with("36"), warn: with("33"), other: with("35")}
}

// marks are the characters of the picture.
type marks struct {
	left, right, allocated, holes, outside, others, free, bullet, first string
	needLeft, needLine, needRight, line                                 string
}

func marksFor(ascii bool) marks {
	if ascii {
		return marks{"[", "]", "#", "%", ":", "o", ".", "-", ">", "|", "-", "|", "-"}
	}
	return marks{"▐", "▌", "█", "▒", "░", "▚", "·", "•", "▸", "├", "─", "┤", "─"}
}

// need is the request as a span.
func (m marks) need(n int) string {
	if n < 2 {
		return m.needLeft
	}
	return m.needLeft + strings.Repeat(m.needLine, n-2) + m.needRight
}

// rule is a line with a word in it.
func (m marks) rule(word string, width int) string {
	return strings.Repeat(m.line, 2) + " " + word + " " + strings.Repeat(m.line, max(0, width-4-columns(word)))
}

// stripPaint takes nvpeak's own colors out, to measure a text.
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
