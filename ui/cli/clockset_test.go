package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// setBackTape is a recording of four minutes; after two the clock is set back by an hour. old is what an nvpeak
// wrote that took the time of day for its own.
func setBackTape(t *testing.T, old bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := tape.Create(path, tape.Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // a test
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for i := range 241 {
		used := 10 * sampler.GiB
		if i == 180 {
			used = 20 * sampler.GiB
		}
		s := &sampler.Snapshot{Time: at.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{card("a", used)}}
		s.GPUs[0].Processes = []sampler.Process{{PID: 7, Name: "python", Memory: sampler.Some(used), StartTime: sampler.Some(at.Add(-time.Minute))}}
		if i >= 120 {
			s = s.WithAhead(-time.Hour)
			if old {
				start := s.GPUs[0].Processes[0].StartTime
				s = s.Wall()
				s.GPUs[0].Processes[0].StartTime = start
			}
		}
		w.Readings(0, s.Time, used)
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// withoutEven makes a recording one of an nvpeak that knew nothing of this.
func withoutEven(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(b), `"even":true,`, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A report of a recording in which the clock was set back has its true length, everything at its place
// in it, the time of day that was read there, and an event that tells of it.
func TestReportAcrossClockSet(t *testing.T) {
	for _, old := range []bool{false, true} {
		path := setBackTape(t, old)
		if old {
			withoutEven(t, path)
		}
		out, errs, code := command(t, "report", "--json", path)
		var r report.Report
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("exit %d, %v: %s", code, err, errs)
		}
		g := r.GPUs[0]
		if r.Duration != 240 || r.Snapshots != 241 || len(r.Processes) != 1 || g.Peak.T != 180 || g.Peak.Time.Format("15:04:05") != "02:03:00" || r.End.Format("15:04:05") != "02:04:00" {
			t.Errorf("old %v: %v s, %d snapshots, %d processes, peak %+v, end %v", old, r.Duration, r.Snapshots, len(r.Processes), g.Peak, r.End)
		}
		if len(g.Spikes) != 1 || g.Spikes[0].T < 179 || g.Spikes[0].T > 180 {
			t.Errorf("old %v: spikes %+v", old, g.Spikes)
		}
		var events []string
		for _, e := range r.Events {
			events = append(events, fmt.Sprintf("%s %v %v %s", e.Kind, e.T, e.Duration.Or(0), e.Time.Format("15:04:05")))
		}
		want := "time_backwards 120 3600 02:02:00"
		if old {
			want = "time_backwards 120 3599 02:02:00" // a second has passed meanwhile, which nobody told
		}
		if got := strings.Join(events, "; "); got != want {
			t.Errorf("old %v: events %s, want %s", old, got, want)
		}
	}
}

// The times of a training log are those of the clock as it was when they were printed.
func TestLogAcrossClockSet(t *testing.T) {
	utc(t)
	var log strings.Builder
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for i := 0; i < 240; i += 20 {
		printed := at.Add(time.Duration(i) * time.Second)
		if i >= 120 {
			printed = printed.Add(-time.Hour)
		}
		fmt.Fprintf(&log, "%s Epoch %d/12\n", printed.Format("2006-01-02 15:04:05"), 1+i/20)
	}
	name := filepath.Join(t.TempDir(), "train.log")
	if err := os.WriteFile(name, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := command(t, "report", "--json", "--log", name, setBackTape(t, false))
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	var starts []float64
	for _, f := range r.Phases {
		starts = append(starts, f.T)
	}
	if got := fmt.Sprint(starts); got != "[0 20 40 60 80 100 120 140 160 180 200 220]" {
		t.Errorf("epochs begin at %s; %v", got, r.Notes)
	}
}

// What is said at the end of a recording is how long it lasted.
func TestRecordedSpan(t *testing.T) {
	var out strings.Builder
	r := testRecorder(t, &out, sampler.Opt[sampler.Bytes]{})
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for i := range 21 {
		s := (&sampler.Snapshot{Time: at.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{card("a", sampler.GiB)}}).WithAhead(-time.Hour * time.Duration(i/10))
		r.take(s) //nolint:errcheck // a buffer
	}
	r.ended(at.Add(20900 * time.Millisecond)) // the memory was read on
	r.ended(at)
	var said strings.Builder
	if err := r.finish(&said); err != nil || !strings.Contains(said.String(), "recorded 21s of 1 GPU") {
		t.Errorf("%v, %q", err, said.String())
	}
}
