package ui

import (
	"context"
	"fmt"
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// TestProfiles: what is sent for some roles to each kind of terminal.
func TestProfiles(t *testing.T) {
	for _, row := range []struct {
		theme string
		look
		want [4]string // by profiles
	}{
		{"dark", look{}, [4]string{}},
		{"dark", look{role: theme.Strong}, [4]string{"1", "1", "1", "1"}},
		{"dark", look{role: theme.Dim}, [4]string{"38;5;248", "38;5;248", "2", "2"}},
		{"dark", look{role: theme.Ok}, [4]string{"38;5;114", "38;5;114", "32", ""}},
		{"dark", look{role: theme.Critical}, [4]string{"1;38;2;255;123;147", "1;38;5;204", "1;91", "1;7"}},
		{"dark", look{role: theme.Peak, back: theme.Selected}, [4]string{"38;5;182;48;2;42;49;71", "38;5;182;48;5;236", "7", "1;7"}},
		{"dark", look{role: theme.Ok, back: theme.Selected, drawn: true}, [4]string{"38;5;114;48;2;42;49;71", "38;5;114;48;5;236", "32", ""}},
		{"light", look{role: theme.Critical}, [4]string{"1;38;2;192;28;58", "1;38;5;124", "1;31", "1;7"}},
		{"light", look{role: theme.Ok}, [4]string{"38;2;31;116;52", "38;5;22", "", ""}},
		{"light", look{role: theme.Text, back: theme.Selected}, [4]string{"48;2;219;230;247", "48;5;254", "7", "7"}},
		{"high-contrast", look{role: theme.Critical}, [4]string{"1;7;38;5;203", "1;7;38;5;203", "1;7;91", "1;7"}},
		{"high-contrast", look{role: theme.Critical, drawn: true}, [4]string{"1;38;5;203", "1;38;5;203", "1;91", "1"}},
		{"high-contrast", look{role: theme.Peak, back: theme.Selected}, [4]string{"1;7", "1;7", "1;7", "1;7"}},
		{"mono", look{role: theme.Warning}, [4]string{"1;4", "1;4", "1;4", "1;4"}},
		{"mono", look{role: theme.Warning, drawn: true}, [4]string{"1", "1", "1", "1"}}, // as a border it would be struck through
	} {
		th, _ := theme.Named(row.theme)
		for i, p := range profiles {
			if got := newPaint(th, p).style(row.look).params; got != row.want[i] {
				t.Errorf("%s, %v, %+v: %q, want %q", row.theme, p, row.look, got, row.want[i])
			}
		}
	}
}

// TestNoReset: from one style to another it is said what is new, where that is shorter.
func TestNoReset(t *testing.T) {
	for _, row := range []struct{ now, want, sent string }{
		{"|38;5;1|", "|38;5;2|", "38;5;2"},
		{"1|38;5;1|", "1|38;5;2|", "38;5;2"},
		{"1|38;5;1|", "1||", "39"},
		{"|38;5;1|", "1|38;5;1|", "1"},
		{"1|38;5;1|", "|38;5;1|", "0;38;5;1"},
		{"1|38;5;1|48;5;3", "1|38;5;2|48;5;3", "38;5;2"},
		{"|38;5;1|48;5;3", "|38;5;1|", "49"},
		{"|38;5;1|", "||", ""},
		{"||", "1;7|31|", "1;7;31"},
	} {
		if got := parts(row.want).after(parts(row.now)); got != row.sent {
			t.Errorf("from %q to %q: %q, want %q", row.now, row.want, got, row.sent)
		}
	}
}

func parts(s string) sgr {
	p := strings.Split(s, "|")
	return sgr{params: parameters(p...), attrs: p[0], fore: p[1], back: p[2]}
}

// TestFullBar: a bar at 95 % and over is full, in every theme and on every kind of terminal: none of
// its cells is in reverse video, which makes a full one look empty.
func TestFullBar(t *testing.T) {
	snap := gpus(2, 3, false)
	for i := range snap.GPUs {
		m := &snap.GPUs[i].Memory
		m.Used, m.Reserved, m.Unattributed = sampler.Some(m.Total.Or(0)/100*97), sampler.Opt[sampler.Bytes]{}, sampler.Opt[sampler.Bytes]{}
	}
	for _, name := range theme.Names() {
		for _, size := range [][2]int{{40, 8}, {120, 40}, {170, 20}} {
			m := model(past(snap, 60), size[0], size[1], Options{Theme: name})
			for _, p := range profiles {
				m.tty.paintAs(p)
				c, full := m.draw(), 0
				for i, cell := range c.cells {
					if !strings.ContainsRune("█▇▆━╸·", cell.r) || cell.role == theme.Dim {
						continue
					}
					if penOf(t, m.tty.paint.style(cell.look).params).reverse {
						t.Fatalf("%s, %v, %v: %q in column %d of row %d is in reverse video", name, p, size, cell.r, i%c.w, i/c.w)
					}
					if cell.r == '█' && cell.role == theme.Critical {
						full++
					}
				}
				if full < 10 {
					t.Errorf("%s, %v, %v: %d full cells in the critical color", name, p, size, full)
				}
			}
		}
	}
}

// TestBarEnds: what is drawn over a bar is no bar.
func TestBarEnds(t *testing.T) {
	c := newCanvas(10, 1)
	c.bar(-2, 0, 20)
	c.put(2, 0, 6, theme.Critical, "text")
	c.bar(0, 3, 10)
	p := newPaint(theme.For(true), colorprofile.ASCII)
	for x, cell := range c.cells {
		if over := x >= 2 && x < 6; cell.drawn == over {
			t.Errorf("column %d is a bar: %v", x, cell.drawn)
		} else if over && !penOf(t, p.style(cell.look).params).reverse {
			t.Errorf("column %d, text of a critical alert, is not in reverse video", x)
		}
	}
}

// TestWrappedAlert: an alert keeps its color on all its lines.
func TestWrappedAlert(t *testing.T) {
	v := model(past(gpus(1, 1, false), 2), 80, 24, Options{}).view()
	for level, role := range map[string]theme.Role{sampler.LevelCritical: theme.Critical, sampler.LevelWarning: theme.Warning} {
		a := sampler.Alert{Level: level, Text: "GPU 3: the next validation will not fit: it needs 18.0 GiB and 14.2 GiB are free"}
		lines := v.alertHead(a, 30)
		if len(lines) < 3 {
			t.Fatalf("%d lines", len(lines))
		}
		for i, l := range lines {
			for _, p := range l {
				if p.role != role {
					t.Errorf("%s: line %d: %q has role %d", level, i, p.text, p.role)
				}
			}
		}
		if text := fmt.Sprint(lines[1][0].text); !strings.HasPrefix(text, "  ") {
			t.Errorf("the second line is not indented: %q", text)
		}
	}
}

// Until the terminal has said what its background is, the theme is for the one that its environment tells of.
func TestThemeBeforeTheAnswer(t *testing.T) {
	for _, light := range []bool{false, true} {
		m := New(context.Background(), nil, Options{Light: light})
		if want := theme.For(!light); m.tty.paint.theme != want {
			t.Errorf("light %v: %s", light, m.tty.paint.theme.Name)
		}
		if m.Update(tea.BackgroundColorMsg{Color: color.Black}); m.tty.paint.theme != theme.For(true) {
			t.Errorf("light %v, and the terminal says black: %s", light, m.tty.paint.theme.Name)
		}
	}
}
