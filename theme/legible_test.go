package theme

import (
	"math"
	"strconv"
	"testing"
)

// drawn are the roles of what is drawn and never in the selected row. Faint is for frames, axes and the
// empty parts of bars, which no text must be.
var drawn = map[Role]bool{Plot: true, UtilPlot: true, Area1: true, Area2: true, Area3: true, Area4: true, Area5: true, Area6: true}

// enough is the contrast that a role needs.
func enough(role Role) float64 {
	switch {
	case role == Faint:
		return 1.5
	case drawn[role]:
		return 3
	}
	return 4.5
}

// TestContrast: every role can be read on the backgrounds that its theme is made for, in true color
// and in 256, and in the selected row.
func TestContrast(t *testing.T) {
	for _, th := range themes {
		for kind, hex := range map[string]func(Style) string{"true color": func(s Style) string { return s.Color }, "256": func(s Style) string { return cube(int(s.ANSI256)) }} {
			for i, s := range th.Roles {
				role, grounds := Role(i), th.Grounds
				if selected := hex(th.Backs[Selected]); selected != "" && !drawn[role] {
					grounds = append([]string{selected}, grounds...)
				}
				for _, ground := range grounds {
					if c := hex(s); c != "" && contrastOf(c, ground) < enough(role) {
						t.Errorf("%s, %s: role %d, %s on %s has a contrast of %.2f, not %.1f", th.Name, kind, role, c, ground, contrastOf(c, ground), enough(role))
					}
				}
			}
			for _, ground := range th.Grounds {
				if c := hex(th.Backs[Selected]); c != "" && contrastOf(c, ground) < 1.05 {
					t.Errorf("%s, %s: the selected row, %s, is not seen on %s", th.Name, kind, c, ground)
				}
			}
		}
	}
}

// TestHighContrast: more than enough on black.
func TestHighContrast(t *testing.T) {
	for i, s := range contrast.Roles {
		want := 7.0
		if drawn[Role(i)] {
			want = 4.5
		}
		if s.Color != "" && contrastOf(s.Color, "#000000") < want {
			t.Errorf("role %d has a contrast of %.2f on black, not %.1f", i, contrastOf(s.Color, "#000000"), want)
		}
	}
}

// The 16 colors of xterm and of a PC's console; others are kinder.
var basics = [][16]string{
	{"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5", "#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"},
	{"#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa", "#555555", "#ff5555", "#55ff55", "#ffff55", "#5555ff", "#ff55ff", "#55ffff", "#ffffff"},
}

// TestContrastOf16: with no more than 3.9 for text, for 4.5 leaves too few colors to tell roles apart.
func TestContrastOf16(t *testing.T) {
	for _, th := range themes {
		for i, s := range th.Roles {
			if s.ANSI == 0 || s.ANSI >= Own {
				continue
			}
			if s.ANSI == BrightBlack {
				t.Errorf("%s: role %d is not seen in Solarized", th.Name, i)
			}
			for _, palette := range basics {
				c, ground := palette[s.ANSI-Black], th.Grounds[0]
				if got, want := contrastOf(c, ground), min(enough(Role(i)), 3.9); got < want {
					t.Errorf("%s: role %d, %s on %s has a contrast of %.2f, not %.1f", th.Name, i, c, ground, got, want)
				}
			}
		}
	}
}

// TestEveryKindOfTerminal: a role has a color for each, or for none.
func TestEveryKindOfTerminal(t *testing.T) {
	for _, th := range themes {
		for _, styles := range [][]Style{th.Roles[:], th.Backs[:]} {
			for i, s := range styles {
				if colored := s.Color != ""; (s.ANSI256 != 0) != colored || (s.ANSI != 0) != colored {
					t.Errorf("%s: style %d has colors for some terminals only: %+v", th.Name, i, s)
				}
				if s.ANSI256 > 0 && s.ANSI256 < 16 || s.ANSI > Swapped {
					t.Errorf("%s: style %d: %+v", th.Name, i, s)
				}
			}
		}
		for i, s := range th.Roles {
			if s.ANSI == Swapped || s.Bold && s.Dim {
				t.Errorf("%s: role %d: %+v", th.Name, i, s)
			}
		}
		if th != &mono && len(th.Grounds) == 0 {
			t.Errorf("%s is made for no background", th.Name)
		}
	}
}

// TestToldApart: what stands side by side and means different things looks different on every kind
// of terminal. Without colors a peak and a need have but their glyphs.
func TestToldApart(t *testing.T) {
	apart := []Role{Ok, Notice, Warning, Critical, Peak, Need, Demo}
	for _, th := range themes {
		for i, a := range apart {
			for _, b := range apart[:i] {
				if th == &mono && a == Need && b == Peak {
					continue
				}
				x, y := th.Roles[a], th.Roles[b]
				attributes := x.Bold != y.Bold || x.Dim != y.Dim || x.Under != y.Under || x.Reverse != y.Reverse
				if bars := a <= Critical && th != &mono; x.ANSI == y.ANSI && (bars || !attributes) { // a bar shows no attributes
					t.Errorf("%s: of 16 colors, roles %d and %d look the same", th.Name, a, b)
				}
				if x.Color == "" || y.Color == "" || a == Demo && attributes {
					continue
				}
				if d := distance(x.Color, y.Color); d < 20 {
					t.Errorf("%s: roles %d and %d are alike, %s and %s: %.0f", th.Name, a, b, x.Color, y.Color, d)
				}
				if d := distance(cube(int(x.ANSI256)), cube(int(y.ANSI256))); d < 20 {
					t.Errorf("%s: of 256 colors, roles %d and %d are alike, %s and %s: %.0f", th.Name, a, b, cube(int(x.ANSI256)), cube(int(y.ANSI256)), d)
				}
			}
		}
	}
}

// TestLinesStandOut: the lines of a plot have colors that what is drawn in it has not.
func TestLinesStandOut(t *testing.T) {
	for _, th := range themes {
		if th == &mono {
			continue
		}
		for _, line := range []Role{Peak, Need} {
			for area := Area1; area <= Area6; area++ {
				x, y := th.Roles[line], th.Roles[area]
				if x.ANSI == y.ANSI || distance(x.Color, y.Color) < 20 || distance(cube(int(x.ANSI256)), cube(int(y.ANSI256))) < 20 {
					t.Errorf("%s: the line %d looks like the level %d: %+v %+v", th.Name, line, area, x, y)
				}
			}
		}
	}
}

// How linear red, green and blue are seen without red and without green receptors: Machado, Oliveira
// and Fernandes, 2009, at the full severity.
var blindness = map[string][3][3]float64{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// TestColorBlind: the theme keeps the levels, the peak and the need apart for those it is for.
func TestColorBlind(t *testing.T) {
	apart := []Role{Ok, Notice, Warning, Critical, Peak, Need}
	for name, m := range blindness {
		seen := func(hex string) (c [3]float64) {
			for i, light := range linear(hex) {
				for j := range c {
					c[j] += m[j][i] * light
				}
			}
			return [3]float64{clamp(c[0]), clamp(c[1]), clamp(c[2])}
		}
		for i, a := range apart {
			for _, b := range apart[:i] {
				x, y := colorblind.Roles[a], colorblind.Roles[b]
				for _, pair := range [][2]string{{x.Color, y.Color}, {cube(int(x.ANSI256)), cube(int(y.ANSI256))}} {
					if d := between(lab(seen(pair[0])), lab(seen(pair[1]))); d < 18 {
						t.Errorf("%s: roles %d and %d are alike, %s: %.0f", name, a, b, pair, d)
					}
				}
			}
		}
	}
}

// linear is the light of a color, red, green and blue, as IEC 61966-2-1 says.
func linear(hex string) (rgb [3]float64) {
	v, _ := strconv.ParseUint(hex[1:], 16, 32) // TestThemes looks at its form
	for i := range rgb {
		c := float64(v>>(16-8*i)&255) / 255
		if c <= 0.04045 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// contrastOf two colors as WCAG 2 says.
func contrastOf(a, b string) float64 {
	luminance := func(hex string) float64 {
		c := linear(hex)
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05
	}
	x, y := luminance(a), luminance(b)
	return max(x, y) / min(x, y)
}

// distance of two colors in CIELAB: 2 can be seen side by side.
func distance(a, b string) float64 { return between(lab(linear(a)), lab(linear(b))) }

func between(p, q [3]float64) (d float64) {
	for i := range p {
		d += (p[i] - q[i]) * (p[i] - q[i])
	}
	return math.Sqrt(d)
}

func lab(c [3]float64) [3]float64 {
	f := func(x float64) float64 {
		if x > 0.008856 {
			return math.Cbrt(x)
		}
		return 7.787*x + 16.0/116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func clamp(x float64) float64 { return max(0, min(x, 1)) }
