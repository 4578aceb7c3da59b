package ui

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// Rows are in order to a fiftieth of what they hold, each minute to a hundredth, and do not change places because of less.
func TestRowsAreInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	m := model([]*sampler.Snapshot{tableOf(0, [2]int{1, 8600}, [2]int{2, 7500})}, 100, 30, Options{})
	amounts := map[int]int{1: 40000, 2: 40000, 3: 20000, 4: 19000}
	for i := range 500 {
		var rows [][2]int
		for pid := 1; pid <= len(amounts); pid++ {
			if amounts[pid] += rng.IntN(401) - 200; rng.IntN(50) == 0 {
				amounts[pid] = rng.IntN(60000)
			}
			rows = append(rows, [2]int{pid, amounts[pid]})
		}
		m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(i+1, rows...)}})
		for k := 1; k < len(m.table.rows); k++ {
			above, below := m.table.rows[k-1].memory().Or(0).MiB(), m.table.rows[k].memory().Or(0).MiB()
			if below-above > below/pick(i%60 == 59, 100.0, 50) {
				t.Fatalf("%.0f MiB stand below %.0f", below, above)
			}
		}
	}
	m = model([]*sampler.Snapshot{tableOf(1000, [2]int{1, 30000}, [2]int{2, 29900})}, 100, 30, Options{})
	for i := range 50 {
		m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(1001+i, [2]int{1, 30000 - i%2*300}, [2]int{2, 29900})}})
		if pid := pidOf(m.table.rows[0]); pid != 1 {
			t.Fatalf("300 MiB of 80 GiB moved process %d up", pid)
		}
	}
}

// The peak of a process is in the color of a level where it makes that of a GPU that was nearly full, and that of peaks otherwise.
func TestPeakColor(t *testing.T) {
	for _, row := range []struct {
		own, all sampler.Bytes // of 100 GiB
		want     theme.Role
	}{
		{2, 97, theme.Peak}, {60, 97, theme.Critical}, {30, 97, theme.Peak}, {40, 60, theme.Peak}, {85, 85, theme.Notice}, {92, 0, theme.Warning},
	} {
		g := &sampler.GPU{Memory: sampler.Memory{Total: sampler.Some(100 * sampler.GiB)}}
		if row.all > 0 {
			g.Memory.Peak = &sampler.Peak{Bytes: row.all * sampler.GiB}
		}
		r := procRow{gpu: g, proc: &sampler.Process{Peak: &sampler.Peak{Bytes: row.own * sampler.GiB}}}
		if got := bare().processPeakRole(r); got != row.want {
			t.Errorf("%d of %d GiB: role %d, want %d", row.own, row.all, got, row.want)
		}
	}
	if got := bare().processPeakRole(procRow{gpu: &sampler.GPU{}, proc: &sampler.Process{}}); got != theme.Peak {
		t.Errorf("unknown: role %d", got)
	}
}

// What is full by design has one color in the pane of its GPU, in its plot and in the table: its peak is no danger.
func TestPeakHasOneColor(t *testing.T) {
	for _, scenario := range []string{"eight", "training", "leak", "fragmentation"} {
		v := model(play(t, scenario, 10*time.Minute), 200, 60, Options{}).view()
		for _, row := range v.table.rows {
			if row.proc == nil || row.proc.Peak == nil {
				continue
			}
			pane := v.memoryFigures(row.gpu)[0] // the peak
			if gib(row.proc.Peak.Bytes) == gib(row.gpu.Memory.Peak.Bytes) && v.processPeakRole(row) != pane.role {
				t.Errorf("%s, pid %d: %q is in role %d in the pane and %d in the table", scenario, pidOf(row), pane.text, pane.role, v.processPeakRole(row))
			}
		}
	}
}

// Rows keep their places only while the difference is next to nothing of what they hold: more than 1 % of it is seen in the
// figures. After a minute they are in order.
func TestOrderShowsTheFigures(t *testing.T) {
	var table table
	table.sort = sortMemory
	for _, row := range []struct{ at, a, b, first int }{{0, 9200, 8800, 11}, {1, 8700, 8800, 22}, {2, 8880, 8800, 22}, {3, 8890, 8800, 11}, {4, 8795, 8800, 11}, {59, 8790, 8800, 11}, {60, 8790, 8800, 22}, {61, 8790, 8800, 22}, {120, 8801, 8800, 11}} {
		s := tableOf(row.at, [2]int{11, row.a}, [2]int{22, row.b})
		if table.list(s, nil); table.rows[0].proc.PID != row.first {
			t.Errorf("at %d s, %d and %d MiB: pid %d stands first", row.at, row.a, row.b, table.rows[0].proc.PID)
		}
	}
}

// HISTORY shows the shape of what a process holds, whatever the size of its GPU: a leak rises, a spike stands out, and what
// hardly moves is even. It is drawn in gray or by the level of the GPU, as much as the process holds.
func TestHistoryShowsShape(t *testing.T) {
	for name, tt := range map[string]struct {
		values []float64
		want   string
	}{
		"leak":  {[]float64{24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 34}, "⣀⣠⣤⣤⣶⣶"},
		"spike": {[]float64{52, 52, 72, 72, 52, 52}, "⣀⣶⣀"},
		"even":  {[]float64{70, 69, 70, 71, 70, 70}, "⣤⣤⣤"},
		"gap":   {[]float64{5, 5, nan, nan, 5, 5}, "⣤ ⣤"},
		"none":  {[]float64{0, 0, 0, 0}, "  "},
	} {
		c := newCanvas(len(tt.values)/dotColumns, 1)
		(&view{}).shape(c, rect{0, 0, c.w, 1}, slices.Clone(tt.values), func(value float64) theme.Role {
			if low, high := ownRange(tt.values); value < low-0.01 || value > high+0.01 {
				t.Errorf("%s: the color is that of %v", name, value)
			}
			return theme.Dim
		})
		if got := c.lines()[0]; strings.TrimRight(got, " ") != strings.TrimRight(tt.want, " ") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
