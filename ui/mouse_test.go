package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"

	"nvpeak/sampler"
)

// click clicks on the first place of a text on the screen.
func click(t *testing.T, m *Model, on string) {
	t.Helper()
	for y, line := range strings.Split(text(m), "\n") {
		if at := strings.Index(line, on); at >= 0 {
			m.Update(tea.MouseClickMsg{X: width(line[:at]), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	t.Fatalf("%q is not on the screen:\n%s", on, text(m))
}

// What is clicked does what its key does.
func TestMouse(t *testing.T) {
	m := model(past(gpus(4, 2, false), 3), 160, 50, Options{})
	click(t, m, "1201")
	if row, ok := m.table.selected(); !ok || row.proc == nil || row.proc.PID != 1201 || m.prompt.mode != modeMain {
		t.Fatalf("a click selects %+v, mode %d", row.proc, m.prompt.mode)
	}
	if click(t, m, "1201"); m.prompt.mode != modeDetail {
		t.Errorf("a second click leads to mode %d", m.prompt.mode)
	}
	press(m, "esc")
	click(t, m, "COMMAND")
	if columns[m.table.sort].title != "COMMAND" || m.table.reverse {
		t.Errorf("sorted by %s, reverse %v", columns[m.table.sort].title, m.table.reverse)
	}
	if click(t, m, "COMMAND"); !m.table.reverse {
		t.Error("a second click does not reverse")
	}
	click(t, m, "GPU 2")
	if g := m.view().focus; g == nil || g.Index != 2 {
		t.Errorf("a click focuses %+v", g)
	}
	if click(t, m, "GPU 2"); m.view().focus != nil {
		t.Error("a second click does not show all")
	}
	m.notices.text = ""
	for _, row := range []struct {
		on string
		to mode
	}{{"? help", modeHelp}, {"help  q", modeHelp}, {"advice", modeAdvice}, {"P reset", modeReset}, {"/ filter", modeFilter}} {
		if click(t, m, row.on); m.prompt.mode != row.to {
			t.Errorf("a click on %q leads to mode %d", row.on, m.prompt.mode)
		}
		press(m, "esc")
		m.notices.text = ""
	}
}

// What covers the screen is left by the key in its border, and by no other click.
func TestMouseLeaves(t *testing.T) {
	for keys, in := range map[string]mode{"?": modeHelp, "a": modeAdvice, "j enter": modeDetail, "j e": modeEnvironment, "s": modeSetup} {
		for _, lang := range []string{"en", "zh"} {
			m := model(past(gpus(2, 2, false), 3), 80, 24, Options{Processes: &world{}, Lang: lang})
			press(m, keys)
			back := m.words.Say("proc.back")
			var at [2]int
			for y, line := range strings.Split(text(m), "\n") {
				if i := strings.Index(line, back); i >= 0 {
					at = [2]int{width(line[:i]), y}
				}
			}
			for x := range 80 {
				for y := range 24 {
					if y != at[1] || x < at[0]-1 || x > at[0]+width(back) {
						m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
					}
				}
			}
			if m.prompt.mode != in {
				t.Errorf("%s, %q: a click beside leads to mode %d", lang, keys, m.prompt.mode)
			}
			if click(t, m, back); m.prompt.mode != modeMain {
				t.Errorf("%s, %q: a click on %q leads to mode %d", lang, keys, back, m.prompt.mode)
			}
		}
	}
}

// A click beside everything, with another button, or while something is asked does nothing.
func TestMouseDoesNothing(t *testing.T) {
	for _, keys := range []string{"", "j K", "j K enter", "n", "P", "/"} {
		m := model(past(gpus(2, 2, false), 3), 100, 30, Options{Processes: &world{}})
		press(m, keys)
		before := fmt.Sprint(state(m), m.signals.at, m.prompt.typed)
		for x := range 100 {
			for y := range 30 {
				m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseRight})
				if keys != "" {
					m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
				}
			}
		}
		m.Update(tea.MouseClickMsg{X: 500, Y: 500, Button: tea.MouseLeft})
		if after := fmt.Sprint(state(m), m.signals.at, m.prompt.typed); after != before {
			t.Errorf("keys %q: %s, before %s", keys, after, before)
		}
	}
}

// The wheel moves in the table, in texts and in the menu.
func TestWheel(t *testing.T) {
	down, up := tea.MouseWheelMsg{Button: tea.MouseWheelDown}, tea.MouseWheelMsg{Button: tea.MouseWheelUp}
	m := model(past(gpus(4, 4, false), 3), 80, 24, Options{Processes: &world{}})
	m.Update(down)
	m.Update(down)
	if m.Update(up); m.table.cursor != 2 {
		t.Errorf("the cursor is at %d", m.table.cursor)
	}
	press(m, "K")
	if m.Update(down); m.signals.at != 1 {
		t.Errorf("the menu is at %d", m.signals.at)
	}
	m = model(past(gpus(1, 1, false), 3), 80, 12, Options{})
	press(m, "?")
	for range 50 {
		m.Update(down)
	}
	end := text(m)
	if m.Update(up); text(m) == end || strings.Contains(end, "… ") {
		t.Errorf("not the end of the help:\n%s", end)
	}
}

// After w, Tab goes to the GPU with the least headroom, and on from there.
func TestTabAfterWorst(t *testing.T) {
	for _, keys := range []string{"w tab", "2 w tab"} {
		s := gpus(4, 1, false)
		s.GPUs[2].Memory.WorstFree, s.GPUs[1].Memory.WorstFree = sampler.Some(sampler.GiB), sampler.Some(2*sampler.GiB)
		m := model(past(s, 3), 100, 30, Options{})
		if press(m, keys); m.view().focus.Index != 2 {
			t.Errorf("%q leads to GPU %d", keys, m.view().focus.Index)
		}
		if press(m, "tab"); m.view().focus.Index != 1 {
			t.Errorf("%q and Tab lead to GPU %d", keys, m.view().focus.Index)
		}
	}
}

// However many GPUs there are, the focused one is on the screen and marked.
func TestFocusIsVisible(t *testing.T) {
	m := model(past(gpus(64, 1, false), 3), 80, 24, Options{})
	for range 64 {
		press(m, "tab")
		g := m.view().focus
		if got := text(m); !strings.Contains(got, fmt.Sprintf("▸ %d ", g.Index)) && !strings.Contains(got, fmt.Sprintf("%d▸", g.Index)) && !strings.Contains(got, fmt.Sprintf("▸ GPU %d ", g.Index)) {
			t.Fatalf("GPU %d is not marked:\n%s", g.Index, got)
		}
	}
}

// A key with nothing to do says so.
func TestKeysWithNothingToDo(t *testing.T) {
	for _, keys := range []string{"j", "G", "enter", "0", "e", "space", "K"} {
		m := model([]*sampler.Snapshot{gpus(0, 0, false)}, 80, 24, Options{})
		if press(m, keys); m.notices.text == "" {
			t.Errorf("%q says nothing", keys)
		}
	}
}

// A terminal is asked for the mouse only where it is wanted, and gets it back.
func TestMouseIsAskedFor(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		master, tty, err := pty.Open()
		if err != nil {
			t.Skip(err)
		}
		term := &terminal{in: tty, out: tty, mouse: wanted}
		if err := term.enter(); err != nil {
			t.Fatal(err)
		}
		term.leave()
		tty.WriteString("the end") //nolint:errcheck // then it is not read either
		var got strings.Builder
		for b := make([]byte, 4096); !strings.Contains(got.String(), "the end"); {
			n, err := master.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got.Write(b[:n])
		}
		on, off := strings.Contains(got.String(), mouseOn), strings.Contains(got.String(), mouseOff)
		if on != wanted || off != wanted || !wanted && strings.Contains(got.String(), "?100") {
			t.Errorf("wanted %v, sent %q", wanted, got.String())
		}
		master.Close()
		tty.Close()
	}
}
