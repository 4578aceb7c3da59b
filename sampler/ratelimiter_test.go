package sampler

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// limited plays sweeps of synthetic calls against a limiter, as pollSweeper does: a sweep call
// lasts until the next second, and ends early when two rounds in a row take half of the period, or one takes four, which is broken off.
type limited struct {
	*rateLimiter
	now  time.Time
	cost func(dev int) time.Duration
	busy time.Duration
	tick int64
	from int // the device with which the next round begins
	next time.Time
}

func newLimited(asked time.Duration, gpus int, cost func(dev int) time.Duration) *limited {
	return &limited{rateLimiter: newRateLimiter(asked, gpus), now: noon, next: noon, cost: cost}
}

// run plays for d and returns the share of a thread that the calls took.
func (l *limited) run(d time.Duration) (duty float64) {
	began, busy := l.now, l.busy
	for l.now.Sub(began) < d {
		l.sweepCall()
	}
	return (l.busy - busy).Seconds() / l.now.Sub(began).Seconds()
}

func (l *limited) sweepCall() {
	var ours []int
	for dev := range l.gpus {
		ours = append(ours, dev)
	}
	s := &Sweep{}
	s.prepare(ours)
	s.pace(l.rateLimiter, ours)
	until := l.now.Truncate(time.Second).Add(time.Second)
	if l.next.After(l.now.Add(s.Period)) {
		l.next = l.now.Add(s.Period)
	}
	for dear := 0; dear < 2; l.tick++ {
		if l.next.After(until) {
			l.now = until
			break
		}
		l.now = later(l.now, l.next)
		began := l.now
		from := l.from
		l.from = 0
		for k := range ours {
			i := (from + k) % len(ours)
			if l.from > 0 || (l.tick+s.Phase[i])%s.Every[i] != 0 {
				continue
			}
			d := l.cost(i)
			l.now, l.busy = l.now.Add(d), l.busy+d
			if s.Calls[i]++; s.Calls[i] == 1 || d < time.Duration(s.Least[i]) {
				s.Least[i] = int64(d)
			}
			if l.now.Sub(began) > 4*s.Period {
				l.from = i + 1
			}
		}
		if dear++; l.now.Sub(began) <= s.Period/2 {
			dear = 0
		}
		if l.now.Sub(began) > 4*s.Period {
			dear = 2
		}
		for !l.next.After(l.now) {
			l.next = l.next.Add(s.Period)
		}
	}
	calls, quickest := 0, time.Hour
	for i, n := range s.Calls {
		if n > 0 {
			l.note(i, l.now, time.Duration(s.Least[i]), n)
			calls, quickest = calls+n, min(quickest, time.Duration(s.Least[i]))
		}
	}
	l.round(l.now, quickest, calls)
	l.settle()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func steady(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// TestRateLimiter plays a driver of some slowness: the limiter goes at once to a rate whose duty
// is bounded, and comes back when the driver is quick again.
func TestRateLimiter(t *testing.T) {
	for _, row := range []struct {
		gpus              int
		call, asked, want time.Duration
	}{
		{1, 50 * time.Microsecond, ms(20), ms(20)},
		{1, 400 * time.Microsecond, ms(20), ms(20)}, // 2 %: just so
		{1, 401 * time.Microsecond, ms(20), ms(40)},
		{1, ms(2), ms(20), ms(100)},
		{1, ms(100), ms(20), 5 * time.Second},
		{1, ms(1), time.Second, time.Second},
		{8, 30 * time.Microsecond, ms(20), ms(20)},
		{16, 36 * time.Microsecond, ms(20), ms(20)},
		{64, 36 * time.Microsecond, ms(20), ms(20)},
		{8, 201 * time.Microsecond, ms(20), ms(40)}, // 8 %: 1 % each
		{8, ms(20), ms(20), 2 * time.Second},
		{64, 100 * time.Microsecond, ms(20), ms(60)}, // 12 % of all
	} {
		call := row.call
		l := newLimited(row.asked, row.gpus, func(int) time.Duration { return call })
		most := max(gpuDuty, min(allDuty, manyDuty*float64(row.gpus)))
		l.run(max(2*time.Second, 5*time.Duration(row.gpus)*call))
		for range 3 {
			s := l.sampling()
			if l.period(0) != row.want || s.PeriodSeconds != row.want.Seconds() || s.AskedSeconds != row.asked.Seconds() || s.DutyPercent > 100*most+.001 {
				t.Errorf("%d GPUs, calls of %v every %v: period %v, want %v; sampling %+v", row.gpus, row.call, row.asked, l.period(0), row.want, s)
			}
			if duty := l.run(20 * row.want); duty > 1.1*most {
				t.Errorf("%d GPUs, calls of %v every %v: %.1f %% of a thread", row.gpus, row.call, row.asked, 100*duty)
			}
		}
		call = time.Microsecond
		if l.run(5 * time.Second); l.period(0) != row.asked {
			t.Errorf("%d GPUs, calls of %v, then quick ones: the period is %v after 5 s, asked for %v", row.gpus, row.call, l.period(0), row.asked)
		}
	}
}

// TestRateLimiterOnABusyMachine: a thread that loses its processor is not a slow driver, and
// what it did to the rate is over soon.
func TestRateLimiterOnABusyMachine(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		preempted := 0.0
		l := newLimited(ms(20), 8, func(int) time.Duration {
			d := 30*time.Microsecond + time.Duration(rnd.IntN(10_000))
			if rnd.Float64() < preempted {
				d += time.Duration(rnd.IntN(int(24 * time.Millisecond)))
			}
			return d
		})
		l.run(8 * time.Second)
		preempted = 0.3
		for range 15 {
			if l.run(time.Second); l.sampling().PeriodSeconds > 0.020 {
				t.Fatalf("seed %d: nearly a third of the calls are late: the memory is read every %v s", seed, l.sampling().PeriodSeconds)
			}
		}
		preempted = 0.9
		l.run(15 * time.Second)
		preempted = 0
		if l.run(5 * time.Second); l.sampling().PeriodSeconds != 0.020 {
			t.Fatalf("seed %d: 5 s after: every %v s", seed, l.sampling().PeriodSeconds)
		}
	}
}

// TestRateLimiterIsQuick: calls become dear in the midst; two seconds later they are within
// their duty.
func TestRateLimiterIsQuick(t *testing.T) {
	for _, gpus := range []int{1, 2, 8} {
		for _, dear := range []time.Duration{ms(1), ms(2), ms(5), ms(20)} {
			for at := time.Duration(0); at < time.Second; at += 130 * time.Millisecond {
				call := 30 * time.Microsecond
				l := newLimited(ms(20), gpus, func(int) time.Duration { return call })
				l.run(3 * time.Second)
				change, after := l.now.Add(at), time.Duration(0)
				l.cost = func(int) time.Duration {
					if l.now.Before(change) {
						return call
					}
					if l.now.Sub(change) >= 2*time.Second {
						after += dear
					}
					return dear
				}
				l.run(at + 20*time.Second)
				if duty := after.Seconds() / (l.now.Sub(change).Seconds() - 2); duty > 0.12 {
					t.Errorf("%d GPUs, calls of %v: %.1f %% of a thread after 2 s", gpus, dear, 100*duty)
				}
			}
		}
	}
}

// TestRateLimiterJudgesTogether: a few calls for many GPUs tell that all have become dear.
func TestRateLimiterJudgesTogether(t *testing.T) {
	call := 30 * time.Microsecond
	l := newLimited(ms(20), 64, func(int) time.Duration { return call })
	l.run(3 * time.Second)
	call = ms(20)
	l.run(2 * judgedAll * call)
	if duty := l.run(60 * time.Second); duty > 1.1*allDuty {
		t.Errorf("after %d calls: %.1f %% of a thread", 2*judgedAll, 100*duty)
	}
	call = 30 * time.Microsecond
	if l.run(12 * time.Second); l.sampling().PeriodSeconds != 0.020 {
		t.Errorf("quick again: every %v s", l.sampling().PeriodSeconds)
	}
}

// TestRateLimiterDoesNotSwing: for any driver that is steady to a few percent the rate settles.
func TestRateLimiterDoesNotSwing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for d := 10 * time.Microsecond; d < time.Second; d = d * 21 / 20 {
		l := newLimited(ms(20), 1, func(int) time.Duration { return d + time.Duration(rnd.Int64N(int64(d)/20)) })
		l.run(20*time.Second + 20*d)
		settled := l.period(0)
		for range 10 {
			if l.run(time.Second); l.period(0) < settled {
				t.Fatalf("calls of %v: the period swings between %v and %v", d, settled, l.period(0))
			}
			settled = l.period(0)
		}
	}
}

// TestRateLimiterOneSlowGPU: one slow GPU does not slow the others, and quiet ones cost next to
// nothing.
func TestRateLimiterOneSlowGPU(t *testing.T) {
	l := newLimited(ms(20), 8, func(dev int) time.Duration {
		if dev == 3 {
			return ms(20)
		}
		return 30 * time.Microsecond
	})
	l.run(4 * time.Second)
	if l.period(3) != time.Second || l.period(0) != ms(20) || l.sampling().PeriodSeconds != 1 {
		t.Errorf("the slow one is read every %v, another every %v; %+v", l.period(3), l.period(0), l.sampling())
	}
	l = newLimited(ms(20), 64, steady(100*time.Microsecond))
	for i := 4; i < 64; i++ {
		l.gpus[i].quiet = true
	}
	duty := l.run(10 * time.Second)
	if l.period(0) != ms(20) || l.period(63) != quietPeriod || l.sampling().PeriodSeconds != 0.020 || duty > 0.06 {
		t.Errorf("4 of 64 in use: every %v, the others every %v, %.1f %% of a thread; %+v", l.period(0), l.period(63), 100*duty, l.sampling())
	}
	for _, asked := range []time.Duration{ms(1), ms(30), ms(150), ms(300)} {
		r := newRateLimiter(asked, 1)
		r.gpus[0].quiet = true
		if p := r.period(0); p%asked != 0 || p < asked || p > max(quietPeriod, asked) {
			t.Errorf("asked for %v, a quiet GPU is read every %v", asked, p)
		}
	}
}

// TestQuiet: a GPU is quiet after a while without process and change, and no longer than that.
func TestQuiet(t *testing.T) {
	c, r := collected(), newRateLimiter(ms(20), 1)
	now := noon
	sees := func(what string, d time.Duration, want bool) {
		t.Helper()
		for end := now.Add(d); now.Before(end); now = now.Add(time.Second) {
			c.seeQuiet(r, now)
		}
		if c.seeQuiet(r, now); r.gpus[0].quiet != want {
			t.Errorf("%s: quiet is %v", what, !want)
		}
	}
	sees("nothing is known", time.Minute, false)
	c.reading(0, now, reading(0), nil)
	sees("no list yet", time.Minute, false)
	c.list(0, now, nil, nil)
	sees("at once", 0, false)
	sees("after a while", quietAfter, true)
	c.reading(0, now, reading(2*MiB), nil)
	sees("the first change", 0, false)
	sees("the same for a while", quietAfter, true)
	c.list(0, now, []Process{{PID: 1}}, nil)
	sees("a process", time.Minute, false)
	c.list(0, now, nil, ErrNoPermission)
	sees("no list", time.Minute, false)
	c.list(0, now, nil, nil)
	sees("it has ended", quietAfter, true)
	c.reading(0, now, reading(GiB), nil)
	sees("memory of a hidden process", time.Minute, false)
}

// TestCheapCalls: 16 GPUs with 7 instances each are read every 20 ms where a call takes 30 us, also beside slow ones.
func TestCheapCalls(t *testing.T) {
	l := newLimited(ms(20), 16*8, steady(30*time.Microsecond))
	if l.run(5 * time.Second); l.sampling().PeriodSeconds != 0.020 {
		t.Errorf("every %v s", l.sampling().PeriodSeconds)
	}
	l = newLimited(ms(20), 16*8, func(dev int) time.Duration { return pickCost(dev < 100) })
	l.run(10 * time.Second)
	if duty := l.run(30 * time.Second); l.period(0) != ms(20) || l.period(127) < time.Second || duty > allDuty+cheapDuty {
		t.Errorf("beside slow ones: every %v, those every %v; %.0f %% of a thread", l.period(0), l.period(127), 100*duty)
	}
}

func pickCost(cheap bool) time.Duration {
	if cheap {
		return 30 * time.Microsecond
	}
	return ms(20)
}

// TestInTurn: GPUs that are read seldom have their turns one after the other, those that nobody uses all at once.
func TestInTurn(t *testing.T) {
	for name, row := range map[string]struct {
		slow, quiet   bool
		period        time.Duration
		every, phases []int64
	}{
		"slow":              {true, false, quietPeriod, []int64{20, 20, 20, 20}, []int64{0, 5, 10, 15}},
		"quiet":             {false, true, quietPeriod, []int64{1, 1, 1, 1}, []int64{0, 0, 0, 0}},
		"slow beside quick": {true, false, ms(20), []int64{200, 200, 200, 200, 1}, []int64{0, 50, 100, 150, 0}},
	} {
		r := newRateLimiter(ms(20), len(row.every))
		var ours []int
		for i := range r.gpus {
			ours = append(ours, i)
			if r.gpus[i].quiet = row.quiet; row.slow && i < 4 {
				r.gpus[i].period = 4 * time.Second
			}
		}
		s := &Sweep{}
		s.prepare(ours)
		if s.pace(r, ours); s.Period != row.period || !slices.Equal(s.Every, row.every) || !slices.Equal(s.Phase, row.phases) {
			t.Errorf("%s: period %v, every %v, phases %v", name, s.Period, s.Every, s.Phase)
		}
	}
}

// TestStillPace: only a GPU that is read at the full rate is read less often while it stands still.
func TestStillPace(t *testing.T) {
	r := newRateLimiter(20*time.Millisecond, 3)
	r.gpus[1].quiet, r.gpus[2].period = true, 60*time.Millisecond
	for _, row := range []struct{ ours, every, still []int }{
		{[]int{0, 1, 2}, []int{1, 10, 3}, []int{2, 10, 3}},
		{[]int{1, 2}, []int{4, 1}, []int{4, 1}},
	} {
		s := &Sweep{}
		s.prepare(row.ours)
		s.pace(r, row.ours)
		for i := range row.ours {
			if s.Every[i] != int64(row.every[i]) || s.Still[i] != int64(row.still[i]) {
				t.Errorf("%v: every %v, still %v", row.ours, s.Every, s.Still)
			}
		}
	}
	slow := &Sweep{}
	slow.prepare([]int{0})
	slow.pace(newRateLimiter(100*time.Millisecond, 1), []int{0})
	if slow.Still[0] != 1 {
		t.Errorf("who asks for 100 ms gets %d of them while the memory stands still", slow.Still[0])
	}
}

// A GPU whose call hangs does not make the header say that the others are read seldom.
func TestSamplingLeavesOutHung(t *testing.T) {
	r := newRateLimiter(ms(20), 2)
	r.setAside(1, ms(300), ms(2800), true)
	if got := r.sampling().PeriodSeconds; got < 2.8 {
		t.Errorf("a slow one: every %v s", got)
	}
	r.gpus[1].hung = true
	if got := r.sampling(); got.PeriodSeconds != 0.020 || got.DutyPercent > 1 {
		t.Errorf("one that hangs: %+v", got)
	}
}
