package ui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/mattn/go-runewidth"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// columnsOf counts columns as terminals do, whatever the locale of the test.
var columnsOf = runewidth.Condition{StrictEmojiNeutral: true}

var sgrSequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkScreen holds for every screen: exactly h lines of exactly w columns, nothing but
// printable runes, and no escape sequence but those of the styles.
func checkScreen(t *testing.T, what string, m *Model) {
	t.Helper()
	content := m.View().Content
	plain := sgrSequence.ReplaceAllString(content, "")
	lines := strings.Split(plain, "\n")
	if len(lines) != m.tty.h {
		t.Fatalf("%s, %dx%d: %d lines", what, m.tty.w, m.tty.h, len(lines))
	}
	for y, line := range lines {
		for _, r := range line {
			if !unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
				t.Fatalf("%s, %dx%d: line %d holds %U: %q", what, m.tty.w, m.tty.h, y, r, line)
			}
		}
		if n := columnsOf.StringWidth(line); n != m.tty.w {
			t.Fatalf("%s, %dx%d: line %d has %d columns: %q", what, m.tty.w, m.tty.h, y, n, line)
		}
	}
	if got := text(m); got != plain {
		t.Fatalf("%s, %dx%d: with colors the text is another", what, m.tty.w, m.tty.h)
	}
}

// fixtures are the worlds that must be shown at any size.
func fixtures() map[string][]*sampler.Snapshot {
	many := gpus(1, 2000, false)
	bare := &sampler.Snapshot{Time: afternoon, GPUs: []sampler.GPU{{Memory: sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(9 * sampler.GiB)}}}}
	broken := gpus(3, 0, false)
	for i := range broken.GPUs {
		broken.GPUs[i] = sampler.GPU{Index: i, Error: sampler.Some("GPU is lost: " + strings.Repeat("reason ", 40))}
	}
	return map[string][]*sampler.Snapshot{
		"nothing yet": nil,
		"no GPU":      {gpus(0, 0, false)},
		"one":         past(gpus(1, 3, false), 90),
		"two":         past(gpus(2, 0, false), 3),
		"three":       past(gpus(3, 2, false), 20),
		"eight":       past(gpus(8, 3, false), 20),
		"64":          past(gpus(64, 2, false), 3),
		"odd":         past(gpus(24, 4, true), 5),
		"odd, one":    past(gpus(3, 9, true), 5),
		"2000 procs":  past(many, 2),
		"bare":        {bare},
		"broken":      past(broken, 2),
	}
}

// modes are the screens, by the keys that lead there.
var modes = []string{"", "?", "? j j", "a", "enter", "end enter", "n 1 6", "P", "3", "tab w }", "m", "m m j", "[ [ [ [", "] ] ] ] ]", "n x enter", "G G", "j e", "/ a n n enter", "j K", "j K enter", "j space right", "t", "t t j", "t j enter", "t j space K"}

// TestEverySize draws every world at small sizes of all kinds and at random larger ones,
// in every mode.
func TestEverySize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 220))
	for name, snaps := range fixtures() {
		o := Options{Need: sampler.Some(20 * sampler.GiB), Label: "DEMO \x1b[1mx", Processes: &world{}}
		m := model(snaps, 80, 24, o)
		look := func(w, h int, keys string) {
			m.tty.resize(w, h)
			press(m, keys)
			checkScreen(t, fmt.Sprintf("%s, keys %q", name, keys), m)
			press(m, "esc esc 0 esc")
		}
		for w := 1; w <= 60; w += 1 + w/6 {
			for h := 1; h <= 16; h += 1 + h/5 {
				look(w, h, modes[rnd.IntN(len(modes))])
			}
		}
		for range 30 {
			look(1+rnd.IntN(220), 1+rnd.IntN(70), modes[rnd.IntN(len(modes))])
		}
		for _, keys := range modes {
			look(80, 24, keys)
			look(30, 6, keys)
			look(200, 60, keys)
		}
		look(400, 120, "")
	}
}

// TestLocaleOfEastAsia: in such a locale go-runewidth calls frames two columns wide; the
// screen must not depend on it.
func TestLocaleOfEastAsia(t *testing.T) {
	snaps := past(gpus(8, 3, false), 20)
	want := Frame(snaps, 100, 30, Options{})
	was := runewidth.DefaultCondition.EastAsianWidth
	defer func() { runewidth.DefaultCondition.EastAsianWidth = was }()
	runewidth.DefaultCondition.EastAsianWidth = !was
	if got := Frame(snaps, 100, 30, Options{}); got != want {
		t.Errorf("the screen depends on the locale:\n%s", difference(want, got))
	}
}

// TestASCII: --ascii is for terminals that know nothing else.
func TestASCII(t *testing.T) {
	worlds := []([]*sampler.Snapshot){nil, past(gpus(1, 3, false), 90), past(gpus(8, 3, false), 90), past(gpus(64, 1, false), 5), past(gpus(9, 4, true), 5),
		play(t, "neighbour", 10*time.Minute)}
	for _, snaps := range worlds {
		m := model(snaps, 120, 40, Options{ASCII: true, Need: sampler.Some(16 * sampler.GiB)})
		for _, keys := range modes {
			press(m, keys)
			for _, line := range m.draw().lines() {
				for _, r := range line {
					if r >= 0x7f {
						t.Errorf("keys %q: %q in %q", keys, r, line)
						break
					}
				}
			}
			press(m, "esc esc 0 esc")
		}
	}
}

// TestNoColor: the mono theme and NO_COLOR send no color.
func TestNoColor(t *testing.T) {
	color := regexp.MustCompile(`[\[;](3[0-9]|4[0-9]|9[0-7]|10[0-7])[;m]`)
	for _, o := range []Options{{Theme: "mono"}, {Theme: "dark", NoColor: true}} {
		m := model(past(gpus(8, 3, false), 20), 120, 40, o)
		m.tty.paintAs(m.tty.paint.profile)
		for _, keys := range []string{"", "j j", "?"} {
			press(m, keys)
			if hit := color.FindString(m.View().Content); hit != "" {
				t.Errorf("%+v: the color %q is sent", o, hit)
			}
		}
	}
	m := model(past(gpus(8, 3, false), 20), 120, 40, Options{Theme: "dark"})
	if color.FindString(m.View().Content) == "" {
		t.Error("the dark theme sends no color: the test is blind")
	}
}

// TestEveryThemeDraws: each theme compiles and changes nothing but colors.
func TestEveryThemeDraws(t *testing.T) {
	snaps := past(gpus(8, 3, false), 20)
	want := text(model(snaps, 120, 40, Options{}))
	seen := map[string]bool{}
	for _, name := range theme.Names() {
		m := model(snaps, 120, 40, Options{Theme: name})
		checkScreen(t, name, m)
		if text(m) != want {
			t.Errorf("%s changes the text", name)
		}
		if c := m.View().Content; seen[c] {
			t.Errorf("%s looks like another theme", name)
		} else {
			seen[c] = true
		}
	}
}

// FuzzNames puts any text wherever a text from outside is shown.
func FuzzNames(f *testing.F) {
	for i, s := range hostile {
		for view := range uint8(3) {
			f.Add(s, uint8(20+7*i), uint8(10+i), view)
		}
	}
	f.Fuzz(func(t *testing.T, s string, w, h, view uint8) {
		snap := gpus(2, 2, false)
		snap.Host, snap.Driver, snap.CUDA = s, s, s
		for i := range snap.GPUs {
			g := &snap.GPUs[i]
			g.Name, g.UUID, g.Throttle = s, s+fmt.Sprint(i), []string{s}
			for j := range g.Processes {
				p := &g.Processes[j]
				p.User, p.Name, p.Command, p.Type, p.Container, p.Framework = s, s, s, s, sampler.Some(s), sampler.Some(s)
				p.Environment = map[string]string{s: s}
			}
		}
		snap.GPUs[1].Error = sampler.Some(s)
		keys := []string{"", "enter", "a"}[view%3]
		m := model(past(snap, 2), max(int(w), 1), max(int(h%100), 1), Options{Label: s})
		press(m, keys)
		checkScreen(t, fmt.Sprintf("%.60q %q", s, keys), m)
	})
}
