package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
	"nvpeak/sampler/proc"
)

// What is known of an environment is shown, and what is not known is said.
func TestEnvironment(t *testing.T) {
	snaps := past(gpus(1, 3, false), 3)
	snaps[2].GPUs[0].Processes[2].Environment = map[string]string{"CUDA_VISIBLE_DEVICES": "3"}
	for _, row := range []struct {
		o    Options
		want []string
	}{
		{Options{}, []string{"environment of process 1002", "Only the variables", "CUDA_VISIBLE_DEVICES=3"}},
		{Options{Processes: &world{values: []string{"B=2", "A=\x1b[2J1"}}}, []string{"A=?[2J1", "B=2"}},
		{Options{Processes: &world{errs: map[int]error{1002: fmt.Errorf("x: %w", sampler.ErrNoPermission)}}}, []string{"Cannot be read", "CUDA_VISIBLE_DEVICES=3"}},
		{Options{Processes: &world{errs: map[int]error{1002: errors.New("x")}}}, []string{"Cannot be read"}},
		{Options{Processes: &world{errs: map[int]error{1002: sampler.ErrGone}}}, []string{"The process has ended."}},
	} {
		m := model(snaps, 100, 30, row.o)
		answer(m, "j e")
		for _, want := range row.want {
			if !strings.Contains(text(m), want) {
				t.Errorf("want %q:\n%s", want, text(m))
			}
		}
		checkScreen(t, "environment", m)
	}
	hidden := past(gpus(1, 1, false), 1)
	hidden[0].GPUs[0].Processes[0].Visible = false
	m := model(hidden, 100, 30, Options{Processes: &world{}})
	press(m, "j j")
	if press(m, "e"); !strings.Contains(text(m), "another container.") || strings.Contains(text(m), "Known are") || strings.Contains(text(m), "no variables") {
		t.Errorf("of another container, with nothing known:\n%s", text(m))
	}
	m = model(snaps, 100, 30, Options{})
	if press(m, "e"); m.environment.pid != m.table.rows[0].proc.PID {
		t.Errorf("nobody selected: that of %d, not of the first", m.environment.pid)
	}
	m = model(nil, 100, 30, Options{})
	if press(m, "e"); !strings.Contains(m.notices.text, "select a process") {
		t.Errorf("no process: %q", m.notices.text)
	}
}

// The environment of a real process, without what is secret in it, and none of a later process of its pid.
func TestEnvironmentOfARealProcess(t *testing.T) {
	child := exec.Command("sleep", "60")
	child.Env = append(os.Environ(), "DB_PASSWORD=hunter2hunter2", "NVPEAK_TEST=seen")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer child.Process.Kill() //nolint:errcheck // it has ended
	h := proc.New(proc.Options{Dev: "/nowhere"})
	list := []sampler.Process{{PID: child.Process.Pid}}
	h.Identify(list)
	start := list[0].StartTime.Or(time.Time{})
	var got string
	for range 100 { // before execve it is our own
		env, err := h.Environ(list[0].PID, start)
		if got = strings.Join(env, "\n"); err != nil || strings.Contains(got, "NVPEAK_TEST=seen") {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.Contains(got, "NVPEAK_TEST=seen") || strings.Contains(got, "hunter2") || !strings.Contains(got, "DB_PASSWORD=") {
		t.Errorf("the environment is\n%s", got)
	}
	if _, err := h.Environ(list[0].PID, start.Add(-time.Second)); !errors.Is(err, sampler.ErrGone) {
		t.Errorf("of an earlier process: %v", err)
	}
}

// Key y copies pid and command of the selected process, and advice where none is selected.
func TestCopyProcess(t *testing.T) {
	m := model(past(gpus(1, 2, false), 3), 100, 30, Options{})
	m.tty.screen = newScreen(&strings.Builder{})
	m.tty.screen.close(time.Second)
	sent := func(keys string) string {
		m.tty.screen.extra = ""
		press(m, keys)
		return m.tty.screen.extra
	}
	row := func() procRow { r, _ := m.table.selected(); return r }
	if got := sent("j y"); got != ansi.SetSystemClipboard(fmt.Sprint(row().proc.PID)) {
		t.Errorf("first: %q", got)
	}
	if got := sent("y"); got != ansi.SetSystemClipboard(row().proc.Command) {
		t.Errorf("second: %q", got)
	}
	if got := sent("enter y"); got != ansi.SetSystemClipboard(fmt.Sprint(row().proc.PID)) {
		t.Errorf("in the detail: %q", got)
	}
	if got := sent("esc esc y"); got != "" || m.notices.text != "nothing to copy" {
		t.Errorf("nobody selected: %q, said %q", got, m.notices.text)
	}
}

// Arrows show the rest of long command lines, and stop at their ends.
func TestSideways(t *testing.T) {
	snaps := past(gpus(1, 2, false), 3)
	snaps[2].GPUs[0].Processes[0].Command = "python 日本語 " + strings.Repeat("x", 60) + " the-end"
	snaps[2].GPUs[0].Processes[1].Command = "python short.py"
	m := model(snaps, 80, 24, Options{})
	if press(m, "left"); m.table.sideways != 0 || m.notices.text == "" {
		t.Error("left of the beginning")
	}
	press(m, strings.Repeat("right ", 9))
	if got := text(m); !strings.Contains(got, "the-end") {
		t.Errorf("the end is not seen:\n%s", got)
	}
	if !strings.Contains(text(m), " python short.py ") {
		t.Errorf("the short one went with it:\n%s", text(m))
	}
	checkScreen(t, "sideways", m)
	if press(m, strings.Repeat("left ", 9)); !strings.Contains(text(m), "python 日本語") {
		t.Errorf("the beginning is not seen:\n%s", text(m))
	}
}

// Key G goes to the end of a text, as it does in the table.
func TestEndOfAText(t *testing.T) {
	m := model(past(gpus(8, 3, false), 5), 80, 12, Options{})
	press(m, "? G")
	end := text(m)
	if press(m, "j"); text(m) != end || strings.Contains(end, "… ") {
		t.Errorf("not the end:\n%s", end)
	}
	if press(m, "g G k"); text(m) == end || m.prompt.mode != modeHelp {
		t.Error("one k at the end moves nothing")
	}
}
