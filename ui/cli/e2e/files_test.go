package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/ui/cli/e2e"
)

// shortTape is a recording of two snapshots.
func shortTape(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	text := bombStart + bombSnapshot(0, "", bombGPU(0, "")) + bombSnapshot(10, "", bombGPU(0, ""))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What never ends, or is no file, is refused.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	recording, dir := shortTape(t), t.TempDir()
	for _, args := range [][]string{
		{"report", "/dev/zero"}, {"report", dir}, {"report", recording, "--log", "/dev/full"}, {"report", recording, "--log", dir},
		{"explain", "/dev/zero"}, {"explain", dir}, {"explain", "--recording", "/dev/zero", recording},
		{"record", "-o", "-", "--demo", "--log", "/dev/zero"}, {"record", "-o", "-", "--demo", "--log", dir},
	} {
		r := run(t, setup{args: args})
		what := "device"
		if args[len(args)-1] == dir {
			what = "directory"
		}
		if r.code != 2 || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, what) || strings.Contains(r.err, "pipe") {
			t.Errorf("%q: %d %s", args, r.code, r.err)
		}
	}
}

// A signal ends what reads, whatever it reads and wherever it is.
func TestSignalWhileReading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recording, long, page := shortTape(t), filepath.Join(dir, "long.jsonl"), filepath.Join(dir, "page.html")
	tape, err := os.ReadFile(recording)
	if err == nil {
		err = os.WriteFile(long, append(tape, bytes.Repeat([]byte("\n"), 60<<20)...), 0o600)
	}
	if err == nil {
		err = syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"explain", "-"}, {"explain", long}, {"explain", filepath.Join(dir, "pipe")},
		{"report", long, "--html", page}, {"report", recording, "--log", long}, {"report", filepath.Join(dir, "pipe")},
	} {
		cmd := exec.Command(binary, args...)
		cmd.Env = setup{}.environ(t)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		began := time.Now()
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it shows
		killed := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		cmd.Wait() //nolint:errcheck // it shows
		killed.Stop()
		in.Close()
		if took := time.Since(began); !terminated(cmd.ProcessState) || took > busy {
			t.Errorf("%q: %v after %v", args, cmd.ProcessState, took)
		}
	}
	if _, err := os.Stat(page); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page is left: %v", err)
	}
}

// terminated: by SIGTERM, also before it has come as far as to hear signals, on a busy machine.
func terminated(s *os.ProcessState) bool {
	by := s.Sys().(syscall.WaitStatus)
	return s.ExitCode() == 143 || by.Signaled() && by.Signal() == syscall.SIGTERM
}

// The same before replay has a screen, and while it reads the rest.
func TestSignalWhileReplayReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tape, err := os.ReadFile(shortTape(t))
	if err != nil {
		t.Fatal(err)
	}
	blanks := bytes.Repeat([]byte("\n"), 60<<20)
	for name, text := range map[string][]byte{"before.jsonl": append(tape[:len(bombStart):len(bombStart)], blanks...), "while.jsonl": append(tape, blanks...)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		term, err := e2e.Start(e2e.Options{Args: []string{binary, "replay", path}, Env: setup{}.environ(t), Cols: 80, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(term.Close)
		time.Sleep(200 * time.Millisecond)
		began := time.Now()
		if err := term.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if _, err := term.Wait(patience); err != nil || !terminated(term.Cmd.ProcessState) || time.Since(began) > busy {
			t.Errorf("%s: %v after %v: %v", name, term.Cmd.ProcessState, time.Since(began), err)
		}
	}
}

// A page does not take the place of what it is about, by whatever name.
func TestPageOverItsRecording(t *testing.T) {
	t.Parallel()
	recording, log := shortTape(t), filepath.Join(t.TempDir(), "train.log")
	hard, soft := recording+".hard", recording+".soft"
	if err := errors.Join(os.Link(recording, hard), os.Symlink(recording, soft), os.WriteFile(log, []byte("step 1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{recording, hard, soft, log} {
		r := run(t, setup{args: []string{"report", recording, "--log", log, "--html", page}})
		if r.code != 2 || strings.Count(r.err, "\n") != 1 {
			t.Errorf("--html %s: %d %s", page, r.code, r.err)
		}
	}
	if after, err := os.ReadFile(recording); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the recording is another: %v", err)
	}
	if r := run(t, setup{args: []string{"report", recording, "--html", "/dev/full"}}); r.code != 1 || strings.Count(r.err, "no space") != 1 {
		t.Errorf("/dev/full: %d %s", r.code, r.err)
	}
}

// Help that nobody gets is a failure.
func TestHelpNowhere(t *testing.T) {
	t.Parallel()
	for _, where := range []string{">/dev/full", ">&-"} {
		for _, what := range []string{"help", "--help", "help report", "report --help"} {
			cmd := exec.Command("sh", "-c", binary+" "+what+" "+where)
			cmd.Env = setup{}.environ(t)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 1 || bytes.Count(out, []byte("\n")) != 1 {
				t.Errorf("%s %s: %v\n%s", what, where, cmd.ProcessState, out)
			}
		}
	}
}
