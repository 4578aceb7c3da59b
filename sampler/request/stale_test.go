package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// What the driver said of a process before a context of it ended, or another one was made, says nothing of what it has since: no peak is told that never was, and
// none is called exact that may be another one.
func TestFiguresOfOtherContexts(t *testing.T) {
	const first, other = 410 * mib, 350 * mib
	const primary, own, two = 0xc000, 0xd000, 0xd001
	retains := func(s *scene) { s.context(0) }
	makes := func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: own, Device: 0}) }
	destroys := func(context uint64) func(*scene) {
		return func(s *scene) { s.call("cuCtxDestroy_v2", Call{Address: context, Device: -1}) }
	}
	alloc := func(context, at uint64, n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: at, Size: uint64(n), Context: context, Device: -1})
		}
	}
	free := func(at uint64) func(*scene) { return func(s *scene) { s.free(at) } }
	var sampled sampler.Bytes
	figure := func(n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.later(ms(300))
			s.gpus[0].Processes = nil
			s.list(0, 7, sampler.Some(n))
			sampled = max(sampled, n)
			s.gpus[0].Processes[0].Peak = &sampler.Peak{Bytes: sampled, Source: sampler.PeakSampled}
			s.listAll()
			s.later(ms(300))
		}
	}
	for name, row := range map[string]struct {
		late        bool
		steps       []func(*scene)
		least, most sampler.Bytes // of what is told; it was the most
	}{
		"a second one is made after the most": {false, []func(*scene){retains, alloc(primary, 1, 512*mib), free(1), makes, figure(first + other)}, first + other, first + 512*mib},
		"and it ends again": {false, []func(*scene){retains, alloc(primary, 1, 512*mib), free(1), makes, figure(first + other), destroys(own), figure(first)},
			first + other, first + 512*mib},
		"a second one that was listed ends before it asks": {false, []func(*scene){retains, makes, figure(first + other), destroys(own), alloc(primary, 1, 512*mib), free(1), figure(first)},
			first + 512*mib, first + 512*mib},
		"it is asked in, and ends": {false, []func(*scene){retains, makes, alloc(own, 1, 512*mib), figure(first + other + 512*mib), destroys(own), alloc(primary, 2, 100*mib), figure(first + 100*mib)},
			first + other + 512*mib, first + other + 512*mib},
		"one of before ends, then it asks": {true, []func(*scene){figure(first + other), destroys(own), alloc(0, 2, 900*mib), alloc(0, 3, 64*mib), figure(first + 964*mib)},
			first + 964*mib, first + 964*mib},
		"one of before ends with memory": {true, []func(*scene){figure(first + other + 512*mib), destroys(own), alloc(0, 2, 256*mib), free(2), figure(first)},
			first + other + 512*mib, first + other + 512*mib},
		"the primary one of before ends": {true, []func(*scene){figure(first + other + 512*mib), func(s *scene) { s.call("cuDevicePrimaryCtxReset_v2", Call{Device: 0}) }, alloc(own, 2, 256*mib), free(2), figure(other)},
			first + other + 512*mib, first + other + 512*mib},
		"another one is made beside one of before": {true, []func(*scene){figure(first), alloc(0, 1, 100*mib), makes, alloc(own, 2, 512*mib), free(2), figure(first + other + 100*mib)},
			first + other + 100*mib, first + other + 612*mib},
		"and ends": {true, []func(*scene){figure(first), alloc(0, 1, 100*mib), makes, figure(first + other + 100*mib), destroys(own), alloc(0, 2, 512*mib), free(2), figure(first + 100*mib)},
			first + 612*mib, first + 612*mib},
		"of three of before two end": {true, []func(*scene){figure(first + 2*other + 512*mib), alloc(own, 2, 256*mib), destroys(two), alloc(own, 3, 512*mib), free(3), destroys(own), figure(first + 512*mib)},
			first + 2*other + 512*mib + 256*mib, first + other + 512*mib + 768*mib},
	} {
		sampled = 0
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		if row.late {
			s.older = map[int]bool{7: true}
			s.Late(7, s.now)
		}
		s.listAll()
		for i, step := range row.steps {
			step(s)
			for _, p := range s.apply().GPUs[0].Processes {
				if p.Peak != nil && p.Peak.Bytes > row.most {
					t.Errorf("%s, step %d: %+v, which is more than %v", name, i, p.Peak, row.most)
				}
			}
		}
		s.later(time.Second)
		if p := s.of(0, 7).Peak; p == nil || p.Bytes < min(row.least, row.most) || p.Bytes > row.most || p.Source == sampler.PeakCalls && p.Bytes != row.most {
			t.Errorf("%s: %+v, not from %v to %v", name, p, row.least, row.most)
		}
	}
}
