package ui

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// inSetup is a model with the setup window open, and what it saves.
func inSetup(t *testing.T, w, h int) (m *Model, saved map[string]string) {
	t.Helper()
	gpu, host := Levels()
	t.Cleanup(func() { SetLevels(gpu, host) })
	saved = map[string]string{}
	m = model(past(gpus(2, 3, false), 30), w, h, Options{Save: func(list []Setting) (string, error) {
		for _, s := range list {
			saved[s.Name] = s.Value
		}
		return "config.toml", nil
	}})
	press(m, "f2")
	if m.prompt.mode != modeSetup {
		t.Fatal("F2 opens no setup")
	}
	return m, saved
}

// put puts the cursor on a setting or a column.
func (s *setup) put(name string) {
	if i := slices.IndexFunc(setupRows, func(r setupRow) bool { return r.name == name }); i >= 0 {
		s.at = i
		return
	}
	s.at = len(setupRows) + slices.Index(s.order, columnNamed(name))
}

// Each setting changes at once, and what was changed is saved under the name of its option.
func TestSetupChanges(t *testing.T) {
	m, saved := inSetup(t, 120, 40)
	m.setup.put("theme")
	press(m, "right")
	m.setup.put("plot")
	press(m, "right")
	m.setup.put("span")
	press(m, "right right")
	m.setup.put("sort")
	press(m, "right")
	m.setup.put("notify")
	press(m, "left")
	m.setup.put("gpu-levels")
	press(m, "enter")
	m.prompt.typed = ""
	press(m, "60,70,80 enter")
	m.setup.put("host-levels")
	press(m, "right")
	m.setup.put("need")
	press(m, "enter 20G enter")
	if gpu, _ := Levels(); gpu != [3]float64{60, 70, 80} || m.folds.watch.Levels().GPU != gpu || m.folds.watch.Need() != sampler.Some(20*sampler.GiB) ||
		!m.plot.lines || span(m.plot.span) != "1h" || !m.alerts.notify.Bell || !m.alerts.notify.Desktop || m.tty.paint.theme.Name == "dark" {
		t.Errorf("not all of it counts: %v %+v", gpu, m.plot)
	}
	if len(saved) > 0 {
		t.Errorf("saved unasked: %v", saved)
	}
	press(m, "s")
	want := map[string]string{"theme": m.tty.paint.theme.Name, "plot": "line", "span": "1h", "sort": columns[m.table.sort].name(), "notify": "bell,desktop", "gpu-levels": "60,70,80", "host-levels": "80,90,95", "need": "20G"}
	if !maps.Equal(saved, want) {
		t.Errorf("saved %v, want %v", saved, want)
	}
	if press(m, "s"); !strings.Contains(m.notices.text, "nothing was changed") {
		t.Errorf("%q", m.notices.text)
	}
}

// Columns are shown, hidden, and moved; automatic is a way back.
func TestSetupColumns(t *testing.T) {
	m, saved := inSetup(t, 120, 40)
	before := m.fittingColumns()
	m.setup.put("user")
	press(m, "space")
	if slices.Contains(m.table.columns, columnNamed("user")) || len(m.table.columns) != len(before)-1 {
		t.Errorf("user is still shown: %v", m.table.columns)
	}
	m.setup.put("mem")
	for range len(columns) {
		press(m, "left")
	}
	if m.table.columns[0] != columnNamed("mem") {
		t.Errorf("mem is not the first: %v", m.table.columns)
	}
	for range len(columns) {
		press(m, "right")
	}
	if at, _ := m.setup.columnChoice(); at != columnNamed("mem") || m.table.columns[len(m.table.columns)-1] != at {
		t.Errorf("mem is not the last: %v", m.table.columns)
	}
	for range columns { // one stays
		press(m, "space up")
	}
	if len(m.table.columns) == 0 {
		t.Error("no column is left")
	}
	press(m, "s")
	if names := m.setup; names.changed != nil || saved["columns"] == "" {
		t.Errorf("saved %v", saved)
	}
	m.setup.put("columns")
	press(m, "right s")
	if m.table.columns != nil || saved["columns"] != "" {
		t.Errorf("not automatic: %v %v", m.table.columns, saved)
	}
}

// What cannot be is said and changes nothing; leaving says what is not saved.
func TestSetupMistakes(t *testing.T) {
	m, saved := inSetup(t, 120, 40)
	m.setup.put("gpu-levels")
	press(m, "enter")
	m.prompt.typed = ""
	press(m, "95,90 enter")
	if gpu, _ := Levels(); gpu != [3]float64{80, 90, 95} || !strings.Contains(m.notices.text, "three rising percentages") || len(m.setup.changed) > 0 {
		t.Errorf("%v %q", gpu, m.notices.text)
	}
	m.setup.put("need")
	press(m, "enter 20apples enter")
	if m.folds.watch.Need().Known() || len(m.setup.changed) > 0 {
		t.Error("apples are a need")
	}
	press(m, "enter 3G esc")
	if m.prompt.mode != modeSetup || m.folds.watch.Need().Known() {
		t.Error("Esc takes what was typed")
	}
	m.setup.put("plot")
	press(m, "right esc")
	if m.prompt.mode != modeMain || !strings.Contains(m.notices.text, "s in the setup saves") || len(saved) > 0 {
		t.Errorf("%q", m.notices.text)
	}
	m.opt.Save = func([]Setting) (string, error) { return "", errors.New("disk \x1b[2J full") }
	press(m, "f2 s")
	if !strings.Contains(m.notices.text, "not saved: disk") || strings.ContainsRune(m.notices.text, 0x1b) || len(m.setup.changed) == 0 {
		t.Errorf("%q", m.notices.text)
	}
}

// The row of the cursor is seen at any size, and lines have the width of the screen.
func TestSetupFits(t *testing.T) {
	for _, size := range [][2]int{{30, 6}, {40, 12}, {60, 20}, {80, 24}, {120, 40}, {200, 60}} {
		m, _ := inSetup(t, size[0], size[1])
		for m.setup.at = range m.setup.last() + 1 {
			lines := m.draw().lines()
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.ContainsRune(l, m.glyphs.Cursor) }) {
				t.Fatalf("%v: row %d is hidden:\n%s", size, m.setup.at, strings.Join(lines, "\n"))
			}
			for _, l := range lines {
				if width(l) != size[0] {
					t.Fatalf("%v: %d columns: %q", size, width(l), l)
				}
			}
		}
	}
}
