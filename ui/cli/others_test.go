package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const others = "../../testdata/tapes/logs/"

// Logs of other programs are reported on; what they do not tell is not made up.
func TestReportOfOthers(t *testing.T) {
	for name, want := range map[string]string{
		"smi-470-cut.log":    "peak 11.7 GiB",
		"smi-570-mig.log":    "GPU 0:1",
		"smi.xml":            "peak 68.4 GiB",
		"gpustat.txt":        "peak 68.4 GiB",
		"gpustat-lines.json": "peak 68.4 GiB",
		"pmon.log":           "python train.py",
		"dmon-plain.log":     "at no known time",
	} {
		out, errs, code := command(t, "report", others+name)
		if code != 0 || errs != "" || !strings.Contains(out, want) || strings.Contains(out, "1970") {
			t.Errorf("%s: exit %d, %q, no %q in\n%s", name, code, errs, want, out)
		}
	}
	out, _, _ := command(t, "report", "--json", "--interval", "5s", others+"dmon-plain.log")
	var r struct {
		Start    *string `json:"start"`
		Duration float64 `json:"duration_s"`
		GPUs     []struct {
			Total *float64 `json:"total_bytes"`
			After *float64 `json:"free_after_exit_bytes"`
		} `json:"gpus"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Start != nil || r.Duration != 10 || r.GPUs[0].Total != nil || r.GPUs[0].After != nil {
		t.Errorf("%v, %+v", err, r)
	}
}

// Parts of one recording make one report, other files one each.
func TestReportOfParts(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(tapes + "validation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run.0001.jsonl", "run.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[int][]string{
		1: {dir},
		2: {filepath.Join(dir, "run.jsonl"), others + "smi.xml"},
	} {
		out, errs, code := command(t, append([]string{"report"}, args...)...)
		if n := strings.Count(out, "snapshots, one every"); code != 0 || n != want {
			t.Errorf("%v: exit %d, %s, %d reports\n%s", args, code, errs, n, out)
		}
	}
	if out, _, _ := command(t, "report", dir); !strings.Contains(out, "2 parts") {
		t.Error(out)
	}
	if _, errs, code := command(t, "report", t.TempDir()); code != 2 || !strings.Contains(errs, "without recordings") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
