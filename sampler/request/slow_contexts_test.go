package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// To make a context, and to end one, takes long: a list of meanwhile has it or not, or a part of it, and tells nothing of what there is before or after.
func TestListAmidASlowContext(t *testing.T) {
	const first, other = 410 * mib, 350 * mib
	figure := func(n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.gpus[0].Processes = nil
			s.list(0, 7, sampler.Some(n))
			s.listAll()
			s.later(ms(20))
			s.apply()
		}
	}
	later := func(n int) func(*scene) { return func(s *scene) { s.later(ms(n)) } }
	alloc := func(at uint64, n sampler.Bytes) func(*scene) { return func(s *scene) { s.alloc(at, n) } }
	free := func(at uint64) func(*scene) { return func(s *scene) { s.free(at) } }
	made := func(took time.Duration) func(*scene) {
		return func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd000, Device: 0, Took: took}) }
	}
	ends := func(s *scene) { s.call("cuCtxDestroy_v2", Call{Address: 0xd000, Device: -1}) }
	resets := func(s *scene) { s.call("cuDevicePrimaryCtxReset_v2", Call{Device: 0}) }
	retains := func(s *scene) { s.context(0) }
	freesOfBefore := func(s *scene) { s.free(1 << 40) }
	for name, row := range map[string]struct {
		late  bool
		steps []func(*scene)
		most  sampler.Bytes // that was
	}{
		"one is made": {false, []func(*scene){alloc(1, 512*mib), free(1), later(60), figure(first + other), later(20), made(ms(100)), later(300), figure(first + other)}, first + 512*mib},
		"one is made that is not all there": {false, []func(*scene){alloc(1, 512*mib), free(1), later(60), figure(first + other/2), later(20), made(ms(100)), later(300), figure(first + other), later(300), alloc(2, 100*mib), free(2)},
			first + 512*mib},
		"one ends": {false, []func(*scene){made(0), alloc(1, 100*mib), later(300), figure(first + other + 100*mib), later(300), ends, later(20), figure(first + other + 100*mib), later(20), alloc(2, 800*mib), free(2), later(300), figure(first + 100*mib)},
			first + 900*mib},
		"one ends, and it was not listed before": {false, []func(*scene){alloc(1, 512*mib), made(0), free(1), ends, later(20), figure(first + other), later(20), alloc(2, 100*mib), later(300), figure(first + 100*mib)},
			first + other + 512*mib},
		"the device is reset": {false, []func(*scene){alloc(1, 512*mib), later(300), figure(first + 512*mib), later(300), resets, later(20), figure(first + 512*mib), later(20), retains, alloc(2, 600*mib), later(300), figure(first + 600*mib)},
			first + 600*mib},
		"something of before is given back": {true, []func(*scene){alloc(1, 100*mib), later(300), figure(first + 600*mib), later(300), freesOfBefore, later(20), figure(first + 600*mib), later(60), alloc(2, 300*mib), later(300), figure(first + 400*mib)},
			first + 600*mib},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		if row.late {
			s.older = map[int]bool{7: true}
			s.Late(7, s.now)
		}
		s.context(0)
		for _, step := range row.steps {
			step(s)
		}
		s.later(time.Second)
		for range 2 {
			if p := s.of(0, 7).Peak; p == nil || p.Bytes > row.most || p.Source == sampler.PeakCalls && p.Bytes != row.most {
				t.Errorf("%s: %+v, not %v", name, p, row.most)
			}
		}
	}
}
