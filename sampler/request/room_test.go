package request

import "testing"

// Beside programs that ask for more than a snapshot has room for, others have their first requests and all their refusals told; so have these
// their refusals. The rest is counted.
func TestRoomForAll(t *testing.T) {
	const floods, each, quiet = 4, 1500, 40
	s := newScene(t, 1, people{})
	asks := func(pid int, at uint64, answer int) {
		s.call("cuMemAlloc_v2", Call{PID: pid, Address: at, Size: uint64(mib), Device: 0, Answer: answer})
	}
	for i := range uint64(each) {
		for pid := range floods {
			asks(100+pid, i+1, success)
		}
	}
	for pid := range quiet {
		for i := range uint64(3) {
			asks(200+pid, i+1, success)
		}
		asks(200+pid, 9, outOfMemory)
	}
	for pid := range floods {
		asks(100+pid, 0, outOfMemory)
	}
	told, refused := map[int]int{}, map[int]int{}
	snap := s.apply()
	list := snap.Requests
	for _, r := range list {
		told[r.PID]++
		if r.Answer == outOfMemory {
			refused[r.PID]++
		}
	}
	for pid := range quiet {
		if n := told[200+pid]; n != 4 {
			t.Errorf("%d of 4 requests of process %d", n, 200+pid)
		}
	}
	for pid := range floods {
		if told[100+pid] < firstCalls || refused[100+pid] != 1 {
			t.Errorf("process %d: %d, %d refused", 100+pid, told[100+pid], refused[100+pid])
		}
	}
	if n := floods*each + 4*quiet + floods - len(list); len(list) > maxAllCalls || snap.Door.Untold != n {
		t.Errorf("%d told, %d untold, not %d", len(list), snap.Door.Untold, n)
	}
}

// A program that is refused all the time leaves room for others, and what it is refused after many grants is told.
func TestRoomOfOne(t *testing.T) {
	s := newScene(t, 1, people{})
	for i := range 2 * maxCalls {
		s.call("cuMemAlloc_v2", Call{PID: 100, Address: uint64(i + 1), Size: uint64(mib), Device: 0})
	}
	for range 2 * maxCalls {
		s.call("cuMemAlloc_v2", Call{PID: 100, Size: uint64(99 * gib), Device: 0, Answer: outOfMemory})
	}
	s.call("cuMemAlloc_v2", Call{PID: 101, Address: 1, Size: uint64(mib), Device: 0})
	n := len(s.calls)
	if last := s.calls[n-1]; n != maxCalls+firstCalls+1 || last.PID != 101 || s.calls[n-2].Answer != outOfMemory || s.calls[maxCalls-1].Answer != success {
		t.Errorf("%d, last %+v", n, last.Request)
	}
}
