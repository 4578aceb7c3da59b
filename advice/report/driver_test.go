package report

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// reportOf is the report of a recording of testdata/advice/oom, up to a number of snapshots after the last that
// lists its process; -1: all of them.
func reportOf(t *testing.T, name string, after int) Report {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "advice", "oom", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, gone := New(Options{Source: name}), 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l struct {
			Type string
			Time time.Time
			OOM  *sampler.OOMEvent
		}
		var s sampler.Snapshot
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Type == "event" {
			r.OOM(*l.OOM, l.Time, "recording")
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.GPUs[0].Processes) == 0 && r.count > 0 {
			if gone++; after >= 0 && gone > after {
				break
			}
		}
		r.Snapshot(&s)
	}
	return r.Report()
}

// A death of which no log tells is an event with its size, and has causes and advice; where a log tells, there is one
// event, of the log. What is harmless is none.
func TestDriverDeaths(t *testing.T) {
	for name, row := range map[string]struct {
		from string
		text string
	}{
		"fires_driver":                   {"driver", "GPU memory refused by the driver: 16.0 GiB refused with 9.7 GiB free"},
		"fires_driver_pieces":            {"driver", "GPU memory refused by the driver; only a piece of the request is known"},
		"fires_driver_context":           {"driver", "GPU memory refused by the driver; it could not make a context"},
		"fires_driver_context_elsewhere": {"driver", "GPU memory refused by the driver; it could not make a context"},
		"fires_driver_logged":            {"recording", "CUDA out of memory on GPU 0"},
		"fires_driver_logged_late":       {"recording", "CUDA out of memory on GPU 0"},
		"fires_driver_server":            {},
		"quiet_driver_caught":            {},
		"quiet_driver_context_at_once":   {},
		"quiet_driver_tester_ends":       {},
	} {
		out := reportOf(t, name, -1)
		var found []Event
		for _, e := range out.Events {
			if e.Kind == "oom" {
				found = append(found, e)
			}
		}
		if row.from == "" {
			if len(found) > 0 || len(out.Causes) > 0 {
				t.Errorf("%s: %+v, %+v", name, found, out.Causes)
			}
			continue
		}
		if len(found) != 1 || found[0].From != row.from || found[0].Text != row.text || found[0].GPU.Or(-1) != 0 || len(out.Causes) == 0 || len(out.Advice) == 0 {
			t.Errorf("%s: %+v, %d causes, headline %q", name, found, len(out.Causes), out.Headline)
		}
		if n := len(slices.DeleteFunc(slices.Clone(out.Alerts), func(a sampler.Alert) bool { return a.Kind != sampler.AlertOOM })); n != 1 {
			t.Errorf("%s: %d alerts of it", name, n)
		}
	}
}

// A recording that ends with the job tells of its death too, though the monitor had raised no alert yet; one in which
// the process is still listed does not.
func TestDriverDeathAtTheEnd(t *testing.T) {
	for after, want := range map[int]int{0: 0, 1: 1, 2: 1, -1: 1} {
		out := reportOf(t, "fires_driver", after)
		n := 0
		for _, e := range out.Events {
			if e.Kind == "oom" {
				n++
			}
		}
		if n != want || after >= 0 && after < 5 && len(out.Alerts) != 0 {
			t.Errorf("%d snapshots later: %d deaths, %d alerts", after, n, len(out.Alerts))
		}
	}
}

// The report of a process has what it asked for last.
func TestReportedRequests(t *testing.T) {
	out := reportOf(t, "fires_driver", -1)
	if r := out.Processes[0].Requests; r == nil || r.Refused != 2 || r.Refusal.Bytes != 16*sampler.GiB {
		t.Errorf("%+v", r)
	}
}

// A near miss that comes again and is worth more then is told again, with what the live monitor said then; the first stays as it was.
func TestReportedAgain(t *testing.T) {
	out := reportOf(t, "../flush/fires_driver_again", -1)
	if len(out.Alerts) != 2 {
		t.Fatalf("%+v", out.Alerts)
	}
	a, b := out.Alerts[0], out.Alerts[1]
	if a.ID != b.ID || a.Level != sampler.LevelNotice || b.Level != sampler.LevelWarning || strings.Contains(a.Text, "2 times") || !strings.Contains(b.Text, "2 times") {
		t.Errorf("%+v\n%+v", a, b)
	}
	if b.T < a.T+39 || b.T > a.T+42 || !b.Time.Equal(a.Time.Add(time.Duration(b.T-a.T)*time.Second)) || !a.End.Equal(b.End) {
		t.Errorf("at %v and %v, until %v and %v", a.T, b.T, a.End, b.End)
	}
}
