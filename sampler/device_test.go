package sampler

import (
	"fmt"
	"testing"
	"time"
)

// Where a slow list has several processes and the memory has fallen since, nobody says that nothing is unattributed.
func TestOutrunList(t *testing.T) {
	for name, row := range map[string]struct {
		took time.Duration
		used Bytes
		pids int
		want Opt[Bytes]
	}{
		"slow":              {2*listTakes + 1, 10 * GiB, 2, Opt[Bytes]{}},
		"quick":             {2 * listTakes, 10 * GiB, 2, Some(Bytes(0))},
		"slow, risen":       {time.Second, 30 * GiB, 2, Some(10 * GiB)},
		"slow, about as it": {time.Second, 20*GiB - staleBytes, 2, Some(Bytes(0))},
		"slow, of one":      {time.Second, 10 * GiB, 1, Some(Bytes(0))}, // it gave the memory back
	} {
		c := collected()
		c.reading(0, noon, reading(20*GiB), nil)
		var procs []Process
		for i := range row.pids {
			procs = append(procs, Process{PID: 1 + i, Memory: Some(20 * GiB / Bytes(row.pids))})
		}
		c.listTook(0, row.took)
		c.slow(0, noon, Metrics{}, nil, procs, nil)
		c.reading(0, noon.Add(ms(500)), reading(row.used), nil)
		if got := c.shot(noon.Add(ms(600))).GPUs[0].Memory.Unattributed; got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// The age that an error tells is read from it again.
func TestUnanswered(t *testing.T) {
	for text, want := range map[string]string{
		silence(fmt.Sprintf("%v: a driver call (memory) has not returned", ErrNotAnswering), noon, noon.Add(72*time.Second)): "not answering (72 s) 1m12s true",
		fmt.Errorf("%w (%.0f s): process list", ErrStale, 4.2).Error():                                                       "out of date (4 s) 4s true",
		"memory: not answering (3 s): a driver call (memory) has not returned":                                               "memory: not answering (3 s) 3s true",
		"not answering: a driver call (memory) has not returned":                                                             " 0s false",
		"not answering (x s)": " 0s false", "not answering (": " 0s false", "GPU is lost (5 s)": " 0s false", "": " 0s false",
	} {
		head, age, told := Unanswered(text)
		if got := fmt.Sprintf("%s %v %v", head, age, told); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

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
	for wait, want := range map[time.Duration]bool{ms(900) - 1: false, ms(900): true} {
		if got := c.due(0, noon.Add(wait)); got != want {
			t.Errorf("after %v: due %v", wait, got)
		}
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
	if free := (Memory{Total: Some(Bytes(100)), Free: Some(Bytes(100))}).PlausibleFree(); free.Or(0) != 100 {
		t.Errorf("of a GPU that is all free %v are", free)
	}
	if m := m(0, 5, 5, 0); m.PlausibleTotal().Known() || m.PlausibleUsed().Known() || m.PlausibleFree().Known() {
		t.Error("something is known of no memory")
	}
}

// What no process holds is as measured, else the use less all processes, where there are some and all are known.
func TestPlausibleUnattributed(t *testing.T) {
	some := func(n Bytes) Opt[Bytes] { return Some(n) }
	gpu := func(own Opt[Bytes], list ...Opt[Bytes]) *GPU {
		g := &GPU{Memory: Memory{Total: some(100), Used: some(30), Unattributed: own}}
		for _, m := range list {
			g.Processes = append(g.Processes, Process{Memory: m})
		}
		return g
	}
	for name, row := range map[string]struct {
		g    *GPU
		want int // -1: unknown
	}{
		"as measured":     {gpu(some(7), some(20)), 7},
		"cannot be":       {gpu(some(MaxPlausible), some(20)), 10},
		"the rest":        {gpu(Opt[Bytes]{}, some(20), some(4)), 6},
		"more than used":  {gpu(Opt[Bytes]{}, some(20), some(14)), 0},
		"one is unknown":  {gpu(Opt[Bytes]{}, some(20), Opt[Bytes]{}), -1},
		"no process":      {gpu(Opt[Bytes]{}), -1},
		"no use is known": {&GPU{Processes: []Process{{Memory: some(1)}}}, -1},
	} {
		got := -1
		if u, ok := row.g.PlausibleUnattributed(); ok {
			got = int(u)
		}
		if got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// All have answered when of each GPU the memory is known and the processes, or why not.
func TestWhole(t *testing.T) {
	for name, row := range map[string]struct {
		second device // the first has told everything
		want   bool
	}{
		"both":                 {device{heard: true, told: true}, true},
		"no memory yet":        {device{told: true}, false},
		"no processes yet":     {device{heard: true}, false},
		"a lost one":           {device{heard: true, memErr: ErrLost}, true},
		"memory not supported": {device{heard: true, memErr: ErrNotSupported}, false},
	} {
		c := newCollector()
		c.gpus = []*device{{heard: true, told: true}, &row.second}
		if got := c.whole(); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// An error of a GPU that does not answer says for how long that is so, where it has answered before.
func TestSilence(t *testing.T) {
	for text, want := range map[string]string{
		"not answering: a driver call (memory) has not returned":   "not answering (12 s): a driver call (memory) has not returned",
		"not answering for 10 s: not ready: memory (TIMEOUT)":      "not answering for 10 s: not ready: memory (TIMEOUT)",
		"GPU is lost: memory (GPU_IS_LOST)":                        "GPU is lost: memory (GPU_IS_LOST)",
		"driver connection lost: not answering: what was asked of": "driver connection lost: not answering: what was asked of",
	} {
		if got := silence(text, noon, noon.Add(12*time.Second)); got != want {
			t.Errorf("%q", got)
		}
		if got := silence(text, time.Time{}, noon); got != text {
			t.Errorf("never answered: %q", got)
		}
	}
}
