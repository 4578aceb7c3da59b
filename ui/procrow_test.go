package ui

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A process that was seen to end is not one of another container, and gets no signal.
func TestEndedRow(t *testing.T) {
	s := gpus(1, 1, false)
	p := &s.GPUs[0].Processes[0]
	p.Ended, p.Visible, p.Command = true, false, "python train.py"
	m := model([]*sampler.Snapshot{s}, 120, 30, Options{})
	if screen := text(m); !strings.Contains(screen, "(ended) python train.py") || strings.Contains(screen, "namespace") {
		t.Errorf("%s", screen)
	}
	if got := notHere(procRow{gpu: &s.GPUs[0], proc: p, snap: s}); got != "say.signal_ended" {
		t.Errorf("a signal: %q", got)
	}
}
