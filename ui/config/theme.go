package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nvpeak/theme"
)

// ThemeFile is the file of a theme of one's own, beside the settings file. Empty: its name can be none of a file.
func ThemeFile(settings, name string) string {
	if settings == "" || name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return ""
	}
	return filepath.Join(filepath.Dir(settings), "themes", name+".toml")
}

// ThemeNames are the themes beside a settings file.
func ThemeNames(settings string) (names []string) {
	if settings == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(settings), "themes"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names
}

// Theme reads a theme. What is wrong in it is told in notes, and its colors are those of the theme that it is based on.
// Without such a base they are those of dark, and missing ones are told, too.
func Theme(file, name string) (t *theme.Theme, notes []string, err error) {
	list, err := Read(file)
	if err != nil {
		return nil, nil, err
	}
	dark, _ := theme.Named("dark")
	m := maker{theme: *dark, missing: theme.RoleNames()}
	m.theme.Name, m.theme.Title, m.theme.Grounds = name, "", nil
	for _, e := range list {
		if e.Key == "base" {
			m.base(e)
		}
	}
	for _, e := range list {
		m.take(e)
	}
	if len(m.missing) > 0 {
		m.notes = append(m.notes, fmt.Sprintf("no color for %s: those of dark are used (base = \"dark\" says so without this line)", strings.Join(m.missing, ", ")))
	}
	for i, n := range m.notes {
		m.notes[i] = file + ": " + n
	}
	return &m.theme, m.notes, nil
}

// maker makes a theme of the entries of its file.
type maker struct {
	theme   theme.Theme
	missing []string // roles without a color
	notes   []string
}

func (m *maker) note(e Entry, format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf("line %d: %s: ", e.Line, e.Key)+fmt.Sprintf(format, args...))
}

func (m *maker) base(e Entry) {
	t, ok := theme.Named(e.Text)
	if !ok {
		m.note(e, "there is no theme %q: %s; dark is taken", e.Text, strings.Join(theme.Names(), ", "))
		m.missing = nil
		return
	}
	m.theme.Roles, m.theme.Backs, m.missing = t.Roles, t.Backs, nil
}

func (m *maker) take(e Entry) {
	table, rest, _ := strings.Cut(e.Key, ".")
	of, part, _ := strings.Cut(rest, ".")
	role, back := slices.Index(theme.RoleNames(), of), slices.Index(theme.BackNames(), of)
	switch {
	case e.Key == "base":
	case e.Key == "title" && e.Kind == Text:
		m.theme.Title = e.Text
	case table == "colors" && role >= 0:
		m.missing = slices.DeleteFunc(slices.Clone(m.missing), func(name string) bool { return name == of })
		m.style(&m.theme.Roles[role], e, part)
	case table == "colors":
		m.note(e, "there is no such color: %s", strings.Join(theme.RoleNames(), ", "))
	case table == "backgrounds" && back >= 0:
		m.style(&m.theme.Backs[back], e, part)
	default:
		m.note(e, "there is no such setting: title, base, [colors] and [backgrounds] with %s", strings.Join(theme.BackNames(), ", "))
	}
}

// style sets one part of a style; a color alone is one for every kind of terminal.
func (m *maker) style(s *theme.Style, e Entry, part string) {
	switch part {
	case "", "color":
		if !theme.IsColor(e.Text) {
			m.note(e, "%q is no color such as \"#ff7b93\"", e.Text)
			return
		}
		s.Color, s.ANSI256 = e.Text, theme.NearestANSI256(e.Text)
		if s.ANSI == 0 {
			s.ANSI = theme.Own
		}
	case "ansi256":
		n, err := strconv.Atoi(e.Text)
		if err != nil || n < 16 || n > 255 {
			m.note(e, "%q is no color of a terminal of 256: 16 to 255", e.Text)
			return
		}
		s.ANSI256 = uint8(n)
	case "ansi":
		b := theme.BasicNamed(e.Text)
		if b == 0 {
			m.note(e, "%q is none of %s", e.Text, strings.Join(theme.BasicNames(), ", "))
			return
		}
		s.ANSI = b
	case "bold", "dim", "under", "reverse":
		if e.Kind != Bool {
			m.note(e, "it is true or false, not %s", e.Kind)
			return
		}
		on := map[string]*bool{"bold": &s.Bold, "dim": &s.Dim, "under": &s.Under, "reverse": &s.Reverse}
		*on[part] = e.Text == "true"
	default:
		m.note(e, "a style has color, ansi256, ansi, bold, dim, under and reverse")
	}
}
