package e2e_test

import (
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
