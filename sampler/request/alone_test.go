package request

import (
	"testing"

	"nvpeak/sampler"
)

// What a GPU has more than at the list of its only process is that process's own, unless it has ended, or another one has asked for
// memory that may be there since.
func TestAlone(t *testing.T) {
	everywhere := map[string]string{}
	for name, row := range map[string]struct {
		play func(s *scene)
		want bool
	}{
		"nobody asks":                     {func(s *scene) {}, true},
		"it asks itself":                  {func(s *scene) { s.context(0); s.alloc(1, gib) }, true},
		"it was refused memory and ended": {func(s *scene) { s.context(0); s.refused(gib); s.Ended(7, s.now, 1<<8) }, false},
		"it runs another program":         {func(s *scene) { s.context(0); s.Execed(7, s.now) }, false},
		"another has a context": {func(s *scene) {
			s.call("cuDevicePrimaryCtxRetain", Call{PID: 8, Address: 0xc000, Device: 0})
		}, false},
		"another asks elsewhere": {func(s *scene) {
			s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(gib), Device: 1})
			s.apply()
		}, true},
		"and makes a context here": {func(s *scene) {
			s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(gib), Device: 1})
			s.call("cuDevicePrimaryCtxRetain", Call{PID: 8, Address: 0xc000, Device: 0})
			s.apply()
		}, false},
		"another asks, nobody knows where": {func(s *scene) {
			s.call("cuMemAlloc_v2", Call{PID: 9, Address: 1, Size: uint64(gib), Device: 0})
		}, false},
		"another was here, and has not asked since": {func(s *scene) {
			s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(gib), Device: 0})
			s.call("cuMemFree_v2", Call{PID: 8, Address: 1, Device: -1})
			s.later(ms(100))
			s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
		}, true},
	} {
		s := newScene(t, 2, people{7: {Environment: everywhere}, 8: {Environment: everywhere}, 9: {}})
		s.list(0, 7, sampler.Some(gib))
		s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
		s.apply()
		row.play(s)
		if got := s.Alone(s.gpus[0].Key(), 7); got != row.want {
			t.Errorf("%s: alone is %v", name, got)
		}
	}
}
