package watch

import (
	"math"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A GPU counts as that of a message when the sizes differ by less than a tenth, or one is not known.
func TestSameSize(t *testing.T) {
	for total, want := range map[float64]bool{0: true, 900: false, 901: true, 1099: true, 1100: false} {
		e := sampler.OOMEvent{}
		if total > 0 {
			e.GPUTotal = sampler.Some(sampler.Bytes(total) * sampler.MiB)
		}
		if got := sameSize(&gpu{total: 1000}, e); got != want {
			t.Errorf("%v MiB of 1000: %v", total, got)
		}
		if !sameSize(&gpu{}, e) {
			t.Errorf("%v MiB of unknown", total)
		}
	}
}

// A process is the same one when its start is, or, without one, its name and command.
func TestSameProcess(t *testing.T) {
	at := func(s int64) sampler.Opt[time.Time] { return sampler.Some(time.Unix(s, 0)) }
	old := sampler.Process{PID: 7, Name: "python", Command: "python a.py", StartTime: at(5)}
	for name, row := range map[string]struct {
		change func(*sampler.Process)
		want   bool
	}{
		"the same":            {func(*sampler.Process) {}, true},
		"another pid":         {func(p *sampler.Process) { p.PID = 8 }, false},
		"started later":       {func(p *sampler.Process) { p.StartTime = at(6) }, false},
		"renamed":             {func(p *sampler.Process) { p.Name, p.Command = "x", "x" }, true},
		"start unknown":       {func(p *sampler.Process) { p.StartTime = sampler.Opt[time.Time]{} }, true},
		"and another command": {func(p *sampler.Process) { p.StartTime, p.Command = sampler.Opt[time.Time]{}, "x" }, false},
		"and another name":    {func(p *sampler.Process) { p.StartTime, p.Name = sampler.Opt[time.Time]{}, "x" }, false},
	} {
		q := old
		row.change(&q)
		if got := newProc(&old, 0, time.Unix(9, 0)).is(&q); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Ranks of a job have one user, name and command, and start within 15 s of each other.
func TestSameJob(t *testing.T) {
	at := func(s float64) sampler.Opt[time.Time] { return sampler.Some(time.Unix(0, int64(s*1e9))) }
	p := sampler.Process{PID: 7, Name: "python", User: "ann", Command: "python a.py"}
	for name, row := range map[string]struct {
		change       func(*sampler.Process)
		first, other float64 // when they were first listed
		want         bool
	}{
		"together":             {func(*sampler.Process) {}, 0, 0, true},
		"15 s later":           {func(*sampler.Process) {}, 0, 15, true},
		"15 s earlier":         {func(*sampler.Process) {}, 15, 0, true},
		"later":                {func(*sampler.Process) {}, 0, 15.1, false},
		"earlier":              {func(*sampler.Process) {}, 15.1, 0, false},
		"another user":         {func(q *sampler.Process) { q.User = "bob" }, 0, 0, false},
		"another name":         {func(q *sampler.Process) { q.Name = "x" }, 0, 0, false},
		"another command":      {func(q *sampler.Process) { q.Command = "x" }, 0, 0, false},
		"started 15 s later":   {func(q *sampler.Process) { q.StartTime = at(1015) }, 0, 99, true},
		"started later":        {func(q *sampler.Process) { q.StartTime = at(1015.1) }, 0, 0, false},
		"one start is unknown": {func(q *sampler.Process) { q.StartTime = at(1) }, 0, 0, true},
		"started earlier":      {func(q *sampler.Process) { q.StartTime = at(984.9) }, 0, 0, false},
	} {
		a, b := p, p
		row.change(&b)
		if b.StartTime.Known() && name != "one start is unknown" {
			a.StartTime = at(1000)
		}
		if got := sameJob(newProc(&a, row.first, time.Unix(2000, 0)), newProc(&b, row.other, time.Unix(2000, 0))); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Retries of an allocator count together while less than ten minutes lie between two rises; what it counted before
// it was first seen is old.
func TestAllocatorCounters(t *testing.T) {
	q := sampler.Process{PID: 7, Allocator: &sampler.Allocator{Retries: 5, OOMs: 2}}
	p := newProc(&q, 0, time.Unix(0, 0))
	for _, row := range []struct {
		now           float64
		retries, ooms int
		run           int
		retried       float64
		refused       float64
	}{
		{0, 5, 2, 0, nan, nan}, {10, 6, 2, 1, 10, nan}, {20, 6, 3, 1, 10, 20}, {609, 8, 3, 3, 609, 20}, {1209, 9, 3, 1, 1209, 20},
		{1300, 0, 0, 1, 1209, 20}, {1310, 1, 1, 2, 1310, 1310}, // its counters were reset
	} {
		q.Allocator = &sampler.Allocator{Retries: row.retries, OOMs: row.ooms}
		p.foldAllocator(row.now)
		if p.retryRun != row.run || !equal(p.retried, row.retried) || !equal(p.refused, row.refused) {
			t.Errorf("at %v: %d retries of late, the newest at %v, refused at %v", row.now, p.retryRun, p.retried, p.refused)
		}
	}
}

var nan = math.NaN()

func equal(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Others take turns with a process when they held as much once, to 2 %, and gave back 256 MiB of it before it came
// to its peak again, to 5 %.
func TestTurns(t *testing.T) {
	for name, row := range map[string]struct {
		back   float64 // what the others gave back to before it came again
		again  float64 // to where it came
		others float64 // now
		want   bool
	}{
		"as before":        {1000, 10000, 5000, true},
		"2 % more":         {1000, 10000, 5100, true},
		"more":             {1000, 10000, 5101, false},
		"nearly its peak":  {1000, 9500, 5000, true},
		"less":             {1000, 9499, 5000, false},
		"gave 256 back":    {4744, 10000, 5000, true},
		"less back":        {4745, 10000, 5000, false},
		"hold little more": {1000, 10000, 1255, false},
		"hold enough more": {1000, 10000, 1256, true},
	} {
		var r recentPeak
		r.reset(0)
		for i, v := range [][2]float64{{10000, 1000}, {2000, 5000}, {2000, 5000}, {2000, row.back}, {row.again, row.back}, {2000, row.back}} {
			r.add(float64(i), v[0], v[1])
		}
		if name == "gave 256 back" || name == "less back" {
			r.now.others = 4744 // what they held at the peak does not count here
		}
		if got := r.turns(row.others); got != row.want {
			t.Errorf("%s: %v, %+v", name, got, r)
		}
	}
}

// A peak is remembered for one to two half hours, and is the newest of equals.
func TestRecentPeak(t *testing.T) {
	var r recentPeak
	r.reset(0)
	r.add(0, 9000, 1)
	r.add(10, 9000, 2)
	for _, row := range []struct{ now, high, most float64 }{{1800, 500, 9000}, {1801, 700, 9000}, {3601, 600, 9000}, {3602, 600, 700}} {
		if r.add(row.now, row.high, 3); r.most().value != row.most || row.most == 9000 && (r.most().others != 2 || r.most().time != 10) {
			t.Errorf("at %v: %+v, want %v", row.now, r.most(), row.most)
		}
	}
}

// What others seem to hold in the one snapshot of a peak, and neither before nor after, is the process's own: it was listed before it had risen.
func TestOthersAtPeak(t *testing.T) {
	for others, want := range map[[3]float64]float64{{0, 4000, 0}: 0, {0, 4000, 4000}: 4000, {4000, 4000, 0}: 4000, {1000, 4000, 2000}: 2000, {0, 10, 2000}: 10} {
		var r recentPeak
		r.reset(0)
		for i, v := range []float64{2000, 9000, 2000} {
			r.add(float64(i), v, others[i])
		}
		if got := r.most(); got.value != 9000 || got.others != want {
			t.Errorf("others %v: %+v, want %v", others, got, want)
		}
	}
}

// Of several processes of one command the first goes on where the last run ended: the other ranks of a job may use its GPU by mistake.
func TestRecalledOnce(t *testing.T) {
	w := New(Options{})
	for i := range 100 {
		used := 4000.0
		if i == 60 {
			used = 9000
		}
		procs := []sampler.Process{processOf(7, "torchrun a.py", used)}
		if i >= 80 {
			procs, used = nil, 0
		}
		if i >= 90 {
			procs = []sampler.Process{processOf(8, "torchrun a.py", 400), processOf(9, "torchrun a.py", 400), processOf(10, "torchrun a.py", 400)}
			used = 1200
		}
		w.Add(snapshotOf(float64(i), 16000, used, procs...))
	}
	for _, p := range w.gpus[0].procs {
		if got := p.peak.most().value == 9000; got != (p.pid == 8) {
			t.Errorf("pid %d: a peak of %v", p.pid, p.peak.most().value)
		}
	}
}

// A run that ended is remembered for an hour by user and command; the oldest of eight makes room.
func TestLately(t *testing.T) {
	run := func(user, command string, peak float64) *proc {
		p := newProc(&sampler.Process{PID: 7, User: user, Command: command}, 0, time.Unix(0, 0))
		if peak > 0 {
			p.peak.add(0, peak, 0)
		}
		return p
	}
	var l lately
	l.keep(run("ann", "a", 5000), false, 100)
	l.keep(run("bob", "a", 7000), false, 101)
	l.keep(run("", "", 9000), false, 102)
	l.keep(run("ann", "none", 0), false, 103)
	recalled := func(user, command string, now float64) float64 {
		p := run(user, command, 0)
		l.recall(p, now)
		return max(0, p.peak.most().value)
	}
	for _, row := range []struct {
		user, command string
		now, want     float64
	}{{"ann", "a", 3700, 5000}, {"ann", "a", 3701, 0}, {"bob", "a", 3701, 7000}, {"eve", "a", 110, 0}, {"ann", "b", 110, 0}, {"", "", 110, 0}, {"ann", "none", 110, 0}} {
		if got := recalled(row.user, row.command, row.now); got != row.want {
			t.Errorf("%s of %s at %v: %v, want %v", row.command, row.user, row.now, got, row.want)
		}
	}
	l.keep(run("ann", "a", 6000), false, 104)
	for i := range latelyKept - 2 {
		l.keep(run("ann", string(rune('b'+i)), 1000), false, 105+float64(i))
	}
	if recalled("ann", "a", 120) != 6000 || recalled("bob", "a", 120) != 7000 {
		t.Error("eight runs are not remembered")
	}
	l.keep(run("eve", "z", 1000), false, 119)
	if recalled("bob", "a", 120) != 0 || recalled("ann", "a", 120) != 6000 || recalled("eve", "z", 120) != 1000 {
		t.Error("the oldest did not make room")
	}
}

// The least free memory of the last seconds, in buckets of four.
func TestLowest(t *testing.T) {
	var w lowestFree
	w.reset()
	if !math.IsNaN(w.last(0, 60)) || !math.IsNaN(w.ever) {
		t.Error("something is known from nothing")
	}
	for _, v := range [][2]float64{{0, 500}, {1, 300}, {2, 400}, {40, 800}, {60, 900}} {
		w.add(v[0], v[1])
	}
	for _, row := range [][3]float64{{60, 60, 300}, {63.9, 60, 300}, {64, 60, 800}, {60, 20, 800}, {60, 19, 900}, {60, 1000, 300}} {
		if got := w.last(row[0], row[1]); got != row[2] {
			t.Errorf("at %v in %v s: %v, want %v", row[0], row[1], got, row[2])
		}
	}
	if w.add(64, 600); w.ever != 300 || w.last(64, 0) != 600 {
		t.Errorf("ever %v", w.ever)
	}
}

// A refusal counts as a need for an hour, or for a day where it is known which program asked.
func TestRefusalAge(t *testing.T) {
	for command, limit := range map[string]float64{"": 3600, "python a.py": 24 * 3600} {
		n := needs{refused: []refusal{{command: command, at: 10}}}
		if n.fold(10 + limit); len(n.refused) != 1 {
			t.Errorf("%q is forgotten after %v s", command, limit)
		}
		if n.fold(11 + limit); len(n.refused) != 0 {
			t.Errorf("%q is remembered after %v s", command, limit+1)
		}
	}
	for typed, want := range map[sampler.Bytes]bool{0: false, 1: true, sampler.MaxPlausible - 1: true, sampler.MaxPlausible: false} {
		var n needs
		if n.set(sampler.Some(typed)); n.typed.Known() != want {
			t.Errorf("a need of %v: %v", typed, n.typed)
		}
	}
}

// What can be reused is what its allocator has free in whole segments; of two that report one it is not known whose.
func TestReusable(t *testing.T) {
	with := func(pid int, reserved sampler.Bytes) *proc {
		return &proc{pid: pid, process: &sampler.Process{PID: pid, Allocator: &sampler.Allocator{Reserved: reserved, Allocated: 60, InactiveSplit: 10}}}
	}
	none := &proc{pid: 3, process: &sampler.Process{PID: 3}}
	for name, row := range map[string]struct {
		procs []*proc
		pid   sampler.Opt[int]
		want  sampler.Opt[sampler.Bytes]
	}{
		"the only one":    {[]*proc{none, with(1, 100)}, sampler.Opt[int]{}, sampler.Some(sampler.Bytes(30))},
		"two":             {[]*proc{with(1, 100), with(2, 200)}, sampler.Opt[int]{}, sampler.Opt[sampler.Bytes]{}},
		"who asks":        {[]*proc{with(1, 100), with(2, 200)}, sampler.Some(2), sampler.Some(sampler.Bytes(130))},
		"another asks":    {[]*proc{with(1, 100)}, sampler.Some(9), sampler.Opt[sampler.Bytes]{}},
		"it cannot be":    {[]*proc{with(1, sampler.MaxPlausible)}, sampler.Opt[int]{}, sampler.Opt[sampler.Bytes]{}},
		"nothing is free": {[]*proc{with(1, 65)}, sampler.Opt[int]{}, sampler.Some(sampler.Bytes(0))},
	} {
		g := gpu{procs: row.procs}
		if got := g.reusable(Need{PID: row.pid}); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
