package ui

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// vt is a terminal as far as screen uses one: what each cell shows, and how.
type vt struct {
	w, h, x, y int
	pen        vtPen
	cells      []vtCell
}

type vtCell struct {
	r   rune
	pen vtPen
}

// vtPen is how it writes; a color is its parameters, empty for the terminal's own.
type vtPen struct {
	bold, dim, under, reverse bool
	fore, back                string
}

// set takes the parameters of an SGR sequence.
func (p *vtPen) set(n []int) error {
	for i := 0; i < len(n); i++ {
		switch k := n[i]; {
		case k == 0:
			*p = vtPen{}
		case k == 1:
			p.bold = true
		case k == 2:
			p.dim = true
		case k == 4:
			p.under = true
		case k == 7:
			p.reverse = true
		case k == 38 || k == 48:
			end := i + 5
			if i+1 < len(n) && n[i+1] == 5 {
				end = i + 3
			}
			if end > len(n) {
				return fmt.Errorf("a color cut short: %v", n)
			}
			*pick(k == 38, &p.fore, &p.back) = fmt.Sprint(n[i+1 : end])
			i = end - 1
		case k == 39:
			p.fore = ""
		case k == 49:
			p.back = ""
		case k >= 30 && k < 38, k >= 90 && k < 98:
			p.fore = fmt.Sprint(k)
		case k >= 40 && k < 48, k >= 100 && k < 108:
			p.back = fmt.Sprint(k - 10)
		default:
			return fmt.Errorf("style %d of %v", k, n)
		}
	}
	return nil
}

// penOf is what a terminal that wrote plainly writes after a sequence of styles.
func penOf(t testing.TB, params string) vtPen {
	t.Helper()
	v := newVT(1, 1)
	if err := v.write(csi + params + "m"); err != nil {
		t.Fatal(err)
	}
	return v.pen
}

func newVT(w, h int) *vt {
	v := &vt{w: w, h: h, cells: make([]vtCell, w*h)}
	for i := range v.cells {
		v.cells[i] = vtCell{'X', vtPen{fore: "dirty"}}
	}
	return v
}

// write takes what the screen sends; an error is something it must not send.
func (v *vt) write(s string) error {
	for len(s) > 0 {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' })
			if end < 0 {
				return fmt.Errorf("a sequence without end: %q", s)
			}
			if err := v.csi(rest[:end], rest[end]); err != nil {
				return err
			}
			s = rest[end+1:]
			continue
		}
		r := []rune(s[:min(len(s), 4)])[0]
		n := len(string(r))
		s = s[n:]
		if r < ' ' {
			return fmt.Errorf("a control character: %q", r)
		}
		w := columnsOf.RuneWidth(r)
		if v.x+w > v.w {
			return fmt.Errorf("%q in column %d of %d", r, v.x, v.w)
		}
		v.put(r)
		if w == 2 {
			v.put(0)
		}
	}
	return nil
}

// put shows a rune; half a wide one blanks the other half, as terminals do.
func (v *vt) put(r rune) {
	i := v.y*v.w + v.x
	if r != 0 && v.cells[i].r == 0 {
		v.cells[i-1].r = ' '
	}
	if v.x+1 < v.w && v.cells[i+1].r == 0 {
		v.cells[i+1].r = ' '
	}
	v.cells[i] = vtCell{r, v.pen}
	v.x++
}

func (v *vt) csi(params string, final byte) error {
	var n []int
	for _, p := range strings.Split(params, ";") {
		k, err := strconv.Atoi(p)
		if err != nil && p != "" {
			return fmt.Errorf("parameter %q of %c", p, final)
		}
		n = append(n, k)
	}
	arg := func(i int) int { // what is left out is 1
		if i < len(n) {
			return max(n[i], 1)
		}
		return 1
	}
	switch final {
	case 'H':
		v.y, v.x = arg(0)-1, arg(1)-1
	case 'C':
		v.x += arg(0)
	case 'K':
		for x := v.x; x < v.w; x++ {
			v.cells[v.y*v.w+x] = vtCell{' ', v.pen}
		}
	case 'J':
		for i := range v.cells {
			v.cells[i] = vtCell{' ', v.pen}
		}
	case 'm':
		return v.pen.set(n)
	default:
		return fmt.Errorf("CSI %s%c", params, final)
	}
	if v.x < 0 || v.y < 0 || v.x > v.w || v.y >= v.h {
		return fmt.Errorf("cursor at %d, %d", v.x, v.y)
	}
	return nil
}

// shows compares the terminal with a frame.
func (v *vt) shows(t testing.TB, f *frame) error {
	t.Helper()
	for i, c := range f.cells {
		want := vtCell{c.r, penOf(t, f.style(c.look).params)}
		got := v.cells[i]
		if got.r == want.r && (got.r == 0 || got.r == ' ' && !grounded(got.pen) && !grounded(want.pen)) {
			continue
		}
		if got != want {
			return fmt.Errorf("column %d of row %d shows %q %v, want %q %v", i%f.w, i/f.w, got.r, got.pen, want.r, want.pen)
		}
	}
	return nil
}

// grounded says whether a style shows on a blank.
func grounded(pen vtPen) bool { return pen.reverse || pen.under || pen.back != "" }
