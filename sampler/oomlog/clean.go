package oomlog

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
)

// Cleaning removes what terminals, panels, mail, Markdown and JSON put around a line. It only runs on
// lines that may matter.

var (
	// Terminal escapes: CSI, OSC, two-byte; then the same written out by JSON, Rust or Python; then color
	// codes whose escape character was lost in copying.
	ansiRaw     = pattern("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_=>])")
	ansiWritten = pattern(`(?:\\u001[bB]|\\x1[bB]|\\033|\\e|\^\[|␛)\[[0-9;?]*[A-Za-z]`)
	ansiOrphan  = pattern(`\[(?:\d{1,3};)*\d{1,3}m|\[m`)
	htmlTag     = pattern(`(?i)</?(?:br|p|pre|code|span|b|strong|em|i|div|td|tr|li|ul|ol|a|font|kbd|samp)(?:\s[^<>]*)?/?>`)
	control     = pattern(`[\x00-\x08\x0b-\x1f\x7f]`)
	drivePath   = pattern(`[A-Za-z]:\\[^"'\s]*$`)
	onlyFrame   = pattern(`^[\s─━═╭╮╰╯┌┐└┘├┤┏┓┗┛╔╗╚╝|│┃+=*_~.-]*$`)
	frameLeft   = pattern(`^[\s]*(?:[│┃║╎▌▏┆]|\|\s)\s?`)
	frameRight  = pattern(`\s*[│┃║╎▐▕┆]\s*$`)
	quoteLeft   = pattern("^\\s*(?:(?:>\\s?)+|`{1,3})")
	// A progress bar ends in its rate; what stands behind it was printed by somebody else.
	barEnd = pattern(`(?:\d\s?(?:it|s|B|batch(?:es)?|ex(?:amples)?|step|img|samples?|ba|file)/(?:s|it|step|batch|img|sample)|\?\s?it/s|` +
		`\?(?:it|B|batch|ex|step)/s)[^\]]{0,400}\](?:\s*[-|][^A-Za-z]{0,8})?|\d+%\|[^|]*\|\s*\d+/\d+ \[[^\]]*\]`)
)

// clean returns the plain text lines that one raw line holds: usually one, several where line ends
// were written as \n inside a string.
func clean(raw []byte) []string {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("?"))
	}
	s := string(raw)
	if strings.ContainsRune(s, 0x1b) {
		s = ansiRaw.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '\\') >= 0 || strings.IndexByte(s, '^') >= 0 || strings.Contains(s, "␛") {
		s = ansiWritten.ReplaceAllString(s, "")
	}
	if strings.Contains(s, "m") && strings.Contains(s, "[") {
		s = ansiOrphan.ReplaceAllString(s, "")
	}
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	if strings.Contains(s, "<") {
		s = htmlTag.ReplaceAllString(s, " ")
	}
	if !isPlain(s) {
		s = control.ReplaceAllString(plainBlanks.Replace(s), "")
	}
	if !strings.Contains(s, `\`) {
		return splitBars(s)
	}
	var out []string
	for _, l := range unescape(s) {
		out = append(out, splitBars(l)...)
	}
	return out
}

// isPlain says that a text has nothing that plainBlanks or control look for.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= 0x1f || c >= 0x7f || c == '*' || c == '`' {
			return false
		}
	}
	return true
}

// plainBlanks turns every blank into a plain one and drops what has no width or only marks text.
var plainBlanks = strings.NewReplacer("\u00a0", " ", "\u2007", " ", "\u202f", " ", "\u3000", " ",
	"\u200b", "", "\u200c", "", "\u200d", "", "\ufeff", "", "\t", " ",
	"（", "(", "）", ")", "；", ";", "，", ", ", "：", ":", "。", ". ", // full width, from Chinese and Japanese keyboards
	"**", "", "`", "") // Markdown around numbers and names

var (
	twiceEscaped = strings.NewReplacer(`\\n`, `\n`, `\\"`, `\"`, `\\'`, `\'`)
	escaped      = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\u0027`, "'", `\u0022`, `"`, `\u003e`, ">", `\u003c`, "<", `\u0026`, "&")
)

// unescape undoes one or more levels of string escapes that matter: line ends and quotes. A backslash
// and an n inside a Windows path stay.
func unescape(s string) []string {
	for i := 0; i < 3 && strings.Contains(s, `\\`); i++ {
		s = twiceEscaped.Replace(s)
	}
	s = escaped.Replace(s)
	var out []string
	start, from := 0, 0
	for {
		i := strings.Index(s[from:], `\n`)
		if i < 0 {
			return append(out, s[start:])
		}
		i += from
		from = i + 2
		if strings.Contains(s[start:i+1], `:\`) && drivePath.MatchString(s[start:i+1]) {
			continue
		}
		out = append(out, strings.TrimSuffix(s[start:i], `\r`))
		start = from
	}
}

// splitBars cuts a line behind every progress bar in it.
func splitBars(s string) (out []string) {
	for _, at := range bars(s) {
		out = append(out, s[at[0]:at[1]])
	}
	return out
}

// bars are where the lines of splitBars begin and end.
func bars(s string) [][]int {
	if !strings.Contains(s, "]") || !strings.Contains(s, "/") {
		return [][]int{{0, len(s)}}
	}
	var out [][]int
	start := 0
	for _, m := range barEnd.FindAllStringIndex(s, 64) {
		if rest := s[m[1]:]; strings.TrimSpace(rest) != "" {
			out = append(out, []int{start, m[1]})
			start = m[1]
		}
	}
	return append(out, []int{start, len(s)})
}

// clean returns the plain text lines that one raw line holds, as clean does.
func (s *shapes) clean(w *whole) (lines []part) {
	if at := w.all().ask(question{asks: cleanLines}, func() [][]int { return ordinary(w.text) }); at != nil {
		for _, one := range at {
			lines = append(lines, w.all().cut(one[0], one[1]))
		}
		return lines
	}
	for _, l := range clean([]byte(w.text)) {
		lines = append(lines, s.whole(l).all())
	}
	return lines
}

// ordinary are the lines in a raw one that has nothing to remove; nil for others.
func ordinary(s string) [][]int {
	if !isPlain(s) || strings.ContainsAny(s, `\^&<`) || strings.Contains(s, "m") && strings.Contains(s, "[") && ansiOrphan.MatchString(s) {
		return nil
	}
	return bars(s)
}

// unframe is where a text begins and ends without borders of panels and marks of quoting; empty when nothing else was there.
func unframe(s string) (from, to int) {
	if !mayFrame(s) {
		return 0, len(s)
	}
	for range 4 {
		before := len(s)
		if begins(s, '|') {
			n := len(frameLeft.FindString(s))
			from, s = from+n, s[n:]
		}
		if begins(s, '>') || begins(s, '`') {
			n := len(quoteLeft.FindString(s))
			from, s = from+n, s[n:]
		}
		if end := strings.TrimRight(s, blanks); end != "" && end[len(end)-1] >= utf8.RuneSelf {
			s = s[:len(s)-len(frameRight.FindString(s))]
		}
		if len(s) == before {
			break
		}
	}
	if onlyFrame.MatchString(s) {
		return from, from
	}
	return from, from + len(s)
}

// begins says whether a text begins with a sign or one beyond ASCII, after blanks.
func begins(s string, sign byte) bool {
	s = strings.TrimLeft(s, blanks)
	return s != "" && (s[0] == sign || s[0] >= utf8.RuneSelf)
}

// mayFrame spares most lines the search for a frame: a letter or a bracket begins none, and only signs beyond
// ASCII end one.
func mayFrame(s string) bool {
	end := strings.TrimRight(s, blanks)
	if end == "" {
		return true
	}
	c := s[0]
	return end[len(end)-1] >= utf8.RuneSelf || !(inWord(c) && c != '_' || c == '[' || c == '(' || c == '{' || c == '<' || c == '"')
}

// stripEscapes drops escape sequences so that words are found across them. The result may lie in scratch.
func stripEscapes(raw []byte, scratch *[]byte) []byte {
	i := bytes.IndexByte(raw, 0x1b)
	if i < 0 {
		return raw
	}
	out := (*scratch)[:0]
	for i >= 0 {
		out = append(out, raw[:i]...)
		raw = raw[i+1:]
		if len(raw) > 0 && raw[0] == '[' {
			j := 1
			for j < len(raw) && (raw[j] < '@' || raw[j] > '~') {
				j++
			}
			raw = raw[min(j+1, len(raw)):]
		}
		i = bytes.IndexByte(raw, 0x1b)
	}
	*scratch = append(out, raw...)
	return *scratch
}
