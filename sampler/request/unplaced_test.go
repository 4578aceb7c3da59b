package request

import (
	"testing"

	"nvpeak/sampler"
)

// A process that has ended after a refusal on a GPU that nobody knows is told once, when its requests are; one whose GPU is known has
// rows there.
func TestUnplaced(t *testing.T) {
	for name, row := range map[string]struct {
		gpus   int
		listed bool
		play   func(s *scene)
		want   int // times
	}{
		"it has ended":             {2, false, func(s *scene) { s.Ended(7, s.now, 1<<8) }, 1},
		"it lives":                 {2, false, func(s *scene) {}, 0},
		"it runs another program":  {2, false, func(s *scene) { s.Execed(7, s.now) }, 0},
		"the GPU is known":         {1, false, func(s *scene) { s.Ended(7, s.now, 1<<8) }, 0},
		"the driver says which":    {2, true, func(s *scene) { s.Ended(7, s.now, 1<<8) }, 0},
		"others are not looked at": {2, false, func(s *scene) { s.gpus = s.gpus[:1]; s.Ended(7, s.now, 1<<8) }, 0},
	} {
		host := people{7: {}}
		s := newScene(t, row.gpus, host)
		var all []sampler.Device
		for i := range s.gpus {
			all = append(all, sampler.Device{Index: i, UUID: s.gpus[i].UUID, Name: "A"})
		}
		s.Machine(all)
		if row.listed {
			s.list(1, 7, sampler.Some(gib))
		}
		s.alloc(1, gib)
		s.refused(3 * gib)
		row.play(s)
		delete(host, 7)
		times, requests := 0, 0
		for range 4 {
			s.later(ms(700))
			snap := s.apply()
			requests += len(snap.Requests)
			for _, p := range snap.Unplaced {
				if r := p.Requests; p.PID != 7 || r.Refused != 1 || r.Granted != 1 || r.Refusal.Bytes != 3*gib || r.ExitStatus.Or(0) != 1 || requests != 2 {
					t.Errorf("%s: %+v, %d requests told", name, r, requests)
				}
				times++
			}
		}
		if times != row.want {
			t.Errorf("%s: told %d times", name, times)
		}
	}
}
