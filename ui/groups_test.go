package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// ranks is a snapshot of two jobs of ann and one process of bob on four GPUs.
func ranks() *sampler.Snapshot {
	s := gpus(4, 0, false)
	add := func(gpu, pid int, user, command string, started time.Duration, held sampler.Bytes) {
		g := &s.GPUs[gpu]
		g.Processes = append(g.Processes, sampler.Process{PID: pid, User: user, Name: "python", Command: command, Visible: true, Memory: sampler.Some(held * sampler.GiB),
			StartTime: sampler.Some(afternoon.Add(-started))})
	}
	for i := range 4 {
		s.GPUs[i].Memory.Unattributed = sampler.Opt[sampler.Bytes]{}
		add(i, 100+i, "ann", fmt.Sprintf("python train.py --local_rank=%d --lr 1", i), time.Hour+time.Duration(i)*time.Second, 9)
	}
	add(0, 200, "ann", "python train.py --local_rank=0 --lr 1", 5*time.Hour, 2) // the same, hours before
	add(1, 300, "bob", "jupyter", time.Hour, 8)
	add(2, 300, "bob", "jupyter", time.Hour, 1) // on two GPUs
	s.GPUs[3].Memory.Unattributed = sampler.Some(sampler.GiB)
	return s
}

// Rows stand below their job or user with its totals, and the unattributed ones below all.
func TestGroups(t *testing.T) {
	m := model(past(ranks(), 3), 160, 50, Options{})
	list := func() (got []string) {
		for _, r := range m.table.rows {
			switch {
			case r.head != nil:
				got = append(got, r.head.text(m.words))
			case r.proc == nil:
				got = append(got, "-")
			default:
				got = append(got, fmt.Sprint(r.proc.PID))
			}
		}
		return got
	}
	flat := list()
	press(m, "t") // as a tree: nobody has parents
	for _, want := range []string{
		"36.0 GiB on 4 GPUs  ann  python train.py --lr 1|100|101|102|103|9.0 GiB on 2 GPUs  bob  jupyter|300|300|2.0 GiB on 1 GPU  ann  python train.py --lr 1|200|-",
		"38.0 GiB on 4 GPUs  ann|100|101|102|103|200|9.0 GiB on 2 GPUs  bob|300|300|-",
		strings.Join(flat, "|"),
	} {
		press(m, "t")
		if got := strings.Join(list(), "|"); got != want {
			t.Errorf("rows are\n%s, want\n%s", got, want)
		}
	}
	press(m, "t t / b o b enter")
	if got := text(m); len(m.table.rows) != 3 || !strings.Contains(got, "2 of 8") {
		t.Errorf("with a filter:\n%s", got)
	}
}

// Ranks of one launcher are a job whatever they run and whenever they start, and those of two are two.
func TestJobOfALauncher(t *testing.T) {
	s := ranks()
	for i := range s.GPUs {
		s.GPUs[i].Processes[0].Launch = fmt.Sprintf("torchrun %d", 50+i/2)
	}
	s.GPUs[1].Processes[0].Command, s.GPUs[1].Processes[0].StartTime = "python other.py", sampler.Some(afternoon)
	m := model(past(s, 3), 160, 50, Options{})
	press(m, "t t")
	for _, want := range []string{"18.0 GiB on 2 GPUs  ann  torchrun 50  python train.py", "18.0 GiB on 2 GPUs  ann  torchrun 51  python train.py"} {
		if !strings.Contains(text(m), want) {
			t.Errorf("no %q:\n%s", want, text(m))
		}
	}
}

// The line above a group stands for all of it.
func TestGroupIsActedOn(t *testing.T) {
	w := &world{}
	m := model(past(ranks(), 3), 160, 50, Options{Processes: w})
	press(m, "t t g space")
	if len(m.table.tagged) != 4 || m.table.cursor != 1 {
		t.Errorf("%d are tagged, the cursor is at %d", len(m.table.tagged), m.table.cursor)
	}
	if press(m, "g space"); len(m.table.tagged) != 0 {
		t.Errorf("%d are still tagged", len(m.table.tagged))
	}
	press(m, "g K enter")
	if answer(m, "y"); len(w.sent) != 4 || !strings.HasPrefix(w.sent[0], "100 ") {
		t.Errorf("sent %q", w.sent)
	}
	if press(m, "g enter"); !strings.Contains(text(m), "process 100 on GPU 0") {
		t.Errorf("the detail of a group:\n%s", text(m))
	}
	press(m, "esc g e")
	checkScreen(t, "on the line of a group", m)
}
