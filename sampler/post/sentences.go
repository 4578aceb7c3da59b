package post

import (
	"regexp"
	"strings"
	"unicode"
)

// sentence is what somebody wrote, in the case it was written in. line is from 1.
type sentence struct {
	text string
	line int
}

var (
	// printed is the begin of a line that a program wrote.
	printed = regexp.MustCompile(`^\[|^(?:[a-z][\w.-]*(?:\[\d+\])?|[A-Z_]{3,}|Q|Note|Tip|Hint|Warning|Example|FAQ):\s|^\W*(?:\d{4}-\d\d|\d\d[:/-]\d\d|[IWEF]\d{4}\b|(?:INFO|WARN|WARNING|ERROR|DEBUG|CRITICAL|FATAL)\b|File "|at \S+\(|Traceback|>>>|\$ |#|//|\||[-+*]\s*\[[ xX]\]|[\w./\\-]+\.\w+:\d+|\w+(?:\.\w+)*(?:Error|Exception)\b)|\b(?:INFO|WARNING|ERROR|DEBUG|level=\w+)\b`)
	// assigned is a line of code.
	assigned = regexp.MustCompile(`^[\w.\[\], ]+ = [\w.]+[(\[]`)
	// ends are where a sentence ends. A point within a number or a name ends none.
	ends = regexp.MustCompile(`[.!?;]+(?:\s+|$)|[。！？；]`)
)

// sentences are those of a text, without what stands in code fences, logs and tracebacks.
func sentences(text string) (list []sentence) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced && strings.Count(line, "```") == 1
			continue
		}
		if fenced || !isProse(line) {
			continue
		}
		for line != "" {
			end := len(line)
			if at := ends.FindStringIndex(line); at != nil {
				end = at[1]
			}
			list = append(list, sentence{strings.TrimSpace(line[:end]), i + 1})
			line = line[end:]
		}
	}
	return list
}

// isProse: a line of words, not of figures and signs.
func isProse(line string) bool {
	if len(line) > 4000 || printed.MatchString(line) || assigned.MatchString(line) {
		return false
	}
	letters, all, han := 0, 0, 0
	for _, r := range line {
		switch {
		case unicode.Is(unicode.Han, r):
			han++
			fallthrough
		case unicode.IsLetter(r), r == ' ':
			letters++
		}
		all++
	}
	return han >= 4 || len(strings.Fields(line)) >= 4 && letters*10 >= all*7
}
