package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A box of a run that was cut off before anything failed, without figures of GPUs, tells that, and asks for no more of a log.
func TestReportOfCutOffRun(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "nvpeak", "runs", "20200101-000001-train-1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"run.json": `{"start":"2020-01-01T00:00:00Z","command":"python train.py"}`, "output.log": "step 1\nstep 2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var text, errs bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &text, err: &errs, env: func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }}
	code, out := a.run(context.Background(), []string{"report", "LAST"}), text.String()
	if code != 0 || !strings.Contains(out, "python train.py (cut off)") || !strings.Contains(out, filepath.Join(dir, "output.log")) || strings.Contains(out, "Traceback") {
		t.Errorf("%d: %s%s", code, out, errs.String())
	}
}
