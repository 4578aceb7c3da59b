// Package lang holds every sentence that nvpeak says, one file for each language. A further
// language is one file and one line in languages.go.
package lang

import (
	"fmt"
	"strings"
)

// Catalog is every sentence in one language.
type Catalog struct {
	Lang  string // "en", "zh"
	texts map[string]string
}

// Say returns the sentence id with its {placeholders} filled in from name, value pairs.
// An unknown id comes back as it is, so a gap is seen and not silent.
func (c Catalog) Say(id string, pairs ...any) string {
	text, known := c.texts[id]
	if !known {
		return id
	}
	if len(pairs) == 0 {
		return text
	}
	old := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		old = append(old, "{"+fmt.Sprint(pairs[i])+"}", fmt.Sprint(pairs[i+1]))
	}
	return strings.NewReplacer(old...).Replace(text)
}

// Has says whether the catalog holds a sentence.
func (c Catalog) Has(id string) bool { _, ok := c.texts[id]; return ok }

// Confidence says a confidence of 0..1 in a word: sure, likely, possible, weak.
func (c Catalog) Confidence(p float64) string {
	switch {
	case p >= 0.9:
		return c.Say("sure.high")
	case p >= 0.6:
		return c.Say("sure.likely")
	case p >= 0.4:
		return c.Say("sure.possible")
	}
	return c.Say("sure.weak")
}

// Span is a time in words that do not pretend to be exact: "40 s", "4 min", "2.5 h".
func (c Catalog) Span(seconds float64) string {
	switch {
	case seconds < 90:
		return c.Say("span.s", "n", fmt.Sprintf("%.0f", max(0, seconds)))
	case seconds < 90*60:
		return c.Say("span.min", "n", fmt.Sprintf("%.0f", seconds/60))
	case seconds < 48*3600:
		return c.Say("span.h", "n", fmt.Sprintf("%.1f", seconds/3600))
	}
	return c.Say("span.days", "n", fmt.Sprintf("%.1f", seconds/86400))
}
