package watch

import (
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// besides plays a process that is refused memory beside another one, as they were started.
func besides(command, other string, up, otherUp []sampler.Parent, gone bool) *Watch {
	d := &driven{}
	o := d.job(4242, other)
	o.up = otherUp
	d.wait(3)
	o.ask(15 * gib)
	d.wait(20)
	j := d.job(4243, command)
	j.up = up
	d.wait(2)
	j.ask(16 * gib)
	d.wait(2)
	j.ask(12 * gib)
	j.exits(1)
	if gone { // its launcher ends it too
		d.wait(0.3)
		o.exit()
	}
	w := New(Options{})
	for _, s := range d.snapshots() {
		w.Add(s)
	}
	return w
}

// What others of one job hold is not called somebody else's, nor is anybody told to stop them; what is another's still is.
func TestKin(t *testing.T) {
	python, shell := []sampler.Parent{{PID: 4000, Name: "python3"}, {PID: 90, Name: "bash"}}, []sampler.Parent{{PID: 90, Name: "bash"}, {PID: 80, Name: "sshd"}}
	below := []sampler.Parent{{PID: 4242, Name: "python3"}, {PID: 90, Name: "bash"}}
	serve := "python serve.py --rank 0"
	for name, row := range map[string]struct {
		other       string
		up, otherUp []sampler.Parent
		gone, own   bool
	}{
		"a worker of the same program":   {serve, python, python, false, true},
		"which is ended, too":            {serve, python, python, true, true},
		"a worker of one on the GPU":     {serve, []sampler.Parent{{PID: 4242, Name: "engine"}}, []sampler.Parent{{PID: 4242, Name: "engine"}}, false, true},
		"the parent":                     {"python main.py", below, shell, false, true},
		"which a shell stands before":    {"python main.py", append([]sampler.Parent{{PID: 4200, Name: "sh"}}, below...), shell, false, true},
		"another program of the parent":  {"python other.py", python, python, false, false},
		"both from one shell":            {serve, shell, shell, false, false},
		"both from one service":          {serve, []sampler.Parent{{PID: 70, Name: "systemd"}}, []sampler.Parent{{PID: 70, Name: "systemd"}}, false, false},
		"of two programs":                {serve, python, []sampler.Parent{{PID: 4001, Name: "python3"}}, false, false},
		"notebooks of one server":        {"python -m ipykernel_launcher -f kernel-0.json", python, python, false, false},
		"a parent behind a session":      {"python main.py", append([]sampler.Parent{{PID: 60, Name: "tmux: server"}}, below...), shell, false, false},
		"nothing is known of the parent": {serve, nil, nil, false, false},
	} {
		command := "python serve.py --rank 1"
		if strings.Contains(row.other, "ipykernel") {
			command = strings.ReplaceAll(row.other, "0", "1")
		}
		w := besides(command, row.other, row.up, row.otherUp, row.gone)
		deaths := w.Deaths()
		if len(deaths) != 1 {
			t.Fatalf("%s: %+v", name, deaths)
		}
		said := texts(w.Past())
		if own := !strings.Contains(said, "not this job's"); own != row.own {
			t.Errorf("%s: own %v: %s", name, own, said)
		}
		stops := false
		for _, a := range w.Past() {
			for _, ad := range a.Advice {
				stops = stops || ad.ID == explain.FixStopOtherProcess
			}
		}
		if stops == row.own {
			t.Errorf("%s: stop another process: %v", name, stops)
		}
	}
}

// A terminal that draws on the GPU is no part of what is started in it, nor is who has a number that was a parent's before.
func TestComesFrom(t *testing.T) {
	of := func(pid int, kind string, start float64, up ...sampler.Parent) *proc {
		q := sampler.Process{PID: pid, Name: "p", Command: kind, Type: kind, StartTime: sampler.Some(drivenTime(start)), Parents: up}
		return newProc(&q, start, drivenTime(start))
	}
	p := of(9, "compute", 100, sampler.Parent{PID: 8, Name: "bash"}, sampler.Parent{PID: 7, Name: "kitty"})
	for name, row := range map[string]struct {
		from *proc
		want bool
	}{"a terminal": {of(7, "graphics", 1), false}, "a program": {of(7, "compute+graphics", 1), true}, "a later one": {of(7, "compute", 101), false}, "another": {of(6, "compute", 1), false}} {
		if got := comesFrom(p, row.from); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
