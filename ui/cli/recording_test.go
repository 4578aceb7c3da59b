package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/advice/lang"
)

// twoGPUs is a recording by hand whose second GPU comes later.
func twoGPUs(t *testing.T) string {
	t.Helper()
	const first = `{"index":0,"uuid":"GPU-8f46abbc-d1","pci":"00000000:01:00.0","memory":{"total_bytes":17179869184,"used_bytes":1073741824}}`
	const second = `{"index":1,"uuid":"GPU-77777777-d2","pci":"00000000:02:00.0","memory":{"total_bytes":17179869184,"used_bytes":2147483648}}`
	text := `{"type":"snapshot","time":"2026-11-20T03:00:00Z","gpus":[` + first + "]}\n" +
		`{"type":"snapshot","time":"2026-11-20T03:00:01Z","gpus":[` + first + "," + second + "]}\n"
	path := filepath.Join(t.TempDir(), "two.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// One selector for what is live and what is recorded.
func TestRecordingGPUs(t *testing.T) {
	path := twoGPUs(t)
	for _, tt := range []struct {
		selector string
		gpus     string // indices in the report; empty: refused
	}{
		{"0", "0"}, {"1", "1"}, {"0,1", "01"}, {"gpu-8F46abbc", "0"}, {"GPU-7777777", "1"}, {"02:00.0", "1"},
		{"99", ""}, {"GPU-00000000", ""}, {"0,99", ""},
	} {
		out, errs, code := command(t, "report", "-i", tt.selector, path)
		got := ""
		for _, n := range []string{"0", "1"} {
			if strings.Contains(out, "GPU "+n) {
				got += n
			}
		}
		switch {
		case got != tt.gpus:
			t.Errorf("-i %s reports GPUs %q, want %q: %s", tt.selector, got, tt.gpus, errs)
		case tt.gpus == "" && (code != exitUsage || !strings.Contains(errs, "there are 0, 1") || strings.Count(errs, "\n") != 1):
			t.Errorf("-i %s: exit %d, %q", tt.selector, code, errs)
		case tt.gpus != "" && code != exitFine:
			t.Errorf("-i %s: exit %d, %q", tt.selector, code, errs)
		}
		if tt.gpus == "" {
			continue
		}
		in, err := openTape(one(path, strings.Split(tt.selector, ",")), lang.English().Say)
		if err != nil {
			t.Fatal(err)
		}
		shown := map[int]bool{}
		for {
			e, err := in.Next()
			if err != nil {
				break
			}
			for _, g := range e.Snapshot.GPUs {
				shown[g.Index] = true
			}
		}
		if len(shown) != len(tt.gpus) || shown[1] != strings.Contains(tt.gpus, "1") {
			t.Errorf("-i %s replays GPUs %v", tt.selector, shown)
		}
	}
}
