package history

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"nvpeak/sampler"
)

// shot makes a hand-written snapshot: GPU 0 with that much used, and processes of 1 GiB.
func shot(at time.Time, used sampler.Bytes, pids ...int) *sampler.Snapshot {
	g := sampler.GPU{UUID: "GPU-0", Memory: sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used), Free: sampler.Some(80*sampler.GiB - used)}}
	for _, pid := range pids {
		g.Processes = append(g.Processes, sampler.Process{PID: pid, Memory: sampler.Some(sampler.GiB)})
	}
	return &sampler.Snapshot{Time: at, GPUs: []sampler.GPU{g}}
}

// known counts the columns that have a value.
func known(values []float64) (n int) {
	for _, v := range values {
		if v == v {
			n++
		}
	}
	return n
}

func (h *History) memory(end time.Time, n int) []float64 {
	return h.GPU(sampler.GPUKey{ID: "GPU-0"}).Plot("memory.used").Columns(end, time.Second, n)
}

func TestHistoryKeepsTheWindow(t *testing.T) {
	h := New(time.Second)
	at := noon.Truncate(time.Second)
	h.Add(shot(at, 9*sampler.GiB))
	s := shot(at.Add(time.Second), 9*sampler.GiB)
	s.GPUs[0].Memory.Window = &sampler.Window{Min: 2 * sampler.GiB, Max: 47 * sampler.GiB, MaxTime: at.Add(300 * time.Millisecond), Readings: 50}
	h.Add(s)
	late := shot(at.Add(2*time.Second), 9*sampler.GiB)
	late.GPUs[0].Memory.Window = &sampler.Window{Missed: 3} // nothing was read: it says nothing
	h.Add(late)
	if got := h.memory(late.Time, 3); got[0] != 9*1024 || got[1] != 47*1024 || got[2] != 9*1024 {
		t.Errorf("memory in sampler.MiB is %v, want 9, 47 and 9 sampler.GiB", got)
	}
	if got := h.GPU(sampler.GPUKey{ID: "GPU-0"}).UsedMin.Columns(late.Time, time.Second, 3); got[0] != 9*1024 || got[1] != 2*1024 || got[2] != 9*1024 {
		t.Errorf("least memory in sampler.MiB is %v, want 9, 2 and 9 sampler.GiB", got)
	}
}

func TestHistoryOfUnknown(t *testing.T) {
	h := New(time.Second)
	at := noon.Truncate(time.Second)
	for i := range 10 {
		s := shot(at.Add(time.Duration(i)*time.Second), 9*sampler.GiB)
		if i%2 == 1 {
			s.GPUs[0].Memory = sampler.Memory{}
		}
		s.GPUs[0].Temperature = sampler.Some(40 + i)
		h.Add(s)
	}
	end := at.Add(9 * time.Second)
	if got := h.memory(end, 10); known(got) != 5 {
		t.Errorf("five readings of ten are known, the plot has %v", got)
	}
	if got := h.GPU(sampler.GPUKey{ID: "GPU-0"}).Plot("temperature.gpu").Columns(end, time.Second, 10); known(got) != 10 || got[9] != 49 {
		t.Errorf("temperature is %v", got)
	}
	if h.GPU(sampler.GPUKey{ID: "GPU-0"}).Plot("no.such") != nil || h.GPU(sampler.GPUKey{ID: "GPU-1"}) != nil || h.Process(sampler.ProcessKey{PID: 1}) != nil {
		t.Error("what was never seen has a history")
	}
}

// TestHistoryWhileSlowCallsFail: the memory of a GPU goes on when other calls do not
// answer, and so must its plot.
func TestHistoryWhileSlowCallsFail(t *testing.T) {
	h := New(time.Second)
	s := shot(noon, 9*sampler.GiB)
	s.GPUs[0].Error = sampler.Some("not answering: a driver call (metrics and processes) has not returned")
	h.Add(s)
	if h.GPU(sampler.GPUKey{ID: "GPU-0"}) == nil || known(h.memory(noon, 1)) != 1 {
		t.Error("the memory of a GPU whose metrics fail has no history")
	}
	gone := shot(noon, 0)
	gone.GPUs[0] = sampler.GPU{UUID: "GPU-9", Error: sampler.Some("GPU is lost")}
	h.Add(gone)
	if h.GPU(sampler.GPUKey{ID: "GPU-9"}) != nil {
		t.Error("a GPU that never gave figures has a history")
	}
}

func TestHistoryGap(t *testing.T) {
	for _, row := range []struct {
		interval, pause time.Duration
		gap             bool
	}{
		{time.Second, 2 * time.Second, false}, // a late frame
		{time.Second, 5 * time.Second, false},
		{time.Second, 6 * time.Second, true},
		{time.Second, 8 * time.Hour, true}, // suspend
		{10 * time.Second, 10 * time.Second, false},
		{10 * time.Second, 30 * time.Second, false},
		{10 * time.Second, 31 * time.Second, true},
	} {
		h := New(row.interval)
		at := noon.Truncate(time.Second)
		h.Add(shot(at, sampler.GiB))
		end := at.Add(row.pause)
		h.Add(shot(end, 2*sampler.GiB))
		n := min(int(row.pause/time.Second)+1, 3600)
		want := n
		if row.gap {
			want = min(2, 1+known(h.memory(at, 1)))
		}
		if got := known(h.memory(end, n)); got != want {
			t.Errorf("interval %v, %v between snapshots: %d of %d seconds are known, want %d", row.interval, row.pause, got, n, want)
		}
	}
}

// TestHistoryOfAnotherInterval: the user asks for slower pictures, then for quicker ones.
func TestHistoryOfAnotherInterval(t *testing.T) {
	h := New(time.Second)
	at := noon.Truncate(time.Second)
	add := func(d time.Duration) { at = at.Add(d); h.Add(shot(at, sampler.GiB)) }
	add(0)
	add(time.Second)
	h.SetInterval(10 * time.Second)
	add(time.Second) // the timer that runs is still the old one
	add(10 * time.Second)
	add(30 * time.Second)
	h.SetInterval(time.Second)
	add(10 * time.Second)
	add(time.Second)
	if got := known(h.memory(at, 54)); got != 54 {
		t.Errorf("%d of 54 seconds are known", got)
	}
	add(6 * time.Second)
	if got := known(h.memory(at, 7)); got != 2 {
		t.Errorf("%d of 7 seconds around a gap are known, want 2", got)
	}
}

// asleep is the time after d in which the machine slept: the wall clock has gone on, the
// monotonic clock (the second word of a Time) has not.
func asleep(t time.Time, d time.Duration) time.Time {
	t = t.Add(d)
	(*[2]int64)(unsafe.Pointer(&t))[1] -= int64(d)
	return t
}

// TestHistoryAfterSuspend: Linux's monotonic clock stands still during a suspend, and
// time.Time prefers it.
func TestHistoryAfterSuspend(t *testing.T) {
	before := time.Now()
	after := asleep(before, 8*time.Hour)
	if after.Sub(before) != 0 || after.Round(0).Sub(before.Round(0)) != 8*time.Hour {
		t.Skip("the layout of time.Time has changed")
	}
	h := New(time.Second)
	h.Add(shot(before, sampler.GiB))
	h.Add(shot(after.Add(time.Second), sampler.GiB))
	track := h.GPU(sampler.GPUKey{ID: "GPU-0"}).Plot("memory.used")
	if got := known(track.Columns(after.Add(time.Second), time.Minute, 60)); got != 1 {
		t.Errorf("%d of the last 60 minutes are drawn although the machine slept for 8 hours", got)
	}
}

// TestHistoryTimeBackwards: a clock that is set back stops nothing.
func TestHistoryTimeBackwards(t *testing.T) {
	h := New(time.Second)
	at := noon.Truncate(time.Second)
	for i := range 20 {
		h.Add(shot(at.Add(time.Duration(i)*time.Second), sampler.GiB, 7))
	}
	for i := range 20 {
		h.Add(shot(at.Add(time.Duration(i)*time.Second), sampler.Bytes(i+1)*sampler.GiB, 7))
	}
	if got := maxOf(h.memory(at.Add(19*time.Second), 20)); got != 20*1024 {
		t.Errorf("the highest of the last 20 s is %g sampler.MiB, want 20 sampler.GiB", got)
	}
}

func TestPIDReuse(t *testing.T) {
	h := New(time.Second)
	one, two := noon.Add(-time.Hour), noon.Add(-time.Second)
	s := shot(noon, sampler.GiB, 4242)
	s.GPUs[0].Processes[0].StartTime = sampler.Some(one)
	h.Add(s)
	later := shot(noon.Add(time.Second), sampler.GiB, 4242)
	later.GPUs[0].Processes[0].StartTime = sampler.Some(two)
	later.GPUs[0].Processes[0].Memory = sampler.Some(3 * sampler.GiB)
	h.Add(later)
	old := h.Process(sampler.ProcessKey{GPU: sampler.GPUKey{ID: "GPU-0"}, PID: 4242, Start: one.Unix()})
	fresh := h.Process(sampler.ProcessKey{GPU: sampler.GPUKey{ID: "GPU-0"}, PID: 4242, Start: two.Unix()})
	if old == nil || fresh == nil || old == fresh {
		t.Fatal("a pid that is used again shares its history with the process before")
	}
	if got := maxOf(old.Used.Columns(later.Time, time.Second, 60)); got != 1024 {
		t.Errorf("the first process has %g sampler.MiB", got)
	}
	if got := maxOf(fresh.Used.Columns(later.Time, time.Second, 60)); got != 3*1024 {
		t.Errorf("the second process has %g sampler.MiB", got)
	}
}

// TestHistoryForgets: a day of short jobs does not grow the monitor, and those that live stay.
func TestHistoryForgets(t *testing.T) {
	h := New(time.Second)
	at := noon
	for i := range 3 * maxTracked {
		at = at.Add(time.Second)
		h.Add(shot(at, sampler.GiB, 1, 10+i))
		if len(h.procs) > maxTracked {
			t.Fatalf("%d processes are kept", len(h.procs))
		}
	}
	for _, pid := range []int{1, 9 + 3*maxTracked, 9 + 3*maxTracked - maxTracked/2} {
		if h.Process(sampler.ProcessKey{GPU: sampler.GPUKey{ID: "GPU-0"}, PID: pid}) == nil {
			t.Errorf("process %d, seen lately, is forgotten", pid)
		}
	}
	if h.Process(sampler.ProcessKey{GPU: sampler.GPUKey{ID: "GPU-0"}, PID: 10}) != nil {
		t.Error("the oldest process is kept")
	}
}

// TestHistoryKeepsTheLiving: more live processes than the bound are all kept.
func TestHistoryKeepsTheLiving(t *testing.T) {
	var pids []int
	for i := range maxTracked + 50 {
		pids = append(pids, i)
	}
	h := New(time.Second)
	h.Add(shot(noon, sampler.GiB, pids...))
	h.Add(shot(noon.Add(time.Second), sampler.GiB, pids...))
	if len(h.procs) != len(pids) {
		t.Errorf("%d of %d live processes are kept", len(h.procs), len(pids))
	}
}

func BenchmarkHistoryAdd64x32(b *testing.B) {
	s := crowd(64, 32)
	h := New(time.Second)
	for b.Loop() {
		s.Time = s.Time.Add(time.Second)
		h.Add(s)
	}
}

// crowd is a snapshot of that many GPUs and processes on each.
func crowd(gpus, procs int) *sampler.Snapshot {
	s := &sampler.Snapshot{Time: noon}
	for i := range gpus {
		g := shot(noon, 40*sampler.GiB).GPUs[0]
		g.Index, g.UUID = i, fmt.Sprintf("GPU-%d", i)
		g.Memory.Window = &sampler.Window{Min: 39 * sampler.GiB, Max: 41 * sampler.GiB, MaxTime: noon, Readings: 50}
		g.Temperature, g.Power, g.Utilization.GPU = sampler.Some(60), sampler.Some(400.0), sampler.Some(97)
		for j := range procs {
			g.Processes = append(g.Processes, sampler.Process{PID: 1000*i + j, StartTime: sampler.Some(noon), Memory: sampler.Some(sampler.GiB)})
		}
		s.GPUs = append(s.GPUs, g)
	}
	return s
}

// The time since the snapshot before counts up to the length of a gap, and not beyond.
func TestLengthOfAGap(t *testing.T) {
	for beyond, want := range map[time.Duration]int{0: 0, time.Second: 1} {
		h := New(time.Second)
		at := noon.Truncate(time.Second)
		h.Add(shot(at, sampler.GiB))
		h.gap = 5 * time.Second
		end := at.Add(h.gap + beyond)
		h.Add(shot(end, sampler.GiB))
		missing := 0
		for _, v := range h.memory(end, 6) {
			if v != v {
				missing++
			}
		}
		if missing > 0 != (want > 0) {
			t.Errorf("%v beyond a gap %d seconds are unknown", beyond, missing)
		}
	}
}

// Processes are counted from the second on in which they were last seen, on the GPUs that are asked for.
func TestSeenSince(t *testing.T) {
	h := New(time.Second)
	h.Add(shot(noon, sampler.GiB, 1, 2))
	h.Add(shot(noon.Add(time.Second), sampler.GiB, 2, 3))
	all := func(sampler.GPUKey) bool { return true }
	for after, want := range map[time.Duration]int{-time.Hour: 3, 0: 3, 600 * time.Millisecond: 3, 700 * time.Millisecond: 2, time.Second: 2, 2 * time.Second: 0} {
		if got := h.SeenSince(noon.Add(after), all); got != want {
			t.Errorf("%v later: %d processes, want %d", after, got, want)
		}
	}
	if got := h.SeenSince(noon, func(k sampler.GPUKey) bool { return k.ID == "GPU-1" }); got != 0 {
		t.Errorf("%d processes of another GPU", got)
	}
}
