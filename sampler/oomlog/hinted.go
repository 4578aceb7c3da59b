package oomlog

import "strings"

// hinted is a pattern behind a cheap test: a text without any of the needs cannot match, and most
// lines have none. The needs are lower case; none: the pattern is cheap itself.
type hinted struct {
	needs []string
	re    *lazy
}

// possible says whether a text may match; lower is the text in lower case.
func (f *hinted) possible(lower string) bool {
	if len(f.needs) == 0 {
		return true
	}
	for _, n := range f.needs {
		if strings.Contains(lower, n) {
			return true
		}
	}
	return false
}

func (f *hinted) find(text, lower string) []string {
	if !f.possible(lower) {
		return nil
	}
	return f.re.FindStringSubmatch(text)
}

func (f *hinted) match(text, lower string) bool { return f.possible(lower) && f.re.MatchString(text) }

func needs(words ...string) []string { return words }
