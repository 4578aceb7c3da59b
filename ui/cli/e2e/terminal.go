// Package e2e runs a program in a terminal of its own: a pty whose other end is a terminal
// emulator. The tests beside it drive the real nvpeak against the fake driver with it;
// docs/measure measures nvpeak and its peers with it.
//
//	program ── pty ──▶ reader ──▶ emulator (what a user would see) ──▶ Screen, WaitFor
//	        ◀── pty ── keys, answers of the emulator
package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Options of a Terminal. Args[0] is the program.
type Options struct {
	Args []string
	Env  []string // whole; nil: that of this process
	Cols int
	Rows int
	Keep bool // keep all that was written, for Raw
}

// Terminal is a program and the terminal it runs in. Its methods may be called from any
// goroutine.
type Terminal struct {
	Cmd     *exec.Cmd
	Started time.Time

	master *os.File
	em     *vt.Emulator
	keep   bool
	exited chan struct{}
	drawn  chan struct{} // all output has been seen

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each output
	raw     bytes.Buffer
	count   int
	latest  time.Time // of the last output
	last    []byte    // the last tailRoom bytes
	visible bool
	title   string
}

// Start runs the program in a new session whose controlling terminal is the new one.
func Start(o Options) (*Terminal, error) {
	t := &Terminal{Cmd: exec.Command(o.Args[0], o.Args[1:]...), keep: o.Keep, visible: true,
		em: vt.NewEmulator(o.Cols, o.Rows), exited: make(chan struct{}), drawn: make(chan struct{}), changed: make(chan struct{})}
	t.Cmd.Env = o.Env
	t.em.SetCallbacks(vt.Callbacks{
		CursorVisibility: func(v bool) { t.visible = v },
		Title:            func(s string) { t.title = s },
	})
	t.Started = time.Now()
	master, err := pty.StartWithSize(t.Cmd, &pty.Winsize{Cols: uint16(o.Cols), Rows: uint16(o.Rows)})
	if err != nil {
		return nil, err
	}
	t.master = master
	go t.read()
	go io.Copy(master, t.em) //nolint:errcheck // answers of the terminal; they end with it
	go func() {
		t.Cmd.Wait() //nolint:errcheck // ProcessState tells it
		close(t.exited)
	}()
	return t, nil
}

// read feeds the emulator until the terminal is closed.
func (t *Terminal) read() {
	defer close(t.drawn)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buf)
		at := time.Now() // what follows takes its time
		t.mu.Lock()
		t.count += n
		t.latest = at
		t.last = append(t.last[max(0, min(len(t.last), len(t.last)+n-tailRoom)):], buf[max(0, n-tailRoom):n]...)
		if t.keep {
			t.raw.Write(buf[:n])
		}
		t.em.Write(buf[:n]) //nolint:errcheck // it has none
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Lines are the rows of the screen, without trailing blanks.
func (t *Terminal) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines()
}

func (t *Terminal) lines() []string {
	w, h := t.em.Width(), t.em.Height()
	lines := make([]string, h)
	var b strings.Builder
	for y := range h {
		b.Reset()
		for x := 0; x < w; {
			c := t.em.CellAt(x, y)
			if c == nil || c.Content == "" {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += max(c.Width, 1)
		}
		lines[y] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// Screen is the text on the screen.
func (t *Terminal) Screen() string { return strings.Join(t.Lines(), "\n") }

// Colors tells whether any cell has a foreground or background color.
func (t *Terminal) Colors() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for y := range t.em.Height() {
		for x := range t.em.Width() {
			if c := t.em.CellAt(x, y); c != nil && (c.Style.Fg != nil || c.Style.Bg != nil) {
				return true
			}
		}
	}
	return false
}

// State is what a program must put right before it ends.
type State struct {
	AltScreen     bool
	CursorVisible bool
	Title         string
}

// State of the terminal now.
func (t *Terminal) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return State{t.em.IsAltScreen(), t.visible, t.title}
}

// Raw is all that was written to the terminal, when Options.Keep was set.
func (t *Terminal) Raw() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.raw.Bytes())
}

// Count is how many bytes were written to the terminal.
func (t *Terminal) Count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// Latest is when the last output came.
func (t *Terminal) Latest() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.latest
}

// tailRoom is how much of what was written a failure shows: two writers of one terminal can make a screen from which
// nobody can tell what each of them wrote.
const tailRoom = 2000

func (t *Terminal) tail() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.last)
}

// WaitFor waits until ok says yes to the screen, asked after each output.
func (t *Terminal) WaitFor(what string, patience time.Duration, ok func(screen string) bool) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		t.mu.Lock()
		screen, changed := strings.Join(t.lines(), "\n"), t.changed
		t.mu.Unlock()
		if ok(screen) {
			return nil
		}
		select {
		case <-changed:
		case <-t.drawn:
			return fmt.Errorf("the program ended before there was %s:\n%s", what, screen)
		case <-limit.C:
			return fmt.Errorf("after %v there is no %s:\n%s\nwritten last: %q", patience, what, strings.TrimRight(screen, "\n"), t.tail())
		}
	}
}

// WaitText waits until the text is on the screen.
func (t *Terminal) WaitText(text string, patience time.Duration) error {
	return t.WaitFor(fmt.Sprintf("%q", text), patience, func(s string) bool { return strings.Contains(s, text) })
}

// Type sends keys as the bytes a terminal would send.
func (t *Terminal) Type(keys string) error {
	_, err := t.master.WriteString(keys)
	return err
}

// Resize changes the size; the program is told by SIGWINCH.
func (t *Terminal) Resize(cols, rows int) error {
	t.mu.Lock()
	t.em.Resize(cols, rows)
	t.mu.Unlock()
	return pty.Setsize(t.master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

// Signal sends a signal to the program.
func (t *Terminal) Signal(s syscall.Signal) error { return t.Cmd.Process.Signal(s) }

// ErrStillRunning is the answer of Wait when the program has not ended in time.
var ErrStillRunning = errors.New("the program is still running")

// Wait waits for the end of the program and of its output and returns the exit code
// (-1 for a death by signal).
func (t *Terminal) Wait(patience time.Duration) (int, error) {
	select {
	case <-t.exited:
	case <-time.After(patience):
		return 0, ErrStillRunning
	}
	select {
	case <-t.drawn:
	case <-time.After(time.Second): // a child may hold the terminal open
	}
	return t.Cmd.ProcessState.ExitCode(), nil
}

// Hangup closes the terminal under the program, as a window does.
func (t *Terminal) Hangup() error { return t.master.Close() }

// Close ends the program if it still runs, with all that its shell has begun, and closes the terminal.
func (t *Terminal) Close() {
	t.Cmd.Process.Kill() //nolint:errcheck // it may have ended
	<-t.exited
	endSession(t.Cmd.Process.Pid)
	t.master.Close()
	<-t.drawn
	t.em.Close() //nolint:errcheck // it has none
}

// endSession kills the processes of a session. One that keeps the terminal open, as a job that was stopped, would be waited for.
func endSession(leader int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") //nolint:errcheck // the pattern is right
	for _, name := range stats {
		text, _ := os.ReadFile(name)                  //nolint:errcheck // it has ended
		_, rest, _ := strings.Cut(string(text), ") ") // state, parent, group, session
		if f := strings.Fields(rest); len(f) > 3 && f[3] == strconv.Itoa(leader) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // the same
			}
		}
	}
}
