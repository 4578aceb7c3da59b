package request

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// What came of a refusal, by what the program did next.
func TestOutcomes(t *testing.T) {
	rows := map[string]struct {
		do               func(s *scene)
		outcome          string
		refused, flushes int
		tries            int
		smallest         sampler.Bytes
	}{
		"the cache is emptied and the same fits: a near miss": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(4 * gib)
			s.free(1)
			s.alloc(2, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"all of the cache is needed": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.alloc(2, gib)
			s.refused(4 * gib)
			s.free(2)
			s.refused(4 * gib)
			s.free(1)
			s.alloc(3, 4*gib)
		}, sampler.RefusalFlush, 2, 1, 2, 4 * gib},
		"it gives up after three tries": {func(s *scene) {
			s.alloc(1, gib)
			s.refused(4 * gib)
			s.free(1)
			s.refused(4 * gib)
			s.refused(4 * gib)
		}, sampler.RefusalOpen, 3, 0, 3, 4 * gib},
		"somebody else has made room": {func(s *scene) {
			s.refused(4 * gib)
			s.alloc(1, 4*gib)
		}, sampler.RefusalGranted, 1, 0, 1, 4 * gib},
		"nine tenths, and so on": {func(s *scene) {
			s.refused(10 * gib)
			s.refused(9 * gib)
			s.refused(8 * gib)
			s.alloc(1, 7*gib)
		}, sampler.RefusalSmaller, 3, 0, 3, 8 * gib},
		"a quarter": {func(s *scene) {
			s.refused(8 * gib)
			s.alloc(1, 2*gib)
		}, sampler.RefusalSmaller, 1, 0, 1, 8 * gib},
		"an eighth is still a smaller plan": {func(s *scene) {
			s.refused(8 * gib)
			s.alloc(1, gib)
		}, sampler.RefusalSmaller, 1, 0, 1, 8 * gib},
		"something small beside it is not its plan": {func(s *scene) {
			s.refused(8 * gib)
			s.alloc(1, gib-1)
		}, sampler.RefusalOpen, 1, 0, 1, 8 * gib},
		"nor is what another thread asks for": {func(s *scene) {
			s.refused(8 * gib)
			s.call("cuMemAlloc_v2", Call{TID: 99, Address: 1, Size: uint64(4 * gib), Context: 0xc000, Device: -1})
		}, sampler.RefusalOpen, 1, 0, 1, 8 * gib},
		"what comes much later is another story": {func(s *scene) {
			s.alloc(1, gib)
			s.refused(4 * gib)
			s.free(1)
			s.later(retryWithin + ms(1))
			s.alloc(2, 4*gib)
		}, sampler.RefusalOpen, 1, 0, 1, 4 * gib},
		"what comes in time is not": {func(s *scene) {
			s.alloc(1, gib)
			s.refused(4 * gib)
			s.free(1)
			s.later(retryWithin - ms(2))
			s.alloc(2, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"managed memory in its place is no flush": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(4 * gib)
			s.free(1)
			s.call("cuMemAllocManaged", Call{Address: 2, Size: uint64(4 * gib), Context: 0xc000, Device: -1})
		}, sampler.RefusalOther, 1, 0, 1, 4 * gib},
		"nor is what another function gives": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(4 * gib)
			s.free(1)
			s.call("cuMemAllocAsync", Call{Address: 2, Size: uint64(4 * gib), Context: 0xc000, Device: -1})
		}, sampler.RefusalOther, 1, 0, 1, 4 * gib},
		"or a little of it": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(4 * gib)
			s.free(1)
			s.call("cuMemCreate", Call{Address: 2, Size: uint64(20 * mib), Device: 0})
		}, sampler.RefusalOpen, 1, 0, 1, 4 * gib},
		"it gives back and asks for something else": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(4 * gib)
			s.free(1)
			s.alloc(2, 12*gib)
			s.alloc(3, 3*gib)
		}, sampler.RefusalSmaller, 1, 0, 1, 4 * gib},
		"its pool is trimmed and the same fits: a near miss": {func(s *scene) {
			s.refused(4 * gib)
			s.call("cuMemPoolTrimTo", Call{Address: 0x9000, Device: -1})
			s.alloc(1, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"what the device keeps for graphs is": {func(s *scene) {
			s.refused(4 * gib)
			s.call("cuDeviceGraphMemTrim", Call{Device: 0})
			s.alloc(1, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"a pool of another GPU is trimmed": {func(s *scene) {
			s.call("cuMemPoolCreate", Call{Address: 0x9000, Device: 1})
			s.refused(4 * gib)
			s.call("cuMemPoolTrimTo", Call{Address: 0x9000, Device: -1})
			s.alloc(1, 4*gib)
		}, sampler.RefusalGranted, 1, 0, 1, 4 * gib},
		"it was trimmed before": {func(s *scene) {
			s.call("cuMemPoolTrimTo", Call{Address: 0x9000, Device: -1})
			s.refused(4 * gib)
			s.alloc(1, 4*gib)
		}, sampler.RefusalGranted, 1, 0, 1, 4 * gib},
		"nor is one after as much in pieces a try": {func(s *scene) {
			s.refused(10 * gib)
			for n := range 5 {
				s.alloc(uint64(n+1), gib)
			}
			s.refused(gib)
		}, sampler.RefusalOpen, 2, 0, 1, gib},
		"many segments take seconds to give back": {func(s *scene) {
			for n := range 5 {
				s.alloc(uint64(n+1), gib)
			}
			s.refused(4 * gib)
			for n := range 5 {
				s.later(ms(700))
				s.free(uint64(n + 1))
			}
			s.alloc(9, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"it catches the failure, and collects first": {func(s *scene) {
			s.alloc(1, 5*gib)
			s.refused(4 * gib)
			s.refused(4 * gib)
			s.later(ms(2500))
			s.free(1)
			s.alloc(2, 4*gib)
		}, sampler.RefusalFlush, 2, 1, 2, 4 * gib},
		"what is given back for another reason": {func(s *scene) {
			s.alloc(1, 5*gib)
			s.refused(4 * gib)
			s.later(againWithin + ms(1))
			s.free(1)
			s.alloc(2, 4*gib)
		}, sampler.RefusalOpen, 1, 0, 1, 4 * gib},
		"the same without what it was rounded up": {func(s *scene) {
			s.alloc(1, 5*gib)
			s.refused(4*gib + 200*mib)
			s.free(1)
			s.alloc(2, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4*gib + 200*mib},
		"a step is done again from its start": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(4 * gib)
			s.free(1)
			s.alloc(2, gib)
			s.alloc(3, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"a smaller plan, and more of it": {func(s *scene) {
			s.alloc(1, 20*gib)
			s.refused(8 * gib)
			s.free(1)
			s.alloc(2, 4*gib)
			s.alloc(3, 6*gib)
		}, sampler.RefusalSmaller, 1, 0, 1, 8 * gib},
		"what it had before it was seen is given back": {func(s *scene) {
			s.Late(7, s.now)
			s.refused(4 * gib)
			s.free(1)
			s.alloc(2, 4*gib)
		}, sampler.RefusalFlush, 1, 1, 1, 4 * gib},
		"memory of the host is": {func(s *scene) {
			s.Late(7, s.now)
			s.refused(4 * gib)
			s.call("cuMemFreeHost", Call{Address: 1, Device: -1})
			s.alloc(2, 4*gib)
		}, sampler.RefusalGranted, 1, 0, 1, 4 * gib},
		"more of what may move to the host is no new one": {func(s *scene) {
			s.refused(2 * gib)
			s.call("cuMemAllocManaged", Call{Size: 40 << 40, Context: 0xc000, Device: -1, Answer: outOfMemory})
		}, sampler.RefusalOpen, 2, 0, 2, 2 * gib},
		"but it is after that": {func(s *scene) {
			s.call("cuMemAllocManaged", Call{Size: 5 << 40, Context: 0xc000, Device: -1, Answer: outOfMemory})
			s.call("cuMemAllocManaged", Call{Size: 40 << 40, Context: 0xc000, Device: -1, Answer: outOfMemory})
		}, sampler.RefusalOpen, 2, 0, 1, 40 << 40},
		"a larger request is a new refusal": {func(s *scene) {
			s.refused(4 * gib)
			s.refused(5 * gib)
		}, sampler.RefusalOpen, 2, 0, 1, 5 * gib},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 1, people{7: {}})
			s.context(0)
			row.do(s)
			r := s.requests(0)
			if r.Refused != row.refused || r.Flushes != row.flushes {
				t.Errorf("refused %d, flushes %d; want %d, %d", r.Refused, r.Flushes, row.refused, row.flushes)
			}
			if x := r.Refusal; x == nil || x.Outcome != row.outcome || x.Tries != row.tries || x.Smallest != row.smallest {
				t.Errorf("%+v; want %q after %d tries, the least %v", x, row.outcome, row.tries, row.smallest)
			}
		})
	}
}

// What is free when a request is refused: the newest reading, and what was given since.
func TestFreeAtRefusal(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.Reading(s.gpus[0].Key(), s.now, 10*gib)
	s.alloc(1, 30*gib)
	s.alloc(2, 4*gib)
	s.free(2)
	s.refused(20 * gib)
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(8 * gib)) {
		t.Errorf("free: %v, not 8 GiB", r.Refusal.Free)
	}
	s.Reading(s.gpus[0].Key(), s.now, 40*gib)
	s.refused(21 * gib)
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(8 * gib)) {
		t.Errorf("free after a reading: %v, not 8 GiB", r.Refusal.Free)
	}
}

// A program that fills the GPU within milliseconds makes more calls than are kept, and no reading is between.
func TestFreeOfFilledGPU(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	key := s.gpus[0].Key()
	s.Reading(key, s.now, gib)
	s.later(ms(3))
	for n := range 20000 { // 40,000 MiB of 47 GiB
		s.now = s.now.Add(3*time.Microsecond - time.Millisecond)
		s.alloc(uint64(n+1), 2*mib)
	}
	s.refused(20 * gib)
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(47*gib - 40000*mib)) {
		t.Errorf("free: %v", r.Refusal.Free)
	}
	s.later(ms(30))
	s.Reading(key, s.now, 41500*mib) // the driver rounds each of them, or its context has come meanwhile
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(48*gib - 41500*mib)) {
		t.Errorf("free by the reading after: %v", r.Refusal.Free)
	}
	s.later(ms(200))
	s.Reading(key, s.now, 47*gib) // too late to say something of that time
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(48*gib - 41500*mib)) {
		t.Errorf("free by a late reading: %v", r.Refusal.Free)
	}
}

// What was given since the refusal is no part of it, and who is gone has left more than there was.
func TestFreeByTheReadingAfter(t *testing.T) {
	for name, row := range map[string]struct {
		then func(s *scene)
		used sampler.Bytes
		free sampler.Bytes
		age  int // of the reading
	}{
		"it gave back":   {func(s *scene) { s.free(1) }, 15 * gib, 3 * gib, -11},
		"it took more":   {func(s *scene) { s.alloc(2, 2*gib) }, 47 * gib, 3 * gib, -11},
		"it is gone":     {func(s *scene) { s.Ended(7, s.now, 0x100) }, gib, 8 * gib, 12},
		"a context came": {func(*scene) {}, 41 * gib, 7 * gib, -10},
		"managed memory": {func(s *scene) {
			s.call("cuMemAllocManaged", Call{Address: 2, Size: uint64(5 * gib), Context: 0xc000, Device: -1})
		}, 45 * gib, 8 * gib, 12},
		"a pool": {func(s *scene) {
			s.call("cuMemAllocAsync", Call{Address: 2, Size: uint64(gib), Context: 0xc000, Device: -1})
		}, 45 * gib, 8 * gib, 12},
		"many from a pool": {func(s *scene) {
			for i := range uint64(keptPooled + 9) {
				s.call("cuMemAllocAsync", Call{Address: 2 + i, Size: uint64(80 * mib), Context: 0xc000, Device: -1})
			}
		}, 45 * gib, 8 * gib, 12},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		key := s.gpus[0].Key()
		s.Reading(key, s.now, 10*gib)
		s.later(ms(5))
		s.alloc(1, 30*gib)
		s.later(ms(5))
		s.refused(20 * gib)
		s.later(ms(5))
		row.then(s)
		s.later(ms(5))
		s.Reading(key, s.now, row.used)
		if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(row.free)) || !r.Refusal.FreeAge.Equal(sampler.Some(row.age)) {
			t.Errorf("%s: %v free, by a reading of %v ms, not %v and %d", name, r.Refusal.Free, r.Refusal.FreeAge, row.free, row.age)
		}
	}
}

// Others' memory that was given back at about the time of a refusal, by no call that is seen, was free then or not: what is read soon after
// tells that, though readings of before were passed on only then.
func TestFreeWhenOthersEnd(t *testing.T) {
	for name, row := range map[string]struct {
		ended time.Duration // before the refusal; below 0: after it
		free  sampler.Opt[sampler.Bytes]
	}{
		"long before":    {ms(300), sampler.Some(18 * gib)},
		"just before":    {ms(10), sampler.Some(18 * gib)},
		"just after":     {-ms(10), sampler.Opt[sampler.Bytes]{}},
		"not meanwhile":  {-ms(500), sampler.Some(8 * gib)},
		"before all was": {ms(2000), sampler.Some(18 * gib)},
	} {
		s := newScene(t, 1, people{7: {}})
		s.sweeps = true
		s.context(0)
		s.alloc(1, 30*gib)
		key, asked := s.gpus[0].Key(), s.now.Add(ms(1000))
		read := func(at time.Time) {
			if at.Before(asked.Add(-row.ended)) {
				s.Reading(key, at, 40*gib)
			} else {
				s.Reading(key, at, 30*gib)
			}
		}
		s.later(ms(100))
		read(s.now) // and passes nothing on for a second
		s.now = asked.Add(-time.Millisecond)
		s.refused(20 * gib)
		s.apply()
		for at := asked.Add(-ms(880)); at.Before(asked.Add(ms(100))); at = at.Add(ms(20)) {
			read(at)
		}
		s.later(ms(100))
		s.ReadUntil(s.now)
		if r := s.requests(0).Refusal; !r.Free.Equal(row.free) {
			t.Errorf("%s: %v free, by a reading of %v ms, not %v", name, r.Free, r.FreeAge, row.free)
		}
	}
}

// What a context took that has just ended is free again, and no call tells how much that is.
func TestFreeAfterAContext(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.call("cuCtxCreate_v2", Call{Address: 0xd000, Device: 0})
	s.alloc(1, 30*gib)
	s.later(ms(20))
	s.Reading(s.gpus[0].Key(), s.now, 31*gib)
	s.later(ms(20))
	s.call("cuCtxDestroy_v2", Call{Address: 0xd000, Device: -1})
	s.refused(20 * gib)
	if r := s.requests(0).Refusal; r.Free.Known() {
		t.Errorf("%v free", r.Free)
	}
	s.later(ms(20))
	s.Reading(s.gpus[0].Key(), s.now, 30*gib+512*mib)
	if r := s.requests(0).Refusal; !r.Free.Equal(sampler.Some(17*gib + 512*mib)) {
		t.Errorf("then %v free", r.Free)
	}
}

// Where the GPU becomes known after the refusal, what was asked for before counts all the same.
func TestFreeOfGPUKnownLater(t *testing.T) {
	s := newScene(t, 2, people{7: {}})
	s.context(0)
	s.Reading(s.gpus[1].Key(), s.now, 10*gib)
	s.later(ms(5))
	s.alloc(1, 30*gib)
	s.alloc(2, gib)
	s.free(2)
	s.refused(20 * gib)
	s.list(1, 7, sampler.Some(30*gib))
	if r := s.requests(1); !r.Refusal.Free.Equal(sampler.Some(8 * gib)) {
		t.Errorf("%v free", r.Refusal.Free)
	}
}

// What comes of the refusal of one thread says nothing of that of another, unless as much is granted as may be in its place.
func TestRefusedThreads(t *testing.T) {
	for name, row := range map[string]struct {
		later   time.Duration // between the two
		tid     int           // of the second
		granted sampler.Bytes // to that
		outcome string
		bytes   sampler.Bytes
	}{
		"a workspace is smaller":   {ms(100), 8, 16 * mib, sampler.RefusalOpen, 40 * gib},
		"and granted in the end":   {ms(100), 8, 64 * mib, sampler.RefusalOpen, 40 * gib},
		"what may be in its place": {ms(100), 8, 5 * gib, sampler.RefusalGranted, 64 * mib},
		"of the same thread":       {ms(100), 7, 16 * mib, sampler.RefusalSmaller, 40 * gib},
		"the first is long before": {3 * time.Second, 8, 16 * mib, sampler.RefusalSmaller, 64 * mib},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, 10*gib)
		s.refused(40 * gib)
		s.later(row.later)
		s.call("cuMemAlloc_v2", Call{TID: row.tid, Size: uint64(64 * mib), Context: 0xc000, Device: -1, Answer: outOfMemory})
		s.later(ms(10))
		s.call("cuMemAlloc_v2", Call{TID: row.tid, Address: 2, Size: uint64(row.granted), Context: 0xc000, Device: -1})
		if r := s.requests(0); r.Refused != 2 || r.Refusal.Outcome != row.outcome || r.Refusal.Bytes != row.bytes {
			t.Errorf("%s: %+v", name, r.Refusal)
		}
	}
}

// Each thread that is refused, and granted the same after memory was given back, has had a near miss, in whatever order, and what others are granted
// meanwhile is no answer to it.
func TestFlushesOfThreads(t *testing.T) {
	type ask struct {
		tid, n  int // GiB
		refused bool
	}
	for name, row := range map[string]struct {
		before, after []ask // of what is given back
		flushes       int
	}{
		"the first is granted":  {[]ask{{7, 4, true}, {8, 5, true}}, []ask{{7, 4, false}}, 1},
		"both are":              {[]ask{{7, 4, true}, {8, 2, true}}, []ask{{7, 4, false}, {8, 2, false}}, 2},
		"the other way round":   {[]ask{{7, 4, true}, {8, 2, true}}, []ask{{8, 2, false}, {7, 4, false}}, 2},
		"another asks for more": {[]ask{{7, 2, true}}, []ask{{8, 3, false}, {7, 2, false}}, 1},
		"nobody asks again":     {[]ask{{7, 2, true}}, []ask{{8, 3, false}}, 0},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, 30*gib)
		do := func(list []ask) {
			for i, a := range list {
				c := Call{TID: a.tid, Address: uint64(10 + i), Size: uint64(a.n) << 30, Context: 0xc000, Device: -1}
				if a.refused {
					c.Address, c.Answer = 0, outOfMemory
				}
				s.call("cuMemAlloc_v2", c)
			}
		}
		do(row.before)
		s.free(1)
		do(row.after)
		if r := s.requests(0); r.Flushes != row.flushes {
			t.Errorf("%s: %d flushes, not %d: %+v", name, r.Flushes, row.flushes, r.Refusal)
		}
	}
}

// A process that holds memory on one GPU, and was refused some on another where it holds none, has a last row there, though the driver lists
// it on the first for as long as its parent does not ask how it ended.
func TestRefusedWhereItHoldsNone(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}}})
	s.gpus[0].PCI, s.gpus[1].PCI = "00000000:10:00.0", "00000000:20:00.0"
	s.context(0)
	s.alloc(1, 10*gib)
	s.list(0, 7, sampler.Some(10*gib))
	s.apply()
	s.call("cuCtxCreate_v2", Call{Address: 0, Device: 1, Answer: outOfMemory})
	for later, want := range []int{1, 1, 1, 1, 0} { // it may go on elsewhere
		if got := s.apply().GPUs[1].Processes; len(got) != want {
			t.Errorf("%d rows after %d s", len(got), later*10)
		}
		s.later(10 * time.Second)
	}
	s.Ended(7, s.now, 1<<8)
	rows := 0
	for range 3 {
		s.later(time.Second)
		for _, p := range s.apply().GPUs[1].Processes {
			if rows++; p.Requests == nil || !p.Requests.ExitStatus.Equal(sampler.Some(1)) || p.Requests.Refused != 1 {
				t.Errorf("%+v", p.Requests)
			}
		}
	}
	if rows != 1 {
		t.Errorf("%d rows", rows)
	}
}

// A process that gives way to another program has a last row, and what that asks for is its own.
func TestExeced(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.alloc(1, gib)
	s.refused(90 * gib)
	s.apply()
	s.Execed(7, s.now)
	if r := s.requests(0); r.Live != 0 || r.ExitStatus.Known() || r.Refused != 1 || r.Refusal.Outcome != sampler.RefusalLeft {
		t.Errorf("at the end of the first: %+v", r)
	}
	if rows := s.apply().GPUs[0].Processes; len(rows) > 0 {
		t.Errorf("a ghost: %+v", rows)
	}
	s.context(0)
	s.alloc(1, 2*gib)
	if r := s.requests(0); r.Live != 2*gib || r.ExitStatus.Known() || r.Refused != 0 || r.Granted != 1 || r.Refusal != nil {
		t.Errorf("of the second: %+v", r)
	}
	s.Execed(99, s.now) // who has asked for nothing
}

// The peak of a process that becomes another program is that of both: it is exact where both are, or the first had less than is known of it.
func TestPeakOfTwoPrograms(t *testing.T) {
	for name, row := range map[string]struct {
		listed bool          // the first
		second sampler.Bytes // that it holds
		want   sampler.Bytes
		source string
	}{
		"the first had more, exactly":        {true, gib / 4, 768 * mib, sampler.PeakCalls},
		"the first had less, exactly":        {true, gib, gib + 256*mib, sampler.PeakCalls},
		"the first had as much at least":     {false, 128 * mib, 512 * mib, sampler.PeakCallsAlone},
		"more was there than the calls tell": {false, 292 * mib, 548 * mib, sampler.PeakCallsAlone},
	} {
		s := newScene(t, 1, people{7: {}})
		key := s.gpus[0].Key()
		runs := func(n sampler.Bytes, listed bool) {
			s.context(0)
			s.later(ms(20))
			s.alloc(1, n)
			s.later(ms(300))
			if listed {
				s.Listed(key, s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n + 256*mib)}})
				s.later(ms(300))
			}
			s.apply()
		}
		runs(512*mib, row.listed)
		s.Execed(7, s.now)
		s.later(ms(600)) // a list is of the second by then
		runs(row.second, true)
		for _, when := range []string{"", ", once more another one"} {
			if p := s.of(0, 7).Peak; p == nil || p.Bytes != row.want || p.Source != row.source {
				t.Errorf("%s%s: %+v, want %v by %s", name, when, p, row.want, row.source)
			}
			s.Execed(7, s.now)
			s.later(ms(600))
			runs(mib, true)
		}
	}
}

// A process that is let go of is told until that is over, or it is gone.
func TestLetGo(t *testing.T) {
	s := newScene(t, 1, people{7: {}, 8: {}})
	s.context(0)
	s.alloc(1, gib)
	s.LetGo(7, function("cuMemCreate"), s.now.Add(10*time.Second))
	s.LetGo(8, function("cuMemCreate"), s.now.Add(20*time.Second))
	s.LetGo(7, function("cuMemAlloc_v2"), s.now.Add(10*time.Second))
	s.LetGo(7, 99, s.now.Add(10*time.Second)) // no function
	if got := fmt.Sprint(s.apply().Door.Busy); got != "[{7 cuMemAlloc_v2} {7 cuMemCreate} {8 cuMemCreate}]" {
		t.Errorf("at first: %s", got)
	}
	if r := s.requests(0); r.Whole {
		t.Error("a part of its life was missed")
	}
	s.later(10 * time.Second)
	if got := fmt.Sprint(s.apply().Door.Busy); got != "[{8 cuMemCreate}]" {
		t.Errorf("after 10 s: %s", got)
	}
	delete(s.host.(people), 8)
	s.apply()
	if got := s.apply().Door.Busy; len(got) > 0 {
		t.Errorf("of who is gone: %v", got)
	}
}

// What a process holds from which calls that move memory are not seen any more is told by the driver's figure, and that its counts are the least.
func TestLetGoHolds(t *testing.T) {
	for name, row := range map[string]struct {
		miss   func(s *scene)
		missed bool
		live   sampler.Bytes
	}{
		"nothing is missed":          {func(*scene) {}, false, 12 * gib},
		"it asks too often":          {func(s *scene) { s.LetGo(7, function("cuMemAlloc_v2"), s.now.Add(10*time.Second)) }, true, 12*gib + 300*mib},
		"it sets contexts too often": {func(s *scene) { s.LetGo(7, function("cuCtxSetCurrent"), s.now.Add(10*time.Second)) }, false, 12*gib + 300*mib},
		"all ask too often":          {func(s *scene) { s.SetDoor(sampler.Door{LetGo: []string{"cuMemAlloc_v2"}}) }, true, 12*gib + 300*mib},
		"calls were lost":            {func(s *scene) { s.SetDoor(sampler.Door{Lost: 1}) }, true, 12*gib + 300*mib},
	} {
		s := newScene(t, 1, people{7: {}, 8: {}})
		s.context(0)
		s.alloc(1, 12*gib)
		s.later(ms(100))
		s.list(0, 7, sampler.Some(12*gib+300*mib))
		s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
		s.later(ms(100))
		s.refused(60 * gib)
		s.apply()
		row.miss(s)
		if r := s.requests(0); r.Missed != row.missed || r.Whole != (row.live == 12*gib) || r.Live != row.live {
			t.Errorf("%s: %+v", name, r)
		}
	}
	s := newScene(t, 1, people{8: {}})
	s.SetDoor(sampler.Door{LetGo: []string{"cuMemFree_v2"}})
	s.call("cuDevicePrimaryCtxRetain", Call{PID: 8, Address: 0xc000, Device: 0})
	s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(gib), Context: 0xc000, Device: -1})
	if r := s.of(0, 8).Requests; r.Whole || !r.Missed {
		t.Errorf("one that begins meanwhile: %+v", r)
	}
}

// Calls may be heard after a reading that was made after them, and readings after calls that were made after those.
func TestHeardLate(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	key := s.gpus[0].Key()
	at := s.now
	s.Reading(key, at.Add(ms(10)), 30*gib)
	s.alloc(1, 30*gib) // a millisecond after at: the reading has it
	s.now = at.Add(ms(20))
	s.refused(20 * gib)
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(18 * gib)) {
		t.Errorf("a call that is heard late: %v free, not 18 GiB", r.Refusal.Free)
	}
	s.alloc(2, 10*gib)
	s.Reading(key, s.now.Add(-ms(5)), 31*gib) // of before that
	s.now = s.now.Add(ms(1))
	s.refused(21 * gib)
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(7 * gib)) {
		t.Errorf("a reading that is heard late: %v free, not 7 GiB", r.Refusal.Free)
	}
	s.later(ms(30))
	s.Reading(key, s.now.Add(ms(20)), gib) // its process has ended by then
	s.refused(22 * gib)
	if r := s.requests(0); !r.Refusal.Free.Equal(sampler.Some(7 * gib)) {
		t.Errorf("a refusal that is heard late: %v free, not 7 GiB", r.Refusal.Free)
	}
}

// The largest request of the last minute is forgotten after it, that of ever is not.
func TestLately(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.alloc(1, 9*gib)
	at := s.now
	s.later(30 * time.Second)
	s.alloc(2, 2*gib)
	if r := s.requests(0); r.LargestRecent != 9*gib || r.Largest != 9*gib || !r.LargestTime.Equal(at) {
		t.Errorf("after half a minute: %+v", r)
	}
	s.later(35 * time.Second)
	if r := s.requests(0); r.LargestRecent != 2*gib || r.Largest != 9*gib {
		t.Errorf("after a minute: %+v", r)
	}
	s.later(time.Minute)
	if r := s.requests(0); r.LargestRecent != 0 {
		t.Errorf("after two: %+v", r)
	}
}

// A piece is held until both its handle and its mapping are gone, in either order.
func TestPieces(t *testing.T) {
	for _, releaseFirst := range []bool{true, false} {
		s := newScene(t, 1, people{7: {}})
		s.call("cuMemCreate", Call{Address: 5, Size: uint64(20 * mib), Device: 0})
		s.call("cuMemMap", Call{Address: 0x7000, Size: uint64(20 * mib), Other: 5, Device: -1})
		release := func() { s.call("cuMemRelease", Call{Address: 5, Device: -1}) }
		unmap := func() { s.call("cuMemUnmap", Call{Address: 0x7000, Size: uint64(20 * mib), Device: -1}) }
		first, second := unmap, release
		if releaseFirst {
			first, second = release, unmap
		}
		if first(); s.requests(0).Live != 20*mib {
			t.Errorf("release first %v: %v is held after one of two", releaseFirst, s.requests(0).Live)
		}
		if second(); s.requests(0).Live != 0 {
			t.Errorf("release first %v: %v is held after both", releaseFirst, s.requests(0).Live)
		}
	}
}

// One unmapping may end several mappings, and a handle is no address.
func TestPiecesTogether(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	for i := range uint64(3) {
		s.call("cuMemCreate", Call{Address: i + 1, Size: uint64(2 * mib), Device: 0})
		s.call("cuMemMap", Call{Address: 0x1000 * (i + 1), Size: 0x1000, Other: i + 1, Device: -1})
		s.call("cuMemRelease", Call{Address: i + 1, Device: -1})
	}
	s.call("cuMemFree_v2", Call{Address: 1, Device: -1})
	if r := s.requests(0); r.Live != 6*mib {
		t.Fatalf("%v is held, not 6 MiB", r.Live)
	}
	s.call("cuMemUnmap", Call{Address: 0x1000, Size: 0x2000, Device: -1})
	if r := s.requests(0); r.Live != 2*mib {
		t.Errorf("%v is held after two of three are unmapped", r.Live)
	}
}

// A primary context lives as long as somebody retains it.
func TestPrimaryContext(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.context(0)
	s.alloc(1, gib)
	release := func() sampler.Bytes {
		s.call(primaryRelease, Call{Device: 0})
		return s.requests(0).Live
	}
	if live := release(); live != gib {
		t.Errorf("%v is held after one of two released it", live)
	}
	if live := release(); live != 0 {
		t.Errorf("%v is held after both", live)
	}
	s.alloc(2, gib)
	if live := release(); live != gib {
		t.Errorf("%v is held after one that retained it before we came", live)
	}
}

// Of a process that was there before nobody knows how often its primary context was retained: where it may have ended, what it held is not
// counted on and on.
func TestPrimaryContextInMidLife(t *testing.T) {
	for name, others := range map[string]bool{"ends each time": false, "another has it": true} {
		s := newScene(t, 1, people{6: {}})
		key, has := s.gpus[0].Key(), gib/2
		s.list(0, 6, sampler.Some(has))
		s.call(primaryRelease, Call{PID: 6, Device: 0}) // it was retained before
		most := has
		for i := range uint64(20) {
			s.call("cuDevicePrimaryCtxRetain", Call{PID: 6, Address: 0xc000, Device: 0})
			s.call("cuMemAlloc_v2", Call{PID: 6, Address: 2*i + 1, Size: uint64(2 * gib), Context: 0xc000, Device: -1})
			s.call("cuMemAlloc_v2", Call{PID: 6, Address: 2*i + 2, Size: uint64(gib), Context: 0xc000, Device: -1})
			has += 3 * gib
			most = max(most, has)
			s.later(ms(300))
			s.Listed(key, s.now, []sampler.Process{{PID: 6, Memory: sampler.Some(has)}})
			s.later(ms(300))
			s.call("cuMemFree_v2", Call{PID: 6, Address: 2*i + 2, Device: -1})
			s.call(primaryRelease, Call{PID: 6, Device: 0})
			has = gib / 2
			if others {
				has += 2 * gib * sampler.Bytes(min(i+1, 3))
				if i > 2 {
					s.call("cuMemFree_v2", Call{PID: 6, Address: 2*i + 1, Device: -1})
				}
			}
			s.later(ms(300))
			if p := s.of(0, 6); p.Requests.Live > 9*gib || p.Requests.Peak > most || p.Peak != nil && p.Peak.Bytes > most {
				t.Fatalf("%s, %d: live %v, peak %v, %+v, not above %v", name, i, p.Requests.Live, p.Requests.Peak, p.Peak, most)
			}
		}
	}
}

// Managed memory is asked for, but not held on the GPU; the host's memory may take its place.
func TestNotOnTheGPU(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.alloc(1, gib)
	s.call("cuMemAllocManaged", Call{Address: 2, Size: uint64(900 * gib), Context: 0xc000, Device: -1})
	if r := s.requests(0); r.Live != gib || r.Peak != gib || r.Largest != 900*gib || r.Granted != 2 {
		t.Errorf("%+v", r)
	}
	s.refused(8 * gib)
	s.call("cuMemHostAlloc", Call{Address: 3, Size: uint64(gib) - 1, Device: -1})
	if r := s.requests(0); r.Refusal.Outcome != sampler.RefusalOpen {
		t.Errorf("a little on the host: %+v", r.Refusal)
	}
	s.call("cuMemHostAlloc", Call{Address: 4, Size: uint64(8 * gib), Device: -1})
	if r := s.requests(0); r.Refusal.Outcome != sampler.RefusalOther {
		t.Errorf("all of it on the host: %+v", r.Refusal)
	}
}

// Who has given all back and is listed on another GPU has no row of the first one.
func TestNoGhost(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.context(0)
	s.alloc(1, gib)
	if r := s.requests(0); r.Live != gib {
		t.Fatalf("%+v", r)
	}
	s.list(1, 7, sampler.Some(gib))
	s.list(0, 7, sampler.Some(gib))
	s.apply()
	s.free(1)
	s.gpus[0].Processes = nil
	if rows := s.apply().GPUs[0].Processes; len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

// A context that ends, and a device that is reset, take their memory with them.
func TestEnds(t *testing.T) {
	for name, end := range map[string]Call{"cuCtxDestroy_v2": {Address: 0xc000, Device: -1}, "cuDevicePrimaryCtxReset_v2": {Device: 0}} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, gib)
		s.alloc(2, gib)
		s.call(name, end)
		if r := s.requests(0); r.Live != 0 || r.Peak != 2*gib {
			t.Errorf("%s: %v is held, peak %v", name, r.Live, r.Peak)
		}
	}
}

// What other calls leave as it was.
func TestLeftAlone(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.alloc(1, gib)
	s.free(99)                                                                             // of before we came
	s.free(0)                                                                              // nothing
	s.call("cuMemHostAlloc", Call{Address: 2, Size: 1 << 40, Device: -1, Answer: success}) // the host's
	s.call("cuMemAlloc_v2", Call{Size: 0, Context: 0xc000, Device: -1, Answer: 1})         // wrong arguments
	s.Call(Call{PID: 7, Function: -1})
	s.Call(Call{PID: 7, Function: len(Functions)})
	s.Call(Call{PID: 0, Time: s.now})
	if r := s.requests(0); r.Live != gib || r.Granted != 1 || r.Refused != 0 || r.Largest != gib {
		t.Errorf("%+v", r)
	}
	if snap := s.apply(); len(snap.GPUs[0].Processes) != 1 {
		t.Errorf("processes: %+v", snap.GPUs[0].Processes)
	}
}

// Each request is told once, those of a process in order, with its GPU; those that may still be placed wait, and all of that process after them.
func TestTold(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}, 8: {}})
	told := func() string {
		var list []string
		for _, q := range s.apply().Requests {
			gpu := "?"
			if i, ok := q.GPU.Value(); ok {
				gpu = fmt.Sprint(i)
			}
			list = append(list, fmt.Sprintf("%d:%s:%v:%d", q.PID, gpu, q.Bytes.GiB(), q.Answer))
		}
		return strings.Join(list, " ")
	}
	told()
	s.context(0)
	s.alloc(1, gib)
	s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(2 * gib), Context: 0xdead, Device: -1})
	s.refused(3 * gib)
	s.call("cuMemCreate", Call{PID: 8, Address: 2, Size: uint64(4 * gib), Device: 1, Answer: success})
	if got := told(); got != "7:0:1:0 7:0:3:2" {
		t.Errorf("first %q", got)
	}
	s.list(1, 8, sampler.Some(2*gib))
	if got := told(); got != "8:1:2:0 8:1:4:0" {
		t.Errorf("then %q", got)
	}
	if got := told(); got != "" {
		t.Errorf("again: %q", got)
	}
}

// Who waits in vain is told without a GPU.
func TestToldWithout(t *testing.T) {
	s := newScene(t, 2, people{8: {}})
	s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(gib), Context: 0xdead, Device: -1})
	if snap := s.apply(); len(snap.Requests) != 0 {
		t.Errorf("at once: %+v", snap.Requests)
	}
	s.later(wait)
	if snap := s.apply(); len(snap.Requests) != 1 || snap.Requests[0].GPU.Known() {
		t.Errorf("later: %+v", snap.Requests)
	}
}

// A number that belongs to another process now begins anew; one whose process is gone is forgotten.
func TestReusedNumber(t *testing.T) {
	host := people{7: {}}
	s := newScene(t, 1, host)
	s.context(0)
	s.alloc(1, 3*gib)
	if r := s.requests(0); r.Live != 3*gib {
		t.Fatalf("%+v", r)
	}
	host[7] = sampler.Process{StartTime: sampler.Some(noon.Add(time.Hour))}
	s.list(0, 7, sampler.Some(gib))
	if r := s.of(0, 7).Requests; r != nil {
		t.Errorf("of another process: %+v", r)
	}
	s.gpus[0].Processes = nil
	delete(host, 7)
	s.later(silent)
	s.apply() // with what was not told yet
	s.apply()
	if len(s.processes) != 0 {
		t.Errorf("%d processes are kept", len(s.processes))
	}
}

// Whether all of a process was seen.
func TestWhole(t *testing.T) {
	rows := map[string]struct {
		pid  int
		do   func(s *scene)
		want bool
	}{
		"it began under our eyes":       {7, func(*scene) {}, true},
		"it was there before":           {6, func(*scene) {}, false},
		"its library was found later":   {7, func(s *scene) { s.Late(7, s.now) }, false},
		"a function was let go of":      {7, func(s *scene) { s.SetDoor(sampler.Door{LetGo: []string{"cuMemFree_v2"}}) }, false},
		"calls were lost":               {7, func(s *scene) { s.SetDoor(sampler.Door{Lost: 1}) }, false},
		"the door is as it was, so far": {7, func(s *scene) { s.SetDoor(sampler.Door{}) }, true},
		"an address was given twice": {7, func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: 1, Size: 5, Device: 0})
		}, false},
	}
	for name, row := range rows {
		s := newScene(t, 1, people{6: {}, 7: {}})
		s.call("cuMemAlloc_v2", Call{PID: row.pid, Address: 1, Size: uint64(gib), Device: 0})
		row.do(s)
		if r := s.of(0, row.pid).Requests; r.Whole != row.want {
			t.Errorf("%s: %v", name, r.Whole)
		}
	}
}

// Who is gone has a last row with what it asked for at the end.
func TestLastWords(t *testing.T) {
	host := people{7: {}}
	s := newScene(t, 1, host)
	s.context(0)
	s.alloc(1, gib)
	if r := s.requests(0); r.Refused != 0 {
		t.Errorf("%+v", r)
	}
	s.refused(9 * gib)
	delete(host, 7)
	if r := s.requests(0); r.Refused != 1 {
		t.Errorf("the last row: %+v", r)
	}
	if rows := s.apply().GPUs[0].Processes; len(rows) != 0 {
		t.Errorf("and no more: %+v", rows)
	}
}

// Who was there before, of whom only the driver's list tells where it is, has its last row there, and what it held is no
// last grant.
func TestLastWordsOfTheOld(t *testing.T) {
	host := people{6: {Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "nonsense"}}}
	s := newScene(t, 2, host)
	s.list(1, 6, sampler.Some(18*gib))
	s.apply()
	s.call("cuMemAlloc_v2", Call{PID: 6, TID: 6, Size: uint64(90 * gib), Answer: outOfMemory, Device: -1})
	s.now = s.now.Add(ms(50))
	before := s.apply().GPUs[1].Processes[0].Requests
	s.now = s.now.Add(time.Second)
	s.gpus[1].Processes = nil
	delete(host, 6)
	s.Ended(6, s.now, 1<<8)
	rows := s.apply().GPUs[1].Processes
	if len(rows) != 1 || !rows[0].Requests.ExitStatus.Equal(sampler.Some(1)) || rows[0].Requests.Live != before.Live {
		t.Errorf("before %+v, the last row %+v", before, rows)
	}
}

// How it ended comes with the last row, also where what it asked for was told before.
func TestExitStatus(t *testing.T) {
	for status, want := range map[int]int{0: 0, 3 << 8: 3, 255 << 8: 255, 9: 137, 6 | 0x80: 134} { // 0x80: it left a core
		host := people{7: {}}
		s := newScene(t, 1, host)
		s.context(0)
		s.refused(90 * gib)
		if r := s.requests(0); r.ExitStatus.Known() {
			t.Errorf("it lives: %+v", r)
		}
		delete(host, 7)
		s.Ended(7, s.now, status)
		s.Ended(8, s.now, 0) // nobody
		if r := s.requests(0); !r.ExitStatus.Equal(sampler.Some(want)) {
			t.Errorf("%#x: %v, not %d", status, r.ExitStatus, want)
		}
		if rows := s.apply().GPUs[0].Processes; len(rows) != 0 {
			t.Errorf("and no more: %+v", rows)
		}
	}
}

// How a process ended is told once, too, on a GPU where the driver listed it and it has asked for nothing since anybody looked.
func TestExitStatusElsewhere(t *testing.T) {
	for name, listed := range map[string]bool{"listed no more": false, "still listed": true} {
		host := people{6: {}}
		s := newScene(t, 2, host)
		s.list(0, 6, sampler.Some(20*gib))
		s.list(1, 6, sampler.Some(gib))
		s.apply()
		s.later(time.Second)
		s.call("cuMemAlloc_v2", Call{PID: 6, Address: 1, Size: uint64(gib), Device: 1})
		if r := s.of(0, 6).Requests; r != nil {
			t.Errorf("%s: %+v while it lives", name, r)
		}
		s.later(time.Second)
		delete(host, 6)
		s.Ended(6, s.now, 0)
		s.gpus[1].Processes = nil
		if !listed {
			s.gpus[0].Processes = nil
		}
		for gpu, g := range s.apply().GPUs {
			if len(g.Processes) != 1 || g.Processes[0].Requests == nil || !g.Processes[0].Requests.ExitStatus.Equal(sampler.Some(0)) {
				t.Errorf("%s: GPU %d: %+v", name, gpu, g.Processes)
			}
		}
		s.gpus[0].Processes = nil
		for gpu, g := range s.apply().GPUs {
			if len(g.Processes) != 0 {
				t.Errorf("%s: GPU %d has it again: %+v", name, gpu, g.Processes)
			}
		}
	}
}

// More than there is room for is counted, and what is known of a process is then a part.
func TestRoom(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	for i := range maxCalls + 5 {
		s.alloc(uint64(i+1), mib)
	}
	s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: 1, Device: 0}) // of another, which is told
	snap := s.apply()
	if len(snap.Requests) != maxCalls+1 {
		t.Errorf("%d requests", len(snap.Requests))
	}
	if snap = s.apply(); snap.Door.Untold != 5 {
		t.Errorf("untold: %d", snap.Door.Untold)
	}
	for pid := range maxProcesses + 10 {
		s.call("cuMemAlloc_v2", Call{PID: 100 + pid, Address: 1, Size: 1, Device: 0})
	}
	if len(s.processes) != maxProcesses {
		t.Errorf("%d processes", len(s.processes))
	}
}

// Against a simple model: random calls of two processes on two GPUs.
func TestModel(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}, 8: {Environment: map[string]string{}}})
		type at struct {
			pid     int
			address uint64
		}
		type held struct {
			gpu int
			n   sampler.Bytes
		}
		blocks := map[at]held{}
		live, peak := map[[2]int]sampler.Bytes{}, map[[2]int]sampler.Bytes{}
		for range 60 {
			pid, address, gpu := 7+r.IntN(2), uint64(1+r.IntN(20)), r.IntN(2)
			k := at{pid, address}
			if b, ok := blocks[k]; ok {
				s.call("cuMemFree_v2", Call{PID: pid, Address: address, Device: -1})
				live[[2]int{pid, b.gpu}] -= b.n
				delete(blocks, k)
				continue
			}
			n := sampler.Bytes(r.IntN(1 << 30))
			s.call("cuMemAlloc_v2", Call{PID: pid, Address: address, Size: uint64(n), Device: gpu})
			blocks[k] = held{gpu, n}
			x := [2]int{pid, gpu}
			live[x] += n
			peak[x] = max(peak[x], live[x])
			if r.IntN(10) == 0 {
				s.apply()
			}
		}
		snap := s.apply()
		for x, want := range peak {
			var got sampler.Requests
			for _, p := range snap.GPUs[x[1]].Processes {
				if p.PID == x[0] {
					got = *p.Requests
					if p.Peak.Bytes != want || p.Peak.Source != sampler.PeakCallsAlone {
						t.Errorf("seed %d: process %d on GPU %d: peak %+v, not %d", seed, x[0], x[1], p.Peak, want)
					}
				}
			}
			if live[x] > 0 && (got.Live != live[x] || got.Peak != want) {
				t.Errorf("seed %d: process %d on GPU %d: %d and %d, not %d and %d", seed, x[0], x[1], got.Live, got.Peak, live[x], want)
			}
		}
	}
}

// Any calls, in any order and of any size: nothing panics, and nobody holds more than he was given.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Add([]byte("\x12\x00\x00\x01\x01\xff\xff\x00\x00\x01\x07\x07\x07"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newScene(t, 2, people{7: {}, 8: {Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "1,0"}}})
		sizes := []uint64{0, 1, uint64(gib), 1 << 63, ^uint64(0)}
		for ; len(b) >= 5; b = b[5:] {
			s.now = s.now.Add(ms(int(b[4])))
			s.Call(Call{Time: s.now, PID: 7 + int(b[0]&1), TID: int(b[0] >> 4), Function: int(b[1]) % (len(Functions) + 1), Size: sizes[b[2]%5],
				Address: uint64(b[3] & 7), Other: uint64(b[3] >> 5), Context: uint64(b[2] >> 5), Device: int(b[3]>>3&3) - 1, Answer: int(b[4] & 2)})
			if b[4]&7 == 7 {
				s.Listed(s.gpus[b[0]&1].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(sampler.Bytes(sizes[b[2]%5]))}})
			}
			if b[4]&3 == 3 {
				s.Failed(7+int(b[0]&1), uint64(b[3]>>5), s.now)
			}
			if b[4]&3 == 1 {
				s.Lingered(7+int(b[0]&1), uint64(b[3]>>5), s.now)
			}
			switch pid := 7 + int(b[0]&1); b[4] & 63 {
			case 16:
				s.Tracker.Ended(pid, s.now, int(b[3]), nil)
			case 20:
				s.Execed(pid, s.now)
			case 24:
				s.Begins(pid)
			case 28:
				s.Left(UnderWay{PID: pid, TID: int(b[0] >> 4), Function: int(b[1]) % (len(Functions) + 1), Size: sizes[b[2]%5], Number: uint64(b[3] >> 5), Began: s.now.Add(-ms(50))}, s.now)
			}
			if b[4]&15 == 15 {
				s.Reading(s.gpus[b[0]&1].Key(), s.now, sampler.Bytes(b[3])*gib)
			}
			if b[4]&31 == 31 {
				s.apply()
			}
		}
		for _, g := range s.apply().GPUs {
			for _, p := range g.Processes {
				if r := p.Requests; r == nil || !slices.Contains(sizes, uint64(r.Largest)) || r.Live > 2*sampler.MaxPlausible {
					t.Errorf("%+v", p)
				}
			}
		}
	})
}

// The answer matters of a call that gives or names something, gives back, or sets or ends a context, and of no other; no process has the number 0.
func TestAnswered(t *testing.T) {
	for name, want := range map[string]bool{"cuMemAlloc_v2": true, "cuMemCreate": true, "cuMemMap": true, "cuMemFree_v2": true, "cuMemUnmap": true, "cuCtxDestroy_v2": true, "cuArrayCreate_v2": false,
		primaryRetain: true, primaryRelease: true, "cuCtxCreate_v2": true, "cuCtxSetCurrent": true} {
		if got := Functions[function(name)].Answered(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	s := newScene(t, 1, people{})
	for pid, want := range map[int]bool{-1: false, 0: false, 1: true} {
		if got := s.process(pid) != nil; got != want {
			t.Errorf("process %d: %v", pid, got)
		}
	}
}

// The last row of who is gone has nothing that it had on another GPU.
func TestLastRowOfTwo(t *testing.T) {
	host := people{7: {Environment: map[string]string{}}}
	s := newScene(t, 2, host)
	s.context(0)
	s.alloc(1, gib)
	s.call("cuDevicePrimaryCtxRetain", Call{Address: 0xc001, Device: 1})
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(9 * gib), Context: 0xc001, Device: -1})
	s.list(0, 7, sampler.Some(gib))
	s.list(1, 7, sampler.Some(9*gib))
	s.apply()
	s.gpus[0].Processes, s.gpus[1].Processes = nil, nil
	s.refused(90 * gib)
	delete(host, 7)
	s.Ended(7, s.now, 1<<8)
	for i, g := range s.apply().GPUs {
		for _, p := range g.Processes {
			if p.Memory.Known() || p.Peak != nil && p.Peak.Bytes > []sampler.Bytes{gib, 9 * gib}[i] {
				t.Errorf("GPU %d: %v, peak %+v", i, p.Memory, p.Peak)
			}
		}
	}
}

// A pool keeps what is given back: the driver's figure has it, and no call tells of it. It has held what it gave at the same time, though no
// reading may have come between.
func TestPoolHasNoExactPeak(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	key := s.gpus[0].Key()
	async := func(at uint64) {
		s.call("cuMemAllocAsync", Call{Address: at, Size: uint64(gib), Context: 0xc000, Device: -1})
	}
	async(1)
	s.call("cuMemFreeAsync", Call{Address: 1, Device: -1})
	s.later(ms(50))
	s.Listed(key, s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(gib + 256*mib)}})
	s.later(ms(50))
	async(2)
	if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes != gib || p.Peak.Source != sampler.PeakCallsAlone {
		t.Errorf("%+v", p.Peak)
	}
	async(3)
	at := s.now
	s.call("cuMemFreeAsync", Call{Address: 2, Device: -1})
	if p := s.of(0, 7); p.Peak.Bytes != 2*gib || p.Peak.Source != sampler.PeakCallsAlone || !p.Peak.Time.Equal(milli(at)) {
		t.Errorf("%+v", p.Peak)
	}
}

// A list in the middle of calls says little: until the next one nothing is exact.
func TestGuessedBase(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	key := s.gpus[0].Key()
	s.alloc(1, gib)
	s.Listed(key, s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(256 * mib)}}) // without it
	s.alloc(2, gib)
	s.later(ms(10)) // no other call was at work
	if p := s.of(0, 7); p.Peak.Source != sampler.PeakAtLeast {
		t.Errorf("%+v", p.Peak)
	}
	p, row := s.processes[7], sampler.Process{PID: 7}
	p.seats[0].guessed = true // nor is it known to be of this GPU
	if s.fill(&row, p, key, s.now); row.Peak.Source != sampler.PeakOverlapping {
		t.Errorf("where its GPU is guessed: %+v", row.Peak)
	}
	s.later(ms(50))
	s.Listed(key, s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(2*gib + 256*mib)}})
	s.later(ms(50))
	s.alloc(3, gib)
	if p := s.of(0, 7); p.Peak.Source != sampler.PeakCalls || p.Peak.Bytes != 3*gib+256*mib {
		t.Errorf("%+v", p.Peak)
	}
}

// What a thread had called for before another was refused is no answer to that, however much it is.
func TestGrantedAmid(t *testing.T) {
	for name, row := range map[string]struct {
		took time.Duration
		want string
	}{"called for before": {ms(40), sampler.RefusalOpen}, "called for since": {ms(10), sampler.RefusalGranted}} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.refused(20 * gib)
		s.later(ms(30))
		s.call("cuMemAlloc_v2", Call{TID: 8, Address: 1, Size: uint64(20 * gib), Context: 0xc000, Device: -1, Took: row.took})
		if r := s.requests(0); r.Refusal.Outcome != row.want {
			t.Errorf("%s: %q, not %q", name, r.Refusal.Outcome, row.want)
		}
	}
}

// A request for more than any GPU has is told with its size, wherever it is told.
func TestEnormous(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.refused(1 << 62)
	if list := s.apply().Requests; len(list) != 1 || list[0].Bytes != 1<<62 {
		t.Errorf("%+v", list)
	}
	if r := s.requests(0); r.Largest != 1<<62 || r.LargestRecent != 1<<62 || r.Refused != 1 || r.Refusal.Bytes != 1<<62 || r.Refusal.Smallest != 1<<62 {
		t.Errorf("%+v", r)
	}
}

// The first pieces of a further try of expandable segments are no near miss until as much as was wanted has come: another one that is refused soon is a
// further try of the same.
func TestTriesOfPieces(t *testing.T) {
	for name, row := range map[string]struct {
		again   bool
		pause   time.Duration
		flushes int
		tries   int
		outcome string
	}{
		"the second try fails, too":  {true, 0, 0, 2, sampler.RefusalOpen},
		"all of it is granted":       {false, 0, 1, 1, sampler.RefusalFlush},
		"another one fails later on": {true, retryWithin, 1, 1, sampler.RefusalOpen},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.context(0)
		piece := func(at uint64, answer int) {
			s.call("cuMemCreate", Call{Address: at, Size: uint64(20 * mib), Device: 0, Context: 0xc000, Answer: answer})
		}
		for i := range uint64(20) {
			piece(1+i, success)
		}
		piece(0, outOfMemory)
		for i := range uint64(20) {
			s.call("cuMemRelease", Call{Address: 1 + i, Device: -1})
		}
		for i := range uint64(20) {
			piece(100+i, success)
		}
		if r := s.requests(0); r.Flushes != 0 {
			t.Errorf("%s: at once %+v", name, r)
		}
		s.later(row.pause)
		if row.again {
			piece(0, outOfMemory)
		}
		s.later(retryWithin + ms(1))
		if r := s.requests(0); r.Flushes != row.flushes || r.Refusal.Tries != row.tries || r.Refusal.Outcome != row.outcome {
			t.Errorf("%s: %d near misses, %+v", name, r.Flushes, r.Refusal)
		}
	}
}
