package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
)

var noDriver = []string{"NVPEAK_NVML=/nonexistent/libnvidia-ml.so.1"}

// Without a driver a terminal is offered the demo; whoever does not want it gets exit 1.
func TestOfferDemo(t *testing.T) {
	t.Parallel()
	term := open(t, setup{env: noDriver})
	see(t, term, "Enter", "demo")
	press(t, term, "\n")
	see(t, term, "DEMO training")
	press(t, term, "q")
	ends(t, term, 0)
	term = open(t, setup{env: noDriver})
	see(t, term, "Enter")
	press(t, term, "n\n")
	ends(t, term, 1)
	term = open(t, setup{env: append(noDriver, "NVPEAK_LANG=zh")})
	see(t, term, "按回车")
	press(t, term, "\x03")
	ends(t, term, 130)
}

// A log is pasted into explain, which says how it ends.
func TestExplainPasted(t *testing.T) {
	t.Parallel()
	term := open(t, setup{args: []string{"explain"}, size: [2]int{120, 60}})
	see(t, term, "Ctrl-D")
	press(t, term, "step 7\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 10.00 MiB is free.\n\x04")
	see(t, term, "20 MiB")
	ends(t, term, 0)
}

// A mistake in the settings file is told on the screen, which covers standard error; the rest of the file counts.
func TestConfigOnScreen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(name, []byte("lang = \"zh\"\nthme = \"dark\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term := open(t, setup{args: []string{"--demo"}, env: []string{"NVPEAK_CONFIG=" + name}, size: [2]int{160, 40}})
	see(t, term, "line 2: there is no setting thme")
	press(t, term, "?")
	see(t, term, "按键")
	press(t, term, "qq")
	ends(t, term, 0)
}
