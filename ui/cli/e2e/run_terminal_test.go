package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/ui/cli/e2e"
)

// openShell opens an interactive shell in which nv is nvpeak run.
func openShell(t *testing.T) *e2e.Terminal {
	t.Helper()
	s := setup{scenario: "h100x8"}
	startPunctually(t)
	term, err := e2e.Start(e2e.Options{Args: []string{"bash", "--norc", "--noprofile", "-i"}, Env: append(s.environ(t), "PS1=ready> "), Cols: 80, Rows: 24, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	see(t, term, "ready>")
	press(t, term, "alias nv='"+binary+" run --'; clear\r")
	return term
}

// sane waits for a terminal that shells and people can use: cooked, with echo.
func sane(t *testing.T, term *e2e.Terminal) {
	t.Helper()
	seeMatch(t, term, `ready>\s*\z`) // what is typed before the prompt goes to the command
	press(t, term, "clear; stty -a | tr ' ;' '\\n\\n' | grep -cx -e icanon -e echo -e isig -e opost -e icrnl\r")
	seeMatch(t, term, `(?m)^5$`)
	press(t, term, "clear\r")
}

// A prompt is answered, and every stream is the terminal.
func TestRunAsksAndAnswers(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	press(t, term, `nv python3 -c 'import sys; print([f.isatty() for f in (sys.stdin,sys.stdout,sys.stderr)]); print("got", input("name? ").upper())'; echo "code $?"`+"\r")
	seeMatch(t, term, `(?m)^\[True, True, True\]\s+name\?`)
	press(t, term, "ann\r")
	see(t, term, "name? ann", "got ANN", "code 0")
	sane(t, term)
	press(t, term, `nv sh -c 'test -t 1; echo $?; test -t 2; echo $? >&2; read x; echo "$x$x"' 2>&1 | cat`+"\r")
	see(t, term, "1\n1")
	time.Sleep(100 * time.Millisecond)
	press(t, term, "ha\r")
	see(t, term, "haha")
	press(t, term, `nv sh -c 'for f in 0 1 2; do test -t $f; echo "t$f $?"; done' < /dev/null`+"\r")
	see(t, term, "t0 1\nt1 0\nt2 0")
	sane(t, term)
	press(t, term, "nv cat /proc/self/timerslack_ns\r")
	seeMatch(t, term, fmt.Sprintf(`(?m)^%d$`, slackHere))
}

// A shell in it has job control of its own, and a program that draws gets its keys raw.
func TestRunInteractiveShell(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	press(t, term, "nv bash --norc --noprofile -i\r")
	seeMatch(t, term, `-i\s+ready>`) // what is typed before would be for the outer one
	press(t, term, "PS1='inner> '\r")
	seeMatch(t, term, `(?m)^inner>`)
	press(t, term, "sleep 50\r")
	time.Sleep(300 * time.Millisecond)
	press(t, term, "\x1a")
	see(t, term, "Stopped", "inner>")
	press(t, term, "fg\r")
	time.Sleep(200 * time.Millisecond)
	press(t, term, "\x03")
	seeMatch(t, term, `\^C\s+inner>`)
	press(t, term, "echo inside $?\r")
	see(t, term, "inside 130")
	press(t, term, "exit 9\r")
	seeMatch(t, term, `exit\s+ready>`)
	press(t, term, "echo code $?\r")
	see(t, term, "code 9")
	if _, err := exec.LookPath("python3"); err == nil {
		press(t, term, `nv python3 -c 'import curses; print("key", curses.wrapper(lambda s: (s.addstr(2,2,"drawn"), s.refresh(), s.getch())[2]))'`+"\r")
		see(t, term, "  drawn")
		press(t, term, "x") // without Enter
		seeMatch(t, term, `key 120\s+ready>`)
	}
	sane(t, term)
}

func TestRunControlC(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	for _, command := range []string{"nv sleep 50", "nv sleep 50 | cat", "echo x | nv sleep 50"} {
		press(t, term, "set -o pipefail; for i in 1 2 3; do echo begin $i; "+command+"; done\r")
		see(t, term, "begin 1")
		time.Sleep(500 * time.Millisecond)
		press(t, term, "\x03")
		seeMatch(t, term, `\^C\s+ready>`) // the shell has left the loop
		press(t, term, "echo after $?\r")
		see(t, term, "after 130")
		sane(t, term)
	}
	press(t, term, `nv python3 -c 'import time
try: print("u" + "p"); time.sleep(50)
except KeyboardInterrupt: print("caught"); raise SystemExit(5)'; echo code $?`+"\r")
	seeMatch(t, term, `(?m)^up$`)
	time.Sleep(100 * time.Millisecond)
	press(t, term, "\x03")
	see(t, term, "caught", "code 5")
}

// Ctrl-Z stops command and nvpeak, fg and bg let both go on.
func TestRunControlZ(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`nv python3 -c 'x = input("first? "); print("one", x); x = input("second? "); print("two", x)'`,
		`nv python3 -c 'x = input("first? "); print("one", x); x = input("second? "); print("two", x)' | cat`,
		`nv bash -c 'read -p "first? " x; echo one $x; read -p "second? " x; echo two $x'`,
	} {
		term := openShell(t)
		press(t, term, command+"\r")
		if !strings.Contains(command, "cat") {
			see(t, term, "first?")
		}
		time.Sleep(300 * time.Millisecond)
		for range 2 {
			press(t, term, "\x1a")
			see(t, term, "Stopped")
			sane(t, term)
			press(t, term, "fg\r")
			time.Sleep(300 * time.Millisecond)
		}
		press(t, term, "a\r")
		see(t, term, "one a")
		press(t, term, "\x1a")
		see(t, term, "Stopped")
		press(t, term, "bg\r")
		time.Sleep(200 * time.Millisecond)
		sane(t, term)
		press(t, term, "fg\r")
		time.Sleep(time.Second) // on a busy machine the terminal is the shell's for a while
		press(t, term, "b\r")
		seeMatch(t, term, `two b\s+(\[1\]\+.*\s+)?ready>`)
		sane(t, term)
		term.Close()
	}
}

// What was printed before a stop stands before the prompt of the shell, and not behind it.
func TestRunStopsBehindItsOutput(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	for range 5 {
		press(t, term, "nv sh -c 'for i in $(seq 3000); do echo \"li\"ne $i; done; kill -STOP $$'\r")
		screen := seeMatch(t, term, `Stopped[^\n]*\n(?:[^\n]+\n)?ready>`)
		if last := strings.LastIndex(screen, "line 3000"); last < 0 || last > strings.LastIndex(screen, "Stopped") {
			t.Fatal(screen)
		}
		press(t, term, "kill -9 %+; fg; clear\r")
		sane(t, term)
	}
}

// A command that was begun in the background and is brought to the foreground has the modes of a terminal there, not those
// of the shell's line editor: what is typed is echoed, and Ctrl-D is its end.
func TestRunBackgroundThenForeground(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	press(t, term, "nv cat &\r")
	time.Sleep(time.Second)
	press(t, term, "fg\r")
	time.Sleep(time.Second)
	press(t, term, "typed\r")
	seeMatch(t, term, `typed\s+typed`) // the echo, and cat
	press(t, term, "\x04")
	sane(t, term)
	press(t, term, "echo code $?\r")
	see(t, term, "code 0")
}

// A new size reaches the command.
func TestRunResize(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	for _, pipe := range []string{"", " < /dev/null"} {
		press(t, term, `nv sh -c 'trap "stty size <&1" WINCH; stty size <&1; while :; do sleep 0.05; done'`+pipe+"\r")
		see(t, term, "24 80")
		if err := term.Resize(90, 30); err != nil {
			t.Fatal(err)
		}
		see(t, term, "30 90")
		press(t, term, "\x03")
		if err := term.Resize(80, 24); err != nil {
			t.Fatal(err)
		}
		sane(t, term)
	}
}

// kill -9 of nvpeak hangs the command up, and leaves a terminal that can be used.
func TestRunKilledInTerminal(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	press(t, term, "nv sh -c 'echo \"p\"id $$ $PPID; exec sleep 50'\r")
	screen := see(t, term, "pid ")
	var command, helper int
	if _, err := fmt.Sscanf(screen[strings.LastIndex(screen, "pid "):], "pid %d %d", &command, &helper); err != nil {
		t.Fatal(err, screen)
	}
	var parent int
	stat := strings.Fields(readStat(t, helper))
	fmt.Sscan(stat[1], &parent) //nolint:errcheck // then it fails below
	if err := syscall.Kill(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	see(t, term, "Killed", "ready>")
	for end := time.Now().Add(patience); unix.Kill(command, 0) == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.HasPrefix(readStat(t, command), "Z") {
			break
		}
	}
	time.Sleep(100 * time.Millisecond)
	sane(t, term)
}

// readStat is what /proc says of a process after its name: its state, its parent.
func readStat(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "Z"
	}
	return string(stat[bytes.LastIndexByte(stat, ')')+2:])
}

// --monitor is a split of tmux that is gone with the command, and a line where there is no tmux.
func TestRunMonitor(t *testing.T) {
	t.Parallel()
	if r := run(t, setup{scenario: "h100x8", args: []string{"run", "--monitor", "--", "sh", "-c", "exit 3"}}); r.code != 3 || !strings.Contains(r.err, "--monitor needs tmux") {
		t.Errorf("%+v", r)
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip(err)
	}
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-L", fmt.Sprintf("nvpeak-%d", os.Getpid()), "-f", "/dev/null"}, args...)...)
		cmd.Env = setup{}.environ(t)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	defer tmux("kill-server")
	tmux("new-session", "-d", "-x", "120", "-y", "40", binary+" run --demo --monitor -- sleep 2; echo ended; sleep 60")
	for end := time.Now().Add(patience); !strings.Contains(tmux("capture-pane", "-p", "-t", "0.1"), "DEMO"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(tmux("list-panes"))
		}
	}
	for end := time.Now().Add(patience); strings.Count(tmux("list-panes"), "\n") != 1; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(tmux("list-panes"))
		}
	}
	for end := time.Now().Add(patience); !strings.Contains(tmux("capture-pane", "-p"), "ended"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(tmux("capture-pane", "-p"))
		}
	}
}

// The last bytes that are printed to a terminal are not lost, whoever else still holds it.
func TestRunPassesTheLastBytes(t *testing.T) {
	t.Parallel()
	s := setup{scenario: "h100x8"}
	for i := range 10 {
		line := `stty -opost; (sleep 30 &) ; head -c 200000 /dev/zero | tr '\0' x; printf "%s" end`
		began := time.Now()
		term, err := e2e.Start(e2e.Options{Args: []string{binary, "run", "--", "sh", "-c", line}, Env: s.environ(t), Cols: 80, Rows: 24, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		code, err := term.Wait(patience)
		raw := term.Raw()
		if n := bytes.Count(raw, []byte("x")); n != 200000 || !bytes.HasSuffix(raw, []byte("end")) || code != 0 || err != nil || time.Since(began) > 10*time.Second {
			t.Errorf("%d: %d bytes, %d, %v in %v, %.30q", i, n, code, err, time.Since(began), raw[max(0, len(raw)-30):])
		}
		term.Close()
	}
}

// Between two tries the terminal is nvpeak's: Ctrl-C leaves the loop of the shell, Ctrl-Z stops the pause. The second try
// has its keys.
func TestRunRetryInTerminal(t *testing.T) {
	t.Parallel()
	term := openShell(t)
	sample := "cat " + filepath.Join(sampleDirectory(t), "03-seed-20mib-full-card.txt")
	press(t, term, "alias nv='"+binary+" run --retry 3 --'; f() { case \"$*\" in *size?8) read x; echo \"got $x\";; *) "+sample+"; return 1;; esac; }; export -f f; clear\r")
	press(t, term, "for i in 1 2; do nv bash -c 'f \"$@\"' x --batch-size 32; done\r")
	see(t, term, "Ctrl-C ends all")
	press(t, term, "\x03")
	seeMatch(t, term, `\^C\s+ready>`)
	press(t, term, "echo after $?\r")
	see(t, term, "after 130")
	sane(t, term)
	press(t, term, "nv bash -c 'f \"$@\"' x --batch-size 16\r")
	see(t, term, "Ctrl-C ends all")
	press(t, term, "\x1a")
	see(t, term, "Stopped")
	sane(t, term)
	press(t, term, "fg\r")
	time.Sleep(2500 * time.Millisecond)
	press(t, term, "keys\r")
	see(t, term, "got keys", "came through")
	sane(t, term)
}

func sampleDirectory(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../testdata/oom/samples")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
