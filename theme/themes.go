package theme

import (
	"strconv"
	"strings"
)

// themes in the order in which key T goes through them.
var themes = []*Theme{&dark, &light, &contrast, &colorblind, &mono}

// Names lists the themes.
func Names() []string {
	names := make([]string, len(themes))
	for i, t := range themes {
		names[i] = t.Name
	}
	return names
}

// Named finds a theme; ok is false when there is none of that name.
func Named(name string) (t *Theme, ok bool) {
	for _, t := range themes {
		if plainName(t.Name) == plainName(name) {
			return t, true
		}
	}
	return nil, false
}

// plainName is a name as people type it: in any case, with hyphens or without.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "")) }

// LightBackground reads COLORFGBG, by which terminals that do not answer say their colors by number: the last one is the background.
func LightBackground(colorfgbg string) bool {
	background, err := strconv.Atoi(colorfgbg[strings.LastIndex(colorfgbg, ";")+1:])
	return err == nil && (background == 7 || background > 8 && background < 16)
}

// For is the default theme for a terminal with a dark or a light background.
func For(isDark bool) *Theme {
	if isDark {
		return &dark
	}
	return &light
}

// After is the theme that follows t.
func After(t *Theme) *Theme {
	for i, u := range themes {
		if u == t {
			return themes[(i+1)%len(themes)]
		}
	}
	return &dark
}
