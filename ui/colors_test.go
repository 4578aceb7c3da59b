package ui

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// nearlyFull is a GPU at its worst beside one at rest, with what is open about it.
func nearlyFull() *Model {
	snaps := past(gpus(2, 1, false), 90)
	for i, s := range snaps {
		s.GPUs = append([]sampler.GPU{}, s.GPUs...)
		for k := range s.GPUs {
			m := &s.GPUs[k].Memory
			used := sampler.Bytes(40+i*3/7) * sampler.GiB
			if k == 1 {
				used = 20 * sampler.GiB
			}
			m.Used, m.Free, m.WorstFree = sampler.Some(used), sampler.Some(79*sampler.GiB-used), sampler.Some(79*sampler.GiB-used)
			m.Reserved = sampler.Some(sampler.GiB)
			m.Window = &sampler.Window{Min: used, Max: used, MaxTime: s.Time, Readings: 50}
			m.Peak = &sampler.Peak{Bytes: used, Time: s.Time, Source: sampler.PeakSampled}
		}
	}
	m := model(snaps, 64, 30, Options{Label: "DEMO", Need: sampler.Some(3 * sampler.GiB)})
	m.shown.alerts = []sampler.Alert{{Level: sampler.LevelCritical, Kind: sampler.AlertNeed, Text: "GPU 0 is full, and this text is so long that it does not fit on a single line of the screen"}}
	return m
}

// TestColors holds what is sent for a GPU that is nearly full in every theme, on every kind of terminal. Each stretch of one
// look is written as {parameters}text.
func TestColors(t *testing.T) {
	m := nearlyFull()
	if m.shown.snap.GPUs[0].Memory.Used.Or(0) < 76*sampler.GiB {
		t.Fatal("it is not full")
	}
	names := []string{"truecolor", "256", "16", "none"}
	files, _ := filepath.Glob(screens + "colors/*.txt")
	if n := len(theme.Names()) * len(profiles); len(files) != n && !*update {
		t.Errorf("%d files for %d themes and kinds of terminals", len(files), n)
	}
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for i, p := range profiles {
			got := strings.NewReplacer(ansi.ResetStyle, "{}", csi, "{").Replace(styled(m.draw().render(newPaint(th, p)))) + "\n"
			file := screens + "colors/" + name + "-" + names[i] + ".txt"
			checkGolden(t, file, got)
		}
	}
}

// styled ends each sequence with a brace.
func styled(s string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, csi)
		if at < 0 {
			return b.String() + s
		}
		end := at + strings.IndexByte(s[at:], 'm')
		b.WriteString(s[:at])
		if seq := s[at : end+1]; seq == ansi.ResetStyle {
			b.WriteString(seq)
		} else {
			b.WriteString(seq[:len(seq)-1] + "}")
		}
		s = s[end+1:]
	}
}

// Nor are the lanes of histories, which the dots of a plot draw.
func TestLanesAreNotReversed(t *testing.T) {
	m := nearlyFull()
	m.tty.resize(80, 16)
	lanes := 0
	for _, cell := range m.view().draw(90, 16).cells {
		if cell.r > emptyDots && cell.r <= emptyDots+0xff {
			lanes++
			for _, name := range theme.Names() {
				th, _ := theme.Named(name)
				for _, p := range profiles {
					if s := ";" + newPaint(th, p).style(look{role: theme.Critical, drawn: cell.drawn}).params + ";"; strings.Contains(s, ";7;") {
						t.Fatalf("%s, %v: dots are drawn by %q", name, p, s)
					}
				}
			}
		}
	}
	if lanes == 0 {
		t.Fatal("no dots")
	}
}

// A bar that is nearly full is drawn as such whatever the terminal can: never in reverse video, which would empty it.
func TestFullBarsLookFull(t *testing.T) {
	m := nearlyFull()
	c := m.draw()
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for _, p := range profiles {
			paint, bars := newPaint(th, p), 0
			for _, cell := range c.cells {
				if cell.r == m.glyphs.Bar[len(m.glyphs.Bar)-1] && cell.role == theme.Critical {
					bars++
					if s := ";" + paint.style(cell.look).params + ";"; strings.Contains(s, ";7;") {
						t.Fatalf("%s, %v: a full bar is drawn by %q", name, p, s)
					}
				}
			}
			if bars == 0 {
				t.Fatalf("%s, %v: no full bar", name, p)
			}
		}
	}
}
