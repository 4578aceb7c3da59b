package watch

import (
	"math"
	"strings"
	"testing"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// refusedOne is a process that held 10 GiB when it was refused 4 GiB at 1000 s, twice, and was seen 5 s after.
func refusedOne() *proc {
	p := &proc{pid: 7, seen: 1005, process: &sampler.Process{Name: "python", Command: "python a.py"}}
	p.asking = asking{heard: true, began: 0, tried: 1000, granted: 20, live: 10 * gib,
		asked:   sampler.Requests{Granted: 20, Live: 10 * gib, Peak: 10 * gib, Largest: 4 * gib},
		refusal: sampler.Refusal{Bytes: 4 * gib, Smallest: 4 * gib, Tries: 2, Function: "cuMemAlloc_v2"}}
	return p
}

// A process died of a refusal when it ended within half a minute, within ten seconds if it asked once, and neither
// went on nor brought it about on purpose.
func TestDied(t *testing.T) {
	for name, row := range map[string]struct {
		change func(p *proc, a *asking)
		want   bool
	}{
		"soon":                    {func(*proc, *asking) {}, true},
		"after half a minute":     {func(p *proc, _ *asking) { p.seen = 1030 }, true},
		"later":                   {func(p *proc, _ *asking) { p.seen = 1030.1 }, false},
		"asked once":              {func(p *proc, a *asking) { a.refusal.Tries, p.seen = 1, 1010 }, true},
		"asked once, later":       {func(p *proc, a *asking) { a.refusal.Tries, p.seen = 1, 1010.1 }, false},
		"never refused":           {func(_ *proc, a *asking) { a.refusal = sampler.Refusal{} }, false},
		"flush":                   {func(_ *proc, a *asking) { a.refusal.Outcome = sampler.RefusalFlush }, false},
		"granted":                 {func(_ *proc, a *asking) { a.refusal.Outcome = sampler.RefusalGranted }, false},
		"smaller":                 {func(_ *proc, a *asking) { a.refusal.Outcome = sampler.RefusalSmaller }, false},
		"two grants":              {func(_ *proc, a *asking) { a.times = 2 }, true},
		"three":                   {func(_ *proc, a *asking) { a.times = 3 }, false},
		"well after it":           {func(_ *proc, a *asking) { a.times, a.met = 1, 1001.1 }, false},
		"while it ends":           {func(_ *proc, a *asking) { a.times, a.met = 1, 1001 }, true},
		"stopped by TERM":         {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(143) }, false},
		"stopped by KILL":         {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(137) }, false},
		"stopped by Ctrl-C":       {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(130) }, false},
		"an exit with -1":         {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(255) }, true},
		"the first that is none":  {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(193) }, true},
		"the last signal":         {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(192) }, false},
		"an abort":                {func(_ *proc, a *asking) { a.asked.ExitStatus = sampler.Some(134) }, true},
		"or untold":               {func(_ *proc, a *asking) { a.asked.ExitStatus, a.asked.Granted = sampler.Some(137), 21 }, false},
		"gave up in 5 s, granted": {func(_ *proc, a *asking) { a.asked.ExitStatus, a.times, a.met = sampler.Some(1), 1, 1003 }, true},
		"gave up later, granted":  {func(p *proc, a *asking) { a.asked.ExitStatus, a.times, p.seen = sampler.Some(1), 1, 1005.1 }, false},
		"gave up later, not":      {func(p *proc, a *asking) { a.asked.ExitStatus, p.seen = sampler.Some(1), 1030 }, true},
		"failed at once": {func(p *proc, a *asking) {
			a.asked.ExitStatus, p.seen, a.times, a.after, a.one = sampler.Some(1), 1002, 9, gib, 511*mib
		}, true},
		"failed at once, untold": {func(p *proc, a *asking) { a.asked.ExitStatus, p.seen, a.asked.Granted = sampler.Some(134), 1002, 29 }, true},
		"a little later": {func(p *proc, a *asking) {
			a.asked.ExitStatus, p.seen, a.times, a.after, a.one = sampler.Some(1), 1002.1, 9, gib, 511*mib
		}, false},
		"failed, but elsewhere": {func(p *proc, a *asking) {
			a.asked.ExitStatus, p.seen, a.times, a.after, a.one = sampler.Some(1), 1002, 1, 512*mib, 512*mib
		}, false},
		"no context, a little since": {func(p *proc, a *asking) {
			a.refusal.Bytes, a.refusal.Smallest = 0, 0
			a.asked.ExitStatus, p.seen, a.times, a.after, a.one = sampler.Some(1), 1002, 6, 240*mib, 40*mib
		}, true},
		"no context, but elsewhere": {func(p *proc, a *asking) {
			a.refusal.Bytes, a.refusal.Smallest = 0, 0
			a.asked.ExitStatus, p.seen, a.times, a.after, a.one = sampler.Some(1), 1002, 1, 128*mib, 128*mib
		}, false},
		"ended well at once":      {func(p *proc, a *asking) { a.asked.ExitStatus, p.seen, a.times = sampler.Some(0), 1001, 9 }, false},
		"a little":                {func(_ *proc, a *asking) { a.after = 32*mib - 1 }, true},
		"more":                    {func(_ *proc, a *asking) { a.after = 32 * mib }, false},
		"two grants, untold":      {func(_ *proc, a *asking) { a.asked.Granted = 22 }, true},
		"three, untold":           {func(_ *proc, a *asking) { a.asked.Granted = 23 }, false},
		"a little, untold":        {func(_ *proc, a *asking) { a.asked.Live += 32*mib - 1 }, true},
		"more, untold":            {func(_ *proc, a *asking) { a.asked.Live += 32 * mib }, false},
		"managed":                 {func(_ *proc, a *asking) { a.refusal.Function = "cuMemAllocManaged" }, false},
		"pinned":                  {func(_ *proc, a *asking) { a.refusal.Function = "cuMemHostAlloc" }, false},
		"filled, asked again":     {func(_ *proc, a *asking) { a.filled = true }, true},
		"filled, asked once":      {func(_ *proc, a *asking) { a.filled, a.refusal.Tries = true, 1 }, false},
		"pieces, asked once":      {func(_ *proc, a *asking) { a.filled, a.refusal.Tries, a.refusal.Function = true, 1, "cuMemCreate" }, true},
		"filled, all given back":  {func(_ *proc, a *asking) { a.filled, a.asked.Live = true, 512*mib }, false},
		"filled, not all":         {func(_ *proc, a *asking) { a.filled, a.asked.Live = true, 513*mib }, true},
		"planned once":            {func(_ *proc, a *asking) { a.planned.add(990) }, true},
		"planned twice":           {func(_ *proc, a *asking) { a.planned.add(940); a.planned.add(990) }, false},
		"planned twice, long ago": {func(_ *proc, a *asking) { a.planned.add(939.9); a.planned.add(990) }, true},
		"down to little":          {func(_ *proc, a *asking) { a.planned.add(990); a.refusal.Smallest = 32 * mib }, false},
		"down to more":            {func(_ *proc, a *asking) { a.planned.add(990); a.refusal.Smallest = 32*mib + 1 }, true},
		"a question":              {func(_ *proc, a *asking) { a.asked, a.granted, a.refusal.Tries = sampler.Requests{}, 0, 1 }, false},
		"asked again for nothing": {func(_ *proc, a *asking) { a.asked, a.granted = sampler.Requests{}, 0 }, true},
		"gave back, then asked":   {func(_ *proc, a *asking) { a.asked.Live = 0 }, false},
		"gave back since":         {func(_ *proc, a *asking) { a.asked.Live, a.refusal.Freed = 0, gib }, true},
		"ollama at its start":     {func(p *proc, a *asking) { p.process.Name, a.began = "ollama", 940 }, false},
		"ollama later":            {func(p *proc, a *asking) { p.process.Name, a.began = "ollama", 939.9 }, true},
		"ollama's runner":         {func(p *proc, a *asking) { p.process.Command, a.began = "/bin/ollama runner", 940 }, false},
	} {
		p := refusedOne()
		row.change(p, &p.asking)
		if got := p.died(); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Pieces of one size are taken within half a minute, four at least, without a pause of five seconds.
func TestRunFills(t *testing.T) {
	for name, row := range map[string]struct {
		n     int
		apart float64
		then  float64
		bytes sampler.Bytes
		want  bool
	}{
		"four": {4, 1, 3, gib, true}, "three": {3, 1, 2, gib, false}, "another size": {4, 1, 3, gib + 1, false},
		"within 30 s": {7, 5, 30, gib, true}, "in more": {7, 5, 30.1, gib, false}, "with pauses": {4, 5.1, 16, gib, false},
	} {
		var r run
		for i := range row.n {
			r.add(gib, float64(i)*row.apart)
		}
		if got := r.fills(row.bytes, row.then); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Where only sums are told, nine tenths of what was granted since the last pause must be pieces of the refused size.
func TestEvenly(t *testing.T) {
	for name, row := range map[string]struct {
		granted int
		peak    sampler.Bytes
		at      float64
		want    bool
	}{
		"four": {14, 4 * gib, 30, true}, "three": {13, 4 * gib, 30, false}, "late": {14, 4 * gib, 30.1, false},
		"of nearly that size": {20, 9 * gib, 30, true}, "smaller ones": {20, 9*gib - 1, 30, false},
	} {
		a := asking{tried: row.at, burst: burst{granted: 10}, asked: sampler.Requests{Granted: row.granted, Peak: row.peak, Largest: gib}}
		if got := a.evenly(gib); got != row.want || a.evenly(gib-1) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Three refusals of which nothing came, over a minute, are a notice until a minute and a half after the last.
func TestKeepsFailing(t *testing.T) {
	for name, row := range map[string]struct {
		times []float64
		now   float64
		want  int
	}{
		"three": {[]float64{0, 30, 60}, 61, 3}, "two": {[]float64{0, 60}, 61, 0}, "within less": {[]float64{0, 30, 59.9}, 61, 0},
		"until": {[]float64{0, 30, 60}, 150, 3}, "over": {[]float64{0, 30, 60}, 150.1, 0},
		"one is old": {[]float64{0, 500, 600}, 600.1, 0}, "none is": {[]float64{0, 500, 600}, 600, 3},
	} {
		a := refusedOne().asking
		for _, at := range row.times {
			a.open.add(at)
		}
		if n, _ := a.keepsFailing(row.now); n != row.want {
			t.Errorf("%s: %d", name, n)
		}
		a.refusal.Outcome = sampler.RefusalFlush
		if n, _ := a.keepsFailing(row.now); n != 0 {
			t.Errorf("%s: told though the last was granted", name)
		}
	}
}

// A refusal is among those of which nothing came after half a minute, once, unless it was brought about on purpose.
func TestUnresolved(t *testing.T) {
	for now, want := range map[float64]int{1030: 0, 1030.1: 1} {
		for _, design := range []bool{false, true} {
			a := refusedOne().asking
			if a.refusal.Time = drivenTime(0); design {
				a.refusal.Function, want = "cuMemAllocManaged", 0
			}
			r := a.asked
			r.Refusal = &a.refusal
			last := a.refusal
			r.Refusal = &last
			for range 2 {
				a.fold(&r, now, drivenTime(now), 100)
			}
			if a.open.n != want {
				t.Errorf("at %v, on purpose %v: %d, want %d", now, design, a.open.n, want)
			}
		}
	}
}

// What comes again is asked for as large as before, of as much held, and twenty seconds apart at least.
func TestAgain(t *testing.T) {
	for name, row := range map[string]struct {
		at   float64
		n    sampler.Bytes
		base sampler.Bytes
		need sampler.Bytes
	}{
		"again": {20, 4 * gib, 10 * gib, 4 * gib}, "too soon": {19.9, 4 * gib, 10 * gib, 0},
		"smaller": {20, 3700 * mib, 10 * gib, 4 * gib}, "much smaller": {20, 3600 * mib, 10 * gib, 0},
		"more held": {20, 4 * gib, 10*gib + 400*mib, 4 * gib}, "much more": {20, 4 * gib, 10*gib + 420*mib, 0},
	} {
		var a again
		ask := func(at float64, n, base sampler.Bytes) {
			a.take(&sampler.Request{Bytes: n, Function: "cuMemAlloc_v2"}, at)
			a.fold(base, base+n, at, 1000)
			a.fold(base+n, base, at+1, 5000)
			a.fold(base, base, at+2, 3000)
		}
		ask(0, 4*gib, 10*gib)
		if _, _, ok := a.due(1); ok {
			t.Fatal("once is again")
		}
		ask(row.at, row.n, row.base)
		need, low, ok := a.due(row.at + 2)
		if ok != (row.need > 0) || ok && (need != row.need || low != 3000) {
			t.Errorf("%s: %v with %v free, %v", name, need, low, ok)
		}
		if _, _, ok := a.due(row.at + 2.5*row.at + 0.1); ok {
			t.Errorf("%s: due though it has long been over", name)
		}
	}
}

// A program that ran before anybody looked may give back of what it had then, and is known to hold what its calls gave alone: what it asked for last is
// held for all that is known, and what is free beside that is not what is free without it.
func TestAgainBesideALowerBound(t *testing.T) {
	for name, row := range map[string]struct {
		whole bool
		known bool
	}{"a lower bound": {false, false}, "all is known": {true, true}} {
		var a asking
		fold := func(at float64, granted int, live sampler.Bytes, free float64) {
			a.fold(&sampler.Requests{Granted: granted, Live: live, Peak: 14 * gib, Whole: row.whole}, at, drivenTime(at), free)
		}
		fold(0, 1, 10*gib, 5000)
		a.again = again{bytes: 4 * gib, at: 1, gap: 20, base: 10 * gib, low: math.NaN()}
		fold(2, 2, 14*gib, 1000)
		fold(3, 2, 4*gib, 1000)
		if _, low, known := a.again.due(3); known != row.known {
			t.Errorf("%s: %v is free without it, %v", name, low, known)
		}
		fold(4, 2, 10*gib, 5000)
		if _, low, known := a.again.due(4); !known || !row.whole && low != 5000 {
			t.Errorf("%s: it is given back: %v, %v", name, low, known)
		}
	}
}

// Small requests, those that a pool meets and what a refusal is among are no need that comes again.
func TestAgainNot(t *testing.T) {
	for name, r := range map[string]sampler.Request{"small": {Bytes: againLeast - 1}, "pool": {Bytes: gib, Function: "cuMemAllocFromPoolAsync"},
		"managed": {Bytes: gib, Function: "cuMemAllocManaged"}, "refused": {Bytes: gib, Answer: 2}} {
		var a again
		for at := 0.0; at < 100; at += 25 {
			a.take(&r, at)
			a.fold(gib, gib, at, 100)
		}
		if _, _, ok := a.due(80); ok {
			t.Errorf("%s is due", name)
		}
	}
}

// The need by requests: what comes again, then what was refused within a minute, then the largest of the last minute.
func TestRequested(t *testing.T) {
	const now = 1000
	for name, row := range map[string]struct {
		change func(p *proc, a *asking)
		want   Need
	}{
		"refused":         {func(*proc, *asking) {}, Need{Bytes: 4 * gib, Source: NeedRefused}},
		"a minute ago":    {func(_ *proc, a *asking) { a.tried = 940 }, Need{Bytes: 4 * gib, Source: NeedRefused}},
		"long ago":        {func(_ *proc, a *asking) { a.tried = 939.9 }, Need{Bytes: 5 * gib, Source: NeedAsked}},
		"a piece":         {func(_ *proc, a *asking) { a.refusal.Bytes, a.refusal.Function = 20*mib, "cuMemCreate" }, Need{Bytes: 5 * gib, Source: NeedAsked}},
		"granted since":   {func(_ *proc, a *asking) { a.refusal.Outcome = sampler.RefusalFlush }, Need{Bytes: 5 * gib, Source: NeedAsked}},
		"on purpose":      {func(_ *proc, a *asking) { a.refusal.Function = "cuMemAllocManaged" }, Need{Bytes: 5 * gib, Source: NeedAsked}},
		"small":           {func(_ *proc, a *asking) { a.tried, a.asked.LargestRecent = 0, againLeast-1 }, Need{}},
		"from a pool":     {func(_ *proc, a *asking) { a.tried, a.pools = 0, 5*gib }, Need{}},
		"a smaller plan":  {func(_ *proc, a *asking) { a.asked.LargestRecent, a.refusal.Outcome = 4*gib, sampler.RefusalSmaller }, Need{}},
		"more than there": {func(_ *proc, a *asking) { a.tried, a.asked.LargestRecent = 0, 41*gib }, Need{}},
		"by design":       {func(p *proc, a *asking) { a.tried, p.process.Command = 0, "vllm serve" }, Need{}},
		"again": {func(_ *proc, a *asking) { a.again = again{bytes: gib, at: 990, gap: 20, low: 500} },
			Need{Bytes: gib, Source: NeedAsked, Again: true}},
	} {
		p := refusedOne()
		p.asking.asked.LargestRecent, p.asking.tried = 5*gib, 990
		row.change(p, &p.asking)
		g := &gpu{asks: true, last: &sampler.GPU{}, total: 40 * 1024, free: 100, procs: []*proc{p}}
		got, low, ok := g.requested(now)
		if ok != (row.want.Bytes > 0) || ok && (got.Bytes != row.want.Bytes || got.Source != row.want.Source || got.Again != row.want.Again || got.PID.Or(0) != 7) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		if want := map[bool]float64{false: 100, true: 500}[row.want.Again]; ok && low != want {
			t.Errorf("%s: %v free, want %v", name, low, want)
		}
	}
}

// What was typed, and what was refused for good, comes before what was asked for.
func TestAskedComesLate(t *testing.T) {
	p := sampler.Process{PID: 7, Command: "python a.py", Memory: sampler.Some(gib), Requests: &sampler.Requests{LargestRecent: 5 * gib, Granted: 3, Live: gib}}
	w := New(Options{})
	s := snapshotOf(0, 40960, 38000, p)
	w.Add(s)
	need := func() NeedSource {
		f, _ := w.Fit(s.GPUs[0].Key())
		n, _ := f.Need.Value()
		if n.Source == NeedAsked && (f.WorstFree != f.Free || f.Short == 0 || !f.Near()) {
			t.Errorf("%+v", f)
		}
		return n.Source
	}
	if got := need(); got != NeedAsked {
		t.Error(got)
	}
	w.Event(sampler.OOMEvent{MemoryKind: "gpu", Requested: sampler.Some(9 * gib)}, advicetest.Epoch)
	if got := need(); got != NeedRefused {
		t.Error(got)
	}
	w.SetNeed(sampler.Some(gib))
	if got := need(); got != NeedTyped {
		t.Error(got)
	}
}

// A log and the driver tell of one death when GPU, time, and process or size agree.
func TestDeathIsLogged(t *testing.T) {
	here, there := sampler.GPUKey{ID: "a"}, sampler.GPUKey{ID: "b"}
	d := Death{Key: here, T: 1000, PID: 7, refusal: sampler.Refusal{Bytes: 4 * gib, Function: "cuMemAlloc_v2"}}
	event := func(pid int, n sampler.Bytes) sampler.OOMEvent {
		e := sampler.OOMEvent{MemoryKind: sampler.MemoryGPU, PID: sampler.Some(pid)}
		if n > 0 {
			e.Requested = sampler.Some(n)
		}
		return e
	}
	recovered, host := event(7, 0), event(7, 0)
	recovered.Recovered, host.MemoryKind = true, sampler.MemoryHost
	for name, row := range map[string]struct {
		e      sampler.OOMEvent
		at     float64
		key    sampler.GPUKey
		placed bool
		want   bool
	}{
		"the same": {event(7, gib), 1001, here, true, true}, "late": {event(7, gib), 1120, here, true, true}, "later": {event(7, gib), 1120.1, here, true, false},
		"before": {event(7, gib), 880, here, true, true}, "long before": {event(7, gib), 879, here, true, false},
		"there": {event(7, gib), 1001, there, true, false}, "nowhere": {event(7, gib), 1001, sampler.GPUKey{}, false, true},
		"by size": {event(1, 4*gib-mib), 1001, here, true, true}, "of no size": {event(1, 0), 1001, here, true, true},
		"larger": {event(1, 4*gib+1), 1001, here, true, false}, "half": {event(1, 2*gib-10*mib), 1001, here, true, true}, "less": {event(1, 2*gib-11*mib), 1001, here, true, false},
		"went on": {recovered, 1001, here, true, false}, "of the host": {host, 1001, here, true, false},
	} {
		if got := d.is(row.e, row.at, row.key, row.placed); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Near misses that were seen are told for half an hour, as a notice when all were of the first minute.
func TestSeenFlushes(t *testing.T) {
	fold := func(now float64, r sampler.Refusal) asking {
		a := asking{heard: true, began: 0, tried: math.NaN()}
		r.Time, r.Outcome, r.Tries = drivenTime(now), sampler.RefusalFlush, 1
		a.fold(&sampler.Requests{Flushes: 1, Refused: 1, Granted: 5, Refusal: &r}, now, drivenTime(now), 100)
		a.fold(&sampler.Requests{Flushes: 1, Refused: 1, Granted: 5, Refusal: &r}, now+2, drivenTime(now+2), 100)
		return a
	}
	big := sampler.Refusal{Bytes: gib, Freed: 2 * gib, Function: "cuMemAlloc_v2"}
	for name, row := range map[string]struct {
		now, later float64
		r          sampler.Refusal
		want       string
	}{
		"one":                {61, 0, big, "[warning 3]"},
		"in the first":       {60, 0, big, "[notice 3]"},
		"for half an hour":   {61, 1800, big, "[warning 3]"},
		"no longer":          {61, 1801, big, "[]"},
		"a workspace":        {61, 0, sampler.Refusal{Bytes: 32*mib - 1, Freed: 32*mib - 1}, "[]"},
		"a larger one":       {61, 0, sampler.Refusal{Bytes: 32 * mib, Freed: mib}, "[warning 3]"},
		"for much":           {61, 0, sampler.Refusal{Bytes: mib, Freed: 32 * mib}, "[warning 3]"},
		"a segment":          {61, 0, sampler.Refusal{Bytes: 20 * mib, Freed: mib}, "[warning 3]"},
		"a piece, 2 s later": {61, 2, sampler.Refusal{Bytes: 20 * mib, Freed: gib, Function: "cuMemCreate"}, "[warning 3]"},
	} {
		p := &proc{pid: 7, process: &sampler.Process{}, asking: fold(row.now, row.r), retried: nan}
		f := &Facts{now: row.now + row.later, gpu: &gpu{asks: true, procs: []*proc{p}}}
		if got := levels(seenFlushes(f)); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// Two near misses in one snapshot have taken some time.
func TestFlushesAtOnce(t *testing.T) {
	d := &driven{}
	j := trained(d, 36)
	j.torch(4*gib, 4)
	j.torch(5*gib, 5)
	d.wait(20)
	for _, a := range d.told() {
		if a.Kind == "flush" && strings.Contains(a.Text, "2 times in 1 s") {
			return
		}
	}
	t.Errorf("%+v", d.told())
}

// The first minute of a process begins when it is listed, also where the GPU of its requests is known later.
func TestFirstMinute(t *testing.T) {
	w := New(Options{})
	for i := range 72 {
		p := processOf(7, "python a.py", 30000)
		if i >= 70 {
			p.Requests = &sampler.Requests{Granted: 9, Whole: true}
		}
		if i == 71 {
			p.Requests = &sampler.Requests{Granted: 10, Refused: 1, Flushes: 1, Whole: true, Refusal: &sampler.Refusal{Time: drivenTime(70.5),
				Bytes: gib, Smallest: gib, Tries: 1, Freed: 2 * gib, Outcome: sampler.RefusalFlush, Function: "cuMemAlloc_v2"}}
		}
		w.Add(sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 31000, p)}})
	}
	if open := w.Open(); len(open) != 1 || open[0].Level != sampler.LevelWarning || open[0].Kind != sampler.AlertFlush {
		t.Errorf("%+v", open)
	}
}

// Of another program in the same process, which begins to count anew, no refusal of the one before is held against it.
func TestAnotherProgram(t *testing.T) {
	w := New(Options{})
	for i := range 20 {
		p := processOf(7, "python a.py", 8000)
		p.Requests = &sampler.Requests{Granted: 5, Refused: 2, Live: 8 * gib, Refusal: &sampler.Refusal{Time: drivenTime(3), Bytes: 40 * gib, Tries: 2}}
		if i > 4 {
			p.Requests = &sampler.Requests{Granted: 1, Live: gib}
		}
		if i == 7 {
			p.Requests.ExitStatus = sampler.Some(1)
		}
		list := []sampler.Process{p}
		if i > 7 {
			list = nil
		}
		w.Add(sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 9000, list...)}})
	}
	if past := w.Past(); len(past) > 0 {
		t.Errorf("%+v", past)
	}
}

// Flushes of before a process was first seen are not told, unless the last was just then.
func TestOldFlushes(t *testing.T) {
	for ago, want := range map[float64]int{10: 1, 10.1: 0} {
		a := asking{}
		r := sampler.Refusal{Time: drivenTime(100 - ago), Bytes: gib, Freed: gib, Outcome: sampler.RefusalFlush, Tries: 1}
		a.fold(&sampler.Requests{Flushes: 1, Refusal: &r}, 100, drivenTime(100), 10)
		if a.flushed.n != want {
			t.Errorf("%v s ago: %d", ago, a.flushed.n)
		}
	}
}

// What is granted on another GPU says that a process goes on.
func TestGrantElsewhere(t *testing.T) {
	for on, want := range map[int]bool{0: true, 1: false} {
		w := New(Options{})
		for i := range 12 {
			at := float64(i)
			s := sampler.Snapshot{Time: drivenTime(at), GPUs: []sampler.GPU{gpuOf(0, 40960, 9000), gpuOf(1, 40960, 1000)}}
			last := &sampler.Refusal{Time: drivenTime(2), Bytes: 40 * gib, Tries: 2}
			if i >= 2 && i < 4 {
				p := processOf(7, "python a.py", 8000)
				p.Requests = &sampler.Requests{Granted: 5, Refused: 2, Live: 8 * gib, Largest: 40 * gib, Refusal: last}
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			if i == 3 {
				s.Requests = []sampler.Request{{Time: drivenTime(2.5), PID: 7, GPU: sampler.Some(on), Bytes: 8 * mib}, {Time: drivenTime(2.6), PID: 7, GPU: sampler.Some(on), Bytes: mib}}
				if on == 1 {
					s.Requests[0].Bytes = 5 * gib
				}
			}
			w.Add(s)
		}
		if got := len(w.Past()) == 1; got != want || got && w.Past()[0].Level != sampler.LevelCritical {
			t.Errorf("on GPU %d: %+v", on, w.Past())
		}
	}
}

// Where only the counts are told, a refusal followed by the end is a death all the same, of unknown size.
func TestCountsOnly(t *testing.T) {
	w := New(Options{})
	for i := range 20 {
		p := processOf(7, "python a.py", 8000)
		p.Requests = &sampler.Requests{Granted: 5, Live: 8 * gib, LargestRecent: 3 * gib}
		if i > 5 {
			p.Requests.Refused = 2
		}
		list := []sampler.Process{p}
		if i > 8 {
			list = nil
		}
		w.Add(sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 9000, list...)}})
	}
	if past := w.Past(); len(past) != 1 || past[0].Kind != sampler.AlertOOM || past[0].Numbers["requested_bytes"] != float64(3*gib) {
		t.Errorf("%+v", past)
	}
}

// Guesses from falls count where some requests are not seen.
func TestHeard(t *testing.T) {
	for name, row := range map[string]struct {
		door *sampler.Door
		want bool
	}{"all are": {&sampler.Door{}, true}, "recorded by hand": {nil, true}, "one is let go": {&sampler.Door{LetGo: []string{"cuMemAlloc_v2"}}, false},
		"one of its own": {&sampler.Door{Busy: []sampler.Busy{{PID: 7, Function: "cuMemAlloc_v2"}}}, false}, "one of another": {&sampler.Door{Busy: []sampler.Busy{{PID: 8, Function: "cuMemAlloc_v2"}}}, true}, "some are lost": {&sampler.Door{Lost: 1}, false}} {
		w := New(Options{})
		for i := range 10 {
			p := processOf(7, "python a.py", 8000)
			p.Requests = &sampler.Requests{Granted: 5}
			w.Add(sampler.Snapshot{Time: drivenTime(float64(i)), Door: row.door, GPUs: []sampler.GPU{gpuOf(0, 40960, 9000, p)}})
		}
		if got := w.gpus[0].heard(); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Times have whole milliseconds: what was granted in that in which a context was refused came before it.
func TestGrantBeforeContext(t *testing.T) {
	for granted, want := range map[float64]bool{2.5: true, 2.501: false} {
		w := New(Options{})
		for i := range 12 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 4000), gpuOf(1, 40960, 40000)}}
			if i >= 3 && i < 5 {
				p, q := processOf(7, "python a.py", 3072), processOf(7, "python a.py", 0)
				p.Requests = &sampler.Requests{Granted: 1, Live: 3 * gib, Largest: 3 * gib}
				q.Requests = &sampler.Requests{Refused: 1, Refusal: &sampler.Refusal{Time: drivenTime(2.5), Tries: 1, Function: "cuDevicePrimaryCtxRetain"}}
				if i == 4 {
					p.Requests.ExitStatus, q.Requests.ExitStatus = sampler.Some(1), sampler.Some(1)
				}
				s.GPUs[0].Processes, s.GPUs[1].Processes = []sampler.Process{p}, []sampler.Process{q}
			}
			if i == 3 {
				s.Requests = []sampler.Request{{Time: drivenTime(granted), PID: 7, GPU: sampler.Some(0), Bytes: 3 * gib}}
			}
			w.Add(s)
		}
		if got := len(w.Past()) > 0 && w.Past()[0].Level == sampler.LevelCritical; got != want {
			t.Errorf("granted at %v: %+v", granted, w.Past())
		}
	}
}
