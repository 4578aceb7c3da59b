package cli

import (
	"encoding/json"
	"os"
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
