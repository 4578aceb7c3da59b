package torchsnap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

func levelsOf(n int, f func(int) int64) (list []int64) {
	for i := range n {
		list = append(list, f(i))
	}
	return list
}

// Growth at both sides of each bound: how long, how often, how evenly and since when.
func TestGrownBounds(t *testing.T) {
	linear := func(i int) int64 { return int64(i) }
	// parts rises by first, then not, by second, then not, and by third, at the begin of the thirds of 60.
	parts := func(first, second, third int64) []int64 {
		list := make([]int64, 61)
		for i := range list {
			list[i] = first * min(1, int64(i)) / 2
			if i >= 2 {
				list[i] = first
			}
			if i > 20 {
				list[i] += second
			}
			if i > 40 {
				list[i] += third / 2
			}
			if i > 50 {
				list[i] += third - third/2
			}
		}
		return list
	}
	for name, row := range map[string]struct {
		levels     []int64
		latest     int
		gain, from int64
	}{
		"8 stretches":                  {levelsOf(8, linear), 99, 7, 0},
		"7 stretches":                  {levelsOf(7, linear), 99, 0, 0},
		"8 from where it begins":       {levelsOf(12, func(i int) int64 { return max(0, int64(i-4)) }), 99, 7, 4},
		"7 from where it begins":       {levelsOf(11, func(i int) int64 { return max(0, int64(i-4)) }), 99, 0, 0},
		"not too late":                 {levelsOf(30, func(i int) int64 { return max(0, int64(i-9)) }), 9, 20, 9},
		"too late":                     {levelsOf(30, func(i int) int64 { return max(0, int64(i-9)) }), 8, 0, 0},
		"3 times":                      {levelsOf(60, func(i int) int64 { return int64(i / 15) }), 99, 3, 14},
		"twice":                        {levelsOf(60, func(i int) int64 { return int64(i / 20) }), 99, 0, 0},
		"each third 12 %":              {parts(76, 12, 12), 99, 100, 0},
		"the second less":              {parts(77, 11, 12), 99, 0, 0},
		"the last less":                {parts(77, 12, 11), 99, 0, 0},
		"the first less":               {parts(11, 44, 45), 99, 0, 0},
		"no more than before":          {levelsOf(60, func(int) int64 { return 5 }), 99, 0, 0},
		"a third that ends with a few": {append(make([]int64, 5), levelsOf(30, linear)...), 99, 29, 5},
	} {
		if g := grownEvenly(row.levels, row.latest); g.Gain != row.gain || g.Gain > 0 && int64(g.From) != row.from {
			t.Errorf("%s: %d from %d, want %d from %d", name, g.Gain, g.From, row.gain, row.from)
		}
	}
	if g := Grown(levelsOf(60, func(i int) int64 { return min(int64(i), 5)*100 + int64(i) })); g.Gain != 43 || g.From != 16 {
		t.Errorf("behind weights: %d from %d", g.Gain, g.From)
	}
}

// What a line held up to a moment: of one that comes and goes, up to its last low; of another, and where that is now, with
// what it holds.
func TestGrowthOfALine(t *testing.T) {
	var tr trace
	for i := range 9 {
		tr.curve.points = append(tr.curve.points, point{from: i, to: i + 1, low: int64(i)})
	}
	rising := levelsOf(7, func(i int) int64 { return int64(i) })
	for name, row := range map[string]struct {
		line tracker
		now  int
		want int64
	}{
		"never fell":                    {tracker{levels: rising, live: 9}, 8, 9},
		"fell, and low now":             {tracker{levels: rising, live: 9, cycles: 2, valleyAt: 8}, 8, 9},
		"fell, and high now":            {tracker{levels: rising, live: 9, cycles: 2, valleyAt: 7}, 8, 0}, // 7 stretches
		"8 stretches up to its low":     {tracker{levels: append(rising, 8, 0), live: 9, cycles: 2, valleyAt: 8}, 9, 8},
		"more levels than are complete": {tracker{levels: append(rising, 7, 8, 9, 10)}, 20, 0},
	} {
		if got, _ := tr.growth(row.line, false, false, &moment{events: row.now}, pace{}); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
	for name, row := range map[string]struct {
		cycles []int
		want   int
	}{
		"none": {nil, 0}, "twice is no pattern": {[]int{2, 2}, 0}, "three times is": {[]int{3}, 3}, "most": {[]int{9, 5, 5}, 5},
		"with those one more or less": {[]int{20, 20, 5, 6, 7}, 6}, "the least of as many": {[]int{9, 4}, 4},
	} {
		m := &moment{lines: map[int]tracker{}}
		for i, n := range row.cycles {
			m.lines[i] = tracker{cycles: n}
		}
		if got := m.steps(); got != row.want {
			t.Errorf("steps, %s: %d, want %d", name, got, row.want)
		}
	}
}

// A rise is over where half of it is gone; its ways are kept once each, and so many.
func TestTracker(t *testing.T) {
	for _, row := range []struct{ first, second, cycles int }{{100, 100, 1}, {101, 100, 0}, {99, 100, 1}} {
		l := newTracker(0)
		l.alloc(int64(row.first), 1, 0)
		l.alloc(int64(row.second), 1, 0)
		l.free(int64(row.second), 3)
		if l.cycles != row.cycles || row.cycles == 1 && (l.rise != int64(row.first+row.second) || l.valleyAt != 3 || l.waysNow != nil || !slices.Equal(l.ways, []int{1})) {
			t.Errorf("%+v: %+v", row, l)
		}
	}
	l := newTracker(0)
	for _, way := range []int{1, 2, 1, 1, 2, 3, 1} {
		l.alloc(1, way, 0)
	}
	if !slices.Equal(l.waysNow, []int{1, 2, 3}) {
		t.Errorf("ways %v", l.waysNow)
	}
	l.passed()
	for way := range waysMost + 2 {
		l.alloc(1, way, 0)
	}
	if len(l.waysNow) != waysMost {
		t.Errorf("%d ways of one rise", len(l.waysNow))
	}
	l.passed()
	if !slices.Equal(l.ways, []int{1, 2, 3, 0, 4, 5, 6, 7}) {
		t.Errorf("ways of all rises: %v", l.ways)
	}
	for name, row := range map[string][2][]int64{"even": {{3, 1, 5, 6}, {1, 5}}, "odd": {{3, 1, 5}, {1}}, "one": {{3}, {}}} {
		l := tracker{levels: row[0]}
		if l.halve(); !slices.Equal(l.levels, row[1]) {
			t.Errorf("%s: %v", name, l.levels)
		}
	}
}

// The course of a history of any length is at most so many stretches, which follow on each other.
func TestCurve(t *testing.T) {
	for n, row := range map[int]struct{ points, each int }{1: {1, 1}, 255: {255, 1}, 256: {128, 2}, 257: {129, 2}, 1024: {128, 8}} {
		var c curve
		for i := range n {
			c.add(int64(i), int64(i), 0)
		}
		if len(c.points) != row.points || c.each != row.each {
			t.Errorf("%d events: %d stretches of %d, want %d of %d", n, len(c.points), c.each, row.points, row.each)
		}
		at := 0
		for _, p := range c.points {
			if p.from != at || p.to > at+c.each || p.low != int64(p.from) || p.high != int64(p.to-1) || p.last != p.high {
				t.Errorf("%d events: %+v behind %d", n, p, at)
			}
			at = p.to
		}
		if at != n {
			t.Errorf("%d of %d events", at, n)
		}
	}
}

// So many refusals are captured as they come, and then those that are as many events apart as there are lines; a GPU has
// so many lines that are followed.
func TestMomentsAndLines(t *testing.T) {
	const lines = 10
	tr := &trace{lines: map[int]*tracker{}}
	for i := 1; i <= lines; i++ { // 0 is no line
		tr.lines[i] = newTracker(0)
	}
	frames := newFrameTable(newTexts())
	refuse := func(events int) bool {
		before := tr.judged
		tr.events += events
		tr.oom(&fold{frames: &frames}, &event{}, &object{})
		return tr.judged != before
	}
	for i := range momentsFree {
		if !refuse(1) {
			t.Errorf("refusal %d is not captured", i)
		}
	}
	for i, row := range []struct {
		events int
		want   bool
	}{{1, false}, {8, false}, {1, true}, {9, false}, {2, true}} {
		if refuse(row.events) != row.want {
			t.Errorf("refusal %d behind the free ones: captured %v", i, !row.want)
		}
	}
	table := newFrameTable(newTexts())
	f := &fold{frames: &table, trackers: trackersMost - 1}
	tr = &trace{blocks: map[int64]liveBlock{}, lines: map[int]*tracker{0: newTracker(0)}}
	other := table.stack([]int{int(table.add(0, 1, 0).place())})
	table.stacks[other.place()].site = 1
	third := table.stack([]int{int(table.add(0, 2, 0).place())})
	table.stacks[third.place()].site = 2
	for i, stack := range []value{make60(kindStack, 0), other, third, other, make60(kindStack, 0)} {
		tr.alloc(f, int64(i), &event{size: 10, stack: stack})
	}
	if tr.live != 50 || len(tr.lines) != 2 || tr.lines[0].live != 20 || tr.lines[1].live != 20 || len(tr.blocks) != 4 {
		t.Errorf("%d bytes in %d lines: %+v", tr.live, len(tr.lines), tr.lines)
	}
}

// Numbers, GPUs and places in the memo at both sides of their bounds.
func TestValues(t *testing.T) {
	for n, want := range map[int64]bool{0: true, -1: true, 1<<59 - 1: true, 1 << 59: false, -1 << 59: true, -1<<59 - 1: false} {
		if v := number(n); (v.kind() == kindNumber) != want || want && v.int() != n {
			t.Errorf("%d: %d, a number: %v", n, v.int(), !want)
		}
	}
	table := newFrameTable(newTexts())
	f := newFold(&table, table.texts)
	for n, want := range map[int]bool{-1: false, 0: true, devicesMost - 1: true, devicesMost: false} {
		if (f.device(n) != nil) != want {
			t.Errorf("GPU %d is one: %v", n, !want)
		}
	}
	var m memo
	for _, row := range []struct {
		at   uint64
		want bool
	}{{memoGap + 1, false}, {memoGap, true}, {2*memoGap + 1, true}, {2*memoGap + 2 + memoGap + 1, false}, {memoMost, false}} {
		if m.put(row.at, make60(kindText, 7)) != row.want {
			t.Errorf("place %d of the memo is one: %v", row.at, !row.want)
		}
	}
	if v, ok := m.get(memoGap); !ok || v != make60(kindText, 7) {
		t.Error("what is remembered is not there")
	}
	if _, ok := m.get(uint64(m.n)); ok {
		t.Error("behind the last is something")
	}
	if m.put(0, number(5)); m.pages[0][0] != 0 {
		t.Error("a number is remembered: half of it")
	}
	full := memo{n: memoMost - memoGap/2}
	if full.put(memoMost, opaque) {
		t.Error("more is remembered than is allowed")
	}
}

// Texts of Python 2, numbers of 8 bytes and of none, and stacks that are remembered at the first place.
func TestOldForms(t *testing.T) {
	for text, want := range map[string]sampler.Bytes{
		"(dS'segments'\n(lS'x'\nas.":                      0,
		"(dS'segments'\n(l(dS'total_size'\nI77\nsas.":     77,
		"(dS\"segments\"\n(l(dS\"total_size\"\nI78\nsas.": 78,
		"(dVsegments\n(l(dVtotal_size\nL79L\nsas.":        79,
		"\x80\x02}X\x08\x00\x00\x00segments](}X\x0a\x00\x00\x00total_size\x8a\x08\x50\x00\x00\x00\x00\x00\x00\x00ses.":     80,
		"\x80\x02}X\x08\x00\x00\x00segments](}X\x0a\x00\x00\x00total_size\x8a\x00ses.":                                     0,
		"\x80\x02}X\x08\x00\x00\x00segments](}X\x0a\x00\x00\x00total_size\x8a\x09\x50\x00\x00\x00\x00\x00\x00\x00\x00ses.": 0,
	} {
		s, err := Read(strings.NewReader(text))
		if got := reserved(s); err != nil && want > 0 || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"\x80\x02(S'\n.", "\x80\x02(S'a\"\n.", "\x80\x02(S\n."} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a snapshot", text)
		}
	}
	const frames = "](}(\x8c\x08filename\x8c\x04a.py\x8c\x04lineK\x05ue"
	b := bytes.NewBufferString("\x80\x04}(\x8c\x08segments](}(\x8c\x0atotal_sizeK\x0a\x8c\x06blocks](")
	b.WriteString("}(\x8c\x05state\x8c\x10active_allocated\x8c\x04sizeK\x04\x8c\x06frames]q\x00" + frames[1:] + "u")
	b.WriteString("}(\x8c\x05state\x8c\x10active_allocated\x8c\x04sizeK\x06\x8c\x06framesh\x00u")
	b.WriteString("eueu.")
	s, err := Read(b)
	if err != nil || len(s.Devices) != 1 || fmt.Sprint(names(s.Devices[0].Holders)) != "[a.py:5 10]" {
		t.Errorf("shared frames: %v %+v", err, s.Devices)
	}
}

func reserved(s sampler.TorchSnapshot) (sum sampler.Bytes) {
	for _, d := range s.Devices {
		sum += d.Reserved
	}
	return sum
}

// What is refused is refused for its reason, and as deep as is allowed is allowed.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]bool{
		"\x80\x09.": true, "\x80\x05.": false, "\x80\x04]r\xff\xff\xff\xff.": true, "\x80\x04]e.": true,
		"\x80\x04" + strings.Repeat("(", depthMost): false, "\x80\x04" + strings.Repeat("(", depthMost+1): true,
		"\x80\x04(" + strings.Repeat("N", stackMost): false, "\x80\x04(" + strings.Repeat("N", stackMost+1): true,
	} {
		if _, err := Read(strings.NewReader(text)); errors.Is(err, ErrRefused) != want {
			t.Errorf("%.20q of %d bytes: %v, refused: %v", text, len(text), err, !want)
		}
	}
}

// Activation checkpointing runs parts of the model many times a step: steps are told by what is outside of it, and by it
// alone where nothing else comes and goes.
func TestStepsBesideCheckpointing(t *testing.T) {
	for name, row := range map[string]struct {
		parted, others []int
		want           int
	}{"twelve parts": {[]int{1740, 1740, 1741, 1740}, []int{145, 145}, 145}, "nothing else": {[]int{1740, 1740}, nil, 1740}, "none that repeats": {[]int{1740}, []int{2, 2, 2}, 1740}} {
		m := &moment{lines: map[int]tracker{}}
		for _, n := range row.parted {
			m.lines[len(m.lines)] = tracker{cycles: n, parted: true}
		}
		for _, n := range row.others {
			m.lines[len(m.lines)] = tracker{cycles: n}
		}
		if got := m.steps(); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
	for file, want := range map[string]bool{"/x/site-packages/torch/utils/checkpoint.py": true, "/x/deepspeed/runtime/activation_checkpointing/checkpointing.py": true,
		"/x/megatron/core/tensor_parallel/random.py": true, "/x/site-packages/fairscale/nn/checkpoint/checkpoint_activations.py": true, "/home/u/checkpoint.py": false, "/home/u/torch/save_checkpoint.py": false, "/usr/lib/python3.11/random.py": false} {
		if got := kindOfFrame(file, "forward").parted; got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}
