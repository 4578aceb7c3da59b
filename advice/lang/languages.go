package lang

import "strings"

// languages that nvpeak speaks; the first is that of whoever asks for another.
var languages = []Catalog{
	{"en", textsEN},
	{"zh", textsZH},
}

// Names are the codes of the languages.
func Names() []string {
	names := make([]string, len(languages))
	for i, c := range languages {
		names[i] = c.Lang
	}
	return names
}

// Named returns the catalog of a language, which may be a locale ("zh_CN.UTF-8"); ok is
// false when nvpeak does not speak it.
func Named(name string) (c Catalog, ok bool) {
	code, _, _ := strings.Cut(strings.ToLower(name), ".")
	code, _, _ = strings.Cut(strings.ReplaceAll(code, "-", "_"), "_")
	for _, c := range languages {
		if c.Lang == code {
			return c, true
		}
	}
	return languages[0], false
}

// For is Named where English will do for all others.
func For(name string) Catalog {
	c, _ := Named(name)
	return c
}

// English is the language of programs: names of fields, and of whatever has no user.
func English() Catalog { return languages[0] }
