package sampler

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// play lets a poller work through its plan for d, each call taking cost, and returns how
// long it was in calls and how often each device was asked.
func play(r *schedule, now time.Time, d, cost time.Duration) (busy time.Duration, asked []int) {
	asked = make([]int, len(r.next))
	for end := now.Add(d); ; {
		dev, at := r.first()
		if at.After(now) {
			now = at
		}
		if !now.Before(end) {
			return busy, asked
		}
		began := now
		now = now.Add(cost)
		busy, asked[dev] = busy+cost, asked[dev]+1
		r.done(dev, began, now)
	}
}

// TestScheduleDuty: a slow poller asks every device once a period, and less often when its
// calls would take more than their share of a thread.
func TestScheduleDuty(t *testing.T) {
	for _, devices := range []int{1, 2, 8, 64} {
		for _, cost := range []time.Duration{10 * time.Microsecond, time.Millisecond, 40 * time.Millisecond, 400 * time.Millisecond} {
			const length = 100 * time.Minute // of which the first round is not bounded
			busy, asked := play(newSchedule(time.Second, devices, devices, noon), noon, length, cost)
			most, span := slowDuty, freshFor // as often as keeps them fresh, where that is not much
			if share := cost.Seconds() * float64(devices) / span.Seconds(); share <= freshDuty {
				most = max(most, share)
			}
			if share := busy.Seconds() / length.Seconds(); share > most*1.25 {
				t.Errorf("%d devices, calls of %v: %.1f %% of a thread", devices, cost, 100*share)
			}
			fits := time.Duration(devices)*cost < time.Duration(slowDuty*float64(time.Second))/2
			for dev, n := range asked {
				if n == 0 || n > 6001 || fits && n < 5998 {
					t.Errorf("%d devices, calls of %v: device %d is asked %d times in %v", devices, cost, dev, n, length)
				}
			}
		}
	}
}

// TestScheduleKnowsTheFirstRound: what the first round has cost counts for when the second comes.
func TestScheduleKnowsTheFirstRound(t *testing.T) {
	for cost, most := range map[time.Duration]time.Duration{time.Millisecond: time.Second, ms(300): 49 * time.Second} {
		r := newSchedule(time.Second, 8, 8, noon)
		for dev := range r.cost {
			r.cost[dev] = cost
		}
		r.begin(r.cost, noon)
		if _, at := r.first(); at.Sub(noon) > most || at.Sub(noon) < most-time.Second {
			t.Errorf("calls of %v: the second round is %v after the first, want about %v", cost, at.Sub(noon), most)
		}
	}
}

// TestScheduleAreApart: every device has its turn within a period, and expensive calls are not
// made all at once.
func TestScheduleAreApart(t *testing.T) {
	for _, devices := range []int{1, 8, 64, 1000} {
		r := newSchedule(time.Second, devices, devices, noon)
		for _, at := range r.next {
			if at.Before(noon) || at.After(noon.Add(time.Second)) {
				t.Fatalf("%d devices: one is asked %v after the beginning", devices, at.Sub(noon))
			}
		}
		for range 3 {
			for range devices {
				dev, at := r.first()
				r.done(dev, at, at.Add(ms(1)))
			}
		}
		seen := map[int64]bool{}
		for _, at := range r.next {
			if seen[at.UnixNano()] {
				t.Fatalf("%d devices whose calls take a millisecond: two are asked at the same time", devices)
			}
			seen[at.UnixNano()] = true
		}
	}
	if dev, _ := newSchedule(time.Second, 0, 0, noon).first(); dev != -1 {
		t.Errorf("of no devices, %d is first", dev)
	}
	r := newSchedule(time.Second, 2, 2, noon)
	r.off[0], r.off[1] = true, true
	if dev, _ := r.first(); dev != -1 {
		t.Errorf("all devices are off, %d is first", dev)
	}
}

// TestScheduleAndTheClock: setting the wall clock must not stop a poller, so its plan keeps
// the monotonic reading.
func TestScheduleAndTheClock(t *testing.T) {
	now := time.Now()
	r := newSchedule(time.Second, 3, 3, now)
	for range 5 {
		for dev, at := range r.next {
			if at == at.Round(0) { //nolint:staticcheck // the monotonic reading is what is compared
				t.Fatalf("device %d is planned by the wall clock alone", dev)
			}
			r.done(dev, now, now.Add(time.Millisecond))
		}
		now = now.Add(time.Second)
	}
}

// TestScheduleAfterALongPause: after a suspend of days the plan goes on at once.
func TestScheduleAfterALongPause(t *testing.T) {
	for _, pause := range []time.Duration{time.Minute, 90 * 24 * time.Hour, 56 * 365 * 24 * time.Hour} {
		r := newSchedule(time.Second, 1, 1, noon)
		began := time.Now()
		later := noon.Add(pause)
		r.done(0, later, later.Add(time.Millisecond))
		if d := time.Since(began); d > 100*time.Millisecond {
			t.Errorf("after a pause of %v planning takes %v", pause, d)
		}
		if wait := r.next[0].Sub(later); wait < 0 || wait > 2*time.Second {
			t.Errorf("after a pause of %v the device is asked in %v", pause, wait)
		}
	}
}

func TestQueueDropsTheOldest(t *testing.T) {
	q := newQueue()
	for i := range queueSize + 100 {
		q.put(&Snapshot{Schema: i})
	}
	list, err := q.next(context.Background())
	if err != nil || len(list) != queueSize || list[0].Schema != 100 || list[queueSize-1].Schema != queueSize+99 {
		t.Errorf("%d snapshots, from %d, %v", len(list), list[0].Schema, err)
	}
}

func TestQueueEnds(t *testing.T) {
	q, why := newQueue(), errors.New("why")
	q.put(&Snapshot{})
	q.end(why)
	q.end(errors.New("later"))
	if list, err := q.next(context.Background()); len(list) != 1 || err != nil {
		t.Errorf("what was queued before the end: %d, %v", len(list), err)
	}
	for range 2 {
		if list, err := q.next(context.Background()); list != nil || err != why {
			t.Errorf("after the end: %v, %v", list, err)
		}
	}
	q = newQueue()
	q.end(nil)
	if _, err := q.next(context.Background()); !errors.Is(err, context.Canceled) {
		t.Errorf("an end without a reason is %v", err)
	}
}

func TestQueueContext(t *testing.T) {
	q := newQueue()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := q.next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing came: %v", err)
	}
}

// TestQueueOrder: one writer, one reader at odd moments: all come once, in order.
func TestQueueOrder(t *testing.T) {
	const n = 500
	q := newQueue()
	go func() {
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			q.put(&Snapshot{Schema: i})
			if rnd.IntN(20) == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		q.end(nil)
	}()
	want := 0
	for {
		list, err := q.next(context.Background())
		if err != nil {
			break
		}
		for _, s := range list {
			if s.Schema != want {
				t.Fatalf("snapshot %d comes, %d is next", s.Schema, want)
			}
			want++
		}
	}
	if want != n {
		t.Errorf("%d snapshots of %d came", want, n)
	}
}

// TestScheduleSparesOneSlowTurn: a device that hung once is asked again with the next period; one that does it again and again keeps
// to twice the duty.
func TestScheduleSparesOneSlowTurn(t *testing.T) {
	for _, hang := range []time.Duration{ms(300), ms(800), 2 * time.Second} {
		r := newSchedule(time.Second, 4, 4, noon)
		now, last := noon, time.Time{}
		for range 400 { // 100 seconds; it hangs in the tenth
			dev, at := r.first()
			cost := ms(2)
			now = later(now, at)
			if dev == 1 {
				if gap := at.Sub(last); !last.IsZero() && gap > hang+ms(2100) {
					t.Fatalf("after a hang of %v it is asked again after %v", hang, gap)
				}
				if last = now; now.Sub(noon) > 10*time.Second && now.Sub(noon) < 10*time.Second+hang {
					cost = hang
				}
			}
			now = now.Add(cost)
			r.done(dev, now.Add(-cost), now)
		}
		r, now = newSchedule(time.Second, 4, 4, noon), noon
		busy, calls := time.Duration(0), 0
		for now.Sub(noon) < time.Hour {
			dev, at := r.first()
			now = later(now, at)
			cost := ms(2)
			if dev == 1 {
				if calls++; calls%2 == 0 {
					cost = hang
				}
				busy += cost
			}
			now = now.Add(cost)
			r.done(dev, now.Add(-cost), now)
		}
		if share := busy.Seconds() / 3600; share > 2*slowDuty {
			t.Errorf("every other call takes %v: %.1f %% of a thread", hang, 100*share)
		}
	}
}

// TestScheduleKeepsFresh: what a slow driver lets be read every three seconds for little is.
func TestScheduleKeepsFresh(t *testing.T) {
	for _, call := range []time.Duration{300 * time.Microsecond, time.Millisecond, ms(3)} {
		r := newSchedule(time.Second, 16, 16, noon)
		now, last := noon, make([]time.Time, 16)
		for now.Sub(noon) < time.Minute {
			turn, at := r.first()
			now = later(now, at)
			if gap := now.Sub(last[turn]); !last[turn].IsZero() && gap > freshFor+slotMost {
				t.Fatalf("calls of %v: %v between two turns", call, gap)
			}
			last[turn] = now
			cost := 13 * call // figures
			if turn >= 8 {
				cost = 3 * call // lists
			}
			now = now.Add(cost)
			r.done(turn, now.Add(-cost), now)
		}
	}
}

// TestScheduleAfterHangs: however often a device hung, with quick turns between, it is soon asked again.
func TestScheduleAfterHangs(t *testing.T) {
	r := newSchedule(time.Second, 16, 16, noon)
	now, last, longest := noon, noon, time.Duration(0)
	for hangs := 0; now.Sub(noon) < 3*time.Minute; {
		turn, at := r.first()
		now = later(now, at)
		cost := ms(1)
		if turn == 1 {
			if longest = max(longest, now.Sub(last)); hangs < 7 && now.Sub(last) < 2*time.Second && now.Sub(noon) > time.Duration(6*hangs+6)*time.Second {
				cost, hangs = 2*time.Second, hangs+1
			}
			last = now.Add(cost)
		}
		now = now.Add(cost)
		r.done(turn, now.Add(-cost), now)
	}
	if longest > mostSoon*time.Second+time.Second {
		t.Errorf("%v without a turn", longest)
	}
}
