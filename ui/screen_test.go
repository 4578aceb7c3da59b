package ui

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/theme"
)

// vt is a terminal as far as screen uses one: what each cell shows, and how.
type vt struct {
	w, h, x, y int
	pen        string
	cells      []vtCell
}

type vtCell struct {
	r   rune
	pen string
}

func newVT(w, h int) *vt {
	v := &vt{w: w, h: h, cells: make([]vtCell, w*h)}
	for i := range v.cells {
		v.cells[i] = vtCell{'X', "dirty"}
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
		switch {
		case params == "":
			v.pen = ""
		case strings.HasPrefix(params, "0;"):
			v.pen = params[2:]
		case v.pen == "" || colorOnly(v.pen) && strings.HasPrefix(params, "38;"):
			v.pen = params
		default:
			return fmt.Errorf("style %q on top of %q leaves some of it", params, v.pen)
		}
	default:
		return fmt.Errorf("CSI %s%c", params, final)
	}
	if v.x < 0 || v.y < 0 || v.x > v.w || v.y >= v.h {
		return fmt.Errorf("cursor at %d, %d", v.x, v.y)
	}
	return nil
}

// shows compares the terminal with a frame.
func (v *vt) shows(f *frame) error {
	for i, c := range f.cells {
		want := vtCell{c.r, f.style(c.role, c.back).params}
		got := v.cells[i]
		if got.r == want.r && (got.r == 0 || got.r == ' ' && !grounded(got.pen) && !grounded(want.pen)) {
			continue
		}
		if got != want {
			return fmt.Errorf("column %d of row %d shows %q %q, want %q %q", i%f.w, i/f.w, got.r, got.pen, want.r, want.pen)
		}
	}
	return nil
}

// grounded says whether a style shows on a blank.
func grounded(pen string) bool {
	return strings.Contains(";"+pen+";", ";7;") || strings.Contains(pen, "48;")
}

// TestChanges: a terminal that got the changes from frame to frame shows the last frame,
// whatever the frames are.
func TestChanges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for range 60 {
			w, h := 1+rnd.IntN(40), 1+rnd.IntN(6)
			v, p := newVT(w, h), newPaint(th, colorprofile.ANSI256)
			var shown *frame
			c := newCanvas(w, h)
			for step := range 12 {
				next := newCanvas(w, h)
				copy(next.cells, c.cells)
				for range rnd.IntN(6) {
					x, y, role := rnd.IntN(w), rnd.IntN(h), theme.Role(rnd.IntN(int(theme.Demo)+1))
					text := []string{"abc", " ", "      ", "日本語", "ｗx", "█▌·", strings.Repeat("=", 30)}[rnd.IntN(7)]
					next.put(x, y, w, role, text)
					if rnd.IntN(3) == 0 {
						next.clear(rect{x, y, w, 1})
					}
					if rnd.IntN(4) == 0 {
						next.ground(0, y, w, theme.Back(rnd.IntN(3)))
					}
				}
				var b strings.Builder
				f := &frame{next, p}
				f.changes(&b, shown)
				if err := v.write(b.String()); err != nil {
					t.Fatalf("%s, %dx%d, step %d: %v in %q", name, w, h, step, err, b.String())
				}
				if err := v.shows(f); err != nil {
					t.Fatalf("%s, %dx%d, step %d: %v, after %q", name, w, h, step, err, b.String())
				}
				if v.pen != "" {
					t.Fatalf("the pen is left at %q", v.pen)
				}
				shown, c = f, next
			}
		}
	}
}

// TestChangesOfADemo: real frames, and how much is sent for them.
func TestChangesOfADemo(t *testing.T) {
	snaps := play(t, "eight", 10*time.Minute)
	m := model(snaps[:len(snaps)-60], 160, 50, Options{Label: "DEMO"})
	m.tty.paintAs(colorprofile.ANSI256)
	v := newVT(160, 50)
	var shown *frame
	sent := 0
	for i, s := range snaps[len(snaps)-60:] {
		m.take(snaps[len(snaps)-60+i : len(snaps)-59+i])
		f := &frame{m.draw(), m.tty.paint}
		var b strings.Builder
		f.changes(&b, shown)
		if err := v.write(b.String()); err != nil {
			t.Fatalf("%v: %v", s.Time, err)
		}
		if err := v.shows(f); err != nil {
			t.Fatalf("%v: %v", s.Time, err)
		}
		if i > 0 {
			sent += b.Len()
		}
		shown = f
	}
	t.Logf("%d bytes in a minute", sent)
	if sent > 95_000 {
		t.Errorf("%d bytes are sent in a minute, 95,000 are allowed", sent)
	}
	var b strings.Builder
	(&frame{m.draw(), m.tty.paint}).changes(&b, shown)
	if b.Len() > 0 {
		t.Errorf("the same frame again sends %q", b.String())
	}
}

// stuck is a terminal under Ctrl-S.
type stuck struct{ open chan struct{} }

func (s stuck) Write(b []byte) (int, error) {
	<-s.open
	return len(b), nil
}

// TestStuckTerminal: nobody waits for a terminal that takes nothing.
func TestStuckTerminal(t *testing.T) {
	out := stuck{make(chan struct{})}
	s := newScreen(out)
	m := model(past(gpus(8, 3, false), 20), 120, 40, Options{})
	m.tty.screen = s
	began := time.Now()
	for range 200 {
		press(m, "j")
	}
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("200 keys take %v while the terminal takes nothing", d)
	}
	began = time.Now()
	s.close(50 * time.Millisecond)
	if d := time.Since(began); d > time.Second {
		t.Errorf("the end takes %v", d)
	}
	close(out.open)
	<-s.done
}

// TestLatestFrameWins: while the terminal is slow, frames are skipped; the last one comes.
func TestLatestFrameWins(t *testing.T) {
	r, w := io.Pipe()
	s := newScreen(w)
	p := newPaint(theme.For(true), colorprofile.ANSI256)
	const frames = 500
	for i := range frames {
		c := newCanvas(20, 1)
		c.put(0, 0, 20, theme.Text, fmt.Sprintf("frame %d.", i))
		s.show(c, p)
	}
	v := newVT(20, 1)
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.write(string(buf[:n])); err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		for _, c := range v.cells {
			line.WriteRune(c.r)
		}
		if strings.HasPrefix(line.String(), fmt.Sprintf("frame %d.", frames-1)) {
			break
		}
	}
	s.close(time.Second)
}
