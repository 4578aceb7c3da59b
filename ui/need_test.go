package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// needShown is the column of the mark of the need in the bar of a GPU, -1 where it says that the need does not fit.
func needShown(v *view, g *sampler.GPU, w int) int {
	c := newCanvas(w, 1)
	v.memoryBar(c, 0, 0, w, g, theme.Unicode.Bar)
	for x, cell := range c.cells {
		switch cell.r {
		case '┊':
			return x
		case '»':
			return -1
		}
	}
	return -2
}

// The mark in the bar says what the advice says: it stands on top of the recent peak, within what can be used where
// the need fits, and says where it does not.
func TestNeedMarkAgrees(t *testing.T) {
	short, fit := 0, 0
	for _, scenario := range []string{"training", "leak", "neighbour", "eight"} {
		for _, need := range []sampler.Bytes{2, 8, 16, 40} {
			m := model(play(t, scenario, 10*time.Minute), 120, 40, Options{Need: sampler.Some(need * sampler.GiB)})
			v := m.view()
			for _, f := range v.fits {
				const w = 200
				at, total := needShown(v, f.gpu, w), f.gpu.Memory.Total.Or(0)
				end := f.gpu.Memory.Usable().Less(f.WorstFree.Or(0)) + need*sampler.GiB
				switch {
				case f.Short > 0:
					short++
					if at != -1 {
						t.Errorf("%s GPU %d: %v is %v short, and the mark stands in column %d", scenario, f.GPU, need, f.Short, at)
					}
				default:
					fit++
					if want := int(float64(end) / float64(total) * w); at != want && at != -2 && at != want-1 { // -2: under the mark of the peak
						t.Errorf("%s GPU %d: the mark stands in column %d, want %d", scenario, f.GPU, at, want)
					}
				}
			}
		}
	}
	if short == 0 || fit == 0 {
		t.Errorf("%d do not fit, %d fit", short, fit)
	}
}

// The same finding on four GPUs is one line of the panel, before the alert is raised as well as after.
func TestPanelGroups(t *testing.T) {
	o := Options{Need: sampler.Some(158 * sampler.GiB / 10)}
	all := play(t, "training", 10*time.Minute)
	for name, snaps := range map[string][]*sampler.Snapshot{"alerts": all, "no alert yet": {all[len(all)-1]}} {
		v := model(snaps, 120, 40, o).view()
		if name == "no alert yet" {
			for i := range v.fits { // a snapshot alone has no past
				v.fits[i].WorstFree, v.fits[i].Short = sampler.Some(sampler.Bytes(i+1)*100*sampler.MiB), 15*sampler.GiB
			}
		}
		heads := []string{}
		for _, l := range v.adviceLines(118, 20) {
			if s := l[0].text; strings.HasPrefix(s, "!") {
				heads = append(heads, s)
			}
		}
		if len(heads) != 1 || !strings.HasPrefix(heads[0], "! GPUs 0–3: 15.8 GiB ") {
			t.Errorf("%s: %q", name, heads)
		}
	}
}

// A need that fits is answered where one looks: in the sentence on the GPU and in the first line.
func TestFittingNeedIsSaid(t *testing.T) {
	m := model(play(t, "leak", 10*time.Minute), 120, 40, Options{Need: sampler.Some(2 * sampler.GiB)})
	v := m.view()
	for i := range v.snap.GPUs {
		if said := v.verdict(&v.snap.GPUs[i]).text; !strings.Contains(said, "2.0 GiB fits") {
			t.Errorf("GPU %d: %q", i, said)
		}
	}
	if head := m.draw().lines()[0]; !strings.Contains(head, "2.0 GiB fits on 2 of 2 GPUs") {
		t.Errorf("%q", head)
	}
	v = model(play(t, "training", 10*time.Minute), 120, 40, Options{Need: sampler.Some(40 * sampler.GiB)}).view()
	for i := range v.snap.GPUs {
		if said := v.verdict(&v.snap.GPUs[i]).text; strings.Contains(said, "fits") {
			t.Errorf("what does not fit: %q", said)
		}
	}
}

// A next spike that does not fit, as a sentence says before there is an alert and as the alert says, is drawn at the end of the bar
// and named at the top of the plot with what it would take the GPU to; nothing of the kind is drawn where all fits.
func TestNextSpikeIsDrawn(t *testing.T) {
	for _, length := range []time.Duration{605 * time.Second, 612 * time.Second} {
		m := model(play(t, "neighbour", length), 120, 40, Options{})
		v := m.view()
		for i := range v.snap.GPUs {
			g := &v.snap.GPUs[i]
			s, c := v.outcome(g), newCanvas(100, 12)
			v.gpuPane(c, rect{0, 0, 100, 12}, g)
			drawn := strings.Join(c.lines(), "\n")
			if s.id != "short" {
				if strings.ContainsRune(drawn, '»') {
					t.Errorf("%v, GPU %d: drawn though it is %q:\n%s", length, i, s.id, drawn)
				}
				continue
			}
			name := "next spike »" + gib(g.Memory.Usable()+s.size) + " of " + gib(g.Memory.Usable())
			if !strings.Contains(c.lines()[1], "»") || strings.Count(drawn, name) != 1 || !strings.Contains(drawn, "▲") {
				t.Errorf("%v, GPU %d: no %q:\n%s", length, i, name, drawn)
			}
		}
		if v.outcome(&v.snap.GPUs[1]).id != "short" || v.outcome(&v.snap.GPUs[0]).id == "short" {
			t.Errorf("after %v it is %q and %q", length, v.outcome(&v.snap.GPUs[0]).id, v.outcome(&v.snap.GPUs[1]).id)
		}
	}
}

// A need that does not fit is no more urgent than a GPU that is full in five minutes: that one stays first, with its fix, and
// the same need on other GPUs follows in their order, each with the first thing to do.
func TestUrgentStaysFirst(t *testing.T) {
	m := model(play(t, "leak", 10*time.Minute), 100, 30, Options{Need: sampler.Some(20 * sampler.GiB)})
	v := m.view()
	var got []string
	for _, l := range v.adviceLines(v.adviceRoom(100, 30)) {
		if s := l[0].text; strings.HasPrefix(s, "! GPU") || strings.HasPrefix(s, "  1 ") {
			got = append(got, strings.Join(strings.Fields(s)[:3], " "))
		}
	}
	if want := []string{"! GPU 0:", "1 Find the", "! GPU 0:", "1 Halve the", "! GPU 1:", "1 Make validation"}; !slices.Equal(got, want) {
		t.Errorf("%q\n%s", got, text(m))
	}
	if kind := v.groups()[0].Kind; kind != sampler.AlertGrowth {
		t.Errorf("%s comes first", kind)
	}
}

// The label of the need says so in its shortest form, too, and stands in the row of its line, or next to it in a row where nothing
// else is: a size alone would be read as where a line stands, and on that of the peak as the peak.
func TestNeedLabelIsOnItsLine(t *testing.T) {
	named := 0
	for _, scenario := range []string{"leak", "training", "neighbour", "sixtyfour"} {
		snaps := play(t, scenario, pick(scenario == "sixtyfour", time.Minute, 10*time.Minute))
		for _, need := range []sampler.Bytes{2, 5, 12, 20, 40} {
			v := model(snaps, 100, 30, Options{Need: sampler.Some(need * sampler.GiB)}).view()
			for _, size := range []rect{{0, 0, 100, 30}, {0, 0, 49, 12}, {0, 0, 44, 9}, {0, 0, 60, 20}} {
				for i := range v.snap.GPUs[:min(4, len(v.snap.GPUs))] {
					g, c := &v.snap.GPUs[i], newCanvas(size.w, size.h)
					v.gpuPlot(c, size, g)
					scale := axisFor(plotMetrics[0].top(g)/mibPerGiB, size.h-1)
					line := (&area{}).row(g.Memory.Usable().Less(v.need).GiB(), rect{0, 0, size.w, size.h - 1}, scale.top)
					for y, text := range c.lines() {
						if strings.Contains(text, "GiB") && !strings.Contains(text, "need") {
							t.Errorf("%s, GPU %d, %v: a size alone: %q", scenario, i, v.need, text)
						}
						if strings.Contains(text, "need") {
							named++
							_, label, _ := strings.Cut(text, "need")
							alone := strings.TrimSpace(string([]rune(text)[axisWidth:])) == "need"+strings.TrimRight(label, " ")
							if y != line && !(alone && abs(y-line) == 1) {
								t.Errorf("%s, GPU %d, %v in %v: in row %d, the line is in %d:\n%s", scenario, i, v.need, size, y, line, strings.Join(c.lines(), "\n"))
							}
						}
					}
				}
			}
		}
	}
	if named == 0 {
		t.Error("no label")
	}
}

// A GPU that is split into MIG instances is none of those that the need may fit on, and has no mark of it.
func TestNeedOnInstances(t *testing.T) {
	snaps := play(t, "eight", time.Minute)
	parts := make([]*sampler.Snapshot, len(snaps))
	for n, s := range snaps {
		c := *s
		c.GPUs = slices.Clone(s.GPUs[4:])
		for i := range c.GPUs {
			c.GPUs[i].Index = 0
			if i > 0 {
				c.GPUs[i].MIG = &sampler.MIG{Index: i - 1, GPUInstance: i}
			}
		}
		parts[n] = &c
	}
	m := model(parts, 120, 40, Options{Need: sampler.Some(3 * sampler.GiB)})
	if head := m.draw().lines()[0]; !strings.Contains(head, "3.0 GiB fits on 3 of 3 GPUs") {
		t.Errorf("%q", head)
	}
	v := m.view()
	if at := needShown(v, &v.snap.GPUs[0], 200); at != -2 {
		t.Errorf("the bar of the whole GPU has the mark in column %d", at)
	}
	if at := needShown(v, &v.snap.GPUs[1], 200); at == -2 {
		t.Error("the bar of an instance has no mark")
	}
}
