package report

import (
	"math"
	"testing"
	"time"

	"nvpeak/sampler"
)

var nan = math.NaN()

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Bins double their width when they are full, and a silence longer than hold is a gap.
func TestBinsWiden(t *testing.T) {
	b := newBins(4)
	b.width = 1
	for _, v := range []float64{-1, nan} {
		b.add(v, 1, 1)
	}
	b.add(0, nan, 1)
	b.add(0, 1, nan)
	if len(b.low) != 0 {
		t.Errorf("%v", b.low)
	}
	for i, v := range []float64{5, 3, 4, 9} {
		b.add(float64(i), v, v+10)
	}
	if b.add(4, 1, 2); b.width != 2 || len(b.low) != 3 || b.low[0] != 3 || b.high[0] != 15 || b.low[1] != 4 || b.high[1] != 19 || b.high[2] != 2 {
		t.Errorf("width %v: %v %v", b.width, b.low, b.high)
	}
	if b.add(16, 7, 8); b.width != 8 || len(b.low) != 3 || b.low[0] != 1 || b.high[0] != 19 || !same(b.low[1], nan) || b.low[2] != 7 {
		t.Errorf("width %v: %v %v", b.width, b.low, b.high)
	}
	for hold, want := range map[float64]int{7: 3, 8: 2} { // 16 s lie between the two
		if got := b.points(hold); len(got) != want || want == 3 && (got[1].T != 8 || !math.IsNaN(got[1].High)) {
			t.Errorf("held for %v s: %v", hold, got)
		}
	}
}

func TestMedianAndMean(t *testing.T) {
	var h shares
	var a average
	if !math.IsNaN(h.median()) || !math.IsNaN(a.mean()) {
		t.Error("there is a middle of nothing")
	}
	h.add(5, 0, 1)
	h.add(5, 100, 0)
	h.add(nan, 100, 1)
	if h.weight != nil {
		t.Error("nothing is counted as something")
	}
	for _, v := range [][2]float64{{10, 2}, {90, 1}, {50, 1}, {200, 1}} {
		h.add(v[0], 100, v[1])
		a.add(v[0], v[1])
	}
	if h.median() != 50 || a.mean() != 72 {
		t.Errorf("median %v, mean %v", h.median(), a.mean())
	}
	if h.add(10, 100, 1); h.median() != 10 { // half of the time
		t.Errorf("median %v", h.median())
	}
}

// The most of a stretch is what was there, and without a point in it what was in force.
func TestHighest(t *testing.T) {
	plot := []Point{{T: 0, High: 9}, {T: 10, High: 5}, {T: 20, High: 7}}
	for _, row := range [][3]float64{{0, 10, 9}, {10, 20, 5}, {10, 21, 7}, {11, 20, 5}, {20, 20, 5}, {1, 10, 9}, {-9, 0, nan}, {30, 40, 7}} {
		if got := highest(plot, row[0], row[1]); !same(got, row[2]) {
			t.Errorf("from %v to %v: %v, want %v", row[0], row[1], got, row[2])
		}
	}
	phases := []Phase{{N: sampler.Some(1), T: 0, End: 1}, {N: sampler.Some(1), T: 20, End: 21}, {T: 0, End: 9}, {Kind: sampler.MarkSaving, N: sampler.Some(2), T: 0, End: 1},
		{N: sampler.Some(2), T: 10, End: 11}, {N: sampler.Some(3), T: 20, End: 21}}
	if epochGrowth(plot, phases).Known() {
		t.Error("three epochs have a growth")
	}
	phases = append(phases, Phase{N: sampler.Some(4), T: 0, End: 1})
	if got := epochGrowth(plot, phases); got != sampler.Some(1.0) { // 9, 5, 7, 9: slopes -4, -1, 0, 2, 2, 2
		t.Errorf("an epoch adds %v", got)
	}
}

// What a window saw counts where it can be, and belongs to this recording.
func TestWindowBounds(t *testing.T) {
	start := time.Unix(1000, 0)
	l := &timeline{start: start, at: start.Add(time.Minute)}
	window := func(change func(*sampler.Window)) *sampler.Window {
		w := &sampler.Window{Readings: 1, Min: 20, Max: 80, MaxTime: start.Add(time.Second)}
		change(w)
		return w
	}
	for name, row := range map[string]struct {
		w    *sampler.Window
		high float64
		at   time.Time
	}{
		"plain":             {window(func(w *sampler.Window) {}), 80, start.Add(time.Second)},
		"all of the GPU":    {window(func(w *sampler.Window) { w.Max = 100 }), 100, start.Add(time.Second)},
		"more":              {window(func(w *sampler.Window) { w.Max = 101 }), 50, l.at},
		"cannot be":         {window(func(w *sampler.Window) { w.Max = sampler.MaxPlausible }), 50, l.at},
		"nothing read":      {window(func(w *sampler.Window) { w.Readings = 0 }), 50, l.at},
		"one value":         {window(func(w *sampler.Window) { w.Min = 80 }), 80, start.Add(time.Second)},
		"upside down":       {window(func(w *sampler.Window) { w.Min = 81 }), 50, l.at},
		"at the start":      {window(func(w *sampler.Window) { w.MaxTime = start }), 80, start},
		"before":            {window(func(w *sampler.Window) { w.MaxTime = start.Add(-1) }), 50, l.at},
		"of no time":        {window(func(w *sampler.Window) { w.MaxTime = time.Time{} }), 80, l.at},
		"after the reading": {window(func(w *sampler.Window) { w.MaxTime = l.at.Add(1) }), 80, l.at},
		"none":              {nil, 50, l.at},
	} {
		c := newGPUFold(sampler.GPUKey{})
		c.used, c.total, c.gpu.Memory.Window = 50, 100, row.w
		if low, high, at := c.window(l); high != row.high || !at.Equal(row.at) || low > high {
			t.Errorf("%s: %v to %v at %v", name, low, high, at)
		}
	}
	c := newGPUFold(sampler.GPUKey{})
	c.used, c.gpu.Memory.Window = 50, window(func(w *sampler.Window) { w.Max = 999 })
	if _, high, _ := c.window(l); high != 999 {
		t.Errorf("of a GPU whose total nobody tells: up to %v", high)
	}
	for usable, want := range map[float64]bool{0: false, 1: true} {
		c.usable = usable
		if free, ok := c.freeAt(0.25); ok != want || free != max(0, usable-0.25) {
			t.Errorf("usable %v: %v free, known %v", usable, free, ok)
		}
	}
}

// holding is a report of two GPUs of 48 GiB with processes of some GiB on each.
func holding(gib ...[]int) *Reporter {
	r := New(Options{Outline: true})
	s := sampler.Snapshot{Time: time.Unix(1000, 0)}
	for i, list := range gib {
		g := sampler.GPU{Index: i, UUID: string(rune('A' + i)), Memory: sampler.Memory{Total: sampler.Some(48 * sampler.GiB), Used: sampler.Some(40 * sampler.GiB)}}
		for j, n := range list {
			g.Processes = append(g.Processes, sampler.Process{PID: 10*(i+1) + j, Memory: sampler.Some(sampler.Bytes(n) * sampler.GiB)})
		}
		s.GPUs = append(s.GPUs, g)
	}
	r.Snapshot(&s)
	return r
}

// A message without a pid of this machine is of the process whose memory fits, or the largest.
func TestBySize(t *testing.T) {
	gib := func(n float64) sampler.Opt[sampler.Bytes] {
		return sampler.Some(sampler.Bytes(n * float64(sampler.GiB)))
	}
	r := holding([]int{10, 20}, []int{30})
	for name, row := range map[string]struct {
		event sampler.OOMEvent
		pid   int
	}{
		"the largest":              {sampler.OOMEvent{}, 20},
		"the largest of its GPU":   {sampler.OOMEvent{GPUIndex: sampler.Some(0)}, 11},
		"by size, on another GPU":  {sampler.OOMEvent{GPUIndex: sampler.Some(1), ProcessInUse: gib(10)}, 10},
		"within 2 % and a GiB":     {sampler.OOMEvent{ProcessInUse: gib(21.4)}, 11},
		"beyond":                   {sampler.OOMEvent{ProcessInUse: gib(21.5)}, 0},
		"by what it allocated":     {sampler.OOMEvent{Allocated: gib(8), ReservedUnallocated: gib(1.5)}, 10},
		"by what it reserved":      {sampler.OOMEvent{Reserved: gib(19)}, 11},
		"on a GPU of another size": {sampler.OOMEvent{GPUTotal: gib(43)}, 0},
		"of about that size":       {sampler.OOMEvent{GPUTotal: gib(44)}, 20},
		"a larger one":             {sampler.OOMEvent{GPUTotal: gib(53)}, 0},
		"not much larger":          {sampler.OOMEvent{GPUTotal: gib(52.7)}, 20},
		"a pid that is known":      {sampler.OOMEvent{PID: sampler.Some(10)}, 10},
		"of host memory":           {sampler.OOMEvent{MemoryKind: sampler.MemoryHost}, 0},
	} {
		if got := r.meant(row.event, 0).PID.Or(0); got != row.pid {
			t.Errorf("%s: process %d, want %d", name, got, row.pid)
		}
	}
	if got := holding([]int{10, 10}).meant(sampler.OOMEvent{}, 0).PID.Or(0); got != 10 {
		t.Errorf("of two that hold the same: process %d", got)
	}
	only := holding([]int{10})
	if got := only.meant(sampler.OOMEvent{GPUIndex: sampler.Some(5)}, 0).PID.Or(0); got != 10 {
		t.Errorf("on the only GPU: process %d", got)
	}
}

// The exit of a failure is the nearest within two minutes, the larger of two, and that of its process where it was listed.
func TestExitNear(t *testing.T) {
	r := New(Options{Outline: true})
	r.procs[sampler.ProcessKey{PID: 3}] = &processFold{}
	for _, x := range []Exit{{T: 100, PID: 1, Bytes: 5}, {T: 140, PID: 2, Bytes: 9}, {T: 300, PID: 3, Bytes: 1}, {T: 300, PID: 4, Bytes: 2}, {T: 600, PID: 5, Bytes: 2}, {T: 600, PID: 6, Bytes: 1}} {
		r.exits = append(r.exits, exit{Exit: x})
	}
	for at, want := range map[float64]int{100: 1, 119: 1, 120: 2, 121: 2, 300: 4, 420: 4, 421: 0, 600: 5} {
		got := 0
		if x := r.exitNear(&failed{t: at}); x != nil {
			got = x.PID
		}
		if got != want {
			t.Errorf("at %v: process %d, want %d", at, got, want)
		}
	}
	if x := r.exitNear(&failed{t: 300, event: sampler.OOMEvent{PID: sampler.Some(3)}}); x == nil || x.PID != 3 {
		t.Errorf("of a process that was listed: %+v", x)
	}
	if x := r.exitNear(&failed{t: 300, event: sampler.OOMEvent{PID: sampler.Some(9)}}); x == nil || x.PID != 4 {
		t.Errorf("of a process that never was: %+v", x)
	}
	if x := r.exitNear(&failed{t: 300, gpu: sampler.Some(1)}); x != nil {
		t.Errorf("on another GPU: %+v", x)
	}
	if x := r.exitNear(&failed{t: 300, gpu: sampler.Some(1), event: sampler.OOMEvent{PID: sampler.Some(3)}}); x == nil || x.PID != 3 {
		t.Errorf("of a process that is on two: %+v", x)
	}
}

// The alerts that tell of a failure's cause were open within a quarter of an hour before, on its GPU or of the machine.
func TestOpenAt(t *testing.T) {
	r := New(Options{Outline: true})
	for name, row := range map[string]struct {
		alert sampler.Alert
		want  bool
	}{
		"open":                     {sampler.Alert{T: 999, Level: sampler.LevelWarning}, true},
		"at the same time":         {sampler.Alert{T: 1000, Level: sampler.LevelWarning}, false},
		"over for a quarter":       {sampler.Alert{T: 1, End: sampler.Some(100.0), Level: sampler.LevelWarning}, true},
		"over for longer":          {sampler.Alert{T: 1, End: sampler.Some(99.0), Level: sampler.LevelWarning}, false},
		"a notice":                 {sampler.Alert{T: 1, Level: sampler.LevelNotice}, false},
		"a notice of an imbalance": {sampler.Alert{T: 1, Level: sampler.LevelNotice, Kind: sampler.AlertImbalance}, true},
	} {
		r.alerts = []sampler.Alert{row.alert}
		if got := len(r.openAt(failed{t: 1000})) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	one := holding([]int{10})
	for gpu, want := range map[int]int{0: 1, 1: 0} {
		one.alerts = []sampler.Alert{{T: 1, GPU: sampler.Some(gpu), Level: sampler.LevelWarning}}
		if got := len(one.openAt(failed{t: 1000})); got != want {
			t.Errorf("of GPU %d: %d alerts", gpu, got)
		}
	}
}

// The exit that looks most like a failure was on a GPU nine tenths full, or had a warning open.
func TestSuspicious(t *testing.T) {
	warning := []sampler.Alert{{Level: sampler.LevelWarning}}
	for name, row := range map[string]struct {
		exits []exit
		want  int // pid, 0: none
	}{
		"full":             {[]exit{{Exit: Exit{PID: 1, Full: 0.9}}}, 1},
		"less":             {[]exit{{Exit: Exit{PID: 1, Full: 0.89}}}, 0},
		"with a warning":   {[]exit{{Exit: Exit{PID: 1, Full: 0.95}}, {Exit: Exit{PID: 2, Full: 0.1}, open: warning}}, 2},
		"with a notice":    {[]exit{{Exit: Exit{PID: 1, Full: 0.5}, open: []sampler.Alert{{Level: sampler.LevelNotice}}}}, 0},
		"of another GPU":   {[]exit{{Exit: Exit{PID: 1, Full: 0.5}, open: []sampler.Alert{{Level: sampler.LevelWarning, GPU: sampler.Some(4)}}}}, 0},
		"the first of two": {[]exit{{Exit: Exit{PID: 1, Full: 0.95}}, {Exit: Exit{PID: 2, Full: 0.95}}}, 1},
	} {
		r := New(Options{Outline: true})
		r.exits = row.exits
		got := 0
		if x := r.suspicious(); x != nil {
			got = x.PID
		}
		if got != row.want {
			t.Errorf("%s: process %d, want %d", name, got, row.want)
		}
	}
}
