package sampler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// collected is a collector of one GPU.
func collected() *collector {
	c := newCollector()
	c.adopt(devices("GPU-0"))
	return c
}

func (c *collector) shot(at time.Time) *Snapshot { return c.snapshot(at, "box7", Opt[HostMemory]{}) }

func TestWindow(t *testing.T) {
	c := collected()
	for i, gib := range []Bytes{9, 9, 47, 47, 3, 12} {
		c.reading(0, noon.Add(ms(20*i)), reading(gib*GiB), nil)
	}
	c.missed(2)
	m := c.shot(noon.Add(ms(120))).GPUs[0].Memory
	want := Window{Min: 3 * GiB, Max: 47 * GiB, MaxTime: noon.Add(ms(40)), Readings: 6, Missed: 2, Falls: Some(0)}
	if m.Window == nil || *m.Window != want {
		t.Errorf("window %+v, want %+v", m.Window, want)
	}
	if m.Used.Or(0) != 12*GiB || *m.Peak != (Peak{47 * GiB, noon.Add(ms(40)), PeakSampled}) || m.WorstFree.Or(0) != 32*GiB {
		t.Errorf("used %v, peak %+v, least free %v", m.Used, m.Peak, m.WorstFree)
	}
	next := c.shot(noon.Add(ms(140))).GPUs[0].Memory
	if next.Window != nil {
		t.Errorf("a new window without readings is %+v", next.Window)
	}
	c.reading(0, noon.Add(ms(160)), reading(5*GiB), nil)
	last := c.shot(noon.Add(ms(180))).GPUs[0].Memory
	if *last.Window != (Window{Min: 5 * GiB, Max: 5 * GiB, MaxTime: noon.Add(ms(160)), Readings: 1, Falls: Some(0)}) || last.Peak.Bytes != 47*GiB {
		t.Errorf("the window after is %+v, peak %+v", last.Window, last.Peak)
	}
	if *m.Window != want {
		t.Error("a published window was changed")
	}
}

func TestFailedReadings(t *testing.T) {
	at := noon
	for _, row := range []struct {
		name  string
		err   error
		shown bool          // the last value stays
		error bool          // the GPU says why
		again time.Duration // asked again after
	}{
		{"transient", fmt.Errorf("memory: %w", ErrTransient), true, false, 0},
		{"lost", fmt.Errorf("memory: %w", ErrLost), false, true, ms(900)},
		{"no permission", ErrNoPermission, true, false, ms(900)}, // it was
		{"not supported", ErrNotSupported, true, false, ms(900)}, // it was
		{"unknown", fmt.Errorf("driver says 999\x1b[31m"), false, true, ms(900)},
	} {
		c := collected()
		c.reading(0, at, reading(9*GiB), nil)
		c.slow(0, at, Metrics{Temperature: Some(60)}, nil, []Process{{PID: 1, Memory: Some(GiB)}}, nil)
		c.reading(0, at.Add(ms(20)), Reading{}, row.err)
		g := c.shot(at.Add(ms(40))).GPUs[0]
		if g.Memory.Used.Known() != row.shown || g.Error.Known() != row.error || g.Error.Or("") != Clean(g.Error.Or("")) {
			t.Errorf("%s: used %v, error %v", row.name, g.Memory.Used, g.Error)
		}
		if row.error && (g.Temperature.Known() || len(g.Processes) > 0 || g.Memory.Peak == nil || g.Memory.Peak.Bytes != 9*GiB) {
			t.Errorf("%s: old figures are shown: %+v", row.name, g)
		}
		if !c.due(0, at.Add(ms(20)).Add(row.again)) || row.again > 0 && c.due(0, at.Add(ms(19)).Add(row.again)) {
			t.Errorf("%s: is not asked again after %v", row.name, row.again)
		}
		c.reading(0, at.Add(time.Minute), reading(8*GiB), nil)
		c.slow(0, at.Add(time.Minute), Metrics{Temperature: Some(60)}, nil, nil, nil)
		if g := c.shot(at.Add(time.Minute)).GPUs[0]; g.Memory.Used.Or(0) != 8*GiB || g.Error.Known() || g.Temperature.Or(0) != 60 {
			t.Errorf("%s: after it answers again, used is %v, error %v", row.name, g.Memory.Used, g.Error)
		}
	}
}

// TestStaleMemory: whatever the driver says, no reading older than 3 s is shown without a word,
// and that word has the age.
func TestStaleMemory(t *testing.T) {
	for _, why := range []error{
		ErrNotSupported, fmt.Errorf("%w: memory (NOT_SUPPORTED)", ErrNotSupported), fmt.Errorf("%w: memory (TIMEOUT)", ErrTransient), ErrLost, ErrNoPermission,
		fmt.Errorf("code 999"), nil,
	} {
		c := collected()
		c.reading(0, noon, reading(9*GiB), nil)
		c.slow(0, noon, Metrics{Temperature: Some(60)}, nil, []Process{{PID: 1, Memory: Some(GiB)}}, nil)
		for at := noon.Add(ms(20)); at.Before(noon.Add(10 * time.Second)); at = at.Add(ms(500)) {
			if why != nil {
				c.reading(0, at, Reading{}, why)
			}
			age := at.Sub(noon)
			g := c.shot(at).GPUs[0]
			if age > freshFor && !g.Error.Known() || why == nil && age < freshFor && g.Error.Known() {
				t.Fatalf("%v: after %v used is %v, error %v", why, age, g.Memory.Used, g.Error)
			}
			if text := fmt.Sprintf("out of date (%.0f s)", age.Seconds()); age > freshFor && !strings.Contains(g.Error.Or(""), text) && g.Temperature.Known() {
				t.Fatalf("%v: error %v, want %q", why, g.Error, text)
			}
			if age > freshFor && (g.Memory.Used.Known() || g.Memory.Free.Known()) {
				t.Fatalf("%v: after %v memory is %+v", why, age, g.Memory)
			}
		}
		c.reading(0, noon.Add(10*time.Second), reading(8*GiB), nil)
		c.slow(0, noon.Add(10*time.Second), Metrics{}, nil, nil, nil)
		if g := c.shot(noon.Add(10 * time.Second)).GPUs[0]; g.Error.Known() || g.Memory.Used.Or(0) != 8*GiB {
			t.Errorf("%v: back, used is %v, error %v", why, g.Memory.Used, g.Error)
		}
	}
}

// TestStaleMemoryByWish: who asks for a reading every 10 s has readings that old.
func TestStaleMemoryByWish(t *testing.T) {
	c := collected()
	c.setSampling(newRateLimiter(10*time.Second, 1).sampling())
	c.reading(0, noon, reading(9*GiB), nil)
	if g := c.shot(noon.Add(10 * time.Second)).GPUs[0]; g.Error.Known() {
		t.Errorf("error %v", g.Error)
	}
	if g := c.shot(noon.Add(12 * time.Second)).GPUs[0]; !g.Error.Known() || g.Memory.Used.Known() {
		t.Errorf("later: used %v, error %v", g.Memory.Used, g.Error)
	}
}

// TestNeverRead: a GPU that has no memory figures (a vGPU) says why, and what to do; its other figures stand.
func TestNeverRead(t *testing.T) {
	c := collected()
	c.reading(0, noon, Reading{}, ErrNotSupported)
	c.slow(0, noon, Metrics{Temperature: Some(60)}, nil, nil, nil)
	if g := c.shot(noon.Add(time.Second)).GPUs[0]; g.Error.Or("") != "not supported; "+RemedyDriver || g.Temperature.Or(0) != 60 {
		t.Errorf("error %v, %v", g.Error, g.Temperature)
	}
	if c.due(0, noon.Add(29*time.Second)) || !c.due(0, noon.Add(30*time.Second)) {
		t.Error("it is not asked again after 30 s")
	}
}

func TestSlowAnswers(t *testing.T) {
	c := collected()
	c.reading(0, noon, reading(9*GiB), nil)
	mine := []Process{{PID: 1, Memory: Some(GiB)}}
	c.slow(0, noon, Metrics{Temperature: Some(60), Throttle: []string{"power"}}, nil, mine, nil)
	c.traffic(0, noon, Some(uint64(5)), Some(uint64(6)))
	first := c.shot(noon)
	c.slow(0, noon, Metrics{Temperature: Some(99)}, ErrTransient, nil, ErrTransient)
	if g := c.shot(noon).GPUs[0]; g.Temperature.Or(0) != 60 || len(g.Processes) != 1 || g.PCIe.RX.Or(0) != 5 {
		t.Errorf("after a transient error: %+v", g.Metrics)
	}
	c.slow(0, noon, Metrics{Fan: Some(30)}, nil, nil, ErrNoPermission)
	g := c.shot(noon).GPUs[0]
	if g.Temperature.Known() || g.Fan.Or(0) != 30 || g.PCIe.TX.Or(0) != 6 || g.Throttle == nil {
		t.Errorf("what could not be read is shown: %+v", g.Metrics)
	}
	if len(g.Processes) != 0 || g.Memory.Unattributed.Known() || g.Processes == nil {
		t.Errorf("without a list: processes %v, unattributed %v", g.Processes, g.Memory.Unattributed)
	}
	if p := first.GPUs[0].Processes; len(p) != 1 || p[0].PID != 1 || first.GPUs[0].Temperature.Or(0) != 60 {
		t.Error("a published snapshot was changed")
	}
	if mine[0].Peak != nil {
		t.Error("the source's list was changed")
	}
}

// TestOldTraffic: traffic that is read seldom stands for 3 s, or until the next snapshot of who asks for them more seldom.
func TestOldTraffic(t *testing.T) {
	c := collected()
	c.traffic(0, noon, Some(uint64(5)), Some(uint64(6)))
	for _, row := range []struct {
		at    time.Duration
		known bool
	}{{0, true}, {time.Second, true}, {3 * time.Second, true}, {4 * time.Second, false}} {
		if g := c.shot(noon.Add(row.at)).GPUs[0]; g.PCIe.RX.Known() != row.known || g.PCIe.TX.Known() != row.known {
			t.Errorf("after %v: %+v", row.at, g.PCIe)
		}
	}
	c.traffic(0, noon.Add(5*time.Second), Some(uint64(5)), Some(uint64(6)))
	c.shot(noon.Add(5 * time.Second))
	if g := c.shot(noon.Add(time.Minute)).GPUs[0]; !g.PCIe.RX.Known() {
		t.Error("who asks each minute has none")
	}
}

// TestMetricsNotReady: metrics that stay as they were, for the driver is not ready, grow old.
func TestMetricsNotReady(t *testing.T) {
	c := collected()
	c.reading(0, noon, reading(9*GiB), nil)
	c.slow(0, noon, Metrics{Temperature: Some(60)}, nil, nil, nil)
	for at := noon.Add(time.Second); !at.After(noon.Add(5 * time.Second)); at = at.Add(time.Second) {
		c.reading(0, at, reading(9*GiB), nil)
		c.slow(0, at, Metrics{}, ErrTransient, nil, nil)
		if g := c.shot(at).GPUs[0]; g.Error.Known() != (at.Sub(noon) > freshFor) {
			t.Errorf("after %v: temperature %v, error %v", at.Sub(noon), g.Temperature, g.Error)
		}
	}
}

func TestFailedCalls(t *testing.T) {
	for _, row := range []struct {
		kind                        string
		memory, temperature, rx, pr bool // what is shown still
	}{
		{callMemory, false, false, false, false},
		{callSlow, true, false, true, false},
		{callTraffic, true, true, false, true},
	} {
		c := collected()
		c.reading(0, noon, reading(9*GiB), nil)
		c.slow(0, noon, Metrics{Temperature: Some(60)}, nil, []Process{{PID: 1}}, nil)
		c.traffic(0, noon, Some(uint64(5)), Some(uint64(6)))
		c.failed(0, row.kind, fmt.Errorf("%w: a call", ErrNotAnswering))
		c.failed(7, row.kind, ErrNotAnswering) // of a connection before
		c.failed(-1, row.kind, ErrNotAnswering)
		g := c.shot(noon).GPUs[0]
		if g.Memory.Used.Known() != row.memory || g.Temperature.Known() != row.temperature ||
			g.PCIe.RX.Known() != row.rx || (len(g.Processes) == 1) != row.pr || !g.Error.Known() {
			t.Errorf("%s does not answer: used %v, temperature %v, rx %v, %d processes, error %v",
				row.kind, g.Memory.Used, g.Temperature, g.PCIe.RX, len(g.Processes), g.Error)
		}
	}
}

// TestSumsAddUp: used + reserved + free = total, and what processes hold and what nobody
// holds is what is used, unless the processes say they hold more.
func TestSumsAddUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 9))
	for range 5000 {
		c := collected()
		amount := func(most Bytes) Bytes { return Bytes(rnd.Uint64N(uint64(most) + 1)) }
		before, now := amount(79*GiB), amount(79*GiB)
		if rnd.IntN(2) == 0 {
			now = before
		}
		var procs []Process
		for range rnd.IntN(5) {
			p := Process{PID: rnd.IntN(9)}
			switch rnd.IntN(8) {
			case 0:
			case 1:
				p.Memory = Some(amount(^Bytes(0) - 1))
			default:
				p.Memory = Some(amount(before / 4))
			}
			procs = append(procs, p)
		}
		c.reading(0, noon, reading(before), nil)
		c.slow(0, noon, Metrics{}, nil, procs, nil)
		c.reading(0, noon.Add(ms(20)), reading(now), nil)
		g := c.shot(noon.Add(ms(30))).GPUs[0]
		m := g.Memory
		if m.Used.Or(0)+m.Reserved.Or(0)+m.Free.Or(0) != m.Total.Or(0) {
			t.Fatalf("used %v + reserved %v + free %v is not %v", m.Used, m.Reserved, m.Free, m.Total)
		}
		sum := 0.0
		for i := range g.Processes {
			sum += float64(g.Processes[i].Memory.Or(0))
		}
		got, known := m.Unattributed.Value()
		if !known || float64(got) > max(float64(now)-sum, 0)+1 || sum <= float64(now) && float64(got) < float64(now)-sum-1 {
			t.Fatalf("used %v, processes %.0f, unattributed %v", now, sum, m.Unattributed)
		}
	}
}

// A list that is not ready stands in for 3 s; then it is said why there is none.
func TestListNotReady(t *testing.T) {
	c := collected()
	notReady := fmt.Errorf("%w: compute processes (UNKNOWN)", ErrTransient)
	c.reading(0, noon, reading(9*GiB), nil)
	c.slow(0, noon, Metrics{}, nil, []Process{{PID: 7, Memory: Some(4 * GiB)}}, nil)
	for _, row := range []struct {
		after time.Duration
		err   error
		procs int
		text  string
	}{
		{freshFor, notReady, 1, ""},
		{freshFor + 1, notReady, 0, notReady.Error()},
		{5 * time.Second, fmt.Errorf("%w: compute processes", ErrNotSupported), 0, "not supported: compute processes"}, // it once was
		{6 * time.Second, notReady, 0, notReady.Error()},
		{7 * time.Second, nil, 1, ""},
		{7*time.Second + 1, ErrNotAnswering, 0, "not answering"},
	} {
		at := noon.Add(row.after)
		c.reading(0, at, reading(9*GiB), nil)
		var list []Process
		if row.err == nil {
			list = []Process{{PID: 7, Memory: Some(4 * GiB)}}
		}
		c.slow(0, at, Metrics{}, nil, list, row.err)
		if g := c.shot(at).GPUs[0]; len(g.Processes) != row.procs || g.Error.Or("") != row.text || !g.Memory.Used.Known() {
			t.Errorf("after %v: %d processes, error %q, used %v", row.after, len(g.Processes), g.Error.Or(""), g.Memory.Used)
		}
	}
}

// A list and figures that are seldom read, for the driver is slow, have their age; what nobody holds is then not known.
func TestOldList(t *testing.T) {
	for _, row := range []struct {
		after time.Duration
		list  bool // read out of turn meanwhile
		text  string
	}{
		{freshFor, false, ""},
		{freshFor + 1, false, "out of date (3 s): utilization, power, clocks, temperature"}, // older than the list, or as old
		{8 * time.Second, false, "out of date (8 s): utilization, power, clocks, temperature"},
		{8 * time.Second, true, "out of date (8 s): utilization, power, clocks, temperature"},
	} {
		c, at := collected(), noon.Add(row.after)
		procs := []Process{{PID: 7, Memory: Some(4 * GiB)}}
		c.reading(0, noon, reading(9*GiB), nil)
		c.slow(0, noon, Metrics{Temperature: Some(60)}, nil, procs, nil)
		c.reading(0, at, reading(9*GiB), nil)
		if row.list {
			c.list(0, at, procs, nil)
		}
		fresh := row.list || row.text == ""
		if g := c.shot(at).GPUs[0]; g.Error.Or("") != row.text || len(g.Processes) != 1 || g.Memory.Unattributed.Known() != fresh ||
			g.Temperature.Known() != (row.text == "") { // a plot of it would go on flat
			t.Errorf("%+v: error %q, %d processes, unattributed %v, temperature %v", row, g.Error.Or(""), len(g.Processes), g.Memory.Unattributed, g.Temperature)
		}
	}
}

// Memory that has not answered yet has its reason, however early the snapshot; what else there is may take its time.
func TestUnheard(t *testing.T) {
	c := collected()
	c.opened = noon
	at := noon.Add(100 * time.Millisecond)
	if g := c.shot(at).GPUs[0]; g.Error.Or("") != "not ready: no answer for 0.1 s (memory)" {
		t.Errorf("error %q", g.Error.Or(""))
	}
	c.reading(0, at, reading(9*GiB), nil)
	if g := c.shot(at).GPUs[0]; g.Error.Known() {
		t.Errorf("with memory: error %q", g.Error.Or(""))
	}
	if g := c.shot(noon.Add(settleMost)).GPUs[0]; !g.Error.Known() {
		t.Error("without figures or a process list: no error")
	}
}

// Memory that is not ready from the start has its reason.
func TestMemoryNotReadyAtStart(t *testing.T) {
	c := collected()
	c.reading(0, noon, Reading{}, fmt.Errorf("%w: memory (TIMEOUT)", ErrTransient))
	if g := c.shot(noon).GPUs[0]; g.Error.Or("") != "not ready: memory (TIMEOUT); "+RemedyLog {
		t.Errorf("error %q", g.Error.Or(""))
	}
	c.reading(0, noon, reading(9*GiB), nil)
	if g := c.shot(noon).GPUs[0]; g.Error.Known() {
		t.Errorf("error %q", g.Error.Or(""))
	}
}

// A driver that gives no figure that can be says so: the last one stands in for 3 s, from the start there is none.
func TestImplausibleMemory(t *testing.T) {
	odd := []Reading{{Used: 9 * GiB}, {Total: 80 * GiB, Used: math.MaxUint64}}
	for _, r := range odd {
		c := collected()
		c.reading(0, noon, r, nil)
		if g := c.shot(noon).GPUs[0]; g.Memory.Used.Known() || !strings.HasPrefix(g.Error.Or(""), ErrImplausible.Error()) {
			t.Errorf("%v at the start: used %v, error %q", r, g.Memory.Used, g.Error.Or(""))
		}
		c.reading(0, noon, reading(9*GiB), nil)
		for after, known := range map[time.Duration]bool{freshFor: true, freshFor + 1: false} {
			at := noon.Add(after)
			c.reading(0, at, r, nil)
			if g := c.shot(at).GPUs[0]; g.Memory.Used.Known() != known || strings.Contains(g.Error.Or(""), ErrImplausible.Error()) == known {
				t.Errorf("%v, %v after a good one: used %v, error %q", r, after, g.Memory.Used, g.Error.Or(""))
			}
		}
	}
}

// TestListBudgetCounts: of lists that cost next to nothing, five a second are read for small rises in the long run, and for
// each big one.
func TestListBudgetCounts(t *testing.T) {
	for cost, want := range map[time.Duration]struct{ small, big int }{0: {5, 200}, time.Millisecond: {5, 20}, ms(20): {1, 1}} {
		for _, onlyBig := range []bool{false, true} {
			b, n := listBudget{}, 0
			for at := noon; at.Before(noon.Add(100 * time.Second)); at = at.Add(ms(5)) {
				if big, small := b.left(at); small || onlyBig && big {
					b.spend(cost)
					n++
				}
			}
			if want := map[bool]int{false: want.small, true: want.big}[onlyBig]; n/100 != want {
				t.Errorf("lists of %v, for big rises %v: %d in 100 s, want %d a second", cost, onlyBig, n, want)
			}
		}
	}
}

// TestBigRiseAmongSmall: where small rises have used up their lists, a big one has its own.
func TestBigRiseAmongSmall(t *testing.T) {
	c, at := collected(), noon
	c.reading(0, at, reading(10*GiB), nil)
	c.list(0, at, nil, nil)
	lists := func(used Bytes) (n int) {
		for range 200 {
			at = at.Add(ms(100))
			c.list(0, at.Add(-staleAfter), nil, nil) // what memory was at rest
			if _, stale := c.reading(0, at, reading(used), nil); stale {
				c.spent(0)
				n++
			}
			c.reading(0, at, reading(10*GiB), nil)
		}
		return n
	}
	c.lists.credit, c.lists.small = listBurst, -listBurst
	c.lists.at = at.Add(time.Hour) // nothing is earned meanwhile
	if n := lists(10*GiB + 2*staleBytes); n != 0 {
		t.Errorf("%d lists for small rises", n)
	}
	if n := lists(12 * GiB); n != 200 {
		t.Errorf("%d lists for 200 big rises", n)
	}
}

// TestOddLists: a process that is said to hold more than the GPU is not believed; its
// memory is unknown, never summed, and no peak.
func TestOddLists(t *testing.T) {
	c := collected()
	c.reading(0, noon, reading(9*GiB), nil)
	procs := make([]Process, 64)
	for i := range procs {
		procs[i] = Process{PID: i, Memory: Some(^Bytes(0) - 1)}
	}
	c.slow(0, noon, Metrics{}, nil, procs, nil)
	g := c.shot(noon).GPUs[0]
	if got := g.Memory.Unattributed; got.Or(1) != 9*GiB {
		t.Errorf("no process is believed, so all 9 GiB are unattributed, not %v", got)
	}
	if p := g.Processes[0]; p.Memory.Known() || p.Peak != nil {
		t.Errorf("2^64-2 bytes became %v with peak %v", p.Memory, p.Peak)
	}
}

// TestStaleList: when memory rises over all lists before, one new list is asked for, not
// more often than every 200 ms.
func TestStaleList(t *testing.T) {
	c := collected()
	list := func(at time.Time) { c.list(0, at, []Process{{PID: 1, Memory: Some(8 * GiB)}}, nil) }
	ask := func(at time.Time, used Bytes) bool { _, stale := c.reading(0, at, reading(used), nil); return stale }
	if ask(noon, 9*GiB) {
		t.Error("a list is asked for before the first one")
	}
	list(noon)
	for _, row := range []struct {
		name string
		at   int
		used Bytes
		want bool
	}{
		{"small movement", 300, 9*GiB + 20*MiB, false},
		{"a rise, too soon after the list", 100, 20 * GiB, false},
		{"a rise", 320, 20 * GiB, true},
		{"already asked", 340, 30 * GiB, false},
	} {
		if got := ask(noon.Add(ms(row.at)), row.used); got != row.want {
			t.Errorf("%s: asks for a list: %v", row.name, got)
		}
	}
	list(noon.Add(ms(360)))
	if ask(noon.Add(ms(700)), 30*GiB) {
		t.Error("nothing has changed since the list, and it is asked for again")
	}
	if !ask(noon.Add(ms(720)), 40*GiB) {
		t.Error("a new rise asks for no list")
	}
}

// TestProcessPeakBetweenTicks: what a list out of turn saw stays the process's peak.
func TestProcessPeakBetweenTicks(t *testing.T) {
	c := collected()
	list := func(at time.Time, b Bytes) {
		c.list(0, at, []Process{{PID: 1, Memory: Some(b)}, {PID: 2, Memory: Some(GiB)}}, nil)
	}
	c.reading(0, noon, reading(9*GiB), nil)
	list(noon, 8*GiB)
	c.reading(0, noon.Add(ms(300)), reading(47*GiB), nil)
	list(noon.Add(ms(310)), 46*GiB)
	c.reading(0, noon.Add(ms(400)), reading(9*GiB), nil)
	list(noon.Add(ms(900)), 8*GiB)
	g := c.shot(noon.Add(time.Second)).GPUs[0]
	p := g.Processes[0]
	if p.Memory.Or(0) != 8*GiB || p.Peak == nil || *p.Peak != (Peak{46 * GiB, noon.Add(ms(310)), PeakSampled}) {
		t.Errorf("process %v now, peak %+v", p.Memory, p.Peak)
	}
	if q := g.Processes[1].Peak; q.Bytes != GiB {
		t.Errorf("the other process has the peak %+v", q)
	}
}

// TestReconnectFindsItsOwn: GPUs come back in another order and with other names.
func TestReconnectFindsItsOwn(t *testing.T) {
	c := newCollector()
	c.adopt(devices("GPU-a", "GPU-b", "GPU-c"))
	for i, gib := range []Bytes{10, 20, 30} {
		c.reading(i, noon, reading(gib*GiB), nil)
	}
	c.shot(noon)
	c.lost = ErrReconnect
	for _, g := range c.shot(noon).GPUs {
		if !g.Error.Known() || g.Memory.Used.Known() {
			t.Errorf("the driver is gone, but %s", g.Key())
		}
	}
	c.adopt(devices("GPU-c", "GPU-d", "GPU-a"))
	for i := range 3 {
		c.reading(i, noon.Add(time.Minute), reading(GiB), nil)
	}
	s := c.shot(noon.Add(time.Minute))
	var got []string
	for _, g := range s.GPUs {
		got = append(got, fmt.Sprintf("%d %s %v", g.Index, g.UUID, g.Memory.Peak.Bytes))
	}
	if want := []string{"0 GPU-c 30.0 GiB", "1 GPU-d 1.0 GiB", "2 GPU-a 10.0 GiB"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after the reconnect: %v, want %v", got, want)
	}
}

// GPUs that say the same UUID are GPUs of their own, again after a reconnect.
func TestSharedUUID(t *testing.T) {
	c := newCollector()
	for range 2 {
		c.adopt(devices("GPU-0", "GPU-0", "", "GPU-1", "GPU-0"))
		for i := range 5 {
			c.reading(i, noon, reading(Bytes(i+1)*GiB), nil)
		}
		keys := map[GPUKey]bool{}
		for i, g := range c.shot(noon.Add(time.Second)).GPUs {
			if keys[g.Key()] = true; g.Index != i || g.Memory.Used.Or(0) != Bytes(i+1)*GiB || g.Memory.Peak.Bytes != Bytes(i+1)*GiB {
				t.Errorf("GPU %d is %+v", i, g)
			}
		}
		if len(keys) != 5 {
			t.Errorf("keys %v", keys)
		}
	}
}

func TestNamesFromOutside(t *testing.T) {
	c := newCollector()
	c.adopt(Inventory{Driver: "580\x1b]0;x\x07", CUDA: "13\n", Devices: []Device{{UUID: "GPU-\xff", Name: "\x1b[31mH100\nTi", PCI: "\u202e0"}}})
	s := c.snapshot(noon, "box", Opt[HostMemory]{})
	g := s.GPUs[0]
	for _, text := range []string{s.Driver, s.CUDA, g.UUID, g.Name, g.PCI} {
		if text != Clean(text) {
			t.Errorf("%q reaches the snapshot", text)
		}
	}
}

func TestXID(t *testing.T) {
	c := collected()
	c.reading(0, noon, reading(GiB), nil)
	c.sawXID(0, 79, noon)
	c.sawXID(-1, 48, noon)
	c.sawXID(5, 48, noon)
	if g := c.shot(noon.Add(time.Hour)).GPUs[0]; g.LastXID.Or(0) != 79 || !g.LastXIDTime.Or(time.Time{}).Equal(noon) {
		t.Errorf("last Xid %v at %v", g.LastXID, g.LastXIDTime)
	}
}

// Of errors that come together the first is mostly the cause: each is in one snapshot, in order.
func TestXIDsTogether(t *testing.T) {
	c := collected()
	c.reading(0, noon, reading(GiB), nil)
	for i, code := range []uint64{31, 43, 43} {
		c.sawXID(0, code, noon.Add(ms(i)))
	}
	g := c.shot(noon.Add(time.Second)).GPUs[0]
	want := []XID{{31, Some(noon)}, {43, Some(noon.Add(ms(1)))}, {43, Some(noon.Add(ms(2)))}}
	if !slices.Equal(g.XIDs, want) || g.LastXID.Or(0) != 43 {
		t.Errorf("told are %v, the last is %v", g.XIDs, g.LastXID)
	}
	if g := c.shot(noon.Add(2 * time.Second)).GPUs[0]; g.XIDs != nil || g.LastXID.Or(0) != 43 {
		t.Errorf("in the next snapshot are %v", g.XIDs)
	}
	for i := range maxXIDs + 9 {
		c.sawXID(0, uint64(i), noon)
	}
	if g := c.shot(noon.Add(3 * time.Second)).GPUs[0]; len(g.XIDs) != maxXIDs || g.XIDs[0].Code != 0 || g.LastXID.Or(0) != maxXIDs+8 {
		t.Errorf("of a storm %d are kept", len(g.XIDs))
	}
}

// Who knows the newest alone tells of each change of it.
func TestXIDsSince(t *testing.T) {
	at := func(code uint64, seconds int) Opt[XID] {
		return Some(XID{code, Some(noon.Add(time.Duration(seconds) * time.Second))})
	}
	undated := Some(XID{Code: 31})
	for _, row := range []struct {
		told, newest Opt[XID]
		want         int
	}{{Opt[XID]{}, Opt[XID]{}, 0}, {Opt[XID]{}, at(31, 1), 1}, {at(31, 1), at(31, 1), 0}, {at(31, 1), at(31, 2), 1}, {at(31, 1), at(43, 1), 1},
		{at(31, 1), undated, 0}, {undated, at(31, 1), 1}, {undated, undated, 0}, {at(31, 1), Opt[XID]{}, 0}} {
		var g GPU
		if x, ok := row.newest.Value(); ok {
			g.LastXID, g.LastXIDTime = Some(x.Code), x.Time
		}
		if got := g.XIDsSince(row.told); len(got) != row.want {
			t.Errorf("%v after %v: %v", row.newest, row.told, got)
		}
		g.XIDs = []XID{{Code: 1}, {Code: 2}}
		if got := g.XIDsSince(row.told); len(got) != 2 {
			t.Errorf("of two there are %v", got)
		}
	}
}

func BenchmarkReading(b *testing.B) {
	c := collected()
	r, at := reading(9*GiB), noon
	for b.Loop() {
		at = at.Add(ms(20))
		c.reading(0, at, r, nil)
	}
}

func BenchmarkSnapshot64x32(b *testing.B) {
	c := newCollector()
	var uuids []string
	for i := range 64 {
		uuids = append(uuids, fmt.Sprint("GPU-", i))
	}
	c.adopt(devices(uuids...))
	for i, g := range crowd(64, 32).GPUs {
		c.reading(i, noon, reading(40*GiB), nil)
		c.slow(i, noon, g.Metrics, nil, g.Processes, nil)
	}
	at := noon
	for b.Loop() {
		at = at.Add(time.Second)
		c.shot(at)
	}
}

// TestSnapshotTimeIsWallTime: all that is done with snapshots goes by wall time.
func TestSnapshotTimeIsWallTime(t *testing.T) {
	c := newCollector()
	c.adopt(Inventory{Devices: []Device{{UUID: "GPU-0"}}})
	now := time.Now()
	c.reading(0, now, Reading{Total: GiB, Used: 1, Free: GiB - 1}, nil)
	s := c.snapshot(now, "", Opt[HostMemory]{})
	if s.Time != now.Round(0) {
		t.Errorf("the snapshot's time has a monotonic reading: %v", s.Time)
	}
}

// heard is an Asking that keeps the readings it is told.
type heard struct {
	asking
	list *[]string
}

func (h heard) Reading(_ GPUKey, at time.Time, used Bytes) {
	*h.list = append(*h.list, fmt.Sprintf("%d ms %d GiB", at.Sub(noon).Milliseconds(), used/GiB))
}

// Who compares calls with readings is told until when the memory had not moved, too.
func TestReadingsBefore(t *testing.T) {
	var got []string
	c := collected()
	c.asking = heard{list: &got}
	for i, gib := range []Bytes{9, 9, 9, 12, 13} {
		c.reading(0, noon.Add(ms(20*i)), reading(gib*GiB), nil)
	}
	c.stood(0, noon.Add(ms(300))) // of a sweep, which brings changes only
	c.stood(0, noon.Add(ms(200)))
	c.reading(0, noon.Add(ms(320)), reading(14*GiB), nil)
	want := []string{"0 ms 9 GiB", "40 ms 9 GiB", "60 ms 12 GiB", "80 ms 13 GiB", "300 ms 13 GiB", "320 ms 14 GiB"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
