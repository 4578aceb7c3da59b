package ui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
	"nvpeak/theme"
)

// bare is a view without a world.
func bare() *view {
	return &view{glyphs: &theme.Unicode, plot: plot{span: 5 * time.Minute}, history: history.New(time.Second)}
}

// TestMemoryBar: on a card of 100 units and a bar of 10 columns.
func TestMemoryBar(t *testing.T) {
	some := func(n int) sampler.Opt[sampler.Bytes] { return sampler.Some(sampler.Bytes(n)) }
	for _, row := range []struct {
		name                     string
		used, unattributed, resv int
		peak, need               int // 0: none
		want                     string
		total                    int
	}{
		{"empty", 0, 0, 0, 0, 0, "··········", 100},
		{"full", 100, 0, 0, 0, 0, "██████████", 100},
		{"parts of a cell", 35, 0, 0, 0, 0, "███▌······", 100},
		{"peak", 35, 0, 0, 80, 0, "███▌····▲·", 100},
		{"peak at the end", 35, 0, 0, 100, 0, "███▌·····▲", 100},
		{"peak of now", 30, 0, 0, 30, 0, "███▲······", 100},
		{"reserved", 35, 0, 20, 0, 0, "███▌····▒▒", 100},
		{"reserved, full", 80, 0, 20, 0, 0, "████████▒▒", 100},
		{"unattributed", 40, 20, 0, 0, 0, "██▓▓······", 100},
		{"need", 30, 0, 0, 0, 20, "███··┊····", 100},
		{"need too large", 30, 0, 0, 0, 500, "███······»", 100},
		{"need beyond what can be used", 30, 0, 20, 0, 60, "███····»▒▒", 100},
		{"need up to what can be used", 30, 0, 20, 0, 50, "███····┊▒▒", 100},
		{"need beyond a peak at the end", 30, 0, 20, 80, 60, "███···▲»▒▒", 100},
		{"peak over need", 30, 0, 0, 55, 20, "███··▲····", 100},
		{"more used than total", 300, 0, 0, 0, 0, "██████████", 100},
		{"more of everything than total", 300, 400, 500, 600, 700, "»▓▓▓▓▓▓▓▓▲", 100},
		{"no total, no bar that says none is used", 30, 0, 0, 50, 10, "          ", 0},
	} {
		m := sampler.Memory{Used: some(row.used), Unattributed: some(row.unattributed), Reserved: some(row.resv)}
		if row.total > 0 {
			m.Total = some(row.total)
		}
		if row.peak > 0 {
			m.Peak = &sampler.Peak{Bytes: sampler.Bytes(row.peak)}
		}
		c := newCanvas(12, 1)
		v := bare()
		v.need = sampler.Bytes(row.need)
		v.memoryBar(c, 1, 0, 10, &sampler.GPU{Memory: m}, v.glyphs.Bar)
		if got := c.lines()[0]; got != " "+row.want+" " {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestBarThatTrembles: a bar stays where it was as the plots moved last while that is about right, and is exact where the memory has
// moved, is empty or full.
func TestBarThatTrembles(t *testing.T) {
	const w, total = 40, 40 * sampler.GiB
	begin := time.Unix(1_800_000_000, 0)
	v := bare()
	for i, row := range []struct{ used, shown float64 }{
		{19, 19}, {19, 19}, {20, 20}, {21, 21}, {20.2, 20.2}, // nothing is known of the 5 s before
		{20.3, 20.2}, {20.5, 20.2}, {19.9, 20.2}, {20.6, 20.6}, {20.1, 20.2},
		{20.4, 20.1}, {39.2, 39.2}, {0, 0}, {20, 20.1}, {0.2, 0.2},
		{0, 0}, {0.3, 0.2}, {0.6, 0.6}, {0.1, 0.2}, {39.5, 39.5},
		{39.3, 39.3}, {39, 39}, {39.2, 39.2},
	} {
		bytes := sampler.Bytes(row.used * float64(sampler.GiB))
		g := sampler.GPU{UUID: "GPU-1", Memory: sampler.Memory{Total: sampler.Some(total), Used: sampler.Some(bytes)}}
		v.snap = &sampler.Snapshot{Time: begin.Add(time.Duration(i)*time.Second + 100*time.Millisecond), GPUs: []sampler.GPU{g}}
		v.history.Add(v.snap)
		if got := v.barEnd(&g, row.used, w); math.Abs(got-row.shown) > 1e-3 {
			t.Errorf("second %d: %v ends at %v, want %v", i, row.used, got, row.shown)
		}
	}
}

// TestPeakMarkOnTheBar: at every width the mark stands where the peak is.
func TestPeakMarkOnTheBar(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		w := 1 + rnd.IntN(200)
		total := 1 + sampler.Bytes(rnd.Uint64N(1<<uint(1+rnd.IntN(59))))
		peak := sampler.Bytes(rnd.Uint64N(uint64(total) + 1))
		m := sampler.Memory{Total: sampler.Some(total), Used: sampler.Some(sampler.Bytes(rnd.Uint64N(uint64(peak) + 1))), Peak: &sampler.Peak{Bytes: peak}}
		c := newCanvas(w, 1)
		v, g := bare(), &sampler.GPU{Memory: m}
		v.memoryBar(c, 0, 0, w, g, theme.Unicode.Bar)
		at := -1
		for x, cell := range c.cells {
			if cell.r == '▲' {
				if at >= 0 || cell.role != v.peakRole(g, peak) {
					t.Fatalf("two marks, or one that looks like something else: %q", c.lines()[0])
				}
				at = x
			}
		}
		share := float64(peak) / float64(total)
		if left, right := float64(at)/float64(w), float64(at+1)/float64(w); share < left-1e-9 || share > right+1e-9 {
			t.Fatalf("the peak is %v of %v, the mark is in column %d of %d", peak, total, at, w)
		}
	}
}

// rows of a canvas in which that role stands within the columns.
func rowsOf(c *canvas, r rect, role theme.Role) (rows []int) {
	for y := r.y; y < r.y+r.h; y++ {
		for x := r.x + axisWidth; x < r.x+r.w; x++ {
			if cell := c.cells[y*c.w+x]; cell.role == role && cell.r != ' ' {
				rows = append(rows, y)
				break
			}
		}
	}
	return rows
}

// TestWatermarkLine: the line stands in the row of its value: where the plot reached the
// peak, and there still when the peak has scrolled out.
func TestWatermarkLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		r := rect{rnd.IntN(3), rnd.IntN(3), 12 + rnd.IntN(180), 3 + rnd.IntN(30)}
		n := graphColumns(r.w)
		top := math.Pow(10, float64(rnd.IntN(8)-3)) * (1 + rnd.Float64())
		peak := top * (0.6 + 0.4*rnd.Float64())
		a := lined(n, top)
		a.marks = []mark{{peak, theme.Peak, nil, 0, theme.Peak}}
		at := 2 + rnd.IntN(n-3)
		a.high[dotColumns*at] = peak
		c := newCanvas(r.x+r.w, r.y+r.h)
		a.draw(c, r, &theme.Unicode, time.Minute)
		plot, mark := rowsOf(c, r, theme.Plot), rowsOf(c, r, theme.Peak)
		if len(mark) != 1 || len(plot) == 0 || plot[0] != mark[0] {
			t.Fatalf("%+v of %g in %+v: the plot reaches row %v, the watermark is in %v\n%s", peak, top, r, plot, mark, strings.Join(c.lines(), "\n"))
		}
		out := newCanvas(r.x+r.w, r.y+r.h)
		a.high[dotColumns*at] = 0
		a.draw(out, r, &theme.Unicode, time.Minute)
		if gone := rowsOf(out, r, theme.Peak); len(gone) != 1 || gone[0] != mark[0] {
			t.Fatalf("the peak has scrolled out, and the watermark went from row %v to %v", mark, gone)
		}
	}
}

// lined is a plot of zeros as a line, on so many cells.
func lined(cells int, top float64) *area {
	return &area{lines: true, full: top, unit: 1, high: make([]float64, dotColumns*cells), at: stretch{span: time.Minute}, now: "now"}
}

// TestGraphOfAnything: gaps, constants, single values, absurd values: every column is
// where it should be, and nothing panics.
func TestGraphOfAnything(t *testing.T) {
	inf, rnd := math.Inf(1), rand.New(rand.NewPCG(9, 9))
	for range 3000 {
		w, h := 1+rnd.IntN(120), 1+rnd.IntN(30)
		tops := []float64{0, -1, nan, inf, 1e-12, 1, 80, 1e18, math.MaxFloat64, math.SmallestNonzeroFloat64}
		a := area{lines: true, unit: 1, full: tops[rnd.IntN(len(tops))], at: stretch{span: time.Duration(rnd.IntN(300)-50) * time.Second}, now: "now"}
		for range rnd.IntN(300) {
			odd := []float64{nan, nan, 0, 1, 80, -5, inf, -inf, math.MaxFloat64, 1e-300}
			a.high = append(a.high, odd[rnd.IntN(len(odd))])
		}
		if rnd.IntN(2) == 0 {
			a.marks = []mark{{odd(rnd), theme.Peak, []string{"▲ 1"}, rnd.IntN(300) - 50, theme.Peak}}
		}
		c := newCanvas(w, h)
		a.draw(c, rect{0, 0, w, h}, &theme.Unicode, 24*time.Hour)
	}
}

func odd(rnd *rand.Rand) float64 {
	return []float64{-1, 0, 1e300, math.Inf(1), math.Inf(-1), 40}[rnd.IntN(6)]
}

// TestGraphKept: what was plotted before is drawn again only when nothing in the rows has changed.
func TestGraphKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	last, kept := &line{}, 0
	a := lined(40, 80)
	for range 1000 {
		values := a.high
		values[rnd.IntN(len(values))] += []float64{0, 0.1, 20, nan, math.Inf(1)}[rnd.IntN(5)]
		if i := rnd.IntN(len(values)); values[i] != values[i] || values[i] > 80 {
			values[i] = 0
		}
		w, h := 45, 9+rnd.IntN(2)*rnd.IntN(2)
		want, got := newCanvas(w, h), newCanvas(w, h)
		a.last = nil
		a.draw(want, rect{0, 0, w, h}, &theme.Unicode, time.Minute)
		a.last = last
		before := last.lines
		a.draw(got, rect{0, 0, w, h}, &theme.Unicode, time.Minute)
		if !slices.Equal(got.cells, want.cells) {
			t.Fatalf("%s\nis drawn as\n%s", strings.Join(want.lines(), "\n"), strings.Join(got.lines(), "\n"))
		}
		if len(before) > 0 && &before[0] == &last.lines[0] {
			kept++
		}
	}
	if kept < 100 || kept > 900 {
		t.Errorf("%d of 1000 plots were kept", kept)
	}
}

// TestGraphKeepsColumns: a value is drawn in its own column, at every width.
func TestGraphKeepsColumns(t *testing.T) {
	for w := 12; w < 200; w += 7 {
		n := graphColumns(w)
		for at := 1; at < n; at += 5 {
			a := lined(n, 100)
			a.high[dotColumns*at] = 100
			c := newCanvas(w, 9)
			a.draw(c, rect{0, 0, w, 9}, &theme.Unicode, time.Minute)
			found := -1
			for x := axisWidth; x < w; x++ {
				if r, role := c.at(x, 0); role == theme.Plot && r != ' ' {
					found = x
					break
				}
			}
			if found != axisWidth+at && found != axisWidth+at-1 { // the edge that rises is between two columns
				t.Fatalf("width %d: the spike of value %d stands in column %d", w, at, found-axisWidth)
			}
		}
	}
}

// TestSpikeOnScreenAtEverySpan: a spike that one reading saw is in the plot of every span
// that reaches back to it, at every width.
func TestSpikeOnScreenAtEverySpan(t *testing.T) {
	const day = 24 * 60 * 60
	ages := map[time.Duration]time.Duration{}
	spike := map[int]bool{}
	for _, s := range spans {
		ages[s] = s * 9 / 10
		spike[day-int(ages[s]/time.Second)] = true
	}
	m := model(nil, 80, 24, Options{})
	s := gpus(1, 0, false)
	g := &s.GPUs[0]
	for i := range day + 1 {
		s.Time = afternoon.Add(time.Duration(i-day) * time.Second)
		g.Memory.Used = sampler.Some(9 * sampler.GiB)
		g.Memory.Window = &sampler.Window{Min: 9 * sampler.GiB, Max: 9 * sampler.GiB, MaxTime: s.Time, Readings: 50}
		if spike[i] {
			g.Memory.Window.Max = 79 * sampler.GiB
		}
		m.folds.history.Add(s)
	}
	g.Memory.Peak = nil
	m.shown.snap = s
	for _, span := range spans {
		m.plot.span = span
		for _, w := range []int{30, 46, 80, 120, 200, 400} {
			for _, lines := range []bool{false, true} {
				m.plot.lines = lines
				c := newCanvas(w, 12)
				v := m.view()
				v.gpuPlot(c, rect{0, 0, w, 12}, g)
				role := pick(lines, theme.Plot, theme.Area6)
				n := graphColumns(w)
				_, at := v.columns(m.folds.history.GPU(g.Key()).Plot("memory.used"), n, heldFor)
				x := axisWidth + at.column(ages[span], n)/dotColumns
				seen := false
				for dx := -2; dx <= 1; dx++ {
					for y := range 2 { // the topmost row may be above the last label of the axis
						ch, drawn := c.at(x+dx, y)
						seen = seen || drawn == role && ch != ' '
					}
				}
				if !seen {
					t.Errorf("span %v, width %d, lines %v: no spike in column %d\n%s", span, w, lines, x, strings.Join(c.lines(), "\n"))
				}
			}
		}
	}
}

// TestLineAxes: a plot of lines has the axes of a filled one: round figures, the times from its span up to now, and nothing
// but memory in it.
func TestLineAxes(t *testing.T) {
	for _, span := range spans {
		for _, w := range []int{80, 120, 200} {
			var axes []string
			for _, lines := range []bool{false, true} {
				m := model(past(gpus(1, 0, false), 3), w, 30, Options{Span: span, Lines: lines})
				list := m.draw().lines()
				at := slices.IndexFunc(list, func(l string) bool { return strings.Contains(l, timeLabel(span)) && strings.Contains(l, "now") })
				if at < 0 {
					t.Fatalf("span %v, width %d, lines %v: no axis of time\n%s", span, w, lines, strings.Join(list, "\n"))
				}
				axes = append(axes, strings.TrimLeft(list[at], "│ 0⠉"))
			}
			if axes[0] != axes[1] {
				t.Errorf("span %v, width %d: the times of areas and lines differ:\n%s\n%s", span, w, axes[0], axes[1])
			}
		}
	}
	m := model(past(gpus(1, 0, false), 3), 100, 30, Options{Lines: true})
	screen := strings.Join(m.draw().lines(), "\n")
	for _, label := range []string{"80 ", " 0 "} {
		if !strings.Contains(screen, label) {
			t.Errorf("no label %q on the axis:\n%s", label, screen)
		}
	}
}

// What grows is seen to grow in a low plot of lines, where it stays in one row for long: there is a step in each tenth of the total.
func TestGrowthInALowPlot(t *testing.T) {
	for _, glyphs := range []*theme.Glyphs{&theme.Unicode, &theme.ASCII} {
		for h := 4; h <= lowPlot+1; h++ {
			c := newCanvas(100+axisWidth, h)
			c.ascii = glyphs == &theme.ASCII
			a := lined(100, 45)
			for i := range a.high {
				a.high[i] = 24 + 10*float64(i)/float64(len(a.high))
			}
			a.draw(c, rect{0, 0, 100 + axisWidth, h}, glyphs, time.Minute)
			var levels []string
			for x := axisWidth; x < 100+axisWidth; x++ {
				for y := range h - 1 {
					if ch, role := c.at(x, y); role == theme.Plot && slices.Contains(glyphs.Level, ch) {
						if level := strconv.Itoa(y) + string(ch); len(levels) == 0 || levels[len(levels)-1] != level {
							levels = append(levels, level)
						}
					}
				}
			}
			if len(levels) < 3 {
				t.Errorf("%d rows: only %q in\n%s", h, levels, strings.Join(c.lines(), "\n"))
			}
		}
	}
}

// TestSpark: one row of small bars.
func TestSpark(t *testing.T) {
	c := newCanvas(9, 1)
	bare().spark(c, 0, 0, []float64{0, 12.5, 50, nan, 99, 100, 500, -5}, 100, func(float64) theme.Role { return theme.Ok })
	if got := c.lines()[0]; got != "▁▂▅ ███▁ " {
		t.Errorf("%q", got)
	}
	bare().spark(c, 0, 0, []float64{1}, 0, nil)
}

// TestPercentBar: any percentage there may be.
func TestPercentBar(t *testing.T) {
	for _, row := range []struct {
		p    sampler.Opt[int]
		want string
	}{{sampler.Opt[int]{}, "····"}, {sampler.Some(0), "····"}, {sampler.Some(50), "━━··"}, {sampler.Some(100), "━━━━"}, {sampler.Some(255), "━━━━"},
		{sampler.Some(-7), "····"}, {sampler.Some(math.MaxInt), "····"}} {
		c := newCanvas(4, 1)
		bare().percentBar(c, 0, 0, 4, row.p, theme.Util)
		if got := c.lines()[0]; got != row.want && row.p.Or(0) != math.MaxInt {
			t.Errorf("%v: %q, want %q", row.p, got, row.want)
		}
	}
}

func ExampleFrame() {
	s := &sampler.Snapshot{Time: afternoon, Host: "box7", GPUs: []sampler.GPU{{Memory: sampler.Memory{
		Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(41 * sampler.GiB), Free: sampler.Some(39 * sampler.GiB),
		Peak: &sampler.Peak{Bytes: 66 * sampler.GiB, Time: afternoon}}}}}
	fmt.Print(Frame([]*sampler.Snapshot{s}, 38, 2, Options{}))
	// Output:
	//  0 ▆▆▆▆▆▆···▲··   41.0/80G ▲66.0   N/A
}

// The process and the whole GPU behind it are told apart without colors: by how they are filled, as the legend says.
func TestProcessPlotWithoutColors(t *testing.T) {
	m := model(play(t, "neighbour", 10*time.Minute), 100, 40, Options{NoColor: true})
	press(m, "j enter")
	row, ok := m.detailed()
	if !ok {
		t.Fatal("no process is shown")
	}
	screen := text(m)
	if !strings.Contains(screen, "⣿ this process  ⢕ all of GPU "+row.gpu.Label()) {
		t.Errorf("the legend:\n%s", screen)
	}
	_, plot, _ := strings.Cut(screen, "all of GPU")
	if full, half := strings.Count(plot, "⣿"), strings.Count(plot, "⢕"); full == 0 || half == 0 {
		t.Errorf("%d cells are filled, %d half:\n%s", full, half, screen)
	}
}
