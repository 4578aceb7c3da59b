package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/ui/cli/e2e"
)

// endings are ways to end, as arguments of a command.
var endings = map[string][]string{
	"0":              {"true"},
	"1":              {"false"},
	"3":              {"sh", "-c", "exit 3"},
	"255":            {"sh", "-c", "exit 255"},
	"300":            {"python3", "-c", "import os; os._exit(300 & 255)"},
	"TERM":           {"sh", "-c", "kill -TERM $$"},
	"KILL":           {"sh", "-c", "kill -KILL $$"},
	"INT":            {"sh", "-c", "kill -INT $$"},
	"HUP":            {"sh", "-c", "kill -HUP $$"},
	"USR1":           {"sh", "-c", "kill -USR1 $$"},
	"PIPE":           {"sh", "-c", "kill -PIPE $$"},
	"SEGV":           {"sh", "-c", "ulimit -c 0; kill -SEGV $$"},
	"ABRT":           {"sh", "-c", "ulimit -c 0; kill -ABRT $$"},
	"QUIT":           {"sh", "-c", "ulimit -c 0; kill -QUIT $$"},
	"not found":      {"nvpeak-no-such-command"},
	"no such file":   {"/nonexistent/command"},
	"no permission":  {"/etc/hostname"},
	"directory":      {"/tmp"},
	"no interpreter": {"./bad"},
	"no first line":  {"./plain"},
	"broken binary":  {"./broken"},
	"exception":      {"python3", "-c", "raise SystemExit('no')"},
	"interrupted":    {"python3", "-c", "raise KeyboardInterrupt"},
	"daemon":         {"sh", "-c", "(sleep 30 &) ; exit 4"},
	"all closed":     {"sh", "-c", "exec <&- >&- 2>&-; exit 5"},
	"setsid":         {"setsid", "-w", "sh", "-c", "exit 6"},
	"trapped":        {"sh", "-c", "trap 'exit 7' TERM; kill -TERM $$; sleep 1"},
	"flags":          {"sh", "-c", "exit $#", "--", "--json", "-x"},
}

// asShell says how a shell would see a command end, with or without nvpeak.
func shellLine(watched bool) string {
	if watched {
		return `"` + binary + `" run -- "$@"; exit $?`
	}
	return `"$@"; exit $?`
}

// scripts makes a directory with programs that cannot be run, or hardly.
func scripts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"bad": "#!/nonexistent/sh\n", "plain": "exit 8\n", "broken": "\x7fELF\x00\x01\x02"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func codeOf(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return -2
	case exit.Sys().(syscall.WaitStatus).Signaled():
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	}
	return exit.ExitCode()
}

// The exit code is that of the command alone, in a terminal and without one.
func TestRunExitCodes(t *testing.T) {
	t.Parallel()
	dir := scripts(t)
	env := setup{scenario: "h100x8"}.environ(t)
	for name, args := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(args[0]); err != nil && strings.Contains("python3 setsid", args[0]) {
				t.Skip(err)
			}
			codes := map[bool]int{}
			for _, watched := range []bool{false, true} {
				cmd := exec.Command("bash", append([]string{"-c", shellLine(watched), "sh"}, args...)...)
				cmd.Env, cmd.Dir = env, dir
				began := time.Now()
				codes[watched] = codeOf(cmd.Run())
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("watched %v: it took %v", watched, took)
				}
			}
			if codes[true] != codes[false] {
				t.Errorf("exit code %d, without nvpeak %d", codes[true], codes[false])
			}
			term, err := e2e.Start(e2e.Options{Args: append([]string{"bash", "-c", "cd " + dir + "; " + shellLine(true), "sh"}, args...), Env: env, Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(term.Close)
			began := time.Now()
			code, err := term.Wait(patience)
			if took := time.Since(began); took > busy {
				t.Errorf("in a terminal it took %v", took)
			}
			if code != codes[false] || err != nil {
				t.Errorf("in a terminal: %d, %v, without nvpeak %d\n%s", code, err, codes[false], term.Screen())
			}
		})
	}
}

// watched is nvpeak run as a command, with a state directory of its own.
func watched(t *testing.T, args ...string) (cmd *exec.Cmd, state string) {
	t.Helper()
	state = t.TempDir()
	s := setup{scenario: "h100x8", env: []string{"XDG_STATE_HOME=" + state}}
	cmd = exec.Command(binary, append([]string{"run", "--"}, args...)...)
	cmd.Env = s.environ(t)
	return cmd, state
}

// sum is a checksum of what comes.
func sum(t *testing.T, cmd *exec.Cmd) (text string, n int64) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	if n, err = io.Copy(hash, out); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), n
}

// binaryOutput writes 100 MB of every byte there is.
var binaryOutput = []string{"python3", "-c", "import sys,random\nb=random.Random(1).randbytes(1<<20)\nfor i in range(100): sys.stdout.buffer.write(b)"}

// What is printed passes through byte for byte, however much and whatever it is.
func TestRunPassesBytes(t *testing.T) {
	t.Parallel()
	want, n := sum(t, exec.Command(binaryOutput[0], binaryOutput[1:]...))
	cmd, _ := watched(t, binaryOutput...)
	began := time.Now()
	if got, m := sum(t, cmd); got != want || m != n {
		t.Errorf("%d bytes %s, want %d bytes %s", m, got, n, want)
	}
	t.Logf("%d MB in %v, CPU time of nvpeak and command %v", n>>20, time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// Outputs stay apart, and in order where they are one.
func TestRunKeepsOutputsApart(t *testing.T) {
	t.Parallel()
	const script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
	cmd, _ := watched(t, "sh", "-c", script)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || strings.Count(out.String(), "out") != 9 || strings.Contains(out.String(), "err") || strings.Count(errs.String(), "err") != 9 || strings.Contains(errs.String(), "out") {
		t.Errorf("%v, %q, %q", err, out.String(), errs.String())
	}
	for _, line := range []string{`2>&1 | cat`, `> both 2>&1; cat both`, `>> both 2>&1; cat both`} {
		dir := t.TempDir()
		bare := exec.Command("bash", "-c", `"$0" -c "$1" `+line, "sh", script)
		ours, _ := watched(t)
		ours.Path, ours.Args = "/bin/bash", []string{"bash", "-c", `"$2" run -- "$0" -c "$1" ` + line, "sh", script, binary}
		bare.Dir, ours.Dir = t.TempDir(), dir
		want, err := bare.Output()
		got, err2 := ours.Output()
		if errors.Join(err, err2) != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v %v\n%s\nwant\n%s", line, err, err2, got, want)
		}
	}
}

// slackHere is a timer slack that nobody else has, in nanoseconds.
const slackHere = 77_000

// startPunctually gives what this goroutine starts slackHere. The thread ends with it.
func startPunctually(t *testing.T) {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, slackHere, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
}

// Standard streams that are closed, a reader that goes, a full device, how punctually it wakes: for the command it is as without nvpeak.
func TestRunStreams(t *testing.T) {
	t.Parallel()
	env := setup{scenario: "h100x8"}.environ(t)
	for _, line := range []string{
		`%s sh -c 'echo x' >&-`, `%s sh -c 'read a' <&-`, `%s sh -c 'echo x >&2' 2>&-`, `%s cat < /etc/hostname`, `echo in | %s cat`,
		`%s sh -c 'echo x' > /dev/full`, `set -o pipefail; %s yes | head -1`, `set -o pipefail; %s seq 40000 | head -1`, `nohup %s sh -c 'kill -HUP $$; exit 9' 2> /dev/null`,
		`trap '' INT; %s sh -c 'kill -INT $$; exit 10'`, `trap '' PIPE; set -o pipefail; %s sh -c 'sleep 0.1; echo a; echo b; exit 11' | true`,
		`setsid -w %s sh -c 'tty; exit 12'`, `%s cat /proc/self/timerslack_ns`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var code [2]int
			var printed [2]string
			startPunctually(t)
			for i, with := range []string{"", binary + " run --"} {
				cmd := exec.Command("bash", "-c", fmt.Sprintf(line, with))
				cmd.Env, cmd.Dir = env, t.TempDir()
				out, err := cmd.Output()
				code[i], printed[i] = codeOf(err), string(out)
			}
			if code[0] != code[1] || printed[0] != printed[1] {
				t.Errorf("exit code %d, %q; without nvpeak %d, %q", code[1], printed[1], code[0], printed[0])
			}
		})
	}
}

// What a command leaves in the background prints on, and lives, as without nvpeak, which ends with the command.
func TestRunRelays(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	script := "(sleep 0.5; echo later; echo worse >&2; sleep 0.5; echo last) & echo first; exit 3"
	r := run(t, setup{args: []string{"run", "--", "sh", "-c", script}})
	if r.code != 3 || r.out != "first\nlater\nlast\n" || !strings.HasSuffix(r.err, "worse\n") {
		t.Errorf("%+v", r)
	}
	if took := time.Since(begin); took < time.Second {
		t.Errorf("ended after %s", took) // of the pipes: what waits for their end waits as without nvpeak
	}
}

// A signal to nvpeak reaches the command, once.
func TestRunPassesSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			cmd, _ := watched(t, "python3", "-c", fmt.Sprintf("import signal,time,sys\nn=[0]\ndef f(*a): n[0]+=1\nsignal.signal(%d,f)\nprint('ready',flush=True)\nend=time.time()+10\nwhile not n[0] and time.time()<end: time.sleep(0.05)\ntime.sleep(0.5)\nprint(n[0]); sys.exit(40+n[0])", sig))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			io.ReadFull(out, make([]byte, 6)) //nolint:errcheck // then it fails below
			cmd.Process.Signal(sig)           //nolint:errcheck // then it fails below
			rest, _ := io.ReadAll(out)
			if code := codeOf(cmd.Wait()); code != 41 {
				t.Errorf("exit code %d, %q", code, rest)
			}
		})
	}
}

// Killed, nvpeak takes the command with it, as a terminal that is closed does.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	cmd, _ := watched(t, "sh", "-c", "echo $$; exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Fscan(out, &pid) //nolint:errcheck // then it fails below
	cmd.Process.Kill()   //nolint:errcheck // then it fails below
	cmd.Wait()           //nolint:errcheck // killed
	for end := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); bytes.Contains(stat, []byte(") Z ")) {
			break // nobody has buried it yet
		}
		if time.Now().After(end) || pid == 0 {
			t.Fatalf("the command (pid %d) goes on", pid)
		}
	}
}

// Without a driver, the command runs all the same, and one line says what is missing.
func TestRunWithoutDriver(t *testing.T) {
	t.Parallel()
	cmd, _ := watched(t, "sh", "-c", "echo ran; exit 3")
	cmd.Env = setup{env: []string{"NVPEAK_NVML=/nonexistent.so"}}.environ(t)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if code := codeOf(cmd.Run()); code != 3 || out.String() != "ran\n" || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "without figures of GPUs") {
		t.Errorf("%d %q %q", code, out.String(), errs.String())
	}
}

// However few descriptors there may be, the command runs as without nvpeak.
func TestRunWithFewDescriptors(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 16; n++ {
		cmd, state := watched(t, "sh", "-c", "echo here; exit 3")
		shell := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, n)}, cmd.Args...)...)
		shell.Env = cmd.Env
		out, err := shell.Output()
		if code := shell.ProcessState.ExitCode(); code != 3 || string(out) != "here\n" {
			t.Errorf("%d descriptors: exit code %d, %v, printed %q", n, code, err, out)
		}
		if list := boxesIn(t, state); len(list) > 0 {
			t.Errorf("%d descriptors: left %v", n, list)
		}
	}
}

// The command runs whatever is written down for every nvpeak; one line names the place of what is of no use.
func TestRunWhateverIsSet(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ file, env, want string }{
		{"notify = [\"bell\", \"desktop\"]", "", "config.toml, line 1: --notify needs a terminal"},
		{"\nwebhook = \"x\"", "", "config.toml, line 2: webhook: it takes an http"},
		{"webhook = \"http://127.0.0.1:1/\"", "", "config.toml, line 1: the webhook is on a loopback"},
		{"demo = \"fleet\"", "", "config.toml, line 1: "},
		{"demo = \"list\"", "", "config.toml, line 1: "},
		{"", "NVPEAK_NOTIFY=bell", "NVPEAK_NOTIFY: --notify needs a terminal"},
		{"", "NVPEAK_WEBHOOK=x", "NVPEAK_WEBHOOK: it takes an http"},
		{"", "NVPEAK_INTERVAL=soon", "NVPEAK_INTERVAL: \"soon\" is not a duration"},
		{"", "NVPEAK_CONFIG=/nonexistent/x.toml", "NVPEAK_CONFIG: "},
	} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, "nvpeak"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "nvpeak", "config.toml"), []byte(row.file), 0o600); err != nil {
			t.Fatal(err)
		}
		env := []string{"XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + t.TempDir()}
		if row.env != "" {
			env = append(env, row.env)
		}
		r := run(t, setup{scenario: "h100x8", env: env, args: []string{"run", "--", "sh", "-c", "echo ran; exit 7"}})
		if r.code != 7 || r.out != "ran\n" || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, row.want) {
			t.Errorf("%+v: %+v", row, r)
		}
	}
}
