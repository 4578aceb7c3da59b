package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Jobs that ran on a real GPU: of each that died the first cause is right, the first measure saves it, and its death was an alert with its figures;
// of one that lived nothing worse than a notice was raised.
func TestJobsOnH100(t *testing.T) {
	utc(t)
	dir := "../../testdata/h100/"
	table, err := os.ReadFile(dir + "jobs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		row := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "", "", "")
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		t.Run(row[0], func(t *testing.T) {
			out, errs, code := command(t, "report", "--json", "--log", dir+row[0]+".log", dir+row[0]+".jsonl.zst")
			var r struct {
				Causes    []sampler.Cause
				Advice    []sampler.Advice
				Alerts    []sampler.Alert
				Processes []struct {
					PID     int
					Command string
				}
			}
			if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
				t.Fatalf("exit %d, %v: %s", code, err, errs)
			}
			own := 0 // the last one of its command: a recording shows the end of the job before, too
			for _, p := range r.Processes {
				if p.Command == row[1] {
					own = max(own, p.PID)
				}
			}
			if row[2] == "lives" {
				if own == 0 {
					t.Errorf("no process of it: %+v", r.Processes)
				}
				for _, a := range r.Alerts {
					if a.PID.Or(0) == own && a.Level != sampler.LevelNotice {
						t.Errorf("%s: %s", a.Level, a.Text)
					}
				}
				return
			}
			if len(r.Causes) == 0 || !slices.Contains(strings.Fields(row[3]), r.Causes[0].ID) {
				t.Errorf("causes %+v, want %s", r.Causes, row[3])
			}
			if len(r.Advice) == 0 || !slices.Contains(strings.Fields(row[4]), r.Advice[0].ID) {
				t.Errorf("advice %+v, want %s", r.Advice, row[4])
			}
			if row[5] == "yes" {
				out, errs, _ := command(t, "explain", "--json", "--command", row[1], dir+row[0]+".log")
				var alone struct {
					Events []struct {
						Causes []sampler.Cause
						Advice []sampler.Advice
					}
				}
				if err := json.Unmarshal([]byte(out), &alone); err != nil || len(alone.Events) == 0 || len(alone.Events[0].Advice) == 0 {
					t.Fatalf("%v: %s", err, errs)
				}
				if e := alone.Events[0]; !slices.Contains(strings.Fields(row[3]), e.Causes[0].ID) || !slices.Contains(strings.Fields(row[4]), e.Advice[0].ID) {
					t.Errorf("from the log alone %s, %s", e.Causes[0].ID, e.Advice[0].ID)
				}
			}
			if !slices.ContainsFunc(r.Alerts, func(a sampler.Alert) bool {
				return a.Kind == sampler.AlertOOM && a.Level == sampler.LevelCritical && a.Numbers["requested_bytes"] > 0
			}) {
				t.Errorf("no alert of the death: %+v", r.Alerts)
			}
		})
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2*n+2 {
		t.Errorf("%d jobs in the table, %d files", n, len(files))
	}
}

// explain and report say the same of one recording and its log: they take one path to what was known.
func TestExplainAgreesWithReport(t *testing.T) {
	utc(t)
	logs, err := filepath.Glob("../../testdata/h100/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("%v, %d logs", err, len(logs))
	}
	type said struct {
		Verdict  struct{ Headline, Detail string }
		Headline string
		Detail   string
		Causes   []sampler.Cause
		Advice   []sampler.Advice
	}
	for _, log := range logs {
		tape := strings.TrimSuffix(log, ".log") + ".jsonl.zst"
		var reported, explained said
		for into, args := range map[*said][]string{&reported: {"report", "--json", "--log", log, tape}, &explained: {"explain", "--json", "--recording", tape, log}} {
			out, errs, code := command(t, args...)
			if err := json.Unmarshal([]byte(out), into); err != nil || code != 0 {
				t.Fatalf("%s: exit %d, %v: %s", log, code, err, errs)
			}
		}
		explained.Headline, explained.Detail = explained.Verdict.Headline, explained.Verdict.Detail
		if len(explained.Causes) == 0 { // nobody died: a report tells what was alerted
			continue
		}
		if reported.Headline != explained.Headline || reported.Detail != explained.Detail {
			t.Errorf("%s:\nreport  %s: %s\nexplain %s: %s", log, reported.Headline, reported.Detail, explained.Headline, explained.Detail)
		}
		if !reflect.DeepEqual(reported.Causes, explained.Causes) || !reflect.DeepEqual(reported.Advice, explained.Advice) {
			t.Errorf("%s:\nreport  %+v\n%+v\nexplain %+v\n%+v", log, reported.Causes, reported.Advice, explained.Causes, explained.Advice)
		}
	}
}

// A message without time and figures is that of the process that waits for memory when the recording ends, not that of one before it.
func TestLastJobOfRecording(t *testing.T) {
	utc(t)
	at := "../../testdata/h100/27-particles"
	out, errs, _ := command(t, "report", "--json", "--log", at+".log", at+".jsonl.zst")
	var r struct {
		Alerts []sampler.Alert
		Events []struct {
			PID  int
			Kind string
			T    float64
			OOM  *sampler.OOMEvent
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	told := 0
	for _, e := range r.Events {
		if e.OOM != nil && e.OOM.Text != "" {
			told++
			if e.PID != 2876 || e.T < 20 || e.OOM.Requested.Or(0) != sampler.GiB {
				t.Errorf("of pid %d at %v: %+v", e.PID, e.T, e.OOM)
			}
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	for pid, size := range map[int]float64{2766: 49 << 30, 2876: 1 << 30} {
		if !slices.ContainsFunc(r.Alerts, func(a sampler.Alert) bool {
			return a.PID.Or(0) == pid && a.Level == sampler.LevelCritical && a.Numbers["requested_bytes"] == size
		}) {
			t.Errorf("no alert of the death of %d: %+v", pid, r.Alerts)
		}
	}
}

// A report without the failure of a log is about the last one that the driver saw, says whose it was and when, and takes what its allocator measured as
// that was refused: not what the program has given back since.
func TestReportOfDriverDeath(t *testing.T) {
	utc(t)
	for file, row := range map[string]struct {
		at             float64
		pid            int
		command, cause string
		first, never   string // measures
	}{
		"04-index_search":  {14.956, 1303, "python3 index_search.py", "fragmentation", "expandable_segments", ""},
		"20-train_jax_mlp": {5.704, 2068, "python3 serve_batch.py", "too_big", "smaller_model", "expandable_segments"},
		"27-particles":     {20.299, 2876, "./particles", "leak", "fix_leak", ""},
	} {
		out, errs, _ := command(t, "report", "--json", "../../testdata/h100/"+file+".jsonl.zst")
		var r struct {
			Failed struct {
				PID     int
				Command string
				T       float64
			}
			Causes    []sampler.Cause
			Advice    []sampler.Advice
			Processes []struct {
				PID    int
				Last   float64 `json:"last_t"`
				Exited bool
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		if f := r.Failed; f.PID != row.pid || f.Command != row.command || math.Abs(f.T-row.at) > 0.01 {
			t.Errorf("%s: failed %+v", file, f)
		}
		if len(r.Causes) == 0 || r.Causes[0].ID != row.cause || r.Advice[0].ID != row.first || slices.ContainsFunc(r.Advice, func(a sampler.Advice) bool { return a.ID == row.never }) {
			t.Errorf("%s: %+v\n%+v", file, r.Causes, r.Advice)
		}
		end := 0.0
		for _, p := range r.Processes {
			end = max(end, p.Last)
		}
		for _, p := range r.Processes {
			if p.Last < end && !p.Exited {
				t.Errorf("%s: %d was seen until %v and has not exited", file, p.PID, p.Last)
			}
		}
	}
}

// A warning of a process came true only where that process failed, not another one after it.
func TestCameTrueOfItsOwn(t *testing.T) {
	utc(t)
	for _, file := range []string{"05-train_varlen", "16-train_resnet"} {
		out, _, _ := command(t, "report", "--log", "../../testdata/h100/"+file+".log", "../../testdata/h100/"+file+".jsonl.zst")
		if strings.Contains(out, "came true") {
			t.Errorf("%s:\n%s", file, out)
		}
	}
}

// Nobody is sent to a second GPU of a machine that has one.
func TestNoSecondGPU(t *testing.T) {
	utc(t)
	at := "../../testdata/h100/07-distill_gpt"
	for _, args := range [][]string{{"explain", "--json", "--recording", at + ".jsonl.zst", at + ".log"}, {"report", "--json", "--log", at + ".log", at + ".jsonl.zst"}} {
		out, errs, code := command(t, args...)
		if code != 0 || strings.Contains(out, "CUDA_VISIBLE_DEVICES=1") || !strings.Contains(out, "one of the two at a time") {
			t.Errorf("%v: exit %d: %s\n%s", args, code, errs, out)
		}
	}
}
