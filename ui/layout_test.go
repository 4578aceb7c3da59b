package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// quiet takes a GPU's processes and its memory away.
func quiet(g *sampler.GPU) {
	g.Processes, g.Utilization.GPU = nil, sampler.Some(0)
	g.Memory.Used, g.Memory.Peak, g.Memory.Unattributed = sampler.Some(300*sampler.MiB), nil, sampler.Some(300*sampler.MiB)
	g.Memory.Free = g.Memory.Total
}

// quietAfter is some time of four GPUs, of which the last two are used until a moment only.
func quietAfter(last time.Duration, all bool) []*sampler.Snapshot {
	list := past(gpus(4, 2, false), 400)
	for _, s := range list {
		s.GPUs = slices.Clone(s.GPUs)
		for i := range s.GPUs {
			g := &s.GPUs[i]
			g.Memory.Used = sampler.Some(40 * sampler.GiB)
			if i >= 2 && s.Time.After(afternoon.Add(-last)) || all {
				quiet(g)
			}
			g.Memory.Window = &sampler.Window{Min: g.Memory.Used.Or(0), Max: g.Memory.Used.Or(0), MaxTime: s.Time, Readings: 50}
		}
	}
	return list
}

// A GPU that nobody has used while the plots show is one line; one that was, or is, has a pane; where all are at rest
// they all have.
func TestIdleGPUsFold(t *testing.T) {
	for _, row := range []struct {
		name         string
		snaps        []*sampler.Snapshot
		panes, lines int
	}{
		{"idle all the time", quietAfter(time.Hour, false), 2, 2},
		{"idle of late", quietAfter(time.Minute, false), 4, 0},
		{"all idle", quietAfter(time.Hour, true), 4, 0},
	} {
		p := model(row.snaps, 160, 60, Options{}).view().arrange(160, 60)
		if len(p.panes) != row.panes || len(p.lines) != row.lines {
			t.Errorf("%s: %d panes and %d lines, want %d and %d", row.name, len(p.panes), len(p.lines), row.panes, row.lines)
		}
	}
}

// Whatever the size, panes and lines of one screen are equally wide, columns of panes equally far apart.
func TestEqualColumns(t *testing.T) {
	for _, n := range []int{2, 3, 8, 64} {
		m := model(past(gpus(n, 1, false), 5), 200, 60, Options{})
		for w := 40; w <= 260; w += 3 {
			p := m.view().arrange(w, 60)
			for _, list := range [][]placed{p.panes, p.lines} {
				for _, g := range list {
					if g.w != list[0].w || g.x+g.w > w {
						t.Fatalf("%d GPUs on %d columns: one is %d wide at %d, another %d", n, w, g.w, g.x, list[0].w)
					}
				}
			}
		}
	}
}

// An alert is the first thing below the header, from the usual terminal on.
func TestAlertOnTop(t *testing.T) {
	for _, h := range []int{14, 24, 40} {
		v := model(past(gpus(2, 1, false), 5), 100, h, Options{}).view()
		v.alerts = []sampler.Alert{{Level: sampler.LevelCritical, Text: "GPU 1 is nearly full"}}
		p := v.arrange(100, h)
		if p.advice.y != 1 || p.advice.h == 0 || p.panes[0].y < p.advice.y+p.advice.h {
			t.Errorf("%d rows: the advice is at %+v, the first pane at %+v", h, p.advice, p.panes[0].rect)
		}
		if line := v.draw(100, h).lines()[pick(boxed(100, h), 2, 1)]; !strings.Contains(line, "! GPU 1 is nearly full") {
			t.Errorf("%d rows: %q", h, line)
		}
	}
}

// Eight GPUs have their panes from 120x40 on, each with its sentence.
func TestEightPanes(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {160, 50}, {200, 60}} {
		v := model(play(t, "eight", 2*time.Minute), size[0], size[1], Options{}).view()
		if p := v.arrange(size[0], size[1]); len(p.panes) != 8 {
			t.Errorf("%v: %d panes", size, len(p.panes))
		}
		if got := strings.Join(v.draw(size[0], size[1]).lines(), "\n"); strings.Count(got, "free at worst")+strings.Count(got, "peaks leave") < 8 {
			t.Errorf("%v: not each GPU has its sentence:\n%s", size, got)
		}
	}
}

// Of many GPUs the one whose peaks leave next to nothing has the pane, not the first.
func TestLeadIsTheWorst(t *testing.T) {
	snaps := past(gpus(40, 1, false), 5)
	for _, s := range snaps {
		for i := range s.GPUs {
			s.GPUs[i].Memory.Used, s.GPUs[i].Memory.WorstFree = sampler.Some(20*sampler.GiB), sampler.Some(50*sampler.GiB)
		}
		s.GPUs[17].Memory.WorstFree = sampler.Some(sampler.GiB)
	}
	if p := model(snaps, 120, 40, Options{}).view().arrange(120, 40); len(p.panes) != 1 || p.panes[0].gpu.Index != 17 {
		t.Errorf("panes: %+v", p.panes)
	}
}

// The heads of the columns stay whole whatever the table holds, and how many rows are hidden is said where there is room.
func TestHeadsStayWhole(t *testing.T) {
	m := model(past(gpus(1, 1500, false), 3), 80, 24, Options{})
	for w := 30; w <= 200; w++ {
		for _, h := range []int{20, 40} {
			got := strings.Join(m.view().draw(w, h).lines(), "\n")
			for _, i := range fitting(w-pick(boxed(w, h), 2, 0), m.view().anyContainer(), m.overviewed(), m.table.columns) {
				if !strings.Contains(got, columns[i].title) {
					t.Fatalf("%dx%d: no whole %q in\n%s", w, h, columns[i].title, got)
				}
			}
			if w >= 80 && !strings.Contains(got, "more ↓") {
				t.Fatalf("%dx%d does not say how many rows are hidden:\n%s", w, h, got)
			}
		}
	}
}

// What is cut says so.
func TestCut(t *testing.T) {
	for _, row := range []struct {
		text, want string
		w          int
	}{{"python train.py", "python train.py", 15}, {"python train.py", "python train.…", 14}, {"日本語", "日本…", 5}, {"日本語", "日… ", 4}, {"ab", "…", 1}, {"ab", "", 0}} {
		c := newCanvas(max(row.w, 1), 1)
		c.cut(0, 0, row.w, 0, row.text)
		if got := c.lines()[0]; strings.TrimRight(got, " ") != strings.TrimRight(row.want, " ") {
			t.Errorf("%q in %d columns: %q, want %q", row.text, row.w, got, row.want)
		}
	}
}

// The line of a MIG instance has what tells it from the others.
func TestLineName(t *testing.T) {
	for _, row := range []struct {
		gpu  sampler.GPU
		want string
	}{
		{sampler.GPU{Name: "NVIDIA H100 80GB HBM3 MIG 1g.10gb", MIG: &sampler.MIG{}}, "MIG 1g.10gb"},
		{sampler.GPU{Name: "NVIDIA H100 80GB HBM3"}, "H100 80GB HBM3"},
	} {
		if got := lineName(&row.gpu); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
