package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// Memory is of the context in which it was asked for: the end of the primary one leaves what others of the GPU hold, and theirs leaves what it holds.
// Where nobody knows which one it is of, it is no more held for sure, and what is told is not whole.
func TestContextsBesideEachOther(t *testing.T) {
	const primary, own, context = 0xc000, 0xd000, 400 * mib
	alloc := func(context, at uint64, n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: at, Size: uint64(n), Context: context, Device: -1})
		}
	}
	retains := func(s *scene) { s.context(0) }
	releases := func(s *scene) { s.call(primaryRelease, Call{Device: 0}) }
	resets := func(s *scene) { s.call("cuDevicePrimaryCtxReset_v2", Call{Device: 0}) }
	destroys := func(s *scene) { s.call("cuCtxDestroy_v2", Call{Address: own, Device: -1}) }
	begins := []func(*scene){retains, alloc(primary, 2, 500*mib)}
	for name, row := range map[string]struct {
		steps      []func(*scene)
		live, peak sampler.Bytes // at least, where it is not whole
		whole      bool
	}{
		"released":              {append(begins, releases), 1000 * mib, 1800 * mib, true},
		"reset":                 {append(begins, resets), 1000 * mib, 1800 * mib, true},
		"reset, and released":   {append(begins, resets, releases), 1000 * mib, 1800 * mib, true},
		"again and again":       {append(begins, releases, retains, alloc(primary, 3, 300*mib), releases, retains, resets), 1000 * mib, 1800 * mib, true},
		"reset, and others":     {append(begins, resets, retains, alloc(primary, 3, 300*mib), retains, releases), 1300 * mib, 2100 * mib, true},
		"reset, and they go":    {append(begins, resets, retains, alloc(primary, 3, 300*mib), retains, releases, releases), 1000 * mib, 1800 * mib, false},
		"reset in between":      {append(begins, releases, retains, resets, releases, retains, alloc(primary, 3, 300*mib), releases), 1000 * mib, 1800 * mib, true},
		"others have it":        {append(begins, retains, releases), 1500 * mib, 2300 * mib, true},
		"the other one ends":    {append(begins, destroys), 500 * mib, 1500 * mib, true},
		"in one or the other":   {append(begins, alloc(0, 4, 200*mib), releases), 1000 * mib, 1800 * mib, false},
		"in one, which is gone": {append(begins, releases, alloc(own, 4, 200*mib)), 1200 * mib, 2000 * mib, true},
	} {
		s := newScene(t, 1, people{7: {}})
		s.call("cuCtxCreate_v2", Call{Address: own, Device: 0})
		alloc(own, 1, 1000*mib)(s)
		s.later(ms(50))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(1000*mib + context)}})
		s.later(ms(50))
		for _, step := range row.steps {
			step(s)
		}
		if r := s.requests(0); row.whole && r.Live != row.live {
			t.Errorf("%s: %v is held, not %v", name, r.Live, row.live)
		}
		s.later(ms(50))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(row.live + context)}})
		s.later(ms(50))
		alloc(own, 9, 800*mib)(s)
		if r := s.requests(0); row.whole && r.Peak != row.peak || r.Whole != row.whole {
			t.Errorf("%s: peak %v, whole %v, not %v", name, r.Peak, r.Whole, row.peak)
		}
	}
}

// A context of a process that was there before may have held more than what was asked for under our eyes. Where it ends, neither that, nor what may be of it,
// is counted on.
func TestContextEndsInMidLife(t *testing.T) {
	const own = 0xd000
	for name, row := range map[string]struct {
		end     string
		call    Call
		context uint64 // of what is asked for
		beside  bool   // the primary one stays
	}{
		"reset":                    {"cuDevicePrimaryCtxReset_v2", Call{PID: 6, Device: 0}, 0, false},
		"reset, and it is known":   {"cuDevicePrimaryCtxReset_v2", Call{PID: 6, Device: 0}, 0xc000, false},
		"another one, unknown":     {"cuCtxDestroy_v2", Call{PID: 6, Address: own, Device: -1}, 0, true},
		"another one, seen as set": {"cuCtxDestroy_v2", Call{PID: 6, Address: own, Device: -1}, own, true},
	} {
		s := newScene(t, 1, people{6: {}})
		key, has := s.gpus[0].Key(), 5*gib
		s.list(0, 6, sampler.Some(has))
		s.Listed(key, s.now, s.gpus[0].Processes)
		most := has
		check := func(i uint64) {
			p := s.of(0, 6)
			if p.Peak != nil && p.Peak.Bytes > most || p.Requests != nil && p.Requests.Peak > most {
				t.Fatalf("%s, %d: %+v, %+v, not above %v", name, i, p.Requests, p.Peak, most)
			}
		}
		for i := range uint64(6) {
			s.later(ms(400))
			s.call("cuMemAlloc_v2", Call{PID: 6, Address: i + 1, Size: uint64(2 * gib), Context: row.context, Device: -1})
			has += 2 * gib
			most = max(most, has)
			s.later(ms(400))
			s.call(row.end, row.call)
			s.call("cuDevicePrimaryCtxRetain", Call{PID: 6, Address: 0xc000, Device: 0})
			s.call("cuMemAlloc_v2", Call{PID: 6, Address: 100 + i, Size: uint64(gib), Context: 0xc000, Device: -1})
			if has = gib/2 + gib; row.beside {
				has += sampler.Bytes(i) * gib
			}
			most = max(most, has)
			s.later(ms(50))
			check(i)
			s.later(ms(100))
			s.Listed(key, s.now, []sampler.Process{{PID: 6, Memory: sampler.Some(has)}})
			s.later(ms(50))
			check(i)
			if r := s.of(0, 6).Requests; r != nil && r.Live > has {
				t.Fatalf("%s, %d: %v is held, not %v", name, i, r.Live, has)
			}
		}
	}
}

// A primary context that is retained after one of before has ended may have been made anew: no figure has it yet, and a peak of that time is a lower bound.
func TestContextMadeAnewInMidLife(t *testing.T) {
	const context = 400 * mib
	for _, end := range []string{"cuDevicePrimaryCtxReset_v2", primaryRelease} {
		s := newScene(t, 1, people{6: {Environment: map[string]string{}}})
		key := s.gpus[0].Key()
		figure := func(n sampler.Bytes) {
			s.later(2 * time.Second)
			s.gpus[0].Processes = nil
			s.list(0, 6, sampler.Some(n))
			s.Listed(key, s.now, s.gpus[0].Processes)
			s.later(ms(50))
			s.apply()
		}
		alloc := func(at uint64, n sampler.Bytes) {
			s.call("cuMemAlloc_v2", Call{PID: 6, Address: at, Size: uint64(n), Context: 0xc000, Device: 0})
		}
		retain := func() { s.call("cuDevicePrimaryCtxRetain", Call{PID: 6, Address: 0xc000, Device: 0}) }
		figure(context)
		alloc(1, gib)
		figure(context + gib)
		s.call(end, Call{PID: 6, Device: 0})
		figure(0)
		retain()
		alloc(2, 2*gib)
		s.later(ms(50))
		if p := s.of(0, 6); p.Peak.Source != sampler.PeakCallsAlone || p.Peak.Bytes > context+2*gib {
			t.Errorf("%s, before a figure has it: %+v", end, p.Peak)
		}
		figure(context + 2*gib)
		if p := s.of(0, 6); p.Peak.Source != sampler.PeakCalls || p.Peak.Bytes != context+2*gib {
			t.Errorf("%s, after one has it: %+v", end, p.Peak)
		}
	}
}

// A thread that ends a context of before we came may have had it current: what it asks for from then on is of another one, which may be on another GPU. What
// ends that is known, or by another thread, was not current.
func TestEndsCurrentOfBefore(t *testing.T) {
	for name, row := range map[string]struct {
		late    bool
		address uint64
		tid     int
		seats   int
	}{
		"one of before":                  {true, 0xbef0, 9, 2},
		"one of before, another thread":  {true, 0xbef0, 10, 1},
		"one that was seen as it began":  {true, 0xd000, 9, 1},
		"of a process that is known all": {false, 0xbef0, 9, 1},
		"none":                           {true, 0, 9, 1},
	} {
		s := newScene(t, 2, people{7: {}})
		s.listAll()
		if row.late {
			s.Late(7, s.now)
		}
		ask := func(at uint64) {
			s.call("cuMemAlloc_v2", Call{TID: 9, Address: at, Size: uint64(64 * mib), Device: -1})
		}
		ask(1)
		s.call("cuCtxCreate_v2", Call{TID: 10, Address: 0xd000, Device: 1})
		s.call("cuCtxDestroy_v2", Call{TID: row.tid, Address: row.address, Device: -1})
		ask(2)
		threads := 0
		for _, x := range s.processes[7].seats {
			if x.key.tid == 9 {
				threads++
			}
		}
		if threads != row.seats {
			t.Errorf("%s: %d seats of the thread, not %d", name, threads, row.seats)
		}
	}
}
