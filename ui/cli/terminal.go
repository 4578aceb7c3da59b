package cli

import (
	"slices"
	"strings"
)

// consoles are terminals whose fonts have no Braille dots, eighths of a block or round corners: that of Linux has 256 or
// 512 characters, a VT fewer.
var consoles = []string{"linux", "ansi", "cons25", "vt52", "vt100", "vt102", "vt220", "vt320", "vt420"}

// localeNames are the variables of the locale of characters, in the order of setlocale(3).
var localeNames = []string{"LC_ALL", "LC_CTYPE", "LANG"}

// localeOf is the variable that says what characters the terminal has, and its value; empty: none does.
func localeOf(env func(string) string) (name, value string) {
	for _, name := range localeNames {
		if v := env(name); v != "" {
			return name, v
		}
	}
	return "", ""
}

// utf8Locale says whether the locale is said to be one of UTF-8.
func utf8Locale(env func(string) string) bool {
	_, v := localeOf(env)
	return isUTF8(v)
}

func isUTF8(locale string) bool {
	v := strings.ToLower(locale)
	return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
}

// asciiOnly is the variable that says that a terminal is to be drawn on with ASCII alone: TERM, of a console, or the
// locale where it names other characters than those of UTF-8. Empty: none does. No locale at all says nothing: most
// containers have none, and stand in a terminal that has all characters; nor does one without a name of characters, but
// for C and POSIX, which somebody has set.
func asciiOnly(env func(string) string) string {
	if slices.Contains(consoles, env("TERM")) {
		return "TERM"
	}
	name, v := localeOf(env)
	v, _, _ = strings.Cut(v, "@")
	if _, characters, ok := strings.Cut(v, "."); v == "C" || v == "POSIX" || ok && !isUTF8("."+characters) {
		return name
	}
	return ""
}

// drawPlainly makes do with ASCII, and English, where the terminal has no more and nobody has chosen otherwise.
func (a *app) drawPlainly(s *settings) {
	why := asciiOnly(a.env)
	if from, ok := s.origins["ascii"]; !ok || from.how != fromDefault || why == "" || !a.isTerminal(a.out) {
		return
	}
	if from := s.origins["lang"]; from.how != fromDefault && a.opt.lang != "en" {
		return
	}
	a.opt.ascii, a.opt.lang = true, "en"
	s.origins["ascii"] = origin{how: fromEnv, name: why}
}
