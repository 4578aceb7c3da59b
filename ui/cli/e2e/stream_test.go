package e2e_test

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Where the shell has closed the output there is nowhere to print to: one line and 1.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"stream", "stream --csv", "once --json", "version"} {
		cmd := exec.Command("sh", "-c", `exec "$0" `+command+` >&-`, binary)
		cmd.Env = setup{scenario: "h100x8"}.environ(t)
		var errs strings.Builder
		cmd.Stderr = &errs
		time.AfterFunc(patience, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
		cmd.Run()                                               //nolint:errcheck // the exit code tells
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "closed") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: code %d, %q", command, code, errs.String())
		}
	}
}

// A reader that stalls costs a few megabytes, and is told what it has missed; the program
// goes on and can be ended.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "stream", "--interval", "100ms")
	cmd.Env = setup{scenario: "big64x32"}.environ(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(3*patience, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer stop.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	lost := 0
	for n := 0; n < 90 && lost == 0; n++ {
		if n%15 == 0 {
			time.Sleep(3 * time.Second) // nobody reads; a busy machine makes few in that time
		}
		if !lines.Scan() {
			break
		}
		var s struct {
			Lost int `json:"lost_snapshots"`
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%v in %.100q", err, lines.Bytes())
		}
		lost = s.Lost
	}
	if lost == 0 {
		t.Error("nothing is said of the snapshots that were left out")
	}
	time.Sleep(2 * time.Second) // it stalls again
	began := time.Now()
	cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it runs
	cmd.Wait()                          //nolint:errcheck // the exit code tells
	if code, took := cmd.ProcessState.ExitCode(), time.Since(began); code != 143 || took > 5*time.Second {
		t.Errorf("after SIGTERM it ends after %v with %d", took, code)
	}
	if !strings.Contains(errs.String(), "snapshots left out: ") {
		t.Errorf("standard error has %q", errs.String())
	}
}
