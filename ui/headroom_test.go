package ui

import (
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// "No problems" stands only beside the headroom, and not at all where that is little or unknown.
func TestNoProblemsNamesHeadroom(t *testing.T) {
	for _, row := range []struct {
		name string
		free []sampler.Opt[sampler.Bytes] // of GPUs of 80 GiB
		want string
		role theme.Role
	}{
		{"two GPUs", []sampler.Opt[sampler.Bytes]{sampler.Some(40 * sampler.GiB), sampler.Some(123*sampler.GiB/10 + 1)}, "No problems found; peaks leave 12.3 GiB on GPU 1.", theme.Ok},
		{"little", []sampler.Opt[sampler.Bytes]{sampler.Some(sampler.GiB), sampler.Some(40 * sampler.GiB)}, "No alert is open, but peaks leave only 1.0 GiB on GPU 0.", theme.Critical},
		{"unknown", []sampler.Opt[sampler.Bytes]{{}}, "No alert is open; how much is free is unknown.", theme.Text},
		{"no GPU", nil, "No alert is open; how much is free is unknown.", theme.Text},
	} {
		s := gpus(len(row.free), 0, false)
		for i, free := range row.free {
			s.GPUs[i].Memory.WorstFree, s.GPUs[i].Memory.Free, s.GPUs[i].Memory.Used = free, free, sampler.Opt[sampler.Bytes]{}
		}
		v := model([]*sampler.Snapshot{s}, 80, 24, Options{}).view()
		if first := v.adviceFull(78)[0][0]; first.text != row.want || first.role != row.role {
			t.Errorf("%s: %q, want %q", row.name, first.text, row.want)
		}
	}
}

// A GPU of which a sentence says that nothing is wrong has its headroom in it.
func TestCalmVerdictsNameHeadroom(t *testing.T) {
	for _, scenario := range []string{"prealloc", "oom", "training", "sixtyfour"} {
		snaps := play(t, scenario, pick(scenario == "sixtyfour", time.Minute, 10*time.Minute))
		v := model(snaps, 120, 40, Options{}).view()
		for i := range v.snap.GPUs {
			if said := v.verdict(&v.snap.GPUs[i]); said.text != "" && said.role == theme.Dim && !strings.Contains(said.text, "iB") {
				t.Errorf("%s GPU %d: %q", scenario, i, said.text)
			}
		}
	}
}

// What is full by design is no worry, in the advice as in its pane; and both say the same of every GPU.
func TestFullByDesignIsNoWorry(t *testing.T) {
	m := model(play(t, "prealloc", 10*time.Minute), 120, 40, Options{})
	v := m.view()
	lines := v.adviceFull(98)
	if head := lines[0][0]; head.role != theme.Ok || !strings.Contains(head.text, "on GPU 0") {
		t.Errorf("%q in role %d", head.text, head.role)
	}
	for i := range v.snap.GPUs {
		if want := v.verdict(&v.snap.GPUs[i]).text; !strings.HasSuffix(lines[i+1][0].text, want) {
			t.Errorf("%q, and the pane says %q", lines[i+1][0].text, want)
		}
	}
}

// What is over does not hide how much is left.
func TestPastKeepsHeadroom(t *testing.T) {
	m := model(play(t, "eight", 2*time.Minute), 120, 40, Options{})
	m.shown.alerts, m.shown.past = nil, []sampler.Alert{{Level: sampler.LevelWarning, Kind: sampler.AlertGrowth, Text: "GPU 0: it grew", End: sampler.Some(1.0)}}
	var text []string
	for _, l := range m.view().adviceFull(98) {
		for _, p := range l {
			text = append(text, p.text)
		}
	}
	if all := strings.Join(text, "\n"); !strings.Contains(text[0], "peaks leave") || !strings.Contains(all, "it grew") {
		t.Errorf("%s", all)
	}
}
