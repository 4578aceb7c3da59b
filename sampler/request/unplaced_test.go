package request

import (
	"testing"
	"time"

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

// So is one that uses another GPU, which is known, if it was granted nothing since: as where it ran before anybody looked, on two GPUs, and one
// of its threads has asked once.
func TestUnplacedThread(t *testing.T) {
	for name, row := range map[string]struct {
		then func(s *scene)
		want int
	}{
		"it has ended":           {func(*scene) {}, 1},
		"it was granted more":    {func(s *scene) { s.alloc(2, 2*gib) }, 0},
		"it was granted little":  {func(s *scene) { s.alloc(2, gib) }, 1},    // as other threads are, while that one ends
		"it was refused there":   {func(s *scene) { s.refused(5 * gib) }, 0}, // its row says so
		"it gave something back": {func(s *scene) { s.free(1) }, 1},
	} {
		host := people{7: {Environment: map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}}}
		s := newScene(t, 2, host)
		s.gpus[0].PCI, s.gpus[1].PCI = "00000000:10:00.0", "00000000:20:00.0"
		s.context(0)
		s.alloc(1, 10*gib)
		s.list(0, 7, sampler.Some(11*gib))
		s.list(1, 7, sampler.Some(11*gib))
		s.apply()
		s.later(2 * time.Second)
		s.call("cuMemAlloc_v2", Call{TID: 8, Size: uint64(12 * gib), Device: -1, Answer: outOfMemory})
		row.then(s)
		s.Ended(7, s.now, 1<<8)
		delete(host, 7)
		told := 0
		for range 4 {
			for _, p := range s.apply().Unplaced {
				if told++; p.PID != 7 || p.Requests.Refusal.Bytes != 12*gib || p.Requests.ExitStatus.Or(0) != 1 {
					t.Errorf("%s: %+v", name, p.Requests)
				}
			}
			s.later(ms(700))
		}
		if told != row.want {
			t.Errorf("%s: told %d times, want %d", name, told, row.want)
		}
	}
}

// One that was refused memory on a GPU that is not watched is told with that GPU if it uses a watched one, and was granted nothing since.
func TestUnwatchedRefusal(t *testing.T) {
	env := map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
	for name, row := range map[string]struct {
		watched bool // it uses GPU 0
		after   bool // it is granted memory there afterwards
		lives   bool
		want    int // times
	}{
		"it has died":            {true, false, false, 1},
		"it lives":               {true, false, true, 0},
		"it went on":             {true, true, false, 0},
		"it uses no watched GPU": {false, false, false, 0},
	} {
		host := people{7: {Environment: env}}
		s := newScene(t, 3, host)
		var all []sampler.Device
		for i := range s.gpus {
			all = append(all, sampler.Device{Index: i, UUID: s.gpus[i].UUID, Name: "A"})
		}
		s.Machine(all)
		s.gpus = s.gpus[:1]
		s.apply()
		if row.watched {
			s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: 0})
		}
		s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(gib), Device: 2})
		s.call("cuMemAlloc_v2", Call{Size: uint64(90 * gib), Device: 2, Answer: outOfMemory})
		if row.after && row.watched {
			s.call("cuMemAlloc_v2", Call{Address: 3, Size: uint64(gib), Device: 0})
		}
		if !row.lives {
			s.Ended(7, s.now, 1<<8)
			delete(host, 7)
		}
		times := 0
		for range 4 {
			s.later(ms(700))
			for _, p := range s.apply().Unplaced {
				if r := p.Requests.Refusal; r.GPU.Or(-1) != 2 || r.Bytes != 90*gib || p.Requests.ExitStatus.Or(0) != 1 {
					t.Errorf("%s: %+v, %+v", name, p.Requests, r)
				}
				times++
			}
		}
		if times != row.want {
			t.Errorf("%s: told %d times", name, times)
		}
	}
}
