package needed

import (
	"regexp"
	"strings"
)

// flags are set for all that follows them in their group.
var flags = regexp.MustCompile(`^\(\?[a-zA-Z]+\)`)

// Split gives the alternatives of a pattern, each with the flags at its head: in any text one of them matches if the pattern does, and else none.
// A pattern in which flags are set further on is left whole.
func Split(source string) (list []string) {
	head := flags.FindString(source)
	depth, from := 0, len(head)
	for i := from; i < len(source); i++ {
		switch source[i] {
		case '\\':
			if i++; i < len(source) && source[i] == 'Q' { // up to \E nothing is special
				return []string{source}
			}
		case '[':
			i = classEnd(source, i)
		case '(':
			if depth == 0 && flags.MatchString(source[i:]) {
				return []string{source}
			}
			depth++
		case ')':
			depth--
		case '|':
			if depth == 0 {
				list = append(list, head+source[from:i])
				from = i + 1
			}
		}
	}
	return append(list, head+source[from:])
}

// classEnd is where the class ends that begins at i.
func classEnd(source string, i int) int {
	if i++; strings.HasPrefix(source[min(i, len(source)):], "^") {
		i++
	}
	for first := i; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\':
			i++
		case c == ']' && i > first:
			return i
		case strings.HasPrefix(source[i:], "[:"):
			if end := strings.Index(source[i:], ":]"); end > 0 {
				i += end + 1
			}
		}
	}
	return i
}
