package tape

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

func TestCells(t *testing.T) {
	for line, want := range map[string]string{"a,b": "a|b", ` a , "b,c" ,d`: "a|b,c|d", `"a""b",c`: `a"b|c`, `"a,b`: `"a|b`, `""`: "", `"",x`: "|x", "a,": "a|", "": "", `"a"x,b`: "a|b", `x"a",b`: `x"a"|b`} {
		if got := strings.Join(splitCSV(line), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for n, want := range map[int]int{maxCells - 1: maxCells, maxCells: maxCells} { // of commas
		if got := len(splitCSV(strings.Repeat(",", n))); got != want {
			t.Errorf("%d commas make %d cells", n, got)
		}
	}
	for text, want := range map[string]bool{"1000000000": true, "1000000001": false, "0": true, "-1": false} {
		if got := (cell{text: text}).float().Known(); got != want {
			t.Errorf("%s: a number is known %v", text, got)
		}
	}
	for text, want := range map[string]bool{"1000000000000000": true, "1000000000000001": false, "-1000000000000000": true, "-1000000000000001": false} {
		if got := (cell{text: text}).whole().Known(); got != want {
			t.Errorf("%s: a whole number is known %v", text, got)
		}
	}
}

// What a file says of memory is made to hold together, and more so where the file is not ours.
func TestFillDerived(t *testing.T) {
	type memory [4]int // total, used, free, reserved; -1: absent
	some := func(n int) sampler.Opt[sampler.Bytes] {
		if n < 0 {
			return unknown
		}
		return sampler.Some(sampler.Bytes(n))
	}
	for name, row := range map[string]struct {
		in      memory
		foreign bool
		want    memory
		flaw    bool
	}{
		"ours":                    {memory{100, 30, 60, 10}, false, memory{100, 30, 60, 10}, false},
		"no total":                {memory{-1, 30, 60, 10}, true, memory{-1, 30, 60, 10}, false},
		"a total of nothing":      {memory{0, 30, 60, 10}, true, memory{-1, -1, -1, -1}, false},
		"no use":                  {memory{100, -1, 60, 10}, false, memory{100, -1, 60, 10}, false},
		"no use, foreign":         {memory{100, -1, 60, 10}, true, memory{100, 30, 60, 10}, false},
		"neither use nor free":    {memory{100, -1, -1, 10}, true, memory{100, -1, -1, 10}, false},
		"more used than there is": {memory{100, 130, 60, 10}, false, memory{100, 100, 0, 0}, true},
		"all used":                {memory{100, 100, 0, 0}, false, memory{100, 100, 0, 0}, false},
		"more reserved than left": {memory{100, 30, 0, 80}, false, memory{100, 30, 0, 70}, false},
		"more free than left":     {memory{100, 30, 61, 10}, false, memory{100, 30, 60, 10}, false},
		"less free than left":     {memory{100, 30, 50, 10}, true, memory{100, 30, 50, 10}, false},
		"free left out":           {memory{100, 30, -1, 10}, false, memory{100, 30, -1, 10}, false},
		"free left out, foreign":  {memory{100, 30, -1, 10}, true, memory{100, 30, 60, 10}, false},
	} {
		g, flaw := sampler.GPU{}, meter{}
		m := &g.Memory
		m.Total, m.Used, m.Free, m.Reserved = some(row.in[0]), some(row.in[1]), some(row.in[2]), some(row.in[3])
		fillDerived(&g, row.foreign, &flaw)
		if m.Total != some(row.want[0]) || m.Used != some(row.want[1]) || m.Free != some(row.want[2]) || m.Reserved != some(row.want[3]) || flaw.flaws[overTotal] != row.flaw {
			t.Errorf("%s: total %v, used %v, free %v, reserved %v", name, m.Total, m.Used, m.Free, m.Reserved)
		}
	}
	for name, row := range map[string]struct{ m, want sampler.Memory }{
		"as it can be": {sampler.Memory{Window: &sampler.Window{Min: 5, Max: 100}, Peak: &sampler.Peak{Bytes: 100}, WorstFree: some(100)}, sampler.Memory{Window: &sampler.Window{Min: 5, Max: 100}, Peak: &sampler.Peak{Bytes: 100}, WorstFree: some(100)}},
		"above total":  {sampler.Memory{Window: &sampler.Window{Min: 5, Max: 101}, Peak: &sampler.Peak{Bytes: 101}, WorstFree: some(101)}, sampler.Memory{}},
		"one value":    {sampler.Memory{Window: &sampler.Window{Min: 5, Max: 5}}, sampler.Memory{Window: &sampler.Window{}}},
		"upside down":  {sampler.Memory{Window: &sampler.Window{Min: 6, Max: 5}}, sampler.Memory{}},
	} {
		dropImpossible(&row.m, 100)
		if (row.m.Window == nil) != (row.want.Window == nil) || (row.m.Peak == nil) != (row.want.Peak == nil) || row.m.WorstFree != row.want.WorstFree {
			t.Errorf("%s: %+v", name, row.m)
		}
	}
	processes := func(list ...int) (g sampler.GPU) {
		g.Memory.Total, g.Memory.Used = some(100), some(30)
		for _, n := range list {
			g.Processes = append(g.Processes, sampler.Process{Memory: some(n)})
		}
		return g
	}
	for want, g := range map[int]sampler.GPU{5: processes(20, 5), 0: processes(20, 15), -1: processes(20, -1)} {
		fillDerived(&g, true, &meter{})
		if g.Memory.Unattributed != some(want) {
			t.Errorf("%v of nobody, want %d", g.Memory.Unattributed, want)
		}
	}
}

// The end line tells the peak of each GPU and process with its first time, the largest first.
func TestTally(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0).UTC() }
	var y tally
	y.peak(3, "", sampler.Peak{Bytes: 0, Time: at(1), Source: "a"})
	y.peak(3, "U", sampler.Peak{Bytes: 0, Time: at(2), Source: "b"})
	y.peak(1, "", sampler.Peak{Bytes: 5, Time: at(3), Source: "c"})
	y.peak(1, "", sampler.Peak{Bytes: 5, Time: at(4), Source: "d"})
	used := func(pid int, n sampler.Bytes) sampler.Process {
		return sampler.Process{PID: pid, Memory: sampler.Some(n)}
	}
	y.procs = map[procKey]*ProcessPeak{}
	for i, p := range []sampler.Process{used(7, 10), used(5, 10), used(6, 20), used(7, 10), {PID: 8}, {PID: 9, Memory: sampler.Some(sampler.Bytes(4)), Peak: &sampler.Peak{Bytes: 4, Source: "driver"}}} {
		y.process(1, at(10+i), &p)
	}
	second := used(5, 10)
	y.process(0, at(20), &second)
	e := y.end(at(30), "x")
	if len(e.Peaks) != 2 || e.Peaks[0].GPU != 1 || e.Peaks[0].Peak.Source != "c" || e.Peaks[1].UUID != "U" || e.Peaks[1].Peak.Source != "a" {
		t.Errorf("peaks %+v", e.Peaks)
	}
	var got []string
	for _, p := range e.Processes {
		got = append(got, strconv.Itoa(p.GPU)+":"+strconv.Itoa(p.PID)+"@"+strconv.FormatInt(p.Peak.Time.Unix(), 10)+p.Peak.Source)
	}
	if want := "1:6@12sampled 0:5@20sampled 1:5@11sampled 1:7@10sampled 1:9@-62135596800driver"; strings.Join(got, " ") != want {
		t.Errorf("processes %v\nwant %s", got, want)
	}
}

// A text is cut at 16 KiB, between characters.
func TestClip(t *testing.T) {
	for text, want := range map[string]int{strings.Repeat("x", maxText): maxText, strings.Repeat("x", maxText+1): maxText, "xx" + strings.Repeat("é", maxText/2): maxText, "x" + strings.Repeat("é", maxText/2): maxText - 1,
		"xxx" + strings.Repeat("😀", maxText/4): maxText - 1, "x" + strings.Repeat("😀", maxText/4): maxText - 3, strings.Repeat("\x80", maxText+9): maxText - 4} {
		var m meter
		if got := m.clip([]byte(text)); len(got) != want || m.flaws[longText] != (len(text) > maxText) {
			t.Errorf("of %d bytes %d are left, want %d", len(text), len(got), want)
		}
	}
}

// Of more than four thousand processes the thousand with the largest peaks are kept.
func TestTallyIsBounded(t *testing.T) {
	y := tally{procs: map[procKey]*ProcessPeak{}}
	for n := range 4*maxPeaks + 1 {
		if n == 4*maxPeaks && len(y.procs) != n {
			t.Errorf("%d of %d processes are kept", len(y.procs), n)
		}
		y.process(0, time.Unix(1, 0), &sampler.Process{PID: n + 1, Memory: sampler.Some(sampler.Bytes(n))})
	}
	if len(y.procs) != maxPeaks+1 || y.procs[procKey{0, 4*maxPeaks + 1, time.Time{}}] == nil || y.procs[procKey{0, 3*maxPeaks + 1, time.Time{}}] == nil {
		t.Errorf("%d processes are kept", len(y.procs))
	}
}
