package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// async asks for memory on a stream, while the context of a device is current.
func (s *scene) async(device int, stream, at uint64, n sampler.Bytes) {
	s.call("cuMemAllocAsync", Call{Address: at, Size: uint64(n), Context: uint64(0xc000 + device), Other: stream, Device: -1})
}

// What is asked for on a stream is on the GPU of the context in which the stream was made; the numbers up to 2 are the streams that
// each context has by itself.
func TestStreams(t *testing.T) {
	everywhere := people{7: {Environment: map[string]string{}}}
	made := func(s *scene, device int) {
		s.call("cuStreamCreate", Call{Address: 0x57, Context: uint64(0xc000 + device), Device: -1})
	}
	for name, row := range map[string]struct {
		play func(s *scene)
		want int
	}{
		"of the current GPU": {func(s *scene) { made(s, 0); s.async(0, 0x57, 1, gib) }, 0},
		"of another one":     {func(s *scene) { made(s, 1); s.async(0, 0x57, 1, gib) }, 1},
		"with a priority": {func(s *scene) {
			s.call("cuStreamCreateWithPriority", Call{Address: 0x57, Context: 0xc001, Device: -1})
			s.async(0, 0x57, 1, gib)
		}, 1},
		"of a green context of another one": {func(s *scene) {
			s.call("cuGreenCtxCreate", Call{Address: 0x6001, Device: 1})
			s.call("cuGreenCtxStreamCreate", Call{Address: 0x57, Context: 0x6001, Device: -1})
			s.async(0, 0x57, 1, gib)
		}, 1},
		"in a green context that is current": {func(s *scene) {
			s.call("cuGreenCtxCreate", Call{Address: 0x6001, Device: 1})
			s.call("cuCtxFromGreenCtx", Call{Address: 0xc777, Context: 0x6001, Device: -1})
			s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Context: 0xc777, Device: -1})
		}, 1},
		"in one of a green context that nobody saw": {func(s *scene) {
			s.call("cuCtxFromGreenCtx", Call{Address: 0xc777, Context: 0x6001, Device: -1})
			s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Context: 0xc777, Device: -1})
		}, -1},
		"its making was let go of": {func(s *scene) {
			made(s, 1)
			s.LetGo(7, function("cuStreamCreate"), s.now.Add(time.Second))
			s.async(0, 0x57, 1, gib)
		}, -1},
		"of a thread's own":    {func(s *scene) { made(s, 1); s.async(0, 2, 1, gib) }, 0},
		"the default one":      {func(s *scene) { made(s, 1); s.async(0, 0, 1, gib) }, 0},
		"another one there":    {func(s *scene) { made(s, 1); made(s, 0); s.async(0, 0x57, 1, gib) }, 0},
		"nobody saw it made":   {func(s *scene) { s.async(0, 0x57, 1, gib) }, -1},
		"nor in which context": {func(s *scene) { made(s, 1); made(s, -0xc000); s.async(0, 0x57, 1, gib) }, -1},
		"it could not be made": {func(s *scene) {
			s.call("cuStreamCreate", Call{Address: 0x57, Context: 0xc001, Device: -1, Answer: 201})
			s.async(0, 0x57, 1, gib)
		}, -1},
		"of a pool, not of that": {func(s *scene) {
			made(s, 1)
			s.call("cuDeviceGetDefaultMemPool", Call{Address: 0x9001, Device: 0})
			s.call("cuMemAllocFromPoolAsync", Call{Address: 1, Size: uint64(gib), Context: 0x9001, Other: 0x57, Device: -1})
		}, 0},
	} {
		s := newScene(t, 2, everywhere)
		s.context(0)
		s.context(1)
		row.play(s)
		s.apply()
		s.later(waitFirst)
		snap, got := s.apply(), -1
		for i := range snap.GPUs {
			if len(snap.GPUs[i].Processes) > 0 {
				got = i
			}
		}
		if got != row.want {
			t.Errorf("%s: GPU %d, not %d", name, got, row.want)
		}
	}
}

// A stream that nobody saw being made is of the only GPU that its process uses; of which one of several is not known, and then what is known is not all.
func TestStreamFromBefore(t *testing.T) {
	for name, row := range map[string]struct {
		play func(s *scene)
		gpu  int
	}{
		"one context":  {func(s *scene) { s.context(0) }, 0},
		"two contexts": {func(s *scene) { s.context(1); s.context(0) }, -1},
		"two lists": {func(s *scene) {
			s.context(0)
			s.list(0, 7, sampler.Some(gib))
			s.list(1, 7, sampler.Some(gib))
			s.apply()
		}, -1},
		"pieces on two":  {func(s *scene) { s.piece(0); s.piece(1); s.context(0) }, -1},
		"pieces on this": {func(s *scene) { s.piece(0); s.context(0) }, 0},
	} {
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		row.play(s)
		s.alloc(1, gib)
		s.async(0, 0x57, 2, 2*gib)
		list := s.apply().Requests
		s.later(waitFirst)
		list = append(list, s.apply().Requests...)
		last := list[len(list)-1]
		if last.Bytes != 2*gib || last.GPU.Or(-1) != row.gpu {
			t.Errorf("%s: %+v, want GPU %d", name, last, row.gpu)
		}
		if r := s.requests(0); r.Whole != (row.gpu == 0) {
			t.Errorf("%s: whole is %v", name, r.Whole)
		}
	}
}

func (s *scene) piece(device int) {
	s.call("cuMemCreate", Call{Address: uint64(0x100 + device), Size: uint64(gib), Device: device})
}

// So many streams are kept, and the newest one of them.
func TestStreamRoom(t *testing.T) {
	p := newProcess(7)
	for n := range uint64(2*maxStreams + 1) {
		p.makesStream(n+3, n+1)
		if len(p.streams) > maxStreams || p.streams[n+3] != n+1 {
			t.Fatalf("%d streams after %d, the last one of context %d", len(p.streams), n+1, p.streams[n+3])
		}
	}
}

// Of a process that ran before anybody looked the first requests wait longer for their GPU, as long as they are few and it lives.
func TestFirstRequestsWait(t *testing.T) {
	for name, row := range map[string]struct {
		play func(s *scene)
		want int // told after three seconds
	}{
		"ran before":     {func(s *scene) { s.processes[7].late = true }, 0},
		"seen all along": {func(s *scene) { s.processes[7].late = false }, 1},
		"has ended":      {func(s *scene) { s.processes[7].late = true; s.Ended(7, s.now, 0) }, 1},
		"asks much": {func(s *scene) {
			s.processes[7].late = true
			for n := range uint64(waitFew) {
				s.alloc(2+n, mib)
			}
		}, 1 + waitFew},
	} {
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		s.alloc(1, gib)
		row.play(s)
		if list := s.apply().Requests; len(list) > 0 {
			t.Errorf("%s: told at once: %+v", name, list)
		}
		s.later(3 * time.Second)
		if list := s.apply().Requests; len(list) != row.want {
			t.Errorf("%s: %d told, not %d", name, len(list), row.want)
		}
	}
}
