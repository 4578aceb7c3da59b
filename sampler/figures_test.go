package sampler

import (
	"errors"
	"testing"
	"time"
)

// What no process accounts for adds up with them to what is used; what moved since the list was read belongs to the
// process where there is only one.
func TestAttribute(t *testing.T) {
	for name, row := range map[string]struct {
		used, atList Bytes
		held         []Bytes // MaxPlausible: hidden by the driver
		took         bool    // the first what was taken since
		first        Bytes   // afterwards
		nobody       Opt[Bytes]
	}{
		"all of one":           {100, 100, []Bytes{100}, true, 100, Some(Bytes(0))},
		"some of nobody":       {100, 100, []Bytes{70}, true, 70, Some(Bytes(30))},
		"grown since":          {120, 100, []Bytes{70}, true, 90, Some(Bytes(30))},
		"another has begun":    {120, 100, []Bytes{70}, false, 70, Some(Bytes(50))},
		"with less":            {80, 100, []Bytes{70}, false, 50, Some(Bytes(30))},
		"shrunk since":         {80, 100, []Bytes{70}, true, 50, Some(Bytes(30))},
		"to what nobody has":   {30, 100, []Bytes{70}, true, 70, Some(Bytes(0))},
		"to a little more":     {31, 100, []Bytes{70}, true, 1, Some(Bytes(30))},
		"one of two has grown": {120, 100, []Bytes{70, 20}, true, 70, Some(Bytes(30))},
		"one is hidden":        {120, 100, []Bytes{70, MaxPlausible}, true, 70, Some(Bytes(50))},
		"nobody":               {100, 100, nil, true, 0, Some(Bytes(100))},
		"more than is used":    {100, 100, []Bytes{70, 60}, true, 70, Some(Bytes(0))},
	} {
		g := GPU{Memory: Memory{Used: Some(row.used)}}
		for i, b := range row.held {
			p := Process{PID: i + 1, Memory: Some(b)}
			if b == MaxPlausible {
				p.Memory = Opt[Bytes]{}
			}
			g.Processes = append(g.Processes, p)
		}
		g.attribute(row.atList, func(pid int, nobodys Bytes) bool { return row.took })
		if g.Memory.Unattributed != row.nobody || len(row.held) > 0 && g.Processes[0].Memory != Some(row.first) {
			t.Errorf("%s: %v of nobody, %+v", name, g.Memory.Unattributed, g.Processes)
		}
	}
	var unknown GPU
	if unknown.attribute(5, nil); unknown.Memory.Unattributed.Known() {
		t.Error("nobody has some of unknown memory")
	}
}

// A process has no more than its GPU.
func TestPossible(t *testing.T) {
	for held, want := range map[Bytes]bool{99: true, 100: true, 101: false} {
		if got := possible([]Process{{Memory: Some(held)}}, Some(Bytes(100)))[0].Memory.Known(); got != want {
			t.Errorf("%d of 100: known %v", held, got)
		}
	}
	if !possible([]Process{{Memory: Some(MaxPlausible)}}, Opt[Bytes]{})[0].Memory.Known() || possible([]Process{{Memory: Some(MaxPlausible + 1)}}, Opt[Bytes]{})[0].Memory.Known() {
		t.Error("without a total anything plausible is possible, and no more")
	}
}

// A reading stands for the present for three seconds, or a second longer than a period; then its age is told with the
// reason, where that is known.
func TestStaleBounds(t *testing.T) {
	for name, row := range map[string]struct {
		age, period time.Duration
		want        bool
	}{
		"young":            {3 * time.Second, time.Second, false},
		"old":              {3*time.Second + 1, time.Second, true},
		"of a slow poller": {6 * time.Second, 5 * time.Second, false},
		"older than that":  {6*time.Second + 1, 5 * time.Second, true},
	} {
		d := &device{readAt: noon}
		if got := d.stale(noon.Add(row.age), row.period); (got != nil) != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	why := errors.New("why")
	for _, d := range []*device{{readAt: noon, memErr: why}, {readAt: noon, passing: why}} {
		if err := d.stale(noon.Add(time.Minute), 0); !errors.Is(err, ErrStale) || !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
	}
	if (&device{}).stale(noon, 0) != nil {
		t.Error("what was never read is old")
	}
}

// What somebody has to fix is asked again after half a minute, and each second what is lost or what it once could do.
func TestRetryAfter(t *testing.T) {
	for _, row := range []struct {
		err  error
		read bool
		want time.Duration
	}{{ErrLost, true, ms(900)}, {ErrNotSupported, true, ms(900)}, {ErrNotSupported, false, 30 * time.Second},
		{ErrNoPermission, true, ms(900)}, {ErrNoPermission, false, 30 * time.Second}, {errors.New("x"), true, ms(900)}} {
		d := &device{}
		if row.read {
			d.readAt = noon
		}
		if got := d.retryAfter(row.err); got != row.want {
			t.Errorf("%v, read %v: %v", row.err, row.read, got)
		}
	}
}

// Passing alerts on fails while none has arrived after the newest failure.
func TestFailing(t *testing.T) {
	at := func(s int) Opt[time.Time] { return Some(noon.Add(time.Duration(s) * time.Second)) }
	for _, row := range []struct {
		failed, sent Opt[time.Time]
		want         bool
	}{{Opt[time.Time]{}, at(1), false}, {at(1), Opt[time.Time]{}, true}, {at(1), at(1), true}, {at(1), at(2), false}, {at(2), at(1), true}} {
		d := &Delivery{LastFailure: row.failed, LastSent: row.sent}
		if d.Failing() != row.want {
			t.Errorf("failed %v, sent %v", row.failed, row.sent)
		}
	}
}

// A list tells whose a rise was when it was made from its begin until 20 ms after its end, and another one before.
func TestOwnerOfRise(t *testing.T) {
	for after, want := range map[int]int{-1: 0, 0: 7, 50: 7, 70: 7, 71: 0} {
		var r riser
		r.listed(noon.Add(ms(-500)), []Process{{PID: 7, Memory: Some(Bytes(100))}}, Opt[Bytes]{})
		r.listed(noon.Add(ms(after)), []Process{{PID: 7, Memory: Some(Bytes(1100))}}, Opt[Bytes]{})
		if got := r.owner(&rise{base: 100, top: 1100, began: noon, ended: noon.Add(ms(50))}); got.Or(0) != want {
			t.Errorf("a list after %d ms: %v", after, got)
		}
	}
	var alone riser
	alone.listed(noon, []Process{{PID: 7, Memory: Some(Bytes(1100))}}, Opt[Bytes]{})
	if alone.owner(&rise{top: 1100, began: noon}).Known() {
		t.Error("told by a list with none before it")
	}
	x := rise{top: 900}
	two := &listing{of: []holding{{pid: 1, bytes: 600}, {pid: 2, bytes: 600}}}
	if x.most(&listing{}, two).Known() {
		t.Error("one of two that have as much is told")
	}
	again := &listing{of: []holding{{pid: 1, start: 5, bytes: 600}}}
	if got := x.most(&listing{of: []holding{{pid: 1, start: 4, bytes: 500}}}, again); got.Or(0) != 1 {
		t.Error("what another of its pid had counts as its own")
	}
}

// Only the highest rise between two snapshots is told; one whose list is on its way waits for it.
func TestTellRise(t *testing.T) {
	of := func(top Bytes) rise {
		return rise{base: 0, top: top, began: noon.Add(time.Hour), ended: noon.Add(time.Hour)}
	}
	var r riser
	r.listed(noon, nil, Opt[Bytes]{})
	r.over = []rise{of(5), of(9), of(7)}
	var w Window
	if r.tell(&w, true); w.Rise.Known() || len(r.over) != 3 {
		t.Errorf("told %v though a list is on its way", w.Rise)
	}
	if r.tell(&w, false); w.Rise != Some(Bytes(9)) || w.RisePID.Known() || len(r.over) != 0 {
		t.Errorf("told %v", w.Rise)
	}
	for told, want := range map[bool]int{true: 0, false: 1} {
		r := riser{now: &rise{base: 0, top: GiB, began: noon, told: told}}
		if r.reading(noon.Add(ms(40)), 0); len(r.over) != want || r.now != nil {
			t.Errorf("over, told before %v: %d are to be told", told, len(r.over))
		}
	}
	many := riser{now: &rise{top: GiB, began: noon}, over: make([]rise, mostRises)}
	if many.reading(noon.Add(ms(40)), 0); len(many.over) != mostRises {
		t.Errorf("%d rises are kept", len(many.over))
	}
	none := riser{over: []rise{of(5)}}
	w = Window{}
	if none.tell(&w, false); w.Rise.Known() || len(none.over) != 0 {
		t.Error("told without any list")
	}
}

// The peak of a GPU is the first of the highest, and the least free memory that of the worst moment.
func TestMarks(t *testing.T) {
	var m gpuMark
	for i, row := range []struct {
		used, free Bytes
		at         int
		worst      Bytes
	}{{0, 100, 0, 100}, {50, 60, 1, 60}, {50, 50, 1, 50}, {40, 55, 1, 50}, {51, 49, 4, 49}} {
		m.note(row.used, noon.Add(time.Duration(i)*time.Second), Some(row.free))
		if !m.peak.Time.Equal(noon.Add(time.Duration(row.at)*time.Second)) || m.worstFree != Some(row.worst) {
			t.Errorf("note %d: peak %v at %v, least free %v", i, m.peak.Bytes, m.peak.Time, m.worstFree)
		}
	}
}

// A sweep ends when the slow pollers begin, for whom the snapshot waits; else 5 ms before the snapshot.
func TestSweepEndsBeforeSnapshot(t *testing.T) {
	second := time.Unix(1_800_000_000, 0)
	for _, row := range []struct{ every, now, sweep, left, wait time.Duration }{
		{ms(1000), ms(0), ms(1000), ms(1000), slotMargin},
		{ms(1000), ms(600), ms(400), ms(400), slotMargin},
		{ms(1000), ms(998), ms(2), ms(2), slotMargin},
		{ms(1000), ms(999), ms(1000), ms(1), slotMargin},
		{ms(100), ms(20), ms(75), ms(80), 0},
		{ms(100), ms(94), ms(101), ms(6), 0},
		{ms(100), ms(920), ms(80), ms(80), slotMargin},
		{ms(300), ms(0), ms(295), ms(300), 0},
		{ms(5000), ms(1000), ms(1000), ms(4000), slotMargin},
	} {
		p := &poller{interval: row.every, opt: Options{Interval: row.every}}
		now := second.Add(row.now)
		left, wait := p.untilSnapshot(now)
		if sweep := p.sweepTime(now); sweep != row.sweep || left != row.left || wait != row.wait {
			t.Errorf("every %v, at %v: a sweep of %v, %v until the snapshot and %v more; want %v, %v and %v", row.every, row.now, sweep, left, wait, row.sweep, row.left, row.wait)
		}
	}
}

// Three calls are judged, and not fewer: the first may be slow by chance.
func TestJudgedCalls(t *testing.T) {
	r := newRateLimiter(ms(20), 1)
	for calls, want := range []time.Duration{0, 0, ms(4), ms(4), ms(3)} {
		r.note(0, noon.Add(ms(20*calls)), []time.Duration{ms(9), ms(4), ms(7), ms(5), ms(3)}[calls], 1)
		if r.gpus[0].cost != want {
			t.Errorf("after %d calls one costs %v, want %v", calls+1, r.gpus[0].cost, want)
		}
	}
}
