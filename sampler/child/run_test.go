package child

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// sideVariable names the file into which a runner writes what was read beside. Its presence makes this program a runner.
const sideVariable = "CHILD_TEST_SIDE"

// askedSuffix is what the name of the file with the signal that asked for an end has more.
const askedSuffix = ".asked"

// TestMain is nvpeak run, and its session helper, where a test starts this program again.
func TestMain(m *testing.M) {
	if os.Args[0] == HelperName {
		os.Exit(Session(os.Args[1:]))
	}
	file, is := os.LookupEnv(sideVariable)
	if !is {
		for _, s := range passed {
			if signal.Ignored(s) { // as below nohup: what is started here must not inherit it
				signal.Notify(make(chan os.Signal, 1), s)
			}
		}
		os.Exit(m.Run())
	}
	self, _ := os.Executable()
	side, read := NewSide(), make(chan []byte)
	go func() {
		text, _ := io.ReadAll(side)
		read <- text
	}()
	code := Run(Options{Args: os.Args[1:], Env: os.Environ(), Side: side, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Helper: self,
		Problem: func(text string) { os.Stderr.WriteString("problem: " + text + "\n") }}) //nolint:errcheck // a test
	os.WriteFile(file, <-read, 0o600)                                       //nolint:errcheck // the test finds none
	os.WriteFile(file+askedSuffix, []byte(unix.SignalName(Asked())), 0o600) //nolint:errcheck // the test finds none
	Interrupt(code)
	os.Exit(code)
}

// patience is more than anything here takes.
const patience = 20 * time.Second

// runner is this program as nvpeak run; side gives what was read beside, once it has ended.
func runner(t *testing.T, args ...string) (cmd *exec.Cmd, side func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "side")
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), sideVariable+"="+file, "GOCOVERDIR="+t.TempDir())
	cmd.WaitDelay = patience
	timer := time.AfterFunc(patience, func() {
		if cmd.Process != nil {
			cmd.Process.Kill() //nolint:errcheck // it has ended
		}
	})
	t.Cleanup(func() { timer.Stop() })
	return cmd, func() string {
		text, _ := os.ReadFile(file)
		return string(text)
	}
}

// codeOfRun is the exit code of a command, or less than 0: the signal that killed it.
func codeOfRun(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return 1000
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return -int(status.Signal())
	}
	return exit.ExitCode()
}

// What a command prints and its exit code come through as without nvpeak, and its lines are read beside.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "echo plain $1", "strange": "#!/no/such/interpreter\n", "locked": "echo locked"} {
		mode := os.FileMode(0o755)
		if name == "locked" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	sh := func(script string) []string { return []string{"sh", "-c", script} }
	for name, row := range map[string]struct {
		args            []string
		in              string
		code            int
		out, errs, side string
	}{
		"exit code":       {sh("exit 3"), "", 3, "", "", ""},
		"killed":          {sh("kill -9 $$"), "", 128 + 9, "", "", ""},
		"lines":           {sh("echo one; echo two; printf three"), "", 0, "one\ntwo\nthree", "", "one\ntwo\nthree"},
		"errors":          {sh("echo bad >&2"), "", 0, "", "bad\n", "bad\n"},
		"input":           {[]string{"cat"}, "typed", 0, "typed", "", "typed"},
		"much":            {sh("head -c 300000 /dev/zero | tr '\\0' x"), "", 0, strings.Repeat("x", 300000), "", strings.Repeat("x", 300000)},
		"not there":       {[]string{"no-such-command"}, "", 127, "", "problem: cannot run no-such-command (command not found)\n", ""},
		"no such file":    {[]string{"/no/such/file"}, "", 127, "", "problem: cannot run /no/such/file (no such file)\n", ""},
		"below a file":    {[]string{dir + "/plain/x"}, "", 127, "", "problem: cannot run " + dir + "/plain/x (not a directory)\n", ""},
		"no interpreter":  {[]string{dir + "/strange"}, "", 127, "", "problem: cannot run " + dir + "/strange (the interpreter of its first line is not there)\n", ""},
		"a directory":     {[]string{dir}, "", 126, "", "problem: cannot run " + dir + " (permission denied)\n", ""},
		"not executable":  {[]string{dir + "/locked"}, "", 126, "", "problem: cannot run " + dir + "/locked (permission denied)\n", ""},
		"without a shell": {[]string{dir + "/plain", "script"}, "", 0, "plain script\n", "", "plain script\n"},
		"left behind":     {sh("(sleep 60; echo late) & echo now; kill -9 $!"), "", 0, "now\n", "", "now\n"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			cmd, side := runner(t, row.args...)
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(row.in), &out, &errs
			if code := codeOfRun(cmd.Run()); code != row.code || out.String() != row.out || errs.String() != row.errs || side() != row.side {
				t.Errorf("code %d, printed %.99q and %q, beside %.99q; want %d, %.99q, %q", code, out.String(), errs.String(), side(), row.code, row.out, row.errs)
			}
		})
	}
}

// A command is looked for as a shell does: what is no program is passed over, and remembered.
func TestFind(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(one+"/locked", nil, 0o644), os.WriteFile(two+"/locked", nil, 0o755), os.WriteFile(one+"/only", nil, 0o644),
		os.Mkdir(one+"/dir", 0o755), os.WriteFile(two+"/dir", nil, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		path string
		err  error
	}{"locked": {two + "/locked", nil}, "only": {"", unix.EACCES}, "dir": {two + "/dir", nil}, "none": {"", unix.ENOENT}, "": {"", unix.ENOENT}, "a/b": {"a/b", nil}} {
		if path, err := find(name, one+":"+two); path != row.path || !errors.Is(err, row.err) {
			t.Errorf("%q: %q, %v", name, path, err)
		}
	}
	for env, want := range map[string]string{"PATH=/x": "/x", "PATH=": "/usr/local/bin:/usr/bin:/bin", "XPATH=/x": "/usr/local/bin:/usr/bin:/bin", "PATH=a": "a"} {
		if got := pathOf([]string{"A=1", env}); got != want {
			t.Errorf("%s: %q", env, got)
		}
	}
}

// What is printed into a file is in the file and nowhere else, and is read there: not what was in it before.
func TestRunIntoFiles(t *testing.T) {
	for name, flags := range map[string]int{"written": os.O_WRONLY, "appended": os.O_WRONLY | os.O_APPEND} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		if flags == os.O_WRONLY {
			file.Seek(0, io.SeekEnd) //nolint:errcheck // a file
		}
		cmd, side := runner(t, "sh", "-c", "echo one; echo two >&2; echo three")
		cmd.Stdout, cmd.Stderr = file, file
		if code := codeOfRun(cmd.Run()); code != 0 {
			t.Errorf("%s: code %d", name, code)
		}
		file.Close() //nolint:errcheck // nothing was written
		text, _ := os.ReadFile(path)
		if string(text) != "before\none\ntwo\nthree\n" || side() != "one\ntwo\nthree\n" {
			t.Errorf("%s: %q, beside %q", name, text, side())
		}
	}
}

// A command finds closed what nvpeak found closed, ignored what it found ignored, and nothing else: all is as without nvpeak.
func TestRunInherits(t *testing.T) {
	const look = "grep SigIgn /proc/self/status >&9; for n in 0 1 2; do [ -e /proc/self/fd/$n ] && echo open $n >&9; done; :"
	for _, before := range []string{"", "exec <&-;", "exec >&-;", "exec 2>&-;", "exec </dev/null;", "trap '' HUP INT;", "trap '' USR2 TERM;"} {
		var outs [2]string
		for i := range outs {
			cmd, _ := runner(t, "sh", "-c", look)
			shell := exec.Command("sh", append([]string{"-c", "exec 9>&1;" + before + `exec "$0" "$@"`}, cmd.Args[i:]...)...)
			shell.Env = cmd.Env
			out, err := shell.Output()
			if err != nil {
				t.Errorf("%s: %v", before, err)
			}
			outs[i] = string(out)
		}
		if outs[0] != outs[1] || !strings.Contains(outs[0], "open") {
			t.Errorf("%s: %q, without nvpeak %q", before, outs[0], outs[1])
		}
	}
}

// Signals that are sent to nvpeak are for the command.
func TestRunPassesSignals(t *testing.T) {
	for _, s := range passed {
		t.Run(unix.SignalName(s), func(t *testing.T) {
			t.Parallel()
			cmd, _ := runner(t, "sh", "-c", "trap 'exit 7' "+strings.TrimPrefix(unix.SignalName(s), "SIG")+"; echo ready; while :; do sleep 0.02; done")
			out, err := cmd.StdoutPipe()
			if err != nil || cmd.Start() != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			cmd.Process.Signal(s) //nolint:errcheck // it runs
			if code := codeOfRun(cmd.Wait()); code != 7 {
				t.Errorf("code %d, want 7", code)
			}
		})
	}
}

// terminal is a runner with a terminal of its own, 77 columns wide; before are its modes.
func terminal(t *testing.T, script string) (cmd *exec.Cmd, master *os.File, before *unix.Termios, side func() string) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })   //nolint:errcheck // nothing is lost
	pty.Setsize(master, &pty.Winsize{Rows: 33, Cols: 77}) //nolint:errcheck // the test sees it
	cmd, side = runner(t, "sh", "-c", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if before, err = unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, master, before, side
}

// until reads a terminal up to a text.
func until(t *testing.T, from *os.File, text string) string {
	t.Helper()
	var got []byte
	b := make([]byte, 1)
	for !bytes.Contains(got, []byte(text)) {
		if n, err := from.Read(b); err != nil {
			t.Fatalf("%q is not printed: %q, %v", text, got, err)
		} else {
			got = append(got, b[:n]...)
		}
	}
	return string(got)
}

// In a terminal a command has one, of the same size, with what is typed, and the modes are as before when it has ended.
func TestRunInTerminal(t *testing.T) {
	cmd, master, before, side := terminal(t, `test -t 0 && test -t 1 && test -t 2 && stty size; trap 'stty size; exit 5' WINCH; read x; echo "got $x"; while :; do sleep 0.02; done`)
	until(t, master, "33 77\r\n")
	master.WriteString("hello\r") //nolint:errcheck // the test sees it
	until(t, master, "got hello\r\n")
	pty.Setsize(master, &pty.Winsize{Rows: 34, Cols: 88}) //nolint:errcheck // the test sees it
	until(t, master, "34 88\r\n")
	if code := codeOfRun(cmd.Wait()); code != 5 {
		t.Errorf("code %d, want 5", code)
	}
	if after, err := unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS); err != nil || *after != *before {
		t.Errorf("modes %+v, were %+v", after, before)
	}
	if text := side(); !strings.HasPrefix(text, "33 77\r\n") || !strings.HasSuffix(text, "got hello\r\n34 88\r\n") {
		t.Errorf("beside %q", text)
	}
}

// Ctrl-C, also at once, ends the command, and nvpeak as the command ended; a command that ends otherwise is not interrupted.
func TestRunInterrupted(t *testing.T) {
	for script, want := range map[string]int{`trap 'trap - INT; kill -INT $$' INT; echo ready; while :; do sleep 0.02; done`: -int(syscall.SIGINT), "trap 'exit 9' INT; echo ready; while :; do sleep 0.02; done": 9} {
		cmd, master, _, _ := terminal(t, script)
		until(t, master, "ready\r\n")
		master.Write([]byte{controlC}) //nolint:errcheck // the test sees it
		if code := codeOfRun(cmd.Wait()); code != want {
			t.Errorf("%s: code %d, want %d", script, code, want)
		}
	}
}
