package e2e_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/ui/cli/e2e"
)

func TestSignalsRestoreTheTerminal(t *testing.T) {
	for _, row := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}, {syscall.SIGINT, 130}} {
		t.Run(row.signal.String(), func(t *testing.T) {
			t.Parallel()
			term := open(t, setup{scenario: "h100x8"})
			see(t, term, "62.5 / ")
			if err := term.Signal(row.signal); err != nil {
				t.Fatal(err)
			}
			ends(t, term, row.code)
		})
	}
}

func TestControlC(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "h100x8"})
	see(t, term, "62.5 / ")
	press(t, term, "\x03")
	ends(t, term, 0)
}

// The window is closed: nvpeak must end and not spin on a terminal that is gone, also
// when SIGHUP is ignored, as under nohup.
func TestTerminalClosed(t *testing.T) {
	for _, row := range []struct{ name, start string }{
		{"plain", `exec "$0"`},
		{"HUP ignored", `trap '' HUP; exec "$0"`},
		{"child of a shell", `trap '' HUP; "$0"; exit 0`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := setup{scenario: "h100x8"}
			term, err := e2e.Start(e2e.Options{Args: []string{"sh", "-c", row.start, binary}, Env: s.environ(t), Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(term.Close)
			see(t, term, "62.5 / ")
			if err := term.Hangup(); err != nil {
				t.Fatal(err)
			}
			if _, err := term.Wait(5 * time.Second); err != nil {
				t.Fatal(err)
			}
			state := term.Cmd.ProcessState
			if used := state.UserTime() + state.SystemTime(); used > 1500*time.Millisecond {
				t.Errorf("it used %v of CPU time", used)
			}
		})
	}
}

// Ctrl-Z gives the terminal back to the shell, fg takes it again.
func TestSuspend(t *testing.T) {
	t.Parallel()
	term, _ := inShell(t)
	for range 2 {
		press(t, term, "\x1a")
		see(t, term, "Stopped", "ready>")
		restored(t, term)
		press(t, term, "stty -a | tr ' ;' '\\n\\n' | grep -cx -e icanon -e echo -e isig\r")
		seeMatch(t, term, `(?m)^3$`)
		press(t, term, "clear; fg\r")
		see(t, term, "62.5 / ", "q quit")
		if s := term.State(); !s.AltScreen || s.CursorVisible {
			t.Errorf("after fg the terminal is %+v", s)
		}
	}
	press(t, term, "q")
	seeThat(t, term, "the prompt", func(s string) bool { return strings.HasSuffix(strings.TrimSpace(s), "ready>") })
	restored(t, term)
	press(t, term, "exit 7\r")
	if code, err := term.Wait(patience); code != 7 || err != nil {
		t.Errorf("the shell ended with %d, %v", code, err)
	}
}

// A driver that hangs at once must not keep the screen from opening, nor q from working, and what is not answered is said.
func TestHangAtInit(t *testing.T) {
	t.Parallel()
	const scenario = "gpu 0\nhang nvmlInit*\n"
	term := open(t, setup{scenario: scenario})
	see(t, term, "connecting")
	see(t, term, "has not answered")
	if d := time.Since(term.Started); d > 3*time.Second {
		t.Errorf("that the driver does not answer is said after %v", d)
	}
	doctor := open(t, setup{scenario: scenario, args: []string{"doctor"}})
	see(t, doctor, "has not answered")
	see(t, doctor, "driver: not answering within 5s")
	press(t, term, "q")
	ends(t, term, 0)
}

// A driver library that crashes ends the program: one line says so, and the terminal is as it was.
func TestDriverCrashes(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"MemoryInfo*", "PowerUsage"} { // on the thread of the sweep, and of the slow poller
		scenario := "gpu 0-1\nmem * used=10GiB\ncrash nvmlDeviceGet" + call + " gpu=1 from=1500ms\n"
		term := open(t, setup{scenario: scenario})
		see(t, term, "10.0 / ")
		code, err := term.Wait(patience)
		if s := term.State(); code != -1 || err != nil || s.AltScreen || !s.CursorVisible {
			t.Errorf("%s: ended with %d, %v; %+v", call, code, err, s)
		}
		said := "nvpeak: the NVIDIA driver library has crashed in a call (SIGSEGV)"
		if screen := term.Screen(); !strings.Contains(screen, said) || strings.Contains(screen, "goroutine") {
			t.Errorf("%s: it says:\n%s", call, screen)
		}
		if r := run(t, setup{scenario: scenario, args: []string{"stream"}}); !strings.HasPrefix(r.err, said) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: stream says %q", call, r.err)
		}
	}
}

// A driver library that crashes is no end of what run runs, nor of doctor's report, and both say so.
func TestDriverCrashesBeside(t *testing.T) {
	t.Parallel()
	for _, crash := range []string{"nvmlInit*", "nvmlDeviceGetMemoryInfo* gpu=1 from=300ms", "nvmlDeviceGetPowerUsage gpu=1 abort", "nvmlDeviceGetPowerUsage gpu=1 raise to=500ms", "nvmlDeviceGetPowerUsage gpu=1 exit"} {
		scenario := "gpu 0-1\nmem * used=10GiB\ncrash " + crash + "\n"
		signal, ends := "SIGSEGV", -1
		switch {
		case strings.HasSuffix(crash, "abort"):
			signal = "SIGABRT"
		case strings.HasSuffix(crash, "exit"):
			signal, ends = "exit", 1
		}
		if streamed := run(t, setup{scenario: scenario, args: []string{"stream"}}); streamed.code != ends || !strings.Contains(streamed.err, "has crashed in a call ("+signal+")") {
			t.Errorf("%s: stream ends with %d and says %q", crash, streamed.code, streamed.err)
		}
		if waits := run(t, setup{scenario: scenario, args: []string{"run", "--wait", "--need", "75GiB", "--timeout", "5s", "--", "true"}}); waits.code != 1 || !strings.Contains(waits.err, "has crashed in a call ("+signal+")") {
			t.Errorf("%s: a wait ends with %d and says %q", crash, waits.code, waits.err)
		}
		said := "the NVIDIA driver library has crashed in a call (" + signal + ")"
		ran := run(t, setup{scenario: scenario, args: []string{"run", "--", "sh", "-c", "sleep 1; echo through; exit 7"}})
		if ran.code != 7 || ran.out != "through\n" || !strings.Contains(ran.err, said) || strings.Count(ran.err, "\n") != 1 {
			t.Errorf("%s: run ends with %d and says %q, %q", crash, ran.code, ran.out, ran.err)
		}
		doctor := run(t, setup{scenario: scenario, args: []string{"doctor"}})
		if doctor.code != 1 || !strings.Contains(doctor.out, said) || !strings.Contains(doctor.out, "host memory") {
			t.Errorf("%s: doctor ends with %d and says\n%s%s", crash, doctor.code, doctor.out, doctor.err)
		}
	}
}
