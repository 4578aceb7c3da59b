package sampler

import (
	"math/rand/v2"
	"testing"
	"time"
)

// spikeOf is memory that one process takes for a while.
type spikeOf struct {
	pid    int
	at, to time.Duration
	height Bytes
}

// spikes are such of four processes, of which the first has once been higher than all that follow.
func spikes(seed uint64, n int, gap func(*rand.Rand) time.Duration) (list []spikeOf) {
	rng := rand.New(rand.NewPCG(seed, 9))
	at := 2 * time.Second
	list = append(list, spikeOf{1, at, at + ms(50), 50 * GiB})
	for range n {
		at += gap(rng)
		list = append(list, spikeOf{1 + rng.IntN(4), at, at + ms(50), Bytes(100+rng.IntN(8000)) * MiB})
	}
	return list
}

// scene plays spikes to a collector: readings every 20 ms, lists once a second and where one is wanted, which take so
// long. Each snapshot is passed on.
func scene(t *testing.T, list []spikeOf, takes time.Duration, each func(*Snapshot)) (lists int) {
	t.Helper()
	c := collected()
	held := func(pid int, now time.Duration) Bytes {
		b := 4 * GiB
		for _, s := range list {
			if s.pid == pid && now >= s.at && now < s.to {
				b += s.height
			}
		}
		return b
	}
	procs := func(now time.Duration) (all []Process) {
		for pid := 1; pid <= 4; pid++ {
			all = append(all, Process{PID: pid, Memory: Some(held(pid, now))})
		}
		return all
	}
	due := time.Duration(-1)
	end := list[len(list)-1].to + 2*time.Second
	for now := time.Duration(0); now < end; now += time.Millisecond {
		at := noon.Add(now)
		if now%ms(20) == ms(7) {
			var used Bytes
			for pid := 1; pid <= 4; pid++ {
				used += held(pid, now)
			}
			if _, stale := c.reading(0, at, reading(used), nil); stale {
				due, lists = now+takes, lists+1
			}
		}
		if now == due {
			c.spent(takes)
			c.list(0, at, procs(now-takes/2), nil)
		}
		if now%time.Second == ms(995) {
			c.slow(0, at, Metrics{}, nil, procs(now), nil)
		}
		if now%time.Second == 0 && now > 0 {
			each(c.shot(at))
		}
	}
	return lists
}

// judged counts how the highest rises of each second were named, and how many spikes that
// nobody hid became the peak of their process.
func judged(t *testing.T, list []spikeOf, takes time.Duration) (right, unknown, wrong int) {
	t.Helper()
	scene(t, list, takes, func(s *Snapshot) {
		w := s.GPUs[0].Memory.Window
		at, ok := w.RiseTime.Value()
		if !ok {
			return
		}
		for _, x := range list {
			switch since := at.Sub(noon); {
			case since < x.at || since >= x.to:
			case !w.RisePID.Known():
				unknown++
			case w.RisePID.Or(0) == x.pid:
				right++
			default:
				wrong++
				t.Logf("spike of %d at %v by %v: said to be of %v", x.pid, x.at, x.height, w.RisePID)
			}
		}
	})
	return right, unknown, wrong
}

// TestWhoseSpike: of spikes that are no record, too, it is told whose they are; where the list came too late
// that it is not known.
func TestWhoseSpike(t *testing.T) {
	apart := func(r *rand.Rand) time.Duration { return ms(251 + r.IntN(1500)) }
	if right, unknown, wrong := judged(t, spikes(1, 200, apart), ms(1)); wrong > 0 || right < 100 || unknown*20 > right {
		t.Errorf("lists in time: %d right, %d unknown, %d wrong", right, unknown, wrong)
	}
	if right, unknown, wrong := judged(t, spikes(2, 200, apart), ms(140)); wrong > 0 || unknown < 50 {
		t.Errorf("late lists: %d right, %d unknown, %d wrong", right, unknown, wrong)
	}
	close := func(r *rand.Rand) time.Duration { return ms(10 + r.IntN(120)) }
	if right, unknown, wrong := judged(t, spikes(3, 400, close), ms(1)); wrong*50 > right+unknown {
		t.Errorf("one over the other: %d right, %d unknown, %d wrong", right, unknown, wrong)
	}
}

// TestPeakOfSpike: each spike of 50 ms that is the highest of its process becomes its peak, whatever another had.
func TestPeakOfSpike(t *testing.T) {
	list := spikes(4, 200, func(r *rand.Rand) time.Duration { return ms(300 + r.IntN(1500)) })
	highest, due, missed, next := map[int]Bytes{}, 0, 0, 0
	for i := range list[1:] {
		list[i+1].height = Bytes(100+10*i) * MiB
	}
	lists := scene(t, list, ms(1), func(s *Snapshot) {
		for ; next < len(list) && noon.Add(list[next].to).Before(s.Time); next++ {
			highest[list[next].pid] = max(highest[list[next].pid], 4*GiB+list[next].height)
			due++
		}
		for _, p := range s.GPUs[0].Processes {
			if want, ok := highest[p.PID]; ok && p.Peak.Bytes != want {
				missed++
				highest[p.PID] = p.Peak.Bytes
			}
		}
		if m := s.GPUs[0].Memory; next > 0 && (m.PeakPID.Or(0) != 1 || m.Peak.Bytes != 66*GiB) {
			t.Fatalf("the peak of the GPU, %v, is said to be of %v", m.Peak.Bytes, m.PeakPID)
		}
	})
	if due != 201 || missed*20 > due {
		t.Errorf("%d of %d spikes are not the peak of their process", missed, due)
	}
	if lists > 2*len(list) {
		t.Errorf("%d lists for %d spikes", lists, len(list))
	}
}

// TestListsAreBounded: memory that never stands still costs no more lists than agreed.
func TestListsAreBounded(t *testing.T) {
	var list []spikeOf
	for at := time.Second; at < 61*time.Second; at += ms(60) {
		list = append(list, spikeOf{1, at, at + ms(30), GiB})
	}
	for _, row := range []struct {
		takes time.Duration
		most  int
	}{
		{ms(1), 60*5 + 5}, // 200 ms apart
		{ms(20), int((listBurst+60*time.Second/50)/ms(20)) + 2}, // a fiftieth of a thread
	} {
		if n := scene(t, list, row.takes, func(*Snapshot) {}); n > row.most || n < row.most/3 {
			t.Errorf("lists of %v: %d in a minute, at most %d", row.takes, n, row.most)
		}
	}
}

// TestListDuringSweep: a sweep tells of its readings when it is over. What was used at a list that was read meanwhile
// is what it says then, so that the only process of a GPU has what it has.
func TestListDuringSweep(t *testing.T) {
	c := collected()
	list := func(d int, used Bytes) {
		c.slow(0, noon.Add(ms(d)), Metrics{}, nil, []Process{{PID: 1, Memory: Some(used)}}, nil)
	}
	c.reading(0, noon, reading(20*GiB), nil)
	list(0, 20*GiB)
	c.reading(0, noon.Add(ms(300)), reading(32*GiB), nil)
	list(301, 32*GiB)
	list(995, 20*GiB) // the sweep has seen the fall, and returns just before the snapshot
	c.reading(0, noon.Add(ms(350)), reading(20*GiB), nil)
	g := c.shot(noon.Add(time.Second)).GPUs[0]
	if p := g.Processes[0]; p.Memory.Or(0) != 20*GiB || g.Memory.Unattributed.Or(1) != 0 {
		t.Errorf("of 20 GiB the process has %v, nobody %v", p.Memory, g.Memory.Unattributed)
	}
}

// TestListAtEdge: a list that is read just after memory has fallen or risen, before the next reading sees that, is of what that one says.
func TestListAtEdge(t *testing.T) {
	for name, row := range map[string]struct{ before, listed, after Bytes }{
		"fallen":                   {21 * GiB, 12 * GiB, 13 * GiB},
		"risen":                    {13 * GiB, 20 * GiB, 21 * GiB},
		"fallen after it":          {21 * GiB, 20 * GiB, 13 * GiB},
		"risen after it, a little": {13 * GiB, 12 * GiB, 13*GiB + MiB},
	} {
		c := collected()
		list := func(d int, used Bytes) {
			c.slow(0, noon.Add(ms(d)), Metrics{}, nil, []Process{{PID: 1, Memory: Some(used)}}, nil)
		}
		c.reading(0, noon, reading(13*GiB), nil)
		list(0, 12*GiB) // a GiB is of nobody
		c.reading(0, noon.Add(ms(500)), reading(row.before), nil)
		list(805, row.listed)
		c.reading(0, noon.Add(ms(820)), reading(row.after), nil)
		g := c.shot(noon.Add(time.Second)).GPUs[0]
		if p := g.Processes[0]; p.Memory.Or(0) != row.after-GiB || g.Memory.Unattributed.Or(0) != GiB {
			t.Errorf("%s: of %v the process has %v, nobody %v", name, row.after, p.Memory, g.Memory.Unattributed)
		}
	}
}

// TestNextProcess: what the next program takes is not what the one before has had, which ended since the list: it has given all back
// meanwhile, or who sees requests knows.
func TestNextProcess(t *testing.T) {
	for name, row := range map[string]struct {
		least  Bytes // between the two
		asking Asking
		held   Bytes // of the one that is listed
	}{
		"given back":               {0, nil, 2 * GiB},
		"ended, as is known":       {GiB, asking{ended: 1}, 2 * GiB},
		"of the same":              {GiB, nil, 3 * GiB},
		"of the same, as is known": {GiB, asking{ended: 2}, 3 * GiB},
	} {
		c := collected()
		c.asking = row.asking
		c.reading(0, noon, reading(2*GiB), nil)
		c.slow(0, noon, Metrics{}, nil, []Process{{PID: 1, Memory: Some(2 * GiB)}}, nil)
		c.reading(0, noon.Add(ms(200)), reading(row.least), nil)
		c.reading(0, noon.Add(ms(300)), reading(3*GiB), nil)
		g := c.shot(noon.Add(ms(400))).GPUs[0]
		if p := g.Processes[0]; p.Memory.Or(0) != row.held || p.Peak.Bytes != row.held || g.Memory.Unattributed.Or(0) != 3*GiB-row.held {
			t.Errorf("%s: it has %v, at most %v; nobody %v", name, p.Memory, p.Peak, g.Memory.Unattributed)
		}
	}
}

// A process that has the number of an earlier one has had nothing yet.
func TestHeldBefore(t *testing.T) {
	l := listing{of: []holding{{pid: 1, start: 5, bytes: GiB}, {pid: 2, start: 6, bytes: 2 * GiB}}}
	for h, want := range map[holding]Bytes{{pid: 2, start: 6}: 2 * GiB, {pid: 2, start: 7}: 0, {pid: 3, start: 6}: 0, {pid: 1, start: 5, bytes: 9}: GiB} {
		if got := l.had(h); got != want {
			t.Errorf("%+v had %v, want %v", h, got, want)
		}
	}
}

// A list that takes longer than a spike is not asked for at a rise: it would come too late, and hold up those of other GPUs.
func TestSlowListsAreInTurn(t *testing.T) {
	for took, worth := range map[time.Duration]bool{listTakes: true, 2*listTakes + 1: false} {
		c := collected()
		c.reading(0, noon, reading(GiB), nil)
		c.listTook(0, took)
		c.slow(0, noon, Metrics{}, nil, []Process{{PID: 1, Memory: Some(GiB)}}, nil)
		if _, stale := c.reading(0, noon.Add(time.Second), reading(20*GiB), nil); stale != worth {
			t.Errorf("lists of %v: one is asked for: %v", took, stale)
		}
	}
}
