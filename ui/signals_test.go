package ui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/proc"
)

// world is a machine with processes that note what happens to them.
type world struct {
	sent   []string
	errs   map[int]error // of Signal, by pid
	deaf   map[int]bool  // stay alive
	values []string      // of every environment
}

func (w *world) Signal(pid int, start time.Time, sig syscall.Signal) error {
	if err := w.errs[pid]; err != nil {
		return err
	}
	w.sent = append(w.sent, fmt.Sprintf("%d %v %s", pid, start.Unix(), sig))
	return nil
}
func (w *world) Alive(pid int, _ time.Time) bool { return w.deaf[pid] }
func (w *world) Environ(pid int, _ time.Time) ([]string, error) {
	return w.values, w.errs[pid]
}

// answer gives the model what a command of its brings at once.
func answer(m *Model, keys string) {
	if cmd := press(m, keys); cmd != nil {
		m.Update(cmd())
	}
}

// A signal goes to the selected process alone, after a menu that names it and one question.
func TestSignalMenu(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {40, 8}} {
		w := &world{}
		m := model(past(gpus(2, 3, false), 3), size[0], size[1], Options{Processes: w})
		press(m, "j j K")
		row := m.table.rows[1]
		menu := text(m)
		for _, part := range []string{fmt.Sprint(row.proc.PID), "ann", "python train.py", row.proc.Memory.Or(0).String(), "TERM"} {
			if !strings.Contains(menu, part) {
				t.Errorf("%v: the menu does not show %q:\n%s", size, part, menu)
			}
		}
		press(m, "j j k enter")
		if ask := text(m); !strings.Contains(ask, "Send INT to") || len(w.sent) > 0 {
			t.Errorf("%v: the question, after %v:\n%s", size, w.sent, ask)
		}
		answer(m, "y")
		want := fmt.Sprintf("%d %d %s", row.proc.PID, row.proc.StartTime.Or(time.Time{}).Unix(), syscall.SIGINT)
		if got := strings.Join(w.sent, "; "); got != want || m.prompt.mode != modeMain {
			t.Errorf("%v: sent %q, want %q", size, got, want)
		}
		if !strings.Contains(text(m), fmt.Sprintf("INT sent to %d", row.proc.PID)) {
			t.Errorf("%v: what was sent is not said:\n%s", size, text(m))
		}
	}
}

// The menu shows the end of a command that is too long, where two runs differ, and names the launcher, which gets no signal.
func TestSignalMenuTellsRunsApart(t *testing.T) {
	snaps := past(gpus(1, 3, false), 3)
	p := &snaps[2].GPUs[0].Processes[1]
	p.Command, p.Launch = "python train.py "+strings.Repeat("--some-option value ", 20)+"--run b", "torchrun 4230"
	for _, size := range [][2]int{{100, 30}, {60, 20}, {40, 14}} {
		m := model(snaps, size[0], size[1], Options{Processes: &world{}})
		for range 9 {
			if row, ok := m.table.selected(); ok && row.proc != nil && row.proc.PID == p.PID {
				break
			}
			press(m, "j")
		}
		press(m, "K")
		if got := text(m); !strings.Contains(got, "--run b ") || !strings.Contains(got, "…") || size[1] > 14 && !strings.Contains(got, "Started by torchrun 4230") {
			t.Errorf("%v:\n%s", size, got)
		}
		checkScreen(t, "signals", m)
	}
}

// Whatever else is pressed sends nothing, and says so.
func TestSignalNotSent(t *testing.T) {
	for _, keys := range []string{"j K esc", "j K q", "j K enter n", "j K enter esc", "j K enter enter", "j K y", "j K K", "j K enter K"} {
		w := &world{}
		m := model(past(gpus(1, 3, false), 3), 100, 30, Options{Processes: w})
		if press(m, keys); len(w.sent) > 0 || m.prompt.mode != modeMain {
			t.Errorf("keys %q: sent %v, mode %d", keys, w.sent, m.prompt.mode)
		}
		if strings.Contains(keys, "enter") && m.notices.text != "no signal sent" {
			t.Errorf("keys %q: said %q", keys, m.notices.text)
		}
	}
}

// Several are signaled at once when they are tagged, and it is said what came of each, now and later.
func TestSignalTagged(t *testing.T) {
	w := &world{errs: map[int]error{1001: sampler.ErrGone, 1002: fmt.Errorf("x: %w", sampler.ErrNoPermission)}, deaf: map[int]bool{1003: true}}
	m := model(past(gpus(1, 6, false), 3), 160, 40, Options{Processes: w})
	press(m, "space space space space space") // the first where none is selected, and on
	tagged := len(m.table.tagged)
	if got := text(m); tagged < 4 || !strings.Contains(got, fmt.Sprintf("%d tagged", tagged)) || strings.Count(got, "*   10") != tagged {
		t.Fatalf("%d are tagged:\n%s", tagged, got)
	}
	press(m, "K enter")
	if !strings.Contains(text(m), "Send TERM to 4 processes?") { // that of another container cannot be reached
		t.Errorf("the question:\n%s", text(m))
	}
	answer(m, "y")
	said := m.notices.text
	for _, part := range []string{"TERM sent to ", "1001 already gone: no signal sent", "no permission to signal 1002"} {
		if !strings.Contains(said, part) {
			t.Errorf("said %q, want %q in it", said, part)
		}
	}
	m.Update(lookAgain(w, signalChoices[0], []target{{pid: 1003}, {pid: 1004}}))
	if said := m.notices.text; said != "1004 gone; 1003 still there 2 s after TERM" {
		t.Errorf("later: %q", said)
	}
	if len(m.table.tagged) != 0 {
		t.Error("tags outlive the signal")
	}
}

// Where nobody may or can be signaled, the key says why, and the help does not offer it.
func TestNoSignals(t *testing.T) {
	snaps := past(gpus(2, 3, false), 3)
	for i := range snaps[2].GPUs[0].Processes {
		snaps[2].GPUs[0].Processes[i].Visible = false
	}
	snaps[2].GPUs[1].Host = "box8"
	for _, row := range []struct {
		keys, says string
		o          Options
		none       bool
	}{
		{"j K", "read-only", Options{ReadOnly: true, Processes: &world{}}, true},
		{"j f9", "the processes of a demo are not real", Options{Label: "DEMO x"}, true},
		{"j K", "another machine", Options{}, true},
		{"K", "select a process first", Options{Processes: &world{}}, false},
		{"1 j K", "another container", Options{Processes: &world{}}, false},
		{"2 j K", "another machine", Options{Processes: &world{}}, false},
		{"1 G k K", "nobody to signal", Options{Processes: &world{}}, false},
	} {
		m := model(snaps, 120, 50, row.o)
		press(m, row.keys)
		if m.prompt.mode != modeMain || !strings.Contains(m.notices.text, row.says) {
			t.Errorf("%q: mode %d, said %q, want %q", row.keys, m.prompt.mode, m.notices.text, row.says)
		}
		if press(m, "esc ?"); strings.Contains(text(m), "K F9") == row.none {
			t.Errorf("%q: the help offers signals: %v", row.says, !row.none)
		}
	}
}

func TestNoSignalsInAReplay(t *testing.T) {
	snaps := past(gpus(1, 3, false), 5)
	p, m := replaying(t, tapeOf(snaps), 100, 30, Options{Label: "REPLAY", Processes: &world{}})
	p.Seek(snaps[2].Time)
	jumped(t, m)
	if press(m, "j K"); m.prompt.mode != modeMain || !strings.Contains(m.notices.text, "a recording has no processes") {
		t.Errorf("mode %d, said %q", m.prompt.mode, m.notices.text)
	}
}

// Root is told whose process it is; others and root's own are not.
func TestRootIsAsked(t *testing.T) {
	for _, row := range []struct {
		o    Options
		want bool
	}{{Options{User: "root", Root: true}, true}, {Options{User: "ann", Root: true}, false}, {Options{User: "bob"}, false}} {
		row.o.Processes = &world{}
		m := model(past(gpus(1, 2, false), 3), 100, 30, row.o)
		press(m, "j K enter")
		if got := strings.Contains(text(m), "You are root, and this belongs to ann."); got != row.want {
			t.Errorf("%+v: told %v:\n%s", row.o, got, text(m))
		}
	}
}

// Real processes: the one of the row ends, and a later one of its pid is not hit in a hundred tries.
func TestSignalRealProcess(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer child.Process.Kill() //nolint:errcheck // it has ended
	h := proc.New(proc.Options{Dev: "/nowhere"})
	list := []sampler.Process{{PID: child.Process.Pid, Memory: sampler.Some(sampler.GiB)}}
	h.Identify(list)
	shot := func(p sampler.Process) *Model {
		s := gpus(1, 0, false)
		s.GPUs[0].Memory.Unattributed, s.GPUs[0].Processes = sampler.Opt[sampler.Bytes]{}, []sampler.Process{p}
		return model([]*sampler.Snapshot{s}, 100, 30, Options{Processes: h})
	}
	earlier := list[0]
	for i := range 100 {
		earlier.StartTime = sampler.Some(list[0].StartTime.Or(time.Time{}).Add(-time.Duration(i+1) * 10 * time.Millisecond))
		m := shot(earlier)
		if answer(m, "j K j j enter y"); !strings.Contains(m.notices.text, "already gone: no signal sent") {
			t.Fatalf("try %d: %q", i, m.notices.text)
		}
	}
	m := shot(list[0])
	press(m, "j K j j enter")
	sent, ok := press(m, "y")().(signaled)
	if !ok || sent.errs[0] != nil {
		t.Fatalf("KILL: %+v", sent)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("it ended by %v", err)
		}
	case <-ctx.Done():
		t.Fatal("KILL has not ended it")
	}
	if e := lookAgain(h, sent.choice, sent.targets); len(e.gone) != 1 || len(e.still) != 0 {
		t.Errorf("later: %+v", e)
	}
}
