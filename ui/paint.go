package ui

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/theme"
)

// Colors is how many colors the screen uses on a terminal: 1<<24, 256, 16, or 0 for none.
func Colors(out io.Writer, noColor bool) int {
	switch profileOf(out, noColor) {
	case colorprofile.TrueColor:
		return 1 << 24
	case colorprofile.ANSI256:
		return 256
	case colorprofile.ANSI:
		return 16
	}
	return 0
}

// profileOf is the colors that a terminal has, as far as they are wanted.
func profileOf(out io.Writer, noColor bool) colorprofile.Profile {
	if noColor {
		return colorprofile.ASCII
	}
	return colorprofile.Detect(out, os.Environ())
}

// paint is a theme made ready for a terminal: for every look the parameters of its SGR sequence,
// in the colors that the terminal has. A screen has a thousand pieces, so each is made once.
type paint struct {
	theme   *theme.Theme
	profile colorprofile.Profile
	styles  map[look]sgr
}

// csi begins a style.
const csi = "\x1b["

// sgr is the inside of an SGR sequence, "1;38;5;12", and its parts; empty: nothing special.
type sgr struct {
	params            string
	attrs, fore, back string
	bare              bool // a blank looks like any other in it
}

func newPaint(t *theme.Theme, p colorprofile.Profile) *paint {
	return &paint{theme: t, profile: p, styles: map[look]sgr{}}
}

func (p *paint) style(l look) sgr {
	s, ok := p.styles[l]
	if !ok {
		s = p.compile(l)
		p.styles[l] = s
	}
	return s
}

// compile puts the styles of a role and a background together.
func (p *paint) compile(l look) sgr {
	t := p.theme
	if p.profile <= colorprofile.ASCII { // the attributes of the others rely on their colors
		t, _ = theme.Named("mono")
	}
	role, ground := t.Shade(l.role, l.shade), t.Backs[l.back]
	fore, back := p.color(&role, 0), p.color(&ground, 10)
	switch {
	case l.drawn:
		role.Reverse, role.Under, ground.Reverse = false, false, false
	case ground.Reverse: // in one color: with those of the roles it would be a patchwork
		fore, role.Dim, role.Reverse = "", false, false
	}
	var attrs []string
	for _, a := range []struct {
		on     bool
		number string
	}{{role.Bold || ground.Bold, "1"}, {role.Dim, "2"}, {role.Under, "4"}, {role.Reverse || ground.Reverse, "7"}} {
		if a.on {
			attrs = append(attrs, a.number)
		}
	}
	s := sgr{attrs: strings.Join(attrs, ";"), fore: fore, back: back, bare: back == "" && !role.Under && !role.Reverse && !ground.Reverse}
	s.params = parameters(s.attrs, s.fore, s.back)
	return s
}

// color is the parameters for the color of a style in the colors that the terminal has; shift is
// 10 for a background. The basic ones that are attributes are made such.
func (p *paint) color(s *theme.Style, shift int) string {
	switch p.profile {
	case colorprofile.TrueColor, colorprofile.ANSI256:
		v, err := strconv.ParseUint(strings.TrimPrefix(s.Color, "#"), 16, 32)
		switch {
		case err != nil:
			return ""
		case p.profile == colorprofile.ANSI256 || s.InCube():
			return fmt.Sprintf("%d;5;%d", 38+shift, s.ANSI256)
		}
		return fmt.Sprintf("%d;2;%d;%d;%d", 38+shift, v>>16, v>>8&255, v&255)
	case colorprofile.ANSI:
		return basic(s, shift)
	}
	return ""
}

func basic(s *theme.Style, shift int) string {
	switch c := s.ANSI; {
	case c == theme.Faded:
		s.Dim = true
	case c == theme.Swapped:
		s.Reverse = true
	case c >= theme.BrightBlack && c <= theme.BrightWhite:
		return strconv.Itoa(int(c-theme.BrightBlack) + 90 + shift)
	case c >= theme.Black && c <= theme.White:
		return strconv.Itoa(int(c-theme.Black) + 30 + shift)
	}
	return ""
}

// after is the shorter way to this style from the one that the pen has: what is new, or all.
func (s sgr) after(now sgr) string {
	if s.params == "" || now.params == "" {
		return s.params
	}
	all := parameters("0", s.params)
	added, ok := strings.CutPrefix(s.attrs, now.attrs)
	if !ok {
		return all
	}
	step := parameters(strings.TrimPrefix(added, ";"), turned(now.fore, s.fore, "39"), turned(now.back, s.back, "49"))
	if len(step) < len(all) {
		return step
	}
	return all
}

// turned is the parameters that make one color of another; own are those of the terminal's own.
func turned(now, want, own string) string {
	if now == want {
		return ""
	}
	return pick(want == "", own, want)
}

// parameters joins those that there are.
func parameters(list ...string) string {
	var b strings.Builder
	for _, p := range list {
		if p != "" && b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(p)
	}
	return b.String()
}
