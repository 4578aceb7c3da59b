package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
)

// TestUnknownTotal: a log without totals and processes, as of nvidia-smi dmon, has its plot, and what it does not tell
// is not shown as 0.
func TestUnknownTotal(t *testing.T) {
	var snaps []*sampler.Snapshot
	for _, s := range play(t, "leak", 1e11) {
		c := *s
		c.GPUs = append([]sampler.GPU(nil), s.GPUs...)
		for i := range c.GPUs {
			m := &c.GPUs[i].Memory
			*m = sampler.Memory{Used: m.Used, Peak: m.Peak}
			c.GPUs[i].Processes = nil
		}
		snaps = append(snaps, &c)
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}, {30, 6}} {
		m := model(snaps, size[0], size[1], Options{})
		text := ansi.Strip(m.View().Content)
		for _, wrong := range []string{"/ 0.0", "/0.0", "/0G", "no processes on"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%v: %q in\n%s", size, wrong, text)
			}
		}
		if size[0] >= 80 && !strings.Contains(text, "no list of processes") {
			t.Errorf("%v: nothing on the missing list in\n%s", size, text)
		}
		if size[0] == 120 && strings.Count(text, "⣿") < 20 {
			t.Errorf("no plot in\n%s", text)
		}
	}
}

// TestMemoryNeverKnown: a GPU whose memory was refused from the start says so whole, with what to do, and shows its other figures.
func TestMemoryNeverKnown(t *testing.T) {
	why := "not supported: memory (ARGUMENT_VERSION_MISMATCH); " + sampler.RemedyDriver
	var snaps []*sampler.Snapshot
	for _, s := range play(t, "eight", 1e10) {
		c := *s
		c.GPUs = append([]sampler.GPU(nil), s.GPUs...)
		for i := range c.GPUs {
			g := &c.GPUs[i]
			g.Error, g.Memory = sampler.Some(why), sampler.Memory{}
			g.Temperature = sampler.Some(55)
		}
		snaps = append(snaps, &c)
	}
	for _, size := range [][2]int{{160, 50}, {120, 40}} {
		text := ansi.Strip(model(snaps, size[0], size[1], Options{}).View().Content)
		if !strings.Contains(text, "not supported: memory (ARGUMENT_VERSION_MISMATCH)") || !strings.Contains(text, "update the driver") || !strings.Contains(text, "55°C") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}

// TestHangInTitle: a GPU that tells its memory and nothing else has a title that ends with a word.
func TestHangInTitle(t *testing.T) {
	var snaps []*sampler.Snapshot
	for _, s := range play(t, "eight", 1e10) {
		c := *s
		c.GPUs = append([]sampler.GPU(nil), s.GPUs[:1]...)
		c.GPUs[0].Error = sampler.Some("not answering (12 s): a driver call (metrics and processes) has not returned")
		snaps = append(snaps, &c)
	}
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}} {
		text := ansi.Strip(model(snaps, size[0], size[1], Options{}).View().Content)
		_, title, _ := strings.Cut(text, "GPU 0 H100")
		title, _, _ = strings.Cut(title, "\n")
		if !strings.Contains(title, "not answering (12 s)") || strings.Contains(title, "a driver call (") != strings.Contains(title, "has not returned") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}

// TestNoneAnswers: where no GPU answers, each says why, in a narrow pane, too, and nobody is told that there are no processes.
func TestNoneAnswers(t *testing.T) {
	const why = "not answering (5 s): a driver call has not returned"
	var snaps []*sampler.Snapshot
	for i, s := range play(t, "eight", 1e10) {
		c := *s
		c.GPUs = append([]sampler.GPU(nil), s.GPUs[:2]...)
		for j := range c.GPUs {
			if g := &c.GPUs[j]; i > 5 {
				g.Error, g.Processes, g.Memory = sampler.Some(why), []sampler.Process{}, sampler.Memory{Total: g.Memory.Total, Peak: g.Memory.Peak}
			}
		}
		snaps = append(snaps, &c)
	}
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 30}} {
		text := ansi.Strip(model(snaps, size[0], size[1], Options{}).View().Content)
		if strings.Count(text, why) != 2 || strings.Contains(text, "no processes on") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}
