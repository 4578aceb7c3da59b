package sampler

import (
	"math"
	"strings"
	"testing"
	"time"
)

// What a driver says of memory adds up in the end, whatever it counted twice.
func TestReadingBounds(t *testing.T) {
	const most = MaxPlausible
	none := Opt[Bytes]{}
	for name, row := range map[string]struct {
		in                          Reading
		total, used, free, reserved Opt[Bytes]
	}{
		"plain":                      {Reading{Total: 100, Used: 30, Free: 70}, Some(Bytes(100)), Some(Bytes(30)), Some(Bytes(70)), none},
		"reserved beside used":       {Reading{Total: 100, Used: 30, Free: 60, Reserved: Some(Bytes(10))}, Some(Bytes(100)), Some(Bytes(30)), Some(Bytes(60)), Some(Bytes(10))},
		"reserved within used":       {Reading{Total: 100, Used: 40, Free: 60, Reserved: Some(Bytes(10))}, Some(Bytes(100)), Some(Bytes(30)), Some(Bytes(60)), Some(Bytes(10))},
		"reserved is everything":     {Reading{Total: 100, Used: 100, Free: 0, Reserved: Some(Bytes(100))}, Some(Bytes(100)), Some(Bytes(0)), Some(Bytes(0)), Some(Bytes(100))},
		"reserved more than there":   {Reading{Total: 100, Used: 30, Free: 60, Reserved: Some(Bytes(101))}, Some(Bytes(100)), Some(Bytes(30)), Some(Bytes(70)), none},
		"reserved more than left":    {Reading{Total: 100, Used: 30, Free: 60, Reserved: Some(Bytes(80))}, Some(Bytes(100)), Some(Bytes(30)), Some(Bytes(0)), Some(Bytes(70))},
		"used more than there":       {Reading{Total: 100, Used: 300, Free: 0}, Some(Bytes(100)), Some(Bytes(100)), Some(Bytes(0)), none},
		"no total":                   {Reading{Used: 30}, none, none, none, none},
		"a total that cannot be":     {Reading{Total: most, Used: 30}, none, none, none, none},
		"the largest total":          {Reading{Total: most - 1, Used: 1}, Some(most - 1), Some(Bytes(1)), Some(most - 2), none},
		"a use that cannot be":       {Reading{Total: 100, Used: most}, Some(Bytes(100)), none, none, none},
		"free memory that cannot be": {Reading{Total: 100, Used: 30, Free: most, Reserved: Some(Bytes(10))}, Some(Bytes(100)), Some(Bytes(30)), Some(Bytes(60)), Some(Bytes(10))},
	} {
		m := row.in.memory(false)
		if m.Total != row.total || m.Used != row.used || m.Free != row.free || m.Reserved != row.reserved {
			t.Errorf("%s: total %v, used %v, free %v, reserved %v", name, m.Total, m.Used, m.Free, m.Reserved)
		}
	}
}

// A memory has moved when what is used or what is free is another.
func TestMoved(t *testing.T) {
	for name, row := range map[string]struct {
		next  Reading
		moved bool
	}{
		"the same":  {Reading{Total: 100, Used: 30, Free: 60, Reserved: Some(Bytes(10))}, false},
		"more used": {Reading{Total: 100, Used: 31, Free: 60, Reserved: Some(Bytes(9))}, true},
		"less free": {Reading{Total: 100, Used: 30, Free: 59, Reserved: Some(Bytes(11))}, true},
		"both":      {Reading{Total: 100, Used: 31, Free: 59, Reserved: Some(Bytes(10))}, true},
	} {
		c := collected()
		c.reading(0, noon, Reading{Total: 100, Used: 30, Free: 60, Reserved: Some(Bytes(10))}, nil)
		c.gpus[0].moved = false
		if c.reading(0, noon, row.next, nil); c.gpus[0].moved != row.moved {
			t.Errorf("%s: moved %v", name, c.gpus[0].moved)
		}
		if c.reading(0, noon, Reading{Total: 100, Used: 30, Free: 60, Reserved: Some(Bytes(10))}, nil); c.gpus[0].moved != row.moved {
			t.Errorf("%s: it is forgotten before somebody looks", name)
		}
	}
}

// A fresh list is wanted when memory is 32 MiB above its least since the last, at most every 200 ms.
func TestStaleListBounds(t *testing.T) {
	for name, row := range map[string]struct {
		rise  Bytes
		after time.Duration
		want  bool
	}{
		"risen":     {staleBytes + 1, staleAfter, true},
		"not quite": {staleBytes, staleAfter, false},
		"too early": {staleBytes + 1, staleAfter - 1, false},
	} {
		c := collected()
		c.reading(0, noon, reading(GiB), nil)
		c.list(0, noon, nil, nil)
		at := noon.Add(row.after)
		if _, stale := c.reading(0, at, reading(GiB+row.rise), nil); stale != row.want {
			t.Errorf("%s: %v", name, stale)
		}
		if _, again := c.reading(0, at, reading(GiB+row.rise), nil); again {
			t.Errorf("%s: it is asked for twice", name)
		}
	}
	c := collected()
	if _, stale := c.reading(0, noon, reading(9*GiB), nil); stale {
		t.Error("a list is wanted before there was one")
	}
}

// A device beyond the last one is nobody's.
func TestOfNoDevice(t *testing.T) {
	c := collected()
	n := len(c.gpus)
	for _, dev := range []int{-1, n} {
		c.failed(dev, callMemory, ErrLost)
		c.sawXID(dev, 79, noon)
	}
	if s := c.shot(noon); s.GPUs[0].Error.Known() || s.GPUs[n-1].LastXID.Known() {
		t.Error("what is of no device is told of one")
	}
	c.sawXID(n-1, 79, noon)
	c.sawXID(0, 48, noon)
	if s := c.shot(noon); s.GPUs[n-1].LastXID.Or(0) == 0 || s.GPUs[0].LastXID.Or(0) != 48 {
		t.Error("an Xid of the first or the last device is lost")
	}
}

// A lost device is asked again when its time has come.
func TestDueBounds(t *testing.T) {
	c := collected()
	c.reading(0, noon, Reading{}, ErrLost)
	for wait, want := range map[time.Duration]bool{10*time.Second - 1: false, 10 * time.Second: true} {
		if got := c.due(0, noon.Add(wait)); got != want {
			t.Errorf("after %v: due %v", wait, got)
		}
	}
}

func TestSameInLog(t *testing.T) {
	a := OOMEvent{Kind: KindCUDA, Line: 3, Text: "x"}
	for name, row := range map[string]struct {
		other OOMEvent
		want  bool
	}{
		"the same line": {OOMEvent{Kind: KindCUDA, Line: 3, Text: "y"}, true},
		"the same text": {OOMEvent{Kind: KindCUDA, Line: 4, Text: "x"}, true},
		"neither":       {OOMEvent{Kind: KindCUDA, Line: 4, Text: "y"}, false},
		"another kind":  {OOMEvent{Kind: KindXLA, Line: 3, Text: "x"}, false},
	} {
		if got := a.SameInLog(&row.other); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (&OOMEvent{Text: "x"}).SameInLog(&OOMEvent{Text: "y"}) {
		t.Error("two events of no line are the same")
	}
	for _, row := range []struct {
		x, y Bytes
		kind string
		want bool
	}{{1000, 996, KindXLA, false}, {1000, 994, KindXLA, true}, {1000, 1006, KindXLA, true}, {1000, 1004, KindXLA, false}, {995, 1000, KindXLA, false}, {1004, 1000, KindXLA, false}, {994, 1000, KindXLA, true},
		{1006, 1000, KindXLA, true}, {1000, 999, KindCUDA, true}, {1000, 1000, KindCUDA, false}} {
		a, b := OOMEvent{Kind: row.kind, Requested: Some(row.x)}, OOMEvent{Kind: row.kind, Requested: Some(row.y)}
		if got := a.otherRequest(&b); got != row.want {
			t.Errorf("%s: %d and %d are other requests: %v", row.kind, row.x, row.y, got)
		}
	}
}

// The last device is asked 5 ms before the snapshot, those before it up to 10 ms apart, unless all are quick.
func TestSlots(t *testing.T) {
	at := noon.Truncate(time.Second).Add(ms(100))
	for name, row := range map[string]struct {
		n    int
		cost time.Duration // of each
		dev  int
		want time.Duration // before the snapshot
	}{
		"the last":            {4, ms(2), 3, ms(5)},
		"the first":           {4, ms(2), 0, ms(35)},
		"a quick one":         {1, 0, 0, ms(5)},
		"brief together":      {4, ms(1) - 1, 0, ms(5)},
		"just not brief":      {4, ms(1), 0, ms(35)},
		"many cheap ones":     {32, slotCheap - 1, 0, ms(5)},
		"many that are not":   {32, slotCheap, 0, ms(5 + 31*10)},
		"more than have room": {100, ms(2), 0, ms(5 + 99*6)},
	} {
		s := newSchedule(time.Second, row.n, at)
		for i := range s.cost {
			s.cost[i] = row.cost
		}
		if got := noon.Truncate(time.Second).Add(time.Second).Sub(s.slot(row.dev, at)); got != row.want {
			t.Errorf("%s: asked %v before the snapshot, want %v", name, got, row.want)
		}
	}
	s := newSchedule(time.Second, 1, at)
	slot := s.slot(0, at)
	if next := s.slot(0, slot); !next.Equal(slot.Add(time.Second)) {
		t.Errorf("at its own turn the next is %v later", next.Sub(slot))
	}
}

// Text is cut at 4096 bytes and clipped at 40 characters, and what a terminal obeys becomes a sign.
func TestTextBounds(t *testing.T) {
	for n, want := range map[int]int{maxText: maxText, maxText + 1: maxText} {
		if got := len(Clean(strings.Repeat("x", n))); got != want {
			t.Errorf("of %d bytes %d are left", n, got)
		}
	}
	for n, want := range map[int]int{clipLength: clipLength, clipLength + 1: clipLength} {
		if got := len([]rune(Clip(strings.Repeat("é", n)))); got != want {
			t.Errorf("of %d characters %d are left", n, got)
		}
	}
	for in, want := range map[string]string{" ~": " ~", "\x1f\x7f": "??", "\t\r\n": "   ", "\ufffd": "\ufffd", "\xff": "?", "e\u0301": "e?", "\u202e": "?"} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, r := range []rune{0x7f, 0x9f, 0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069} {
		if !commands(r) {
			t.Errorf("%#x is no command", r)
		}
	}
	for _, r := range []rune{0x7e, 0xa0, 0x061b, 0x061d, 0x200d, 0x2010, 0x2029, 0x202f, 0x2065, 0x206a} {
		if commands(r) {
			t.Errorf("%#x is a command", r)
		}
	}
}

// A list explains a rise when its processes have four to six fifths of it more than before; the process with two thirds made it.
func TestRiseBounds(t *testing.T) {
	x := rise{base: 1000, top: 2000}
	for more, want := range map[Bytes]bool{799: false, 800: true, 1200: true, 1201: false} {
		if got := x.explainedBy(&listing{sum: 50}, &listing{sum: 50 + more}); got != want {
			t.Errorf("%d more explain 1000: %v", more, got)
		}
	}
	y := rise{base: 0, top: 999} // two thirds of which are 666
	for more, want := range map[Bytes]int{665: 0, 666: 7} {
		if got := y.most(&listing{}, &listing{of: []holding{{pid: 7, bytes: more}}}); got.Or(0) != want {
			t.Errorf("%d of 999 are of process %v", more, got)
		}
	}
	var r riser
	r.reading(noon, GiB)
	if r.reading(noon, GiB+staleBytes); r.now != nil {
		t.Error("32 MiB are a rise")
	}
	if r.reading(noon, GiB+staleBytes+1); r.now == nil {
		t.Error("more than 32 MiB are none")
	}
	for name, row := range map[string]struct {
		used  Bytes
		after time.Duration
		over  int
	}{"above the half": {150, ms(100), 0}, "below it": {149, ms(100), 1}, "a second": {200, riseMost, 0}, "longer": {200, riseMost + 1, 1}} {
		r := riser{now: &rise{base: 100, top: 200, began: noon}}
		if r.reading(noon.Add(row.after), row.used); len(r.over) != row.over || (r.now == nil) != (row.over > 0) {
			t.Errorf("%s: %d over, goes on %v", name, len(r.over), r.now != nil)
		}
	}
	r = riser{low: Some(Bytes(5))}
	if r.listed(noon, nil, Some(Bytes(9))); r.low.Or(0) != 9 {
		t.Error("a list does not set the level between rises")
	}
	r.now = &rise{}
	if r.listed(noon, nil, Some(Bytes(99))); r.low.Or(0) != 9 {
		t.Error("a list sets the level during a rise")
	}
}

// A height is news when it is a hundredth of the memory above the most of late, once in a window.
func TestHeight(t *testing.T) {
	var h height
	if h.see(99) || h.above() != math.MaxUint64 {
		t.Error("news before the first window")
	}
	h.begin(500, Some(Bytes(1000)))
	if h.above() != 510 || h.see(510) || !h.see(511) || h.see(999) || h.above() != math.MaxUint64 {
		t.Errorf("%+v", h)
	}
	h.begin(490, Some(Bytes(1000))) // as high again
	if h.most != 490 || h.old != 0 {
		t.Errorf("%+v", h)
	}
	for i := range earlyMemory {
		if h.begin(479, Some(Bytes(1000))); h.most != 490 || h.old != i+1 {
			t.Errorf("%d windows later %+v", i+1, h)
		}
	}
	if h.begin(479, Some(Bytes(1000))); h.most != 479 || h.old != 0 {
		t.Errorf("%+v", h)
	}
	if h.shown(700); h.above() != 710 {
		t.Errorf("%+v", h)
	}
}

// A GPU is quiet that has stood still for ten seconds without processes or much memory of nobody.
func TestQuietBounds(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*device)
		after  time.Duration
		want   bool
	}{
		"ten seconds":    {func(*device) {}, quietAfter, true},
		"less":           {func(*device) {}, quietAfter - 1, false},
		"just not much":  {func(d *device) { d.mem.Used = Some(quietMost - 1) }, quietAfter, true},
		"memory":         {func(d *device) { d.mem.Used = Some(Bytes(quietMost)) }, quietAfter, false},
		"unknown memory": {func(d *device) { d.mem.Used = Opt[Bytes]{} }, quietAfter, false},
		"a process":      {func(d *device) { d.procs = []Process{{}} }, quietAfter, false},
		"no list":        {func(d *device) { d.procsOK = false }, quietAfter, false},
		"it moved":       {func(d *device) { d.moved = true }, quietAfter, false},
	} {
		d := device{mem: Memory{Used: Some(Bytes(5))}, procsOK: true, stillSince: noon}
		row.change(&d)
		if got := d.quiet(noon.Add(row.after)); got != row.want || d.moved {
			t.Errorf("%s: quiet %v", name, got)
		}
	}
}

// Many processes that are gone are forgotten after a minute, and at once when there are very many.
func TestPruneBounds(t *testing.T) {
	for name, row := range map[string]struct {
		count int
		age   time.Duration
		kept  bool
	}{
		"few":                 {maxMarks, time.Hour, true},
		"many, a minute ago":  {maxMarks + 1, time.Minute, true},
		"many, longer ago":    {maxMarks + 1, time.Minute + 1, false},
		"very many":           {16 * maxMarks, time.Minute, true},
		"more than very many": {16*maxMarks + 1, 1, false},
		"of now":              {16*maxMarks + 1, 0, true},
	} {
		w := NewWatermarks()
		for pid := range row.count {
			w.procs[ProcessKey{PID: pid}] = &procMark{seen: noon}
		}
		if w.prune(noon.Add(row.age)); len(w.procs) > 0 != row.kept {
			t.Errorf("%s: %d are kept", name, len(w.procs))
		}
	}
}

// What is plausible of figures that a recording brings.
func TestPlausibleFigures(t *testing.T) {
	m := func(total, used, free, reserved Bytes) Memory {
		return Memory{Total: Some(total), Used: Some(used), Free: Some(free), Reserved: Some(reserved)}
	}
	for name, row := range map[string]struct {
		m                  Memory
		used, free, usable Bytes
	}{
		"plain":               {m(100, 30, 60, 10), 30, 60, 90},
		"used above total":    {m(100, 130, 0, 0), 100, 0, 100},
		"all is free":         {m(100, 0, 100, 0), 0, 100, 100},
		"free above total":    {m(100, 30, 101, 10), 30, 60, 90},
		"free that cannot be": {m(100, 30, MaxPlausible, MaxPlausible), 30, 70, 100},
	} {
		if row.m.PlausibleUsed().Or(999) != row.used || row.m.PlausibleFree().Or(999) != row.free || row.m.Usable() != row.usable {
			t.Errorf("%s: used %v, free %v, usable %v", name, row.m.PlausibleUsed(), row.m.PlausibleFree(), row.m.Usable())
		}
	}
	if m := m(0, 5, 5, 0); m.PlausibleTotal().Known() || m.PlausibleUsed().Known() || m.PlausibleFree().Known() {
		t.Error("something is known of no memory")
	}
}
