package explain

import (
	"fmt"
	"strings"
)

// Catalogue is every sentence nvpeak says about an out-of-memory error, in one language.
type Catalogue struct {
	Lang  string // "en" or "zh"
	texts map[string]string
}

// Languages are the codes Words knows.
var Languages = []string{"en", "zh"}

// Words returns the catalogue of a language ("en", "zh", "zh_CN.UTF-8"); English for all others.
func Words(lang string) Catalogue {
	if strings.HasPrefix(strings.ToLower(lang), "zh") {
		return Catalogue{"zh", textsZH}
	}
	return Catalogue{"en", textsEN}
}

// Say returns the sentence id with its {placeholders} filled in from name, value pairs.
// An unknown id comes back as it is, so a gap is seen and not silent.
func (c Catalogue) Say(id string, pairs ...any) string {
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

// Has says whether the catalogue holds a sentence.
func (c Catalogue) Has(id string) bool { _, ok := c.texts[id]; return ok }
