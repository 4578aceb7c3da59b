package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// While a thread gives memory back, which may take it long, another one is given some: until it is known that the one was over before the other, the peak is not
// called exact. Who ends meanwhile was at it until then, for all that is known, and a list of meanwhile may have what was being given back.
func TestSlowFreesAtTheEnd(t *testing.T) {
	const context = 410 * mib
	frees := func(s *scene) { s.call("cuMemFree_v2", Call{TID: 8, Address: 1, Device: -1, Other: 1}) }
	ends := func(s *scene) { s.call("cuCtxDestroy_v2", Call{TID: 8, Address: 0xd000, Device: -1}) }
	resets := func(s *scene) { s.call("cuDevicePrimaryCtxReset_v2", Call{TID: 8, Device: 0}) }
	later := func(d time.Duration) func(*scene) { return func(s *scene) { s.later(d) } }
	alloc := func(tid int, at uint64, n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.call("cuMemAlloc_v2", Call{TID: tid, Address: at, Size: uint64(n), Context: 0xc000, Device: -1})
		}
	}
	inOwn := func(at uint64, n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: at, Size: uint64(n), Context: 0xd000, Device: -1})
		}
	}
	makes := func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd000, Device: 0}) }
	figure := func(n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.gpus[0].Processes = nil
			s.list(0, 7, sampler.Some(n))
			s.listAll()
		}
	}
	over := func(s *scene) { s.Ended(7, s.now, 0) }
	listed := []func(*scene){alloc(7, 1, 512*mib), later(ms(300)), figure(context + 512*mib), later(ms(300))}
	with := func(steps ...func(*scene)) []func(*scene) {
		return append(append([]func(*scene){}, listed...), steps...)
	}
	for name, row := range map[string]struct {
		steps []func(*scene)
		most  sampler.Bytes // that may have been
		exact bool
	}{
		"it ends meanwhile":                {with(frees, later(ms(20)), alloc(7, 2, 100*mib), later(ms(20)), over), context + 612*mib, false},
		"a snapshot comes meanwhile":       {with(frees, later(ms(20)), alloc(7, 2, 100*mib), later(ms(20))), context + 612*mib, false},
		"it is killed":                     {with(frees, later(ms(20)), alloc(7, 2, 100*mib), func(s *scene) { s.Ended(7, s.now, 9) }), context + 612*mib, false},
		"the thread has called since":      {with(frees, alloc(8, 3, mib), later(ms(20)), alloc(7, 2, 100*mib), over), context + 512*mib, true},
		"long after":                       {with(frees, later(givingBack), alloc(7, 2, 100*mib), later(givingBack), over), context + 512*mib, true},
		"nothing is given meanwhile":       {with(alloc(7, 2, 100*mib), frees, later(ms(20)), over), context + 612*mib, true},
		"what is given adds nothing to it": {with(alloc(7, 2, 700*mib), func(s *scene) { s.free(2) }, frees, alloc(7, 3, 100*mib), over), context + 1212*mib, true},
		"the context of it ends":           {with(makes, inOwn(3, 400*mib), later(ms(300)), figure(2*context+912*mib), later(ms(300)), ends, later(ms(20)), alloc(7, 4, 300*mib), later(ms(20)), over), 2*context + 1212*mib, false},
		"more is held beside two contexts": {with(alloc(7, 5, 512*mib), func(s *scene) { s.free(5) }, makes, later(ms(300)), figure(2*context+512*mib), later(ms(300)), frees, later(ms(20)), alloc(7, 2, 300*mib), over),
			2*context + 812*mib, false},
		"the device is reset": {with(resets, later(ms(20)), func(s *scene) { s.context(0) }, alloc(7, 4, 300*mib), later(ms(20)), over), 2*context + 812*mib, false},
		"a list comes meanwhile": {[]func(*scene){alloc(7, 1, 512*mib), later(ms(300)), frees, later(ms(10)), figure(context + 512*mib), later(ms(10)), alloc(7, 2, 100*mib), later(ms(20)), over},
			context + 612*mib, false},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.Begins(7)
		s.context(0)
		for _, step := range row.steps {
			step(s)
		}
		for range 2 {
			if p := s.of(0, 7).Peak; p == nil || p.Bytes > row.most || (p.Source == sampler.PeakCalls) != row.exact || row.exact && p.Bytes != row.most {
				t.Errorf("%s: %+v, exact %v, of %v", name, p, row.exact, row.most)
			}
			if !s.processes[7].exit.Known() {
				break
			}
			s.later(time.Second)
		}
	}
}

// What was known of the peak before a figure that a slow call fell into stays known, when a sure one comes.
func TestPeakBeforeAFigureAmidACall(t *testing.T) {
	const context = 400 * mib
	s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
	s.Begins(7)
	figure := func(n sampler.Bytes) {
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
		s.later(ms(20))
		s.apply()
		s.later(ms(60))
	}
	s.context(0)
	s.alloc(1, 5*gib)
	s.later(ms(300))
	figure(context + 5*gib)
	s.call("cuDevicePrimaryCtxReset_v2", Call{Device: 0})
	s.later(ms(300))
	s.context(0)
	s.alloc(2, gib)
	s.later(ms(300))
	figure(context + gib)
	s.later(ms(300))
	figure(context + gib)
	s.call("cuMemAlloc_v2", Call{Address: 3, Size: uint64(2 * gib), Context: 0xc000, Device: -1, Took: ms(120)})
	s.later(ms(300))
	figure(context + 3*gib)
	s.later(ms(300))
	if p := s.of(0, 7).Peak; p == nil || p.Bytes != context+5*gib || p.Source != sampler.PeakCalls {
		t.Errorf("%+v", p)
	}
}
