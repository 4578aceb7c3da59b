package ui

import (
	"fmt"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What a filter leaves of three processes on GPU 1 of 2, of which each GPU has 1 GiB unattributed.
func TestFilterWords(t *testing.T) {
	s := gpus(2, 3, false)
	p := s.GPUs[1].Processes
	p[1].User, p[2].Command, p[2].Container = "bob", "vllm serve --port 80:80", sampler.Some("docker:abc")
	all := []string{"0/1000", "0/1001", "0/1002", "0/-", "1/1100", "1/1101", "1/1102", "1/-"}
	for text, want := range map[string][]string{
		"":                all,
		"gpu:1":           all[4:],
		"gpu:1 ann":       {"1/1100", "1/1102"},
		"user:ann gpu:1":  {"1/1100", "1/1102"},
		"user:an":         {},
		"BOB":             {"1/1101"},
		"1101":            {"1/1101"},
		"pid:110":         {},
		"pid:1101":        {"1/1101"},
		"80:80":           {"1/1102"},
		"docker":          {"1/1102"},
		"mem>1.5G":        {"0/1002", "1/1102"},
		"mem>=1G gpu:0":   {"0/1001", "0/1002", "0/-"},
		"mem<1G":          {"0/1000", "1/1100"},
		"mem<=1G gpu:1":   {"1/1100", "1/-"},
		"train gpu:1 bob": {"1/1101"},
		"memory":          {},
		"gpu:7":           {},
	} {
		f, bad := parseFilter(text)
		got := []string{}
		for i := range s.GPUs {
			g := &s.GPUs[i]
			for j := range g.Processes {
				if f.fits(procRow{gpu: g, proc: &g.Processes[j], snap: s}) {
					got = append(got, fmt.Sprintf("%d/%d", i, g.Processes[j].PID))
				}
			}
			if f.fits(procRow{gpu: g, snap: s}) {
				got = append(got, fmt.Sprintf("%d/-", i))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || bad != "" {
			t.Errorf("%q leaves %v, want %v; bad: %q", text, got, want, bad)
		}
	}
	for text, want := range map[string]string{"mem>x": "mem>x", "ann mem>": "mem>", "gpu:": "gpu:", "gpu:x mem>y": "gpu:x", "pid:x": "pid:x", "user:": "user:"} {
		if _, bad := parseFilter(text); bad != want {
			t.Errorf("%q: bad is %q, want %q", text, bad, want)
		}
	}
}

// The table follows what is typed, the border says what is shown, Esc shows all.
func TestFilterKeys(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 20}, {40, 14}} {
		m := model(past(gpus(2, 3, false), 3), size[0], size[1], Options{})
		rows := len(m.table.rows)
		press(m, "/ g p u : 1")
		if len(m.table.rows) != rows/2 {
			t.Errorf("%v: typed, and %d of %d rows", size, len(m.table.rows), rows)
		}
		if press(m, "enter"); m.prompt.mode != modeMain || !strings.Contains(text(m), fmt.Sprintf("%d of %d /gpu:1", rows/2, rows)) {
			t.Errorf("%v: the filter is not shown:\n%s", size, text(m))
		}
		press(m, "/ space m e m > x enter")
		if got := text(m); m.prompt.mode != modeFilter || !strings.Contains(got, "mem>x is no size") || len(m.table.rows) != rows/2 {
			t.Errorf("%v: what does not parse is not said:\n%s", size, got)
		}
		press(m, "backspace 2 g enter esc")
		if len(m.table.rows) != rows || m.table.filter.text != "" {
			t.Errorf("%v: Esc, and %d of %d rows", size, len(m.table.rows), rows)
		}
		if press(m, "/ n o n e esc"); len(m.table.rows) != rows || m.prompt.mode != modeMain {
			t.Errorf("%v: Esc while typing, and %d of %d rows", size, len(m.table.rows), rows)
		}
		if press(m, "/ n o n e enter"); !strings.Contains(text(m), "no process fits") {
			t.Errorf("%v: nothing fits:\n%s", size, text(m))
		}
	}
}

// A process whose detail is shown does not fall out of it because it fits the filter no more.
func TestFilterKeepsTheDetail(t *testing.T) {
	m := model([]*sampler.Snapshot{tableOf(0, [2]int{11, 40000}, [2]int{22, 20000})}, 100, 30, Options{})
	press(m, "/ m e m > 3 0 G enter j enter")
	m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(1, [2]int{11, 1000}, [2]int{22, 20000})}})
	if got := text(m); !strings.Contains(got, "process 11 on GPU 0") {
		t.Errorf("the detail of process 11 is gone:\n%s", got)
	}
	m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(2, [2]int{22, 20000})}})
	if got := text(m); !strings.Contains(got, "process 11 is gone") {
		t.Errorf("process 11 has ended:\n%s", got)
	}
}

// Esc takes back one thing after the other, the focus last.
func TestEscape(t *testing.T) {
	m := model(past(gpus(2, 3, false), 3), 100, 30, Options{Processes: &world{}})
	press(m, "2 j space / a n n enter")
	m.table.sideways = sidewaysStep
	left := func() string {
		return fmt.Sprint(m.table.filter.text, len(m.table.tagged), m.table.sideways, m.table.cursor >= 0, m.gpus.focus.Known())
	}
	for _, want := range []string{"ann 1 16 true true", " 1 16 true true", " 0 16 true true", " 0 0 true true", " 0 0 false true", " 0 0 false false", " 0 0 false false"} {
		if got := left(); got != strings.Replace(want, " ", "", 1) && got != want {
			t.Errorf("left %q, want %q", got, want)
		}
		press(m, "esc")
	}
}
