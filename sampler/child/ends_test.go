package child

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// begun is a runner that has printed "ready".
func begun(t *testing.T, script string) (cmd *exec.Cmd, asked func() string) {
	t.Helper()
	cmd, _ = runner(t, "sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	file := ""
	for _, v := range cmd.Env {
		if name, is := strings.CutPrefix(v, sideVariable+"="); is {
			file = name
		}
	}
	return cmd, func() string {
		text, _ := os.ReadFile(file + askedSuffix)
		return string(text)
	}
}

const waiting = "; echo ready; while :; do sleep 0.02; done"

// Which signals ask for an end, and that the first counts.
func TestAsked(t *testing.T) {
	asks := []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM}
	for _, s := range passed {
		t.Run(unix.SignalName(s), func(t *testing.T) {
			t.Parallel()
			cmd, asked := begun(t, "trap 'exit 7' "+strings.TrimPrefix(unix.SignalName(s), "SIG")+waiting)
			cmd.Process.Signal(s) //nolint:errcheck // it runs
			code, want := codeOfRun(cmd.Wait()), ""
			if slices.Contains(asks, s) {
				want = unix.SignalName(s)
			}
			if code != 7 || asked() != want {
				t.Errorf("code %d, asked by %q, want %q", code, asked(), want)
			}
		})
	}
	t.Run("the first", func(t *testing.T) {
		t.Parallel()
		cmd, asked := begun(t, "trap 'kill -HUP $PPID; sleep 0.05; exit 7' QUIT"+waiting)
		cmd.Process.Signal(syscall.SIGQUIT) //nolint:errcheck // it runs
		if code := codeOfRun(cmd.Wait()); code != 7 || asked() != "SIGQUIT" {
			t.Errorf("code %d, asked by %q", code, asked())
		}
	})
}

// What a process sends is no Ctrl-C: nvpeak ends with the code. What the command sends to nvpeak does not come back.
func TestSentSignals(t *testing.T) {
	cmd, _ := begun(t, "trap 'exit 130' INT"+waiting)
	cmd.Process.Signal(syscall.SIGINT) //nolint:errcheck // it runs
	if code := codeOfRun(cmd.Wait()); code != 130 {
		t.Errorf("code %d", code)
	}
	cmd, _ = begun(t, "trap 'exit 7' USR1; echo ready; kill -USR1 $PPID; sleep 0.1; exit 3")
	if code := codeOfRun(cmd.Wait()); code != 3 {
		t.Errorf("its own signal came back: code %d", code)
	}
}

// Outputs that are no pipes: into nothing is read beside, into a device that fails it fails, and terminals are terminals.
func TestRunOutputs(t *testing.T) {
	for device, row := range map[string]struct {
		code int
		side string
	}{"/dev/null": {0, "one\n"}, "/dev/full": {4, ""}} {
		file, err := os.OpenFile(device, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // a device
		cmd, side := runner(t, "sh", "-c", "echo one 2>/dev/null || exit 4")
		cmd.Stdout = file
		if code := codeOfRun(cmd.Run()); code != row.code || side() != row.side {
			t.Errorf("%s: code %d, beside %q", device, code, side())
		}
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()                                  //nolint:errcheck // nothing is lost
	defer slave.Close()                                   //nolint:errcheck // nothing is lost
	pty.Setsize(master, &pty.Winsize{Rows: 33, Cols: 77}) //nolint:errcheck // the test sees it
	cmd, side := runner(t, "sh", "-c", "test -t 0 || test -t 1 && stty size <&1")
	cmd.Stdout = slave
	if code := codeOfRun(cmd.Run()); code != 0 || side() != "33 77\n" {
		t.Errorf("printing to a terminal: code %d, beside %q", code, side())
	}
	if text := until(t, master, "\n"); text != "33 77\r\n" {
		t.Errorf("printing to a terminal: %q", text)
	}
	cmd, side = runner(t, "sh", "-c", "test -t 0 && ! test -t 1 && echo reads")
	cmd.Stdin = slave
	var out bytes.Buffer
	cmd.Stdout = &out
	if code := codeOfRun(cmd.Run()); code != 0 || out.String() != "reads\n" || side() != "reads\n" {
		t.Errorf("reading from a terminal: code %d, %q, beside %q", code, out.String(), side())
	}
}

// The terminal of a command has the modes of that of nvpeak, and a command of one word is one.
func TestTerminalModes(t *testing.T) {
	for word, want := range map[string]string{"stty": "-echo", "tty": "/dev/"} {
		master, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close() //nolint:errcheck // nothing is lost
		defer slave.Close()  //nolint:errcheck // nothing is lost
		modes, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		modes.Lflag &^= unix.ECHO
		if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, modes); err != nil {
			t.Fatal(err)
		}
		cmd, side := runner(t, word)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if code := codeOfRun(cmd.Run()); code != 0 || !strings.Contains(side(), want) {
			t.Errorf("%s: code %d, %q", word, code, side())
		}
	}
	if code := Session([]string{"true"}); code != codeNotExecutable {
		t.Errorf("a session without a command: %d", code)
	}
}

// All of a short output is its end, also at its bound; of a longer one the first whole line is the first.
func TestTailIsWhole(t *testing.T) {
	s := NewSide()
	s.put([]byte("one\ntwo\n"))
	if end, n := s.Tail(); string(end) != "one\ntwo\n" || n != 8 {
		t.Errorf("%q of %d", end, n)
	}
	s = NewSide()
	s.put([]byte("first\n" + strings.Repeat("x", maxTail-6)))
	if end, _ := s.Tail(); len(end) != maxTail {
		t.Errorf("%d of as much as is kept", len(end))
	}
	s.put([]byte("\nlast\n"))
	if end, _ := s.Tail(); bytes.Contains(end, []byte("first")) || !bytes.HasSuffix(end, []byte("last\n")) {
		t.Errorf("%.20q", end)
	}
}

// A script that names no interpreter is one where its first line is text.
func TestIsText(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]bool{"echo\n": true, "echo\n\x00": true, "\x00echo\n": false, "e\x00\n": false, "": true} {
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if isText(path) != want {
			t.Errorf("%q is text: %v", text, !want)
		}
	}
	if isText(filepath.Join(dir, "none")) {
		t.Error("what is not there is text")
	}
}

// Two outputs are one file by what they are, not by their names.
func TestSameFile(t *testing.T) {
	dir := t.TempDir()
	a, err := os.Create(filepath.Join(dir, "a"))
	again, err2 := os.Open(filepath.Join(dir, "a"))
	b, err3 := os.Create(filepath.Join(dir, "b"))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	if !sameFile(a, again) || sameFile(a, b) {
		t.Error("one file is two, or two are one")
	}
	b.Close() //nolint:errcheck // nothing was written
	if sameFile(a, b) || sameFile(b, a) {
		t.Error("what is closed is the same as something")
	}
}
