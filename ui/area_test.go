package ui

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// drawnArea is a plot of 4 rows of 10 cells, without its axes.
func drawnArea(high, low []float64, full float64) []string {
	c := newCanvas(10+axisWidth, 5)
	a := area{high: high, low: low, full: full, unit: 1, at: stretch{span: time.Minute}, now: "now"}
	a.draw(c, rect{0, 0, 10 + axisWidth, 5}, &theme.Unicode, time.Minute)
	var out []string
	for _, line := range c.lines()[:4] {
		out = append(out, strings.TrimRight(string([]rune(line)[axisWidth:]), " "))
	}
	return out
}

// What was held all of the time is filled, what was held at some moment only is half filled, and a moment that stands
// alone is a line.
func TestArea(t *testing.T) {
	for name, tt := range map[string]struct {
		high, low []float64
		want      string
	}{
		"level":           {[]float64{8, 8, 8, 8}, nil, "||⣿⣿|⣿⣿"},
		"parts of a cell": {[]float64{1, 2, 3, 4, 5, 6}, nil, "||  ⣠|⣠⣾⣿"},
		"a moment":        {[]float64{4, 16, 4, 4}, []float64{4, 4, 4, 4}, "⢸|⢸|⢸|⣿⣿"},
		"for a while":     {[]float64{4, 16, 16, 16}, []float64{4, 4, 4, 4}, ""},
		"gap":             {[]float64{4, 4, math.NaN(), math.NaN(), 4, 4}, nil, "|||⣿ ⣿"},
		"next to nothing": {[]float64{0.01, 0.01, 0, 0}, nil, "|||⣀"},
		"more than full":  {[]float64{99, 99}, nil, "⣿|⣿|⣿|⣿"},
	} {
		got := strings.Join(drawnArea(tt.high, tt.low, 16), "|")
		if tt.want != "" && got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if tt.want == "" && (!strings.Contains(got, "⢕") && !strings.Contains(got, "⡪") || strings.Count(got, "⣿") > 2) {
			t.Errorf("%s: %q is not half filled", name, got)
		}
	}
}

// Nothing to draw, or nonsense, draws nothing.
func TestAreaOfNothing(t *testing.T) {
	for _, full := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, line := range drawnArea([]float64{1, 2}, nil, full) {
			if line != "" {
				t.Errorf("full %v draws %q", full, line)
			}
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, 1e300} {
		drawnArea([]float64{v, v, v}, []float64{v}, 16)
	}
}

// A label of a line stands where nothing is drawn, as near to its column as it can; where there is no room for the long
// one the short one does.
func TestNearestRoom(t *testing.T) {
	free := func(s string) (list []bool) {
		for _, r := range s {
			list = append(list, r == '.')
		}
		return list
	}
	for _, tt := range []struct {
		cells string
		n, to int
		want  int
	}{
		{"..........", 4, 5, 3}, {"..........", 4, 0, 0}, {"..........", 4, 9, 6}, {"..........", 4, -50, 0}, {"..#....#..", 4, 0, 3},
		{"..#...#..", 4, 0, -1}, {"", 1, 0, -1}, {"####", 1, 2, -1},
	} {
		if got := nearestRoom(free(tt.cells), tt.n, tt.to); got != tt.want {
			t.Errorf("%q, %d near %d: %d, want %d", tt.cells, tt.n, tt.to, got, tt.want)
		}
	}
}

// The span grows with the history, step by step, until the viewer chooses one.
func TestSpanGrows(t *testing.T) {
	p := plot{span: usualSpan}
	for _, row := range []struct{ age, want time.Duration }{
		{0, 30 * time.Second}, {30 * time.Second, 30 * time.Second}, {31 * time.Second, time.Minute}, {time.Minute, time.Minute}, {61 * time.Second, 90 * time.Second}, {91 * time.Second, 2 * time.Minute},
		{2 * time.Minute, 2 * time.Minute}, {121 * time.Second, 3 * time.Minute}, {181 * time.Second, 4 * time.Minute}, {241 * time.Second, usualSpan}, {time.Hour, usualSpan},
	} {
		if p.grow(row.age); p.span != row.want {
			t.Errorf("after %v it shows %v, want %v", row.age, p.span, row.want)
		}
	}
	p.span, p.chosen = time.Hour, true
	if p.grow(time.Minute); p.span != time.Hour {
		t.Errorf("a span that was chosen became %v", p.span)
	}
}

// A monitor that has just begun draws at every age and size, and shows a spike where it was.
func TestPlotOfAYoungMonitor(t *testing.T) {
	for _, w := range []int{30, 44, 60, 80, 121, 160, 400} {
		m := New(t.Context(), &silent{}, Options{})
		m.tty.resize(w, 30)
		for i := range 400 {
			s := gpus(1, 0, false)
			s.Time = afternoon.Add(time.Duration(i) * time.Second)
			used := 10 * sampler.GiB
			if i == 3 {
				used = 79 * sampler.GiB
			}
			s.GPUs[0].Memory.Used, s.GPUs[0].Memory.Peak = sampler.Some(used), nil
			s.GPUs[0].Memory.Window = &sampler.Window{Min: used, Max: used, MaxTime: s.Time, Readings: 50}
			m.take([]*sampler.Snapshot{s})
			if i%7 != 0 && i > 20 {
				continue
			}
			c := m.draw()
			spiked := 0
			for _, cell := range c.cells {
				if cell.role == theme.Area6 {
					spiked++
				}
			}
			if spiked == 0 && i >= 8 && i < 290 {
				t.Fatalf("width %d, after %d s the spike is not there:\n%s", w, i, strings.Join(c.lines(), "\n"))
			}
		}
	}
}

// Two marks in one row of a plot are one line with both labels, each of them whole.
func TestMarksInOneRow(t *testing.T) {
	c := newCanvas(60, 5)
	a := area{high: slices.Repeat([]float64{1}, 110), full: 80, unit: 1, at: stretch{span: time.Minute}, now: "now", marks: []mark{
		{79, theme.Peak, []string{"▲79.0 7m ago"}, 0, theme.Peak}, {78, theme.Need, []string{"need 2.0G fits below"}, 0, theme.Need}}}
	a.draw(c, rect{0, 0, 60, 5}, &theme.Unicode, time.Minute)
	if got := c.lines()[0]; !strings.Contains(got, " ▲79.0 7m ago ") || !strings.Contains(got, " need 2.0G fits below ⠁") {
		t.Errorf("%q", got)
	}
}

// The line of the peak is as high as a figure of its size would be: nothing stands above it, and it ends nowhere in between.
// Its label is beside what is drawn, and not where nothing is known.
func TestPeakLineAboveAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		w, h, peak := 20+rng.IntN(80), 2+rng.IntN(12), 1+79*rng.Float64()
		n := dotColumns * graphColumns(w)
		high := slices.Repeat([]float64{nan}, n)
		young := rng.IntN(n)
		for i := young; i < n; i++ {
			high[i] = peak * min(1, 0.8+0.3*rng.Float64())
		}
		c := newCanvas(w, h)
		a := area{high: high, full: 80, unit: 1, at: stretch{span: time.Minute}, now: "now",
			marks: []mark{{peak, theme.Peak, []string{"▲" + strconv.Itoa(int(peak))}, n - 1, theme.Peak}}}
		a.draw(c, rect{0, 0, w, h}, &theme.Unicode, time.Minute)
		top := axisFor(80, h-1).top
		at := max(heightOf(peak, top, h-1)-1, 0)
		y := h - 2 - at/dotRows
		for x := axisWidth + young/dotColumns; x < w; x++ {
			ch, _ := c.at(x, y)
			label := []rune(c.lines()[y])[max(x-1, 0):min(x+2, w)] // with a blank on either side
			data := a.high[dotColumns*(x-axisWidth) : dotColumns*(x-axisWidth+1)]
			beside := max(heightOf(data[0], top, h-1), heightOf(data[1], top, h-1)) <= (h-2-y)*dotRows // of what is drawn, which the line goes behind
			if beside && !strings.ContainsAny(string(label), "▲0123456789") && ch&dots[0][at%dotRows] == 0 {
				t.Fatalf("%dx%d: no line of %.1f at column %d:\n%s", w, h, peak, x, strings.Join(c.lines(), "\n"))
			}
			for over := range y + 1 {
				ch, role := c.at(x, over)
				for k := range dotColumns {
					for i := range dotRows {
						if isDots(ch) && role != theme.Peak && ch&dots[k][i] != 0 && (h-2-over)*dotRows+i > at {
							t.Fatalf("%dx%d: column %d stands above the peak of %.1f:\n%s", w, h, x, peak, strings.Join(c.lines(), "\n"))
						}
					}
				}
			}
		}
		for row := range h - 1 {
			for x := axisWidth; x < axisWidth+young/dotColumns; x++ {
				if ch, _ := c.at(x, row); ch != ' ' {
					t.Fatalf("%dx%d: %q where nothing is known:\n%s", w, h, ch, strings.Join(c.lines(), "\n"))
				}
			}
		}
	}
}

// The label of a peak is in the row of the peak at every size, where what is drawn leaves no room on the axis, and its line has a
// color of its own: no cell is shared with what is drawn, which stays as it is without the line.
func TestPeakIsNamedInItsRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		w, h, peak := 20+rng.IntN(80), 2+rng.IntN(12), 1+79*rng.Float64()
		low := peak * rng.Float64()
		n := dotColumns * graphColumns(w)
		high := make([]float64, n)
		for i := range high {
			high[i] = peak - low*rng.Float64()
		}
		label := "▲" + figure(peak)
		a := area{high: high, full: 80, unit: 1, at: stretch{span: time.Minute}, now: "now"}
		bare, c := newCanvas(w, h), newCanvas(w, h)
		a.draw(bare, rect{0, 0, w, h}, &theme.Unicode, time.Minute)
		a.marks = []mark{{peak, theme.Peak, []string{label}, n - 1, theme.Critical}}
		a.draw(c, rect{0, 0, w, h}, &theme.Unicode, time.Minute)
		y := a.row(peak, rect{axisWidth, 0, w - axisWidth, h - 1}, axisFor(80, h-1).top)
		if !strings.Contains(c.lines()[y], label) {
			t.Fatalf("%dx%d: the row of the peak does not name it:\n%s", w, h, strings.Join(c.lines(), "\n"))
		}
		for y := range h {
			for x := axisWidth; x < w; x++ {
				was, _ := bare.at(x, y)
				if is, role := c.at(x, y); was != ' ' && (is != was || role == theme.Peak) {
					t.Fatalf("%dx%d: the line changes what is drawn at %d,%d: %q, not %q", w, h, x, y, is, was)
				}
			}
		}
	}
}

// The labels of the axis say in which row of dots a value of their size ends.
func TestAxisNamesLevels(t *testing.T) {
	for rows := 2; rows < 30; rows++ {
		scale := axisFor(80, rows)
		for i := range scale.labels + 1 {
			level := float64(i) * scale.step
			c := newCanvas(40, rows+1)
			a := area{high: slices.Repeat([]float64{level}, 70), full: 80, unit: 1, at: stretch{span: time.Minute}, now: "now"}
			a.draw(c, rect{0, 0, 40, rows + 1}, &theme.Unicode, time.Minute)
			y := rows - heightOf(level, scale.top, rows)/dotRows // whose uppermost dots are those of the level
			if line := []rune(c.lines()[y]); strings.TrimSpace(string(line[:axisWidth-1])) != scale.label(level) || line[axisWidth-1] != ' ' || heightOf(level, scale.top, rows)%dotRows != 0 {
				t.Errorf("%d rows: %v ends in %q", rows, level, string(line))
			}
		}
	}
}

// A peak that came back is as old as its last time.
func TestPeakThatCameBack(t *testing.T) {
	v := model(past(gpus(1, 1, false), 60), 120, 40, Options{}).view()
	a := &area{high: slices.Repeat([]float64{1024}, 200), at: stretch{span: 5 * time.Minute}}
	a.high[79] = 46.5 * 1024
	peak := &sampler.Peak{Bytes: 47 * sampler.GiB, Time: v.now().Add(-9 * time.Minute)}
	if got := v.peakMark(peak, theme.Peak, a, 100)[0]; got.texts[0] != "▲47.0 3m ago" || got.at != 79 {
		t.Errorf("%q at column %d", got.texts[0], got.at)
	}
	a.high[190] = 46.5 * 1024
	if got := v.peakMark(peak, theme.Peak, a, 100)[0]; got.texts[0] != "▲47.0" || got.at != 190 {
		t.Errorf("%q at column %d", got.texts[0], got.at)
	}
}

// The newest reading is at the right edge at every age, and the line of the peak goes through no time that was not watched.
func TestNewestAtTheRightEdge(t *testing.T) {
	for _, w := range []int{60, 81, 120, 200} {
		m := New(t.Context(), &silent{}, Options{})
		m.tty.resize(w, 30)
		for i := range 700 {
			s := gpus(1, 0, false)
			s.Time = afternoon.Add(time.Duration(i) * time.Second)
			g := &s.GPUs[0].Memory
			g.Used, g.Peak = sampler.Some(10*sampler.GiB), &sampler.Peak{Bytes: 40 * sampler.GiB, Time: afternoon}
			g.Window = &sampler.Window{Min: 10 * sampler.GiB, Max: 10 * sampler.GiB, MaxTime: s.Time, Readings: 50}
			m.take([]*sampler.Snapshot{s})
			if i < 6 || i%13 != 0 {
				continue
			}
			c := m.draw()
			lines, held, marked := c.lines(), []int(nil), []int(nil)
			for y, line := range lines {
				for x, r := range []rune(line) {
					if strings.Contains(line, "gpu") || strings.Contains(line, "mem") || !isDots(r) {
						continue
					}
					if _, role := c.at(x, y); role == theme.Peak {
						marked = append(marked, x)
					} else {
						held = append(held, x)
					}
				}
			}
			if len(held) == 0 || slices.Max(held) != w-3 {
				t.Fatalf("width %d, after %d s the newest reading is not at the edge:\n%s", w, i, strings.Join(lines, "\n"))
			}
			if len(marked) > 0 && (slices.Min(marked) < slices.Min(held) || slices.Max(marked) > slices.Max(held)) {
				t.Fatalf("width %d, after %d s the peak is drawn through time that was not watched:\n%s", w, i, strings.Join(lines, "\n"))
			}
		}
	}
}

// A plot goes smoothly from one color over into the next where there are colors enough, and every cell of a row below the
// levels has the same.
func TestPlotIsShaded(t *testing.T) {
	c := newCanvas(60, 21)
	high := make([]float64, 110)
	for i := range high {
		high[i] = 79 - float64(i%7)
	}
	a := area{high: high, full: 100, unit: 1, levels: gpuLevels, at: stretch{span: time.Minute}, now: "now"}
	a.draw(c, rect{0, 0, 60, 21}, &theme.Unicode, time.Minute)
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		shades := map[string]bool{}
		for y := range 20 {
			row := map[string]bool{}
			for _, cell := range c.cells[y*60+axisWidth : (y+1)*60] {
				if cell.r > emptyDots && cell.r <= emptyDots+0xff {
					row[newPaint(th, colorprofile.TrueColor).style(cell.look).params] = true
				}
			}
			for s := range row {
				shades[s] = true
			}
			if len(row) > 1 {
				t.Errorf("%s: row %d has the colors %v", name, y, row)
			}
		}
		if name != "mono" && len(shades) < 12 {
			t.Errorf("%s: %d shades in 20 rows", name, len(shades))
		}
	}
}

// Only memory has levels: a GPU that works is no alarm. What is plotted instead is named.
func TestOtherMetricsAreCalm(t *testing.T) {
	m := model(play(t, "eight", 2*time.Minute), 120, 40, Options{})
	for range len(plotMetrics) - 1 {
		m.plot.metric = m.plot.metric.next()
		c := m.draw()
		for _, cell := range c.cells {
			if cell.role >= theme.Area1 && cell.role <= theme.Area6 {
				t.Fatalf("%s is drawn as level %d", m.plot.metric.title, cell.role)
			}
		}
		if !strings.Contains(strings.Join(c.lines(), "\n"), " "+m.plot.metric.title) {
			t.Errorf("%s is not named", m.plot.metric.title)
		}
	}
}

// Where a GPU was lost the line of its peak ends with what was seen of it.
func TestSeen(t *testing.T) {
	nan := math.NaN()
	for _, row := range []struct {
		high     []float64
		from, to int
	}{{[]float64{nan, nan, 1, nan, 2, nan}, 2, 5}, {[]float64{1, 2}, 0, 2}, {[]float64{nan}, 0, 0}, {nil, 0, 0}} {
		if from, to := (&area{high: row.high}).seen(); from != row.from || to != row.to {
			t.Errorf("%v: %d to %d", row.high, from, to)
		}
	}
}

// A peak from before the plot says so; it is not one of the spikes that stand beside its label.
func TestPeakBeforeThePlot(t *testing.T) {
	v := model(past(gpus(1, 1, false), 60), 120, 40, Options{}).view()
	for ago, want := range map[time.Duration]string{7 * time.Minute: "◂▲47.0 7m ago", 3 * time.Minute: "▲47.0 3m ago"} {
		marks := v.peakMark(&sampler.Peak{Bytes: 47 * sampler.GiB, Time: v.now().Add(-ago)}, theme.Peak, &area{at: stretch{span: 5 * time.Minute}}, 100)
		if got := marks[0].texts[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// From the span of a young plot keys go to its neighbors.
func TestChooseWhileYoung(t *testing.T) {
	for _, row := range []struct {
		age  time.Duration
		by   int
		want time.Duration
	}{{0, 1, 5 * time.Minute}, {0, -1, time.Minute}, {time.Hour, 1, 15 * time.Minute}, {time.Hour, -1, time.Minute}} {
		var p plot
		p.grow(row.age)
		if p.choose(row.by); p.span != row.want || !p.chosen {
			t.Errorf("after %v by %d: %v, want %v", row.age, row.by, p.span, row.want)
		}
	}
}
