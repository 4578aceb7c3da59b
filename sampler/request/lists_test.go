package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// Of a process whose first calls were missed, a list from before a call does not say where that is: it may have gone on to another GPU.
func TestListedBefore(t *testing.T) {
	everywhere := map[string]string{}
	for name, row := range map[string]struct {
		env    map[string]string
		late   bool
		made   bool // its second context is seen, of device 0
		before int  // GPU of the call by the lists from before it; -1: not known
		after  int  // by the next ones, which have it on GPUs 0 and 3
	}{
		"a context of a device that is known": {everywhere, true, true, 0, 0},
		"of a device that is not":             {nil, true, true, -1, -1},
		"no context":                          {everywhere, true, false, -1, -1},
		"all calls were seen":                 {everywhere, false, false, 3, -1},
	} {
		s := newScene(t, 4, people{7: {Environment: row.env}})
		s.later(ms(500))
		s.list(3, 7, sampler.Some(gib))
		s.listAll()
		s.apply()
		if s.later(ms(100)); row.late {
			s.Late(7, s.now)
		}
		c := Call{Address: 1, Size: uint64(gib), Context: 0xc000, Device: -1}
		if row.made {
			s.context(0)
		}
		s.call("cuMemAlloc_v2", c)
		if got := s.firstSeat(); got != row.before {
			t.Errorf("%s: GPU %d by the lists from before, not %d", name, got, row.before)
		}
		s.later(ms(100))
		s.list(0, 7, sampler.Some(gib))
		s.listAll()
		if got := s.firstSeat(); got != row.after {
			t.Errorf("%s: GPU %d by those from after it, not %d", name, got, row.after)
		}
	}
}

// Where the next lists have it on the same GPU alone it is there, and so it is where none come.
func TestListedSince(t *testing.T) {
	for name, come := range map[string]bool{"they have it there": true, "none come": false} {
		s := newScene(t, 2, people{7: {}})
		s.later(ms(500))
		s.list(1, 7, sampler.Some(gib))
		s.Listed(s.gpus[0].Key(), s.now, nil)
		s.Listed(s.gpus[1].Key(), s.now, s.gpus[1].Processes)
		s.Late(7, s.now)
		s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Context: 0xc000, Device: -1})
		if list := s.apply().Requests; len(list) != 0 {
			t.Errorf("%s: told before: %+v", name, list)
		}
		s.later(ms(100))
		if come {
			s.Listed(s.gpus[0].Key(), s.now, nil)
		} else {
			s.later(listsCome)
		}
		s.Listed(s.gpus[1].Key(), s.now, s.gpus[1].Processes)
		if list := s.apply().Requests; len(list) != 1 || list[0].GPU.Or(0) != 1 {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// Who has made contexts on two GPUs is on the first of them too while its list is from before that, however long it takes.
func TestListOfOneOfTwo(t *testing.T) {
	s := newScene(t, 4, people{7: {Environment: map[string]string{}}})
	for i := range s.gpus {
		s.Listed(s.gpus[i].Key(), s.now, nil)
	}
	s.later(ms(100))
	s.context(1)
	s.context(0)
	s.alloc(1, gib)
	s.list(1, 7, sampler.Some(gib))
	for range 3 {
		s.later(time.Second)
		s.Listed(s.gpus[1].Key(), s.now, s.gpus[1].Processes)
		for _, r := range s.apply().Requests {
			if r.GPU.Or(-1) != 0 {
				t.Errorf("told on %v", r.GPU)
			}
		}
		if at := s.processes[7].seats[0].at; at != s.gpus[0].Key() {
			t.Errorf("it is on %v", at)
		}
	}
}

// Who ends is gone from the lists of its GPUs one after another: that the last one has it alone says nothing.
func TestListsAtTheEnd(t *testing.T) {
	s := newScene(t, 2, people{7: {}})
	s.Late(7, s.now)
	s.list(0, 7, sampler.Some(9*gib))
	s.list(1, 7, sampler.Some(9*gib))
	for _, c := range []uint64{0xa, 0xb} {
		s.call("cuMemAlloc_v2", Call{Address: c, Size: uint64(gib), Context: c, Device: -1})
	}
	s.apply()
	s.later(2 * time.Second)
	s.gpus[0].Processes = nil
	for range 2 {
		s.apply()
		s.later(time.Second)
	}
	for _, seat := range s.processes[7].seats {
		if seat.at != (sampler.GPUKey{}) {
			t.Errorf("context %x is on %v by the list that is left", seat.key.handle, seat.at)
		}
	}
	s.later(leaves) // it lives on, on one GPU
	s.apply()
	for _, seat := range s.processes[7].seats {
		if seat.at != s.gpus[1].Key() {
			t.Errorf("context %x is on %v, not on the only GPU", seat.key.handle, seat.at)
		}
	}
}

// Who begins and ends between two snapshots that are far apart is told of in the next.
func TestLifeBetweenSnapshots(t *testing.T) {
	host := people{7: {Environment: map[string]string{}}}
	s := newScene(t, 2, host)
	s.later(2 * time.Second)
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: 1})
	s.later(time.Second)
	delete(host, 7)
	s.later(7 * time.Second)
	snap := s.apply()
	if len(snap.Requests) != 1 || len(snap.GPUs[1].Processes) != 1 {
		t.Fatalf("requests %+v, processes %+v", snap.Requests, snap.GPUs[1].Processes)
	}
	s.later(10 * time.Second)
	if s.apply(); s.processes[7] != nil {
		t.Error("it is kept")
	}
}

// The first lists come one after another, too: until all are there nobody who was there before is on the only GPU that has him.
func TestFirstLists(t *testing.T) {
	s := newScene(t, 2, people{7: {}})
	s.Begin(map[int]bool{7: true})
	s.later(ms(500))
	s.list(0, 7, sampler.Some(9*gib))
	s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
	s.apply()
	for _, c := range []uint64{0xa, 0xb} {
		s.call("cuMemAlloc_v2", Call{Address: c, Size: uint64(gib), Context: c, Device: -1})
	}
	s.apply()
	s.later(ms(100))
	s.list(1, 7, sampler.Some(9*gib))
	s.Listed(s.gpus[1].Key(), s.now, s.gpus[1].Processes)
	s.apply()
	a, b := s.processes[7].seats[0], s.processes[7].seats[1]
	if a.tally == b.tally || a.at != (sampler.GPUKey{}) || b.at != (sampler.GPUKey{}) {
		t.Errorf("one context is on %v, the other on %v, and they have one sum: %v", a.at, b.at, a.tally == b.tally)
	}
}

// A context that is refused on a second GPU is refused there, and not where the process is listed; where its devices are not those that its
// environment says, that is not known.
func TestContextRefusedElsewhere(t *testing.T) {
	for what, row := range map[string]struct{ listed, want int }{"as its environment says": {0, 1}, "its environment is another by now": {2, -1}} {
		s := newScene(t, 4, people{7: {Environment: map[string]string{}}})
		s.context(0)
		s.list(row.listed, 7, sampler.Some(gib/4))
		s.later(time.Second)
		s.listAll()
		s.apply()
		s.call("cuDevicePrimaryCtxRetain", Call{Device: 1, Answer: outOfMemory})
		if got := s.firstSeat(); got != row.want {
			t.Errorf("%s: on GPU %d, not %d", what, got, row.want)
		}
	}
}

// A context that is refused to a process that was there before is on the GPU that its number says, where that alone has no room for one.
func TestContextRefusedInMidLife(t *testing.T) {
	for what, row := range map[string]struct {
		used [2]sampler.Bytes
		want int
	}{
		"that one is full":  {[2]sampler.Bytes{8 * gib, 48*gib - 84*mib}, 1},
		"both are":          {[2]sampler.Bytes{48*gib - 84*mib, 48*gib - 84*mib}, 0},
		"there was room":    {[2]sampler.Bytes{48*gib - 84*mib, 8 * gib}, 0},
		"there was in both": {[2]sampler.Bytes{8 * gib, 8 * gib}, -1},
	} {
		s := newScene(t, 2, people{6: {Environment: map[string]string{}}})
		s.list(0, 6, sampler.Some(gib/4))
		s.later(4 * time.Second)
		for i := range s.gpus {
			s.Listed(s.gpus[i].Key(), s.now, s.gpus[i].Processes)
			s.Reading(s.gpus[i].Key(), s.now, row.used[i])
		}
		s.apply()
		s.call("cuDevicePrimaryCtxRetain", Call{PID: 6, Device: 1, Answer: outOfMemory})
		s.apply()
		seat := s.processes[6].seats[0]
		if row.want < 0 {
			if seat.at != (sampler.GPUKey{}) {
				t.Errorf("%s: on %v", what, seat.at)
			}
			continue
		}
		if free := seat.tally.refusal.Free; seat.at != s.gpus[row.want].Key() || !free.Equal(sampler.Some(48*gib-row.used[row.want])) {
			t.Errorf("%s: on %v, with %v free", what, seat.at, free)
		}
	}
}

// What a process asks for after it became another program is not where the lists of before have it.
func TestExecElsewhere(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.context(0)
	s.alloc(1, gib)
	s.list(0, 7, sampler.Some(gib))
	s.later(time.Second)
	for i := range s.gpus {
		s.Listed(s.gpus[i].Key(), s.now, s.gpus[i].Processes)
	}
	s.apply()
	s.later(ms(100))
	s.Execed(7, s.now)
	s.Begins(7)
	s.call("cuDevicePrimaryCtxRetain", Call{Address: 0xc001, Device: 1})
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(gib), Context: 0xc001, Device: -1})
	for range 2 {
		for _, r := range s.apply().Requests {
			if r.GPU.Or(-1) != 1 {
				t.Errorf("told on %v", r.GPU)
			}
		}
		s.later(ms(500))
	}
}

// What a process is told to see counts as it was when it began, and the driver may list it a moment longer where it was as another program.
func TestSaidAtItsBegin(t *testing.T) {
	visible := func(list string) sampler.Process {
		return sampler.Process{Environment: map[string]string{"CUDA_VISIBLE_DEVICES": list}}
	}
	host := people{7: visible("0")}
	s := newScene(t, 2, host)
	s.Begins(7)
	s.context(0)
	s.alloc(1, gib)
	s.list(0, 7, sampler.Some(gib))
	s.apply()
	s.later(time.Second)
	s.Execed(7, s.now)
	host[7] = visible("1")
	s.Begins(7)
	host[7] = visible("0") // as who made up the list had read it before
	s.gpus[0].Processes = nil
	s.list(0, 7, sampler.Some(gib))
	s.later(ms(100))
	s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
	s.apply()
	s.later(ms(100))
	s.call("cuDevicePrimaryCtxRetain", Call{Address: 0xc001})
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(gib), Context: 0xc001, Device: -1})
	told := 0
	for range 6 {
		s.gpus[0].Processes = nil
		for _, r := range s.apply().Requests {
			if told++; r.GPU.Or(-1) != 1 {
				t.Errorf("told on %v", r.GPU)
			}
		}
		s.later(ms(500))
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// Who has ended is missing in the newest lists for that reason alone: the last one that had it tells where it was, and only till then.
func TestEndedBeforeTheNextLists(t *testing.T) {
	host := people{7: {Environment: map[string]string{}}}
	s := newScene(t, 2, host)
	s.later(ms(500))
	s.list(0, 7, sampler.Some(gib))
	s.listAll()
	s.apply()
	s.LookedAt(7, s.now.Add(ms(52))) // it has made a context of device 0 before
	s.later(ms(50))
	s.context(1)
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Context: 0xc001, Device: -1})
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(gib), Context: 0xdead, Device: -1})
	s.later(ms(450)) // a snapshot has the lists of before
	s.apply()
	s.later(ms(300))
	delete(host, 7)
	s.gpus[0].Processes = nil
	s.listAll()
	for range 3 {
		s.apply()
		if at := s.processes[7].seats[0].at; at != s.gpus[1].Key() {
			t.Errorf("what it asked for on device 1 is on %v", at)
		}
		s.later(time.Second)
	}
}

// A list is of one moment: who ends contexts and makes others may use a GPU that none has.
func TestListsOfWhoEndsContexts(t *testing.T) {
	for name, row := range map[string]struct {
		ends bool
		want int
	}{"its context stays": {false, 1}, "it ends one": {true, -1}} {
		s := newScene(t, 2, people{7: {}})
		s.later(ms(500))
		s.LookedAt(7, s.now.Add(ms(2)))
		s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: -1}) // in a context that nobody has seen made
		s.later(ms(10))
		s.call("cuCtxCreate_v2", Call{Address: 0xd001, Device: 1})
		if row.ends {
			s.call("cuCtxDestroy_v2", Call{Address: 0xd001, Device: -1})
		}
		s.later(ms(100))
		s.list(1, 7, sampler.Some(gib))
		s.listAll()
		if at := s.firstSeat(); at != row.want {
			t.Errorf("%s: on GPU %d, not %d", name, at, row.want)
		}
	}
}
