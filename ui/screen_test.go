package ui

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// TestChanges: a terminal that got the changes from frame to frame shows the last frame,
// whatever the frames are.
func TestChanges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for i := range 120 {
			w, h := 1+rnd.IntN(40), 1+rnd.IntN(6)
			v, p := newVT(w, h), newPaint(th, profiles[i%len(profiles)])
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
					if rnd.IntN(4) == 0 {
						next.bar(x, y, w)
					}
				}
				var b bytes.Buffer
				f := &frame{next, p}
				f.changes(&b, shown)
				if err := v.write(b.String()); err != nil {
					t.Fatalf("%s, %dx%d, step %d: %v in %q", name, w, h, step, err, b.String())
				}
				if err := v.shows(t, f); err != nil {
					t.Fatalf("%s, %dx%d, step %d: %v, after %q", name, w, h, step, err, b.String())
				}
				if v.pen != (vtPen{}) {
					t.Fatalf("the pen is left at %v", v.pen)
				}
				shown, c = f, next
			}
		}
	}
}

// profiles are the kinds of terminals.
var profiles = []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII}

// TestChangesOfADemo: real frames, and how much is sent for them.
func TestChangesOfADemo(t *testing.T) {
	snaps := play(t, "eight", 10*time.Minute)
	for _, p := range profiles {
		t.Run(p.String(), func(t *testing.T) {
			m := model(snaps[:len(snaps)-60], 160, 50, Options{Label: "DEMO"})
			m.tty.paintAs(p)
			sent := lastMinute(t, m, snaps)
			t.Logf("%d bytes in a minute", sent)
			if sent > 95_000 {
				t.Errorf("%d bytes are sent in a minute, 95,000 are allowed", sent)
			}
		})
	}
}

// lastMinute shows the last 60 snapshots and counts the bytes of all but the first.
func lastMinute(t *testing.T, m *Model, snaps []*sampler.Snapshot) (sent int) {
	v := newVT(160, 50)
	var shown *frame
	for i, s := range snaps[len(snaps)-60:] {
		m.take(snaps[len(snaps)-60+i : len(snaps)-59+i])
		f := &frame{m.draw(), m.tty.paint}
		var b bytes.Buffer
		f.changes(&b, shown)
		if err := v.write(b.String()); err != nil {
			t.Fatalf("%v: %v", s.Time, err)
		}
		if err := v.shows(t, f); err != nil {
			t.Fatalf("%v: %v", s.Time, err)
		}
		if i > 0 {
			sent += b.Len()
		}
		shown = f
	}
	var b bytes.Buffer
	(&frame{m.draw(), m.tty.paint}).changes(&b, shown)
	if b.Len() > 0 {
		t.Errorf("the same frame again sends %q", b.String())
	}
	return sent
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
