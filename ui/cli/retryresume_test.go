package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The newest checkpoint is one of this run, and none that is the best, hidden, empty or half written.
func TestNewestCheckpoint(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	began := time.Now()
	write := func(path, text string, age time.Duration) {
		t.Helper()
		at := began.Add(time.Hour - age)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(p, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	find := func(glob string, args ...string) string { return newestCheckpoint(glob, began, args, nil) }
	if got := find(""); got != "" {
		t.Errorf("%q in an empty directory", got)
	}
	write("pretrained.pt", "x", 24*time.Hour)
	write("a/last.pt", "x", 10*time.Minute)
	write("a/best.pt", "x", time.Minute)
	write(".cache/newer.pt", "x", time.Minute)
	write("b/empty.ckpt", "", time.Minute)
	write("b/step.ckpt.tmp", "x", time.Minute)
	write("notes.txt", "x", 0)
	if got := find(""); got != "a/last.pt" {
		t.Errorf("the newest is %q", got)
	}
	write("run/checkpoint-500/optimizer.pt", "x", 5*time.Minute)
	if got := find(""); got != "run/checkpoint-500" {
		t.Errorf("the newest is %q", got)
	}
	write(filepath.Join(out, "c/d.pth"), "x", 2*time.Minute)
	if got := find("", "python", "t.py", "--out="+out, "."); got != filepath.Join(out, "c/d.pth") {
		t.Errorf("the newest is %q", got)
	}
	for glob, want := range map[string]string{"*.pt": "pretrained.pt", "a/*.pt": "a/best.pt", "a/l*.pt": "a/last.pt", "run/*": "run/checkpoint-500", "none/*": ""} {
		if got := find(glob); got != want {
			t.Errorf("%s: %q, want %q", glob, got, want)
		}
	}
}
