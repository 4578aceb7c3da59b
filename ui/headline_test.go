package ui

import (
	"strings"
	"testing"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// endangered are GPUs of 80 GiB whose spikes leave so many MiB, or are so many too large where it is negative.
func endangered(t *testing.T, left ...int) *view {
	t.Helper()
	s := gpus(len(left), 1, false)
	spikes := map[sampler.GPUKey]sampler.Bytes{}
	for i := range s.GPUs {
		m := &s.GPUs[i].Memory
		m.Total, m.Used, m.Peak, m.Reserved = sampler.Some(80*sampler.GiB), sampler.Some(40*sampler.GiB), nil, sampler.Opt[sampler.Bytes]{}
		m.WorstFree = sampler.Some(30 * sampler.GiB)
		spikes[s.GPUs[i].Key()] = sampler.Bytes(80<<10-left[i]) * sampler.MiB
	}
	v := model([]*sampler.Snapshot{s}, 120, 40, Options{}).view()
	v.outlook = func(key sampler.GPUKey) (watch.Outlook, bool) {
		return watch.Outlook{Spike: sampler.Some(spikes[key]), Due: sampler.Some(20.0)}, true
	}
	return v
}

// What may run out next stands above all panes, the same of several GPUs as one line, before there is an alert; the panes
// say no more than their own figure.
func TestHeadlines(t *testing.T) {
	for _, row := range []struct {
		left []int
		want string
	}{
		{[]int{94, 240, 222, 186}, "GPUs 0–3: peaks leave 94 MiB to 240 MiB; next in ~20s"},
		{[]int{20 << 10, 94, 30 << 10}, "GPU 1: peaks leave 94 MiB; next in ~20s"},
		{[]int{1 << 10, 94, -1 << 10, 2 << 10}, "GPU 2: the next spike is 1.0 GiB too large; next in ~20s|GPUs 0, 1, 3: peaks leave 94 MiB to 2.0 GiB; next in ~20s"},
		{[]int{20 << 10, 30 << 10}, ""},
		{[]int{94}, ""}, // its pane says it
	} {
		v := endangered(t, row.left...)
		var got []string
		for _, h := range v.headlines() {
			got = append(got, v.headlineText(h))
			for _, g := range h.gpus {
				if said := v.paneVerdict(g); said.role != theme.Critical || strings.Contains(said.text, "next in") || !strings.Contains(said.text, v.outcome(g).size.Few()) {
					t.Errorf("%v: the pane of GPU %d says %+v", row.left, g.Index, said)
				}
			}
		}
		if strings.Join(got, "|") != row.want {
			t.Errorf("%v: %q, want %q", row.left, got, row.want)
		}
	}
}

// What is coming stands above a death of minutes ago, at every size, and below an alert of now; of what an alert says there
// is no headline.
func TestWhatIsComingStandsFirst(t *testing.T) {
	v := endangered(t, -1<<10, 20<<10)
	death := sampler.Alert{Kind: sampler.AlertOOM, Level: sampler.LevelWarning, GPU: sampler.Some(1), Key: v.snap.GPUs[1].Key(),
		Text: "GPU 1: it died", Time: v.now().Add(-7 * time.Minute), Numbers: map[string]float64{"endings": 1}}
	v.alerts = []sampler.Alert{death}
	first := func(lines []textLine) string { return lines[0][0].text }
	if got := first(v.adviceLines(100, 20)); got != "! GPU 0: the next spike is 1.0 GiB too large; next in ~20s" {
		t.Errorf("first is %q", got)
	}
	if got := first(v.slitLines(30)); got != "! 0: spike 1.0 GiB too large" {
		t.Errorf("on a slit the first is %q", got)
	}
	if got := v.adviceFull(100); got[1][0].text != "! GPU 0: the next spike is 1.0 GiB too large; next in ~20s" {
		t.Errorf("all advice begins with %q", got[1][0].text)
	}
	v.alerts[0].Time = v.now()
	if got := first(v.adviceLines(100, 20)); !strings.HasPrefix(got, "! GPU 1: it died") {
		t.Errorf("after a death the first is %q", got)
	}
	v = endangered(t, -1<<10, 20<<10)
	v.alerts = []sampler.Alert{{Kind: sampler.AlertRepeatSpike, Level: sampler.LevelCritical, GPU: sampler.Some(0), Key: v.snap.GPUs[0].Key(), Text: "GPU 0: too large",
		Numbers: map[string]float64{"short_bytes": 1 << 30}}}
	if got := v.headlines(); len(got) != 0 {
		t.Errorf("beside an alert there is %+v", got)
	}
}

// Of three GPUs and more that the same is said of calmly the first says it for all.
func TestAlikeVerdictsAreOne(t *testing.T) {
	for _, row := range []struct {
		left []int
		want string
	}{
		{[]int{30 << 10, 30 << 10, 30 << 10, 30 << 10}, "GPUs 0–3: peaks leave 30.0 GiB; next in ~20s|||"},
		{[]int{20 << 10, 30 << 10, 30 << 10, 30 << 10}, "peaks leave 20.0 GiB; next in ~20s|GPUs 1–3: peaks leave 30.0 GiB; next in ~20s||"},
		{[]int{6 << 10, 6 << 10, 6 << 10}, "GPUs 0–2: peaks leave 6.0 GiB; next in ~20s||"}, // a warning, too
		{[]int{30 << 10, 30 << 10}, "peaks leave 30.0 GiB; next in ~20s|peaks leave 30.0 GiB; next in ~20s"},
	} {
		v := endangered(t, row.left...)
		var got []string
		for i := range v.snap.GPUs {
			v.panes = append(v.panes, placed{gpu: &v.snap.GPUs[i]})
		}
		for i := range v.snap.GPUs {
			got = append(got, v.paneVerdict(&v.snap.GPUs[i]).text)
		}
		if strings.Join(got, "|") != row.want {
			t.Errorf("%v: %q, want %q", row.left, got, row.want)
		}
	}
}

// The worst of a run that is over is nothing that may come next, unless the GPU is nearly full again.
func TestWorstIsNoHeadlineWithRoom(t *testing.T) {
	for used, want := range map[sampler.Bytes]int{20 * sampler.GiB: 0, 70 * sampler.GiB: 1} {
		v := endangered(t, 20<<10, 20<<10)
		v.outlook = func(sampler.GPUKey) (watch.Outlook, bool) { return watch.Outlook{}, true }
		v.snap.GPUs[0].Memory.Used, v.snap.GPUs[0].Memory.WorstFree = sampler.Some(used), sampler.Some(82*sampler.MiB)
		if got := v.headlines(); len(got) != want {
			t.Errorf("%v used: %+v", used, got)
		}
	}
}

// What comes next is told with the first thing to do, whole or in a few words or not at all, and with all of it in the advice in full;
// what happened minutes ago stands below without advice that would read as its remedy.
func TestHeadlineHasItsFix(t *testing.T) {
	v := model(play(t, "training", 10*time.Minute), 120, 40, Options{}).view()
	for w, want := range map[int]string{150: "; next in ~35s  1 Make validation smaller: batch, crop or tile half as large", 100: "; next in ~35s  1 Make validation smaller", 76: "; next in ~35s"} {
		lines, got := v.headlineLines(w), ""
		for _, p := range lines[0] {
			got += p.text
		}
		if len(lines) != 1 || !strings.HasSuffix(got, want) || width(got) > w {
			t.Errorf("%d columns: %q", w, got)
		}
	}
	full := ""
	for _, l := range v.adviceFull(100) {
		for _, p := range l {
			full += p.text
		}
		full += "\n"
	}
	if !strings.Contains(full, "  1 Make validation smaller") || !strings.Contains(full, "\n    cost: ") {
		t.Errorf("in full:\n%s", full)
	}
	if slit := text(model(play(t, "leak", 10*time.Minute), 30, 6, Options{})); !strings.Contains(slit, "  1 Find the leak  ") {
		t.Errorf("on a slit it is cut:\n%s", slit)
	}
	v = model(play(t, "neighbour", 10*time.Minute), 120, 40, Options{}).view()
	lines := v.adviceLines(116, 20)
	if last := lines[len(lines)-1][0].text; len(lines) != 2 || !strings.HasPrefix(last, "! GPU 1: pid 71121") {
		t.Errorf("%q", lines)
	}
}
