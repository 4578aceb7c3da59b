package ui

import (
	"math/rand/v2"
	"nvpeak/advice/lang"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/plain"
)

func TestFigures(t *testing.T) {
	for _, row := range []struct {
		b    sampler.Bytes
		want string
	}{{0, "0.0"}, {sampler.GiB * 94 / 10, "9.4"}, {99*sampler.GiB + 900*sampler.MiB, "99.9"}, {99*sampler.GiB + 1000*sampler.MiB, "100"}, {141 * sampler.GiB, "141"}} {
		if got := gib(row.b); got != row.want {
			t.Errorf("gib(%v) = %q, want %q", row.b, got, row.want)
		}
	}
	if got := gibOr(sampler.Opt[sampler.Bytes]{}); got != "N/A" {
		t.Errorf("an unknown amount is %q", got)
	}
	if got := percentOr(sampler.Opt[int]{}) + percentOr(sampler.Some(97)); got != "N/A97%" {
		t.Errorf("percentages: %q", got)
	}
}

func TestTimes(t *testing.T) {
	const day = 24 * time.Hour
	for _, row := range []struct {
		d                   time.Duration
		since, ago, runtime string
	}{
		{-time.Hour, "now", "now", "0:00"},
		{0, "now", "now", "0:00"},
		{999 * time.Millisecond, "now", "now", "0:00"},
		{9 * time.Second, "9s", "9s ago", "0:09"},
		{12 * time.Second, "10s", "10s ago", "0:12"},
		{99 * time.Second, "95s", "95s ago", "1:39"},
		{100 * time.Second, "1m", "1m ago", "1:40"},
		{61 * time.Minute, "61m", "61m ago", "1:01h"},
		{100 * time.Minute, "1.7h", "1.7h ago", "1:40h"},
		{9*time.Hour + 59*time.Minute, "10.0h", "10.0h ago", "9:59h"},
		{47*time.Hour + 59*time.Minute, "47h", "47h ago", "47:59h"},
		{48 * time.Hour, "48h", "48h ago", "2d00h"},
		{100 * time.Hour, "4d", "4d ago", "4d04h"},
		{999 * day, "999d", "999d ago", "999d00h"},
		{290 * 365 * day, "9999d", "9999d ago", "9999d00h"},
	} {
		if got := since(row.d); got != row.since {
			t.Errorf("since(%v) = %q, want %q", row.d, got, row.since)
		}
		if got := (&view{words: lang.English()}).ago(row.d); got != row.ago {
			t.Errorf("ago(%v) = %q, want %q", row.d, got, row.ago)
		}
		if got := plain.Runtime(row.d); got != row.runtime {
			t.Errorf("runtime(%v) = %q, want %q", row.d, got, row.runtime)
		}
	}
	for i, want := range []string{"1m", "5m", "15m", "1h", "6h", "24h"} {
		if got := span(spans[i]); got != want {
			t.Errorf("span(%v) = %q, want %q", spans[i], got, want)
		}
	}
}

func TestStep(t *testing.T) {
	list := []time.Duration{1, 5, 10}
	for _, row := range []struct {
		x    time.Duration
		by   int
		want time.Duration
	}{{1, -1, 1}, {1, 1, 5}, {5, -1, 1}, {10, 1, 10}, {3, -1, 1}, {3, 1, 10}, {99, 1, 10}, {99, -1, 5}, {0, -1, 1}} {
		if got := step(list, row.x, row.by); got != row.want {
			t.Errorf("step from %d by %d is %d, want %d", row.x, row.by, got, row.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		text string
		w    int
		want string // lines joined by |
	}{
		{"", 10, ""},
		{"   ", 10, ""},
		{"one two three", 7, "one two|three"},
		{"one two three", 100, "one two three"},
		{"a  b\nc\td", 3, "a b|c d"},
		{"abcdefgh", 3, "abc|def|gh"},
		{"x abcdefgh y", 3, "x|abc|def|gh|y"},
		{"日本語", 4, "日本|語"},
		{"日本語", 1, "日|本|語"}, // wider than the room: by force
		{"\xff\xfe", 1, "\xff|\xfe"},
		{"text", 0, ""},
		{"text", -3, ""},
	} {
		if got := strings.Join(wrap(row.text, row.w), "|"); got != row.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", row.text, row.w, got, row.want)
		}
	}
}

func TestChop(t *testing.T) {
	for _, row := range []struct {
		text string
		w    int
		want string
	}{{"", 5, ""}, {"kill 5521", 20, "kill 5521"}, {"    with torch.no_grad():", 10, "    with |torch.no_g|rad():"}, {"a b c", 3, "a b| c"}, {"kill -9 5521", 7, "kill -9| 5521"}, {"  x", 2, "  |x"}, {"日本語", 3, "日|本|語"}, {"日本", 0, "日|本"}, {"\xff\xff", 1, "\xff|\xff"}} {
		if got := strings.Join(chop(row.text, row.w), "|"); got != row.want {
			t.Errorf("chop(%q, %d) = %q, want %q", row.text, row.w, got, row.want)
		}
	}
}

// FuzzWrap: no line is too wide, and no word is lost.
func FuzzWrap(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, i%12)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w %= 300
		lines := wrap(s, w)
		if w < 1 {
			return
		}
		for _, l := range lines {
			if width(l) > max(w, 2) {
				t.Errorf("wrap(%q, %d) makes the line %q of %d columns", s, w, l, width(l))
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(s), ""); got != want {
			t.Errorf("wrap(%q, %d) is %q", s, w, lines)
		}
	})
}

// TestHarmless: what reaches the terminal is one or two columns wide there.
func TestHarmless(t *testing.T) {
	for r := rune(-1); r <= 0x10ffff+1; r++ {
		got, w := harmless(r)
		if got != '?' && got != r || w < 1 || w > 2 || got == '?' && w != 1 {
			t.Fatalf("%U becomes %U of %d columns", r, got, w)
		}
		if got != r {
			continue
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 || columnsOf.RuneWidth(r) != w {
			t.Fatalf("%U, of %d columns, is let through as one of %d", r, columnsOf.RuneWidth(r), w)
		}
	}
}

// TestCanvas: whatever is drawn wherever, lines keep their width and cells their place.
func TestCanvas(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	for range 2000 {
		c := newCanvas(1+rnd.IntN(30), 1+rnd.IntN(4))
		for range rnd.IntN(60) {
			x, y := rnd.IntN(c.w+10)-5, rnd.IntN(c.h+2)-1
			switch rnd.IntN(6) {
			case 0:
				c.put(x, y, x+rnd.IntN(20), theme.Text, hostile[rnd.IntN(len(hostile))])
			case 1:
				c.right(x, y, x+rnd.IntN(20), theme.Text, "日本x")
			case 2:
				c.fill(x, y, x+rnd.IntN(5), theme.Text, '█')
			case 3:
				c.clear(rect{x, y, rnd.IntN(9), rnd.IntN(3)})
			case 4:
				c.ground(x, y, x+rnd.IntN(9), theme.Selected)
			default:
				c.put(x, y, c.w+9, theme.Peak, "日本語の名前")
			}
		}
		for _, line := range c.lines() {
			if n := columnsOf.StringWidth(line); n != c.w {
				t.Fatalf("a line of %d columns in a canvas of %d: %q", n, c.w, line)
			}
		}
		for i, cell := range c.cells {
			if cell.r == 0 && (i%c.w == 0 || columnsOf.RuneWidth(c.cells[i-1].r) != 2) {
				t.Fatalf("half a rune without its other half in %q", c.lines())
			}
		}
	}
}

// TestColumns: the table's columns fit any width, and figures fit their columns.
func TestColumns(t *testing.T) {
	for w := 1; w < 400; w++ {
		cols := fitting(w, w%2 == 0, false, nil)
		used := 2
		for k, i := range cols {
			used += columns[i].width + 1
			if k > 0 && cols[k-1] >= i {
				t.Fatalf("width %d: columns out of order", w)
			}
		}
		if used > w+1 && len(cols) > 0 {
			t.Errorf("width %d: columns of %d in all", w, used)
		}
		if w >= 40 && (len(cols) < 3 || cols[0] != 0) {
			t.Errorf("width %d: only %d columns", w, len(cols))
		}
	}
	s := gpus(1, 1, false)
	p := &s.GPUs[0].Processes[0]
	for _, b := range []sampler.Bytes{0, 1010 * sampler.MiB, 1023*sampler.MiB + 1000, 129 * sampler.GiB, 999 * sampler.GiB, 1010 * sampler.GiB, sampler.TiB - 1} {
		p.Memory, p.HostMemory, p.Peak = sampler.Some(b), sampler.Some(b), &sampler.Peak{Bytes: b}
		p.PID, p.CPU, p.SM = 4194304, sampler.Some(25600.0), sampler.Some(100)
		p.StartTime = sampler.Some(afternoon.Add(-900 * 24 * time.Hour))
		for _, c := range columns {
			if c.text == nil || c.left {
				continue
			}
			if text := c.format(procRow{gpu: &s.GPUs[0], proc: p, snap: s}, c.width); width(text) != c.width {
				t.Errorf("column %s of %d columns shows %q", c.title, c.width, text)
			}
		}
	}
}

// TestSortOrder: the first press of o on a column shows what is looked for first.
func TestSortOrder(t *testing.T) {
	s := gpus(2, 0, false)
	for i := range s.GPUs {
		s.GPUs[i].Memory.Unattributed = sampler.Opt[sampler.Bytes]{}
	}
	s.GPUs[1].Processes = []sampler.Process{
		{PID: 30, User: "bob", Memory: sampler.Some(20 * sampler.GiB), SM: sampler.Some(5), Command: "b"},
		{PID: 4, User: "ann", Memory: sampler.Opt[sampler.Bytes]{}, SM: sampler.Some(90), Command: "c"}}
	s.GPUs[0].Processes = []sampler.Process{{PID: 200, User: "cy", Memory: sampler.Some(60 * sampler.GiB), Command: "a"}}
	for _, row := range []struct {
		column string
		want   [3]int
	}{{"PID", [3]int{4, 30, 200}}, {"USER", [3]int{4, 30, 200}}, {"GPU", [3]int{200, 30, 4}}, {"SM%", [3]int{4, 30, 200}},
		{"GPU MEM", [3]int{200, 30, 4}}, {"COMMAND", [3]int{200, 30, 4}}} {
		for reverse := range 2 {
			v := &table{cursor: -1, reverse: reverse == 1}
			for i, c := range columns {
				if c.title == row.column {
					v.sort = i
				}
			}
			var got [3]int
			v.list(s, nil)
			for i, r := range v.rows {
				got[i] = r.proc.PID
			}
			want := row.want
			if reverse == 1 && row.column == "GPU" {
				continue // two on one GPU stay as they were
			}
			if reverse == 1 {
				want[0], want[2] = want[2], want[0]
			}
			if got != want {
				t.Errorf("by %s, reverse %v: %v, want %v", row.column, v.reverse, got, want)
			}
		}
	}
}

// TestRuneWidth: the runes that go-runewidth is spared have the width that it gives them.
func TestRuneWidth(t *testing.T) {
	for r := rune(0xa1); r < 0x30000; r++ {
		if got, want := runeWidth(r), columnWidth.RuneWidth(r); got != want {
			t.Errorf("%U has %d columns, want %d", r, got, want)
		}
	}
}

// Chosen columns stand in their order as far as they fit, and the command takes what is left wherever it stands.
func TestChosenColumns(t *testing.T) {
	s := past(gpus(1, 3, false), 3)
	for _, row := range []struct {
		names string
		w     int
		want  []string
	}{
		{"gpu,mem,pid", 100, []string{"GPU", "GPU MEM↓", "PID"}}, {"command,mem,user", 100, []string{"COMMAND", "GPU MEM↓", "USER"}},
		{"time,host,cpu,peak,mem,pid", 34, []string{"▲PEAK", "GPU MEM↓", "PID"}}, // by rank
	} {
		m := model(s, row.w, 30, Options{Columns: strings.Split(row.names, ",")})
		lines := m.view().draw(row.w, 30).lines()
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "GPU MEM") })
		if got := strings.TrimSpace(strings.Join(strings.Fields(strings.NewReplacer("│", "", "─", "").Replace(lines[max(i, 0)])), " ")); i < 0 || got != strings.Join(row.want, " ") {
			t.Errorf("%s in %d columns: %q", row.names, row.w, got)
		}
	}
	m := model(s, 100, 30, Options{Columns: []string{"command", "pid"}})
	if got := strings.Join(m.view().draw(100, 30).lines(), "\n"); !strings.Contains(got, strconv.Itoa(m.table.rows[0].proc.PID)+" │") {
		t.Errorf("the pid is not at the edge:\n%s", got)
	}
}

func TestParseColumns(t *testing.T) {
	for text, want := range map[string]string{"pid": "pid", " PID , mem": "pid,mem", strings.Join(ColumnNames(), ","): strings.Join(ColumnNames(), ","), "": "", "pid,pid": "", "pid,": "", "gpu mem": ""} {
		got, err := ParseColumns(text)
		if strings.Join(got, ",") != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestSortedBy(t *testing.T) {
	for _, name := range SortNames() {
		m := model(past(gpus(1, 3, false), 3), 200, 30, Options{Sort: "-" + name})
		if columns[m.table.sort].name() != name || !m.table.reverse || columns[m.table.sort].order == nil {
			t.Errorf("%s: %d %v", name, m.table.sort, m.table.reverse)
		}
	}
}

// No text of the advice in full is cut at any width from the least on, and what is to be typed is broken in a word only where
// that is longer than a line.
func TestAdviceIsWhole(t *testing.T) {
	for _, scenario := range []string{"training", "leak", "neighbour", "prealloc", "oom"} {
		for _, o := range []Options{{}, {Need: sampler.Some(16 * sampler.GiB)}, {Lang: "zh"}} {
			v := model(play(t, scenario, 10*time.Minute), 100, 40, o).view()
			for w := 26; w <= 120; w++ {
				for _, l := range append(v.adviceFull(w), v.adviceLines(w, 30)...) {
					whole := ""
					for _, p := range l {
						whole += p.text
					}
					if width(whole) > w {
						t.Errorf("%s, %q, %d columns: %q", scenario, o.Lang, w, whole)
					}
				}
			}
		}
	}
	var got []string
	for _, l := range typedLines("CUDA_VISIBLE_DEVICES=1 /opt/venv/bin/python3 label_server.py --gb 50  # where it is started; with one GPU", 60) {
		got = append(got, strings.TrimSpace(l[0].text))
	}
	if want := []string{"# where it is started; with one GPU", "CUDA_VISIBLE_DEVICES=1 /opt/venv/bin/python3", "label_server.py --gb 50"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
