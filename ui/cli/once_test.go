package cli

import (
	"runtime"
	"strings"
	"testing"
)

// What only a frame shows is not taken and ignored; a setting for the monitor stands in no way.
func TestOnceFrameOptions(t *testing.T) {
	for _, option := range [][]string{{"--sort=-mem"}, {"--columns", "mem,pid"}, {"--span", "5m"}, {"--plot", "line"}} {
		_, stderr, code := command(t, append([]string{"once", "--demo"}, option...)...)
		if code != 2 || !strings.Contains(stderr, "add --size") {
			t.Errorf("%q: exit %d, %q", option, code, stderr)
		}
		if _, stderr, code := command(t, append([]string{"once", "--demo", "--size", "80x24"}, option...)...); code != 0 {
			t.Errorf("%q with a size: exit %d, %q", option, code, stderr)
		}
	}
	t.Setenv("NVPEAK_SORT", "-mem")
	if _, stderr, code := command(t, "once", "--demo"); code != 0 {
		t.Errorf("a variable: exit %d, %q", code, stderr)
	}
}

// A frame of a demo is what its screen shows: with the past, and the sentence on what comes next.
func TestOnceFrameHasThePast(t *testing.T) {
	out, stderr, code := command(t, "once", "--demo", "--size", "80x24")
	if code != 0 || !strings.Contains(out, "! GPUs 0–3: peaks leave") || !strings.Contains(out, "-5m") || strings.Contains(out, "at worst") {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
}

// One form at a time.
func TestOnceForms(t *testing.T) {
	for _, forms := range [][]string{{"--json", "--csv=index"}, {"--json", "--size=80x24"}, {"--csv", "--size=80x24"}, {"--json", "--csv", "--size=80x24"}} {
		out, stderr, code := command(t, append([]string{"once", "--demo"}, forms...)...)
		if code != 2 || out != "" || !strings.Contains(stderr, "exclude each other") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, %q", forms, code, stderr)
		}
	}
}

// One picture of a large demo does not cost as much as its whole past at the pace of a single snapshot.
func TestOnceOfLargeDemo(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, stderr, code := command(t, "once", "--demo=sixtyfour", "--json"); code != 0 {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<30 {
		t.Errorf("%d MB", spent>>20)
	}
}
