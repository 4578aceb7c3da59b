package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
	"nvpeak/ui/cli/e2e"
)

// inShell starts the monitor from a shell with job control and tells its pid.
func inShell(t *testing.T) (*e2e.Terminal, int) { return inShellAs(t, binary) }

// inShellAs starts it by a command, and tells the pid of the job.
func inShellAs(t *testing.T, command string) (*e2e.Terminal, int) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no shell with job control:", err)
	}
	s := setup{scenario: "h100x8"}
	term, err := e2e.Start(e2e.Options{Args: []string{bash, "--norc", "--noprofile", "-i"},
		Env: append(s.environ(t), "PS1=ready> "), Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	see(t, term, "ready>")
	press(t, term, command+"\r")
	see(t, term, "62.5 / ")
	return term, childOf(t, term.Cmd.Process.Pid)
}

// childOf is the first child of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip("the kernel does not tell children:", err)
	}
	child, err := strconv.Atoi(strings.Fields(string(children))[0])
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// A job of several processes that is stopped as a whole loses the terminal before nvpeak has
// given it back: it must not stop a second time for that.
func TestStopOfAJob(t *testing.T) {
	t.Parallel()
	term, job := inShellAs(t, "sh -c '"+binary+"; echo after'")
	monitor := childOf(t, job)
	for range 3 {
		if err := syscall.Kill(-job, syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		// The prompt may have been printed on the other screen, so that it is not waited for.
		stopped(t, monitor)
		press(t, term, "stty sane; clear; fg\r")
		goesOn(t, monitor) // until then the screen may be that of before
		see(t, term, "62.5 / ", "q quit")
	}
	press(t, term, "q")
	see(t, term, "after")
}

// Of a job that is stopped and goes on at once the shell may have taken the terminal: nvpeak does not draw over it.
func TestStopAndGoOnOfAJob(t *testing.T) {
	for i, pause := range []time.Duration{0, 0, time.Millisecond / 2, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) {
			t.Parallel()
			command := "sh -c '" + binary + "; echo after'"
			if i%2 == 1 {
				command = binary
			}
			term, job := inShellAs(t, command)
			if err := syscall.Kill(-job, syscall.SIGTSTP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(pause)
			if err := syscall.Kill(-job, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			press(t, term, "\x15clear; echo he''re\r")
			time.Sleep(2 * time.Second)
			text := term.Screen()
			if shell := strings.Contains(text, "here"); shell && strings.Contains(text, "62.5 / ") {
				t.Errorf("it draws over the shell:\n%s", text)
			} else {
				t.Logf("the shell is in front: %v", shell)
			}
		})
	}
}

func stopped(t *testing.T, pid int) {
	t.Helper()
	if !becomes(pid, true) {
		t.Fatal("it is not stopped")
	}
}

func goesOn(t *testing.T, pid int) {
	t.Helper()
	if !becomes(pid, false) {
		t.Fatal("it does not go on")
	}
}

// becomes says whether a process is stopped, or not, before the patience is over.
func becomes(pid int, stopped bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") T ") == stopped {
			return true
		}
	}
	return false
}

// A stop from outside is as Ctrl-Z: the shell has its terminal, fg draws all again, in raw
// mode. SIGSTOP says nothing before, but what comes after is the same.
func TestStopFromOutside(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGSTOP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			term, pid := inShell(t)
			for range 2 {
				if err := syscall.Kill(pid, sig); err != nil {
					t.Fatal(err)
				}
				see(t, term, "Stopped", "ready>")
				if sig == syscall.SIGTSTP {
					restored(t, term)
				}
				press(t, term, "stty sane; clear; fg\r")
				see(t, term, "62.5 / ", "q quit")
				if s := term.State(); !s.AltScreen || s.CursorVisible {
					t.Errorf("after fg the terminal is %+v", s)
				}
				press(t, term, "?") // without Enter: the terminal is raw
				see(t, term, "this help")
				press(t, term, "?")
				gone(t, term, "this help")
			}
			press(t, term, "q")
			seeThat(t, term, "the prompt", func(s string) bool { return strings.HasSuffix(strings.TrimSpace(s), "ready>") })
			restored(t, term)
		})
	}
}

// Signals that kill with a core dump still do, from a terminal that is as it was.
func TestFatalSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			term, err := e2e.Start(e2e.Options{Args: []string{"sh", "-c", `ulimit -c 0; exec "$0"`, binary},
				Env: setup{scenario: "h100x8"}.environ(t), Cols: 80, Rows: 24, Keep: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(term.Close)
			see(t, term, "62.5 / ")
			if err := term.Signal(sig); err != nil {
				t.Fatal(err)
			}
			ends(t, term, -1)
			if status := term.Cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != sig {
				t.Errorf("it ended as %v", term.Cmd.ProcessState)
			}
			if strings.Contains(string(term.Raw()), "goroutine") {
				t.Error("stacks are printed on the screen")
			}
		})
	}
}

// The quickest of some runs: others may keep the machine busy.
func TestQuickEnds(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"h100x8", "hang"} {
		var took []time.Duration
		for range 4 {
			term := open(t, setup{scenario: scenario, env: ago(1500 * time.Millisecond)})
			see(t, term, "q quit")
			time.Sleep(300 * time.Millisecond)
			began := time.Now()
			press(t, term, "q")
			ends(t, term, 0)
			took = append(took, time.Since(began))
		}
		if least := slices.Min(took); least > 100*time.Millisecond {
			t.Errorf("%s: q takes %v", scenario, took)
		}
	}
	var took []time.Duration
	for range 4 {
		began := time.Now()
		if r := run(t, setup{scenario: "h100x8", args: []string{"once", "--json"}}); r.code != 0 {
			t.Fatal(r.err)
		}
		took = append(took, time.Since(began))
	}
	if least := slices.Min(took); least > 150*time.Millisecond {
		t.Errorf("once takes %v", took)
	}
}

// A spike is on the screen while it lasts, not with the next snapshot.
func TestSpikeIsShownAtOnce(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	term := open(t, setup{scenario: "gpu 0-1\nmem 0-1 used=20GiB\nspike 0 at=1700ms width=50ms height=10GiB grow=2GiB every=1100ms count=6\nproc 0-1 pid=42000 memory=rest\n",
		env: []string{nvmltest.StartAt(begin)}})
	var after []time.Duration
	for k := range 6 {
		see(t, term, fmt.Sprintf("▲%d.0", 30+2*k))
		after = append(after, time.Since(begin)-1700*time.Millisecond-time.Duration(k)*1100*time.Millisecond)
	}
	slices.Sort(after)
	t.Log("after the begin of a spike:", after)
	if after[2] > 200*time.Millisecond {
		t.Errorf("spikes are shown after %v", after)
	}
}

// Errors that come and go draw what they change, not the whole screen.
func TestFlakyDriver(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "flaky", size: [2]int{160, 50}})
	see(t, term, "▲42")
	time.Sleep(8 * time.Second)              // the first alerts make room for the advice
	const span, most = 10 * time.Second, 110 // 95 over a whole minute
	var all []float64
	for range 3 { // on a busy machine an alert may come in one of them
		before := term.Count()
		time.Sleep(span)
		all = append(all, float64(term.Count()-before)/1000/span.Minutes())
		if slices.Min(all) <= most {
			return
		}
	}
	t.Errorf("%.1f kB a minute are sent to the terminal", all)
}
