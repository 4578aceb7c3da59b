package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// A border in the color of an alert is a line in every theme: never in reverse video, which would make a slab of it.
func TestBordersAreNeverReversed(t *testing.T) {
	m := model(past(gpus(1, 1, false), 2), 100, 40, Options{NoColor: true})
	m.shown.alerts = []sampler.Alert{{Kind: sampler.AlertOOM, Level: sampler.LevelCritical, GPU: sampler.Some(0), Key: m.shown.snap.GPUs[0].Key(), Text: "GPU 0: out of memory"}}
	c := m.draw()
	borders := 0
	for _, cell := range c.cells {
		if strings.ContainsRune("╭╮╰╯│", cell.r) && cell.role == theme.Critical {
			borders++
			if s := m.tty.paint.style(cell.look); strings.Contains(s.attrs, "7") {
				t.Fatalf("a border in %q", s.attrs)
			}
		}
	}
	if borders == 0 {
		t.Errorf("no border in the color of the alert:\n%s", text(m))
	}
}

// Blanks around a text are neither underlined nor reversed, those within it are what it is.
func TestBlanksAroundText(t *testing.T) {
	c := newCanvas(9, 1)
	c.put(0, 0, 9, theme.Critical, "  a b  ")
	for x, want := range []theme.Role{theme.Text, theme.Text, theme.Critical, theme.Critical, theme.Critical, theme.Text, theme.Text} {
		if _, role := c.at(x, 0); role != want {
			t.Errorf("column %d is in role %d, want %d", x, role, want)
		}
	}
}

// The GPU whose memory its MIG instances show gets a line, they the panes.
func TestMIGParentIsALine(t *testing.T) {
	s := gpus(4, 1, false)
	for i := 1; i < 3; i++ {
		s.GPUs[i].Index, s.GPUs[i].MIG = 0, &sampler.MIG{Index: i, GPUInstance: i + 1}
	}
	m := model(past(s, 2), 120, 40, Options{})
	p := m.view().arrange(120, 40)
	if len(p.panes) != 3 || len(p.lines) != 1 || p.lines[0].gpu.MIG != nil || p.lines[0].gpu.Index != 0 {
		t.Errorf("%d panes, %d lines:\n%s", len(p.panes), len(p.lines), text(m))
	}
}

// Where not all GPUs fit on the screen, those whose peaks left next to nothing do not scroll out.
func TestScarceGPUsComeFirst(t *testing.T) {
	s := gpus(64, 0, false)
	for i := range s.GPUs {
		s.GPUs[i].Memory.WorstFree = sampler.Some(40 * sampler.GiB)
	}
	s.GPUs[50].Memory.WorstFree = sampler.Some(sampler.GiB)
	v := model(past(s, 2), 80, 24, Options{}).view()
	p := v.arrange(80, 24)
	if p.hidden == 0 || len(p.lines) == 0 || p.lines[0].gpu.Index != 50 || p.lines[1].gpu.Index != 0 {
		t.Errorf("%d are hidden, the first is %d", p.hidden, p.lines[0].gpu.Index)
	}
}

// Of those the worst is the first, at every size, and in the pane where there is one, whose axis ends at its total.
func TestWorstGPUIsFirst(t *testing.T) {
	for _, size := range [][2]int{{30, 6}, {40, 8}, {60, 20}, {80, 24}, {120, 40}, {200, 60}} {
		v := model(play(t, "sixtyfour", time.Minute), size[0], size[1], Options{}).view()
		p := v.arrange(size[0], size[1])
		v.panes = p.panes
		var order []*sampler.GPU
		for _, placed := range append(p.panes, p.lines...) {
			if g := placed.gpu; theme.Level(100-headroom(g), gpuLevels) == theme.Critical && v.byDesign(g) == "" {
				order = append(order, g)
			}
		}
		if len(order) == 0 || order[0].Index != 51 || !slices.IsSortedFunc(order, func(a, b *sampler.GPU) int { return cmp.Compare(headroom(a), headroom(b)) }) {
			t.Errorf("%v: %v", size, gpuNames(order))
		}
		if len(p.panes) > 0 && p.lines[0].gpu != order[1] || len(p.panes) == 0 && p.lines[0].gpu != order[0] {
			t.Errorf("%v: the first line is of GPU %d", size, p.lines[0].gpu.Index)
		}
	}
	if a := axisFor(139.8, 3); a.label(a.step) != "140" {
		t.Errorf("%+v", a)
	}
}

// A slit says in a few words what happened.
func TestSlitText(t *testing.T) {
	m := model(past(gpus(2, 0, false), 2), 30, 6, Options{})
	key := m.shown.snap.GPUs[0].Key()
	for _, row := range []struct {
		kind    string
		numbers map[string]float64
		want    string
	}{
		{sampler.AlertOOM, map[string]float64{"requested_bytes": 3 << 29}, "! 0: out of memory (1.5G)"},
		{sampler.AlertOOM, map[string]float64{"endings": 2}, "! 0: probably out of memory"},
		{sampler.AlertFlush, nil, "! 0: full, its cache was emptied"},
		{sampler.AlertXID, nil, "! GPU 0: something longer"},
	} {
		m.shown.alerts = []sampler.Alert{{Kind: row.kind, Level: sampler.LevelWarning, GPU: sampler.Some(0), Key: key, Text: "GPU 0: something longer", Numbers: row.numbers}}
		if got := m.view().slitLines(30)[0][0].text; got != row.want {
			t.Errorf("%s: %q, want %q", row.kind, got, row.want)
		}
	}
}

// The process that is to be stopped is named whole, whatever room there is, and none that must not be stands below it.
func TestSlitNamesWhomToStop(t *testing.T) {
	snap := gpus(2, 0, false)
	snap.GPUs[0].Processes = []sampler.Process{{PID: 71633, Name: "python"}, {PID: 4194303, Name: "jupyter"}}
	for _, name := range lang.Names() {
		for _, target := range []int{8092, 4194303, 71633} {
			m := model(past(snap, 2), 30, 6, Options{Lang: name})
			number := strconv.Itoa(target)
			m.shown.alerts = []sampler.Alert{{Kind: sampler.AlertNeighbor, Level: sampler.LevelWarning, GPU: sampler.Some(0), Key: m.shown.snap.GPUs[0].Key(), PID: sampler.Some(71633),
				Text: "GPU 0: another", Advice: []sampler.Advice{{Title: "Stop or move process " + number + " (jupyter, of another user)", PID: sampler.Some(target)}}}}
			for w := 30; w <= 60; w++ {
				lines := m.view().slitLines(w)
				if step := lines[1][0].text; width(step) > w || !strings.Contains(step, number) {
					t.Errorf("%s, %d columns: %q", name, w, step)
				}
				if who := len(lines) == 3; who != (target == 71633) {
					t.Errorf("%s, %d columns, %d: %q", name, w, target, lines)
				}
			}
		}
	}
}

// A warning that is over says what came of it, and a failure when it was.
func TestOutcomeOfWarnings(t *testing.T) {
	m := model(past(gpus(1, 0, false), 2), 100, 40, Options{})
	key, now := m.shown.snap.GPUs[0].Key(), m.shown.snap.Time
	at := func(ago time.Duration, kind, text string, end float64) sampler.Alert {
		a := sampler.Alert{Kind: kind, Level: sampler.LevelWarning, GPU: sampler.Some(0), Key: key, Text: text, Time: now.Add(-ago), T: 1000 - ago.Seconds()}
		if end > 0 {
			a.End = sampler.Some(end)
		}
		return a
	}
	died := at(5*time.Minute, sampler.AlertOOM, "GPU 0: died", 0)
	m.shown.alerts = []sampler.Alert{died}
	m.shown.past = []sampler.Alert{at(20*time.Minute, sampler.AlertGrowth, "GPU 0: grows", 100), at(6*time.Minute, sampler.AlertRepeatSpike, "GPU 0: spike", 710), died}
	press(m, "a")
	got := text(m)
	for _, want := range []string{"GPU 0: died (" + m.view().wall(died.Time).Format("15:04:05") + ")", "it did not come to that", "came true at " + m.view().wall(died.Time).Format("15:04:05")} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A key that stands in a border is not told once more below.
func TestKeysAreToldOnce(t *testing.T) {
	m := model(past(gpus(2, 2, false), 2), 120, 40, Options{})
	if got := text(m); strings.Count(got, "Enter process") != 1 || strings.Count(got, "[ ] span") != 1 || strings.Count(got, "q quit") != 1 {
		t.Errorf("keys:\n%s", got)
	}
	if got := text(model(past(gpus(2, 2, false), 2), 80, 24, Options{})); strings.Count(got, "Enter process") != 1 {
		t.Errorf("without borders:\n%s", got)
	}
}

// Used and total of host memory are in one unit, or each says its own.
func TestBeside(t *testing.T) {
	for _, row := range []struct {
		used, total sampler.Bytes
		want        string
	}{{84 * sampler.GiB, 252 * sampler.GiB, "84.0"}, {2543 * sampler.GiB, 4 * sampler.TiB, "2.5"}, {344 * sampler.GiB, 2 * sampler.TiB, "344G"}, {700 * sampler.MiB, 23 * sampler.GiB, "0.7"}} {
		if got := beside(row.used, row.total); got != row.want {
			t.Errorf("%v of %v: %q, want %q", row.used, row.total, got, row.want)
		}
	}
}

// What was refused is not said to fit: who asked for it has died of it and will ask again.
func TestRefusedDoesNotFit(t *testing.T) {
	v := model(past(gpus(1, 1, false), 2), 100, 30, Options{}).view()
	g := &v.snap.GPUs[0]
	for source, want := range map[watch.NeedSource]bool{watch.NeedTyped: true, watch.NeedRefused: false, watch.NeedAsked: false} {
		v.fits = []gpuFit{{g, watch.Fit{Need: sampler.Some(watch.Need{Bytes: sampler.GiB, Source: source}), Free: sampler.Some(40 * sampler.GiB), WorstFree: sampler.Some(40 * sampler.GiB)}}}
		if _, ok := v.fitting(g); ok != want {
			t.Errorf("%v: %v, want %v", source, ok, want)
		}
	}
}

// Missed readings, which come and go, move nothing else out of the header, least of all the name of the machine.
func TestMissedReadingsMoveNothing(t *testing.T) {
	for _, label := range []string{"", "DEMO neighbour"} {
		for w := 60; w <= 200; w++ {
			var heads []string
			for _, missed := range []int{0, 6, 12} {
				s := gpus(2, 1, false)
				for i := range s.GPUs {
					s.GPUs[i].Memory.Window = &sampler.Window{Readings: 40, Missed: missed}
				}
				m := model([]*sampler.Snapshot{s}, w, 24, Options{Label: label})
				head := m.draw().lines()[0]
				_, role := m.draw().at(strings.Index(head, "20ms"), 0)
				if told := role == theme.Notice; told != (missed > 0) || w >= 160 && strings.Contains(head, "missed)") != told || !strings.Contains(head, " box7 ") {
					t.Fatalf("width %d, %d missed: %q", w, missed, head)
				}
				words := strings.Fields(strings.NewReplacer(" (6 missed)", "", " (12 missed)", "").Replace(head))
				heads = append(heads, strings.Join(words, " "))
			}
			if heads[0] != heads[1] || heads[0] != heads[2] {
				t.Fatalf("width %d: %q", w, heads)
			}
		}
	}
}

// A slit says whose leak it is where it has a line left, and nothing of a peak that there was none of.
func TestSlitNamesTheProcess(t *testing.T) {
	screen := text(model(play(t, "leak", 10*time.Minute), 30, 6, Options{}))
	if !strings.Contains(screen, "pid 52117 python carol") || !strings.Contains(screen, "1 Find the leak") {
		t.Error(screen)
	}
	for _, size := range [][2]int{{30, 6}, {60, 20}, {80, 24}, {120, 40}} {
		if screen := text(model(play(t, "oom", 9*time.Minute), size[0], size[1], Options{})); strings.Contains(screen, "▲0.0") {
			t.Errorf("%v:\n%s", size, screen)
		}
	}
}

// In ASCII no sign of the order reads as a letter of a title, ^ is the peak and nothing else, and a temperature looks alike everywhere.
func TestASCIISigns(t *testing.T) {
	m := model(play(t, "leak", 10*time.Minute), 120, 40, Options{ASCII: true})
	screen := text(m)
	for _, want := range []string{" GPU MEM v ", " ^PEAK ", "rx ", "tx "} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
	for _, line := range strings.Split(screen, "\n") {
		for _, word := range strings.Fields(line) {
			if rest, ok := strings.CutPrefix(word, "^"); ok && strings.ContainsAny(rest, "/") {
				t.Errorf("%q is no peak", word)
			}
		}
	}
	if small := text(model(play(t, "training", 10*time.Minute), 80, 24, Options{ASCII: true})); strings.Contains(small, "0 C") || strings.Count(small, "1C")+strings.Count(small, "7C")+strings.Count(small, "2C") == 0 {
		t.Errorf("temperatures in\n%s", small)
	}
}
