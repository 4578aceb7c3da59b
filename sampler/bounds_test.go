package sampler

import (
	"math"
	"strings"
	"testing"
	"time"
)

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
		{1006, 1000, KindXLA, true}, {4221, 4200, KindXLA, false}, {4222, 4200, KindXLA, true}, {4179, 4200, KindXLA, false}, {4178, 4200, KindXLA, true}, {1000, 999, KindCUDA, true}, {1000, 1000, KindCUDA, false}} {
		a, b := OOMEvent{Kind: row.kind, Requested: Some(row.x)}, OOMEvent{Kind: row.kind, Requested: Some(row.y)}
		if got := a.otherRequest(&b); got != row.want {
			t.Errorf("%s: %d and %d are other requests: %v", row.kind, row.x, row.y, got)
		}
	}
}

// The last device is asked when the snapshot is due, those before it up to 10 ms apart, unless all are quick.
func TestSlots(t *testing.T) {
	at := noon.Truncate(time.Second).Add(ms(100))
	for name, row := range map[string]struct {
		n    int
		cost time.Duration // of each
		dev  int
		want time.Duration // before the snapshot is due
	}{
		"the last":            {4, ms(2), 3, 0},
		"the first":           {4, ms(2), 0, ms(30)},
		"a quick one":         {1, 0, 0, 0},
		"brief together":      {4, slotBrief/4 - 1, 0, 0},
		"just not brief":      {4, slotBrief / 4, 0, ms(30)},
		"many cheap ones":     {32, slotCheap - 1, 0, 0},
		"many that are not":   {32, slotCheap, 0, ms(31 * 10)},
		"more than have room": {100, ms(2), 0, ms(99 * 6)},
	} {
		s := newSchedule(time.Second, row.n, row.n, at)
		for i := range s.cost {
			s.cost[i] = row.cost
		}
		if got := noon.Truncate(time.Second).Add(time.Second).Sub(s.slot(row.dev, at)); got != row.want {
			t.Errorf("%s: asked %v before the snapshot, want %v", name, got, row.want)
		}
	}
	s := newSchedule(time.Second, 1, 1, at)
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
	for most, want := range map[int]string{6: "écoles", 5: "écol…", 2: "é…"} {
		if got := ClipAt("écoles", most); got != want {
			t.Errorf("room for %d: %q, want %q", most, got, want)
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

// A height is news when it is a hundredth of the memory above the most of late, or an eight hundredth above the peak;
// once in a window.
func TestHeight(t *testing.T) {
	var h height
	h.begin(8000, Some(Bytes(8000)))
	if h.forget(3000); h.above() != 3010 || h.see(3010) || !h.see(3011) {
		t.Errorf("%+v", h)
	}
	if h.shown(3011); h.above() != 3021 {
		t.Errorf("%+v", h)
	}
	h = height{record: 900}
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

// A sweep is told above what a list is wanted when there was one, none is on its way, and there is time for another.
func TestSweepIsToldWhenAListIsWanted(t *testing.T) {
	for name, row := range map[string]struct {
		listed, asked, spent, want bool
	}{
		"listed":          {true, false, false, true},
		"never listed":    {false, false, false, false},
		"on its way":      {true, true, false, false},
		"no time is left": {true, false, true, false},
	} {
		c := collected()
		c.reading(0, noon, reading(GiB), nil)
		c.lists.left(noon)
		if row.listed {
			c.list(0, noon, nil, nil)
		}
		if c.gpus[0].asked = row.asked; row.spent {
			c.spent(listBurst)
		}
		above := []uint64{0}
		if c.watchAbove([]int{0}, above, []uint64{0}, noon); (above[0] == uint64(GiB+staleBytes)) != row.want {
			t.Errorf("%s: above %v", name, Bytes(above[0]))
		}
	}
}

// A list is on its way to a picture when it was asked for, and there is news.
func TestListing(t *testing.T) {
	for _, row := range []struct{ news, asked bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		c := collected()
		c.gpus[0].height.news, c.gpus[0].asked = row.news, row.asked
		if got := c.listing(); got != (row.news && row.asked) {
			t.Errorf("%+v: %v", row, got)
		}
	}
}

// What is known of a GPU is told: how it is read when that is known, a window when there was a reading, and figures
// that could be read, or were a moment ago.
func TestSnapshotTellsWhatIsKnown(t *testing.T) {
	c := collected()
	c.counted([]int{0}, []int{3}, 0)
	s := c.shot(noon)
	if s.Sampling.Known() || s.GPUs[0].Memory.Window != nil {
		t.Errorf("before the first reading: sampling %v, window %+v", s.Sampling, s.GPUs[0].Memory.Window)
	}
	c.setSampling(Sampling{AskedSeconds: 0.02})
	if s := c.shot(noon); s.Sampling.Or(Sampling{}).AskedSeconds != 0.02 {
		t.Errorf("sampling %v", s.Sampling)
	}
	for err, want := range map[error]Opt[int]{ErrTransient: Some(60), ErrNotSupported: {}} {
		c.slow(0, noon, Metrics{Temperature: Some(60)}, nil, nil, nil)
		c.slow(0, noon, Metrics{}, err, nil, nil)
		if got := c.gpus[0].metrics.Temperature; got != want {
			t.Errorf("after %v the temperature is %v, want %v", err, got, want)
		}
	}
	for err, want := range map[error]bool{nil: true, ErrTransient: false, ErrNotSupported: true} {
		c := collected()
		if c.listed(c.gpus[0], noon, nil, err); c.gpus[0].told != want {
			t.Errorf("after %v the processes are told: %v", err, !want)
		}
	}
}
