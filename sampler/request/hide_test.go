package request

import (
	"testing"

	"nvpeak/sampler"
)

// Of a process that has arrays or memory of graphs, calls tell a part: its peak is no exact one from then on, and none below what the
// driver says is told; what was exact before stays the least that it has held.
func TestHidden(t *testing.T) {
	const context = 256 * mib
	for _, name := range []string{"cuArrayCreate_v2", "cuArray3DCreate_v2", "cuMipmappedArrayCreate", "cuArrayDestroy", "cuMipmappedArrayDestroy", "cuGraphAddMemAllocNode"} {
		s := newScene(t, 1, people{7: {}})
		figure := func(n sampler.Bytes) {
			s.later(ms(50))
			s.gpus[0].Processes = nil
			s.list(0, 7, sampler.Some(n))
			s.Listed(s.gpus[0].Key(), s.now, s.gpus[0].Processes)
			s.later(ms(50))
		}
		s.context(0)
		s.alloc(9, gib)
		figure(gib + context)
		s.alloc(1, 3*gib)
		s.free(1)
		if p := s.of(0, 7); p.Peak == nil || p.Peak.Source != sampler.PeakCalls || p.Peak.Bytes != 4*gib+context {
			t.Fatalf("%s: before, %+v", name, p.Peak)
		}
		s.call(name, Call{Context: 0xc000, Device: -1})
		if p := s.of(0, 7); p.Peak.Source != sampler.PeakCallsAlone || p.Peak.Bytes != 4*gib+context {
			t.Errorf("%s: %+v", name, p.Peak)
		}
		s.call(name, Call{Context: 0xc000, Device: -1})
		s.alloc(2, 4*gib)
		p := s.of(0, 7)
		if p.Peak.Source != sampler.PeakCallsAlone || p.Peak.Bytes != 5*gib || p.Requests.Peak != 5*gib || p.Requests.Whole {
			t.Errorf("%s: then %+v, %+v", name, p.Peak, p.Requests)
		}
		figure(6 * gib)
		if p := s.of(0, 7); p.Peak != nil {
			t.Errorf("%s: below the driver's figure, %+v", name, p.Peak)
		}
	}
}

// It is so of what is asked for first on another GPU later, too.
func TestHiddenElsewhere(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.call("cuArrayCreate_v2", Call{Context: 0xc000, Device: -1})
	if snap := s.apply(); len(snap.GPUs[0].Processes)+len(snap.GPUs[1].Processes) != 0 {
		t.Errorf("an array alone makes rows: %+v", snap.GPUs)
	}
	s.context(1)
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Context: 0xc001, Device: -1})
	s.list(1, 7, sampler.Some(2*gib))
	s.Listed(s.gpus[1].Key(), s.now, s.gpus[1].Processes)
	s.later(ms(50))
	s.apply()
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(4 * gib), Context: 0xc001, Device: -1})
	if p := s.of(1, 7); p.Peak == nil || p.Peak.Source != sampler.PeakCallsAlone || p.Peak.Bytes != 5*gib {
		t.Errorf("%+v", p.Peak)
	}
}

// Memory that graphs are given as they run is not known, whichever way they were made; other parts of graphs take none.
func TestGraphs(t *testing.T) {
	none := Call{Context: 0xc000, Device: -1}
	for name, row := range map[string]struct {
		do    func(s *scene)
		whole bool
	}{
		"a kernel":                  {func(s *scene) { s.call("cuGraphAddNode", Call{Other: 0, Device: -1}) }, true},
		"memory":                    {func(s *scene) { s.call("cuGraphAddNode", Call{Other: nodeAllocates, Device: -1}) }, false},
		"memory, with edges":        {func(s *scene) { s.call("cuGraphAddNode_v2", Call{Other: nodeAllocates, Device: -1}) }, false},
		"nothing while it captures": {func(s *scene) { s.call("cuStreamBeginCapture_v2", none); s.call("cuStreamEndCapture", none) }, true},
		"memory of no pool": {func(s *scene) {
			s.call("cuStreamBeginCapture_v2", none)
			s.alloc(2, gib)
		}, true},
		"memory of a pool": {func(s *scene) {
			s.call("cuStreamBeginCapture_v2", none)
			s.call("cuMemAllocAsync", Call{Address: 2, Size: uint64(gib), Context: 0xc000, Device: -1})
		}, false},
		"the same of two at a time": {func(s *scene) {
			s.call("cuStreamBeginCapture_v2", none)
			s.call("cuStreamBeginCaptureToGraph_ptsz", none)
			s.call("cuStreamEndCapture_ptsz", none)
			s.call("cuMemAllocFromPoolAsync", Call{Address: 2, Size: uint64(gib), Context: 0xc000, Device: -1})
		}, false},
		"the same afterwards": {func(s *scene) {
			s.call("cuStreamEndCapture", none)
			s.call("cuStreamBeginCapture_v2", none)
			s.call("cuStreamEndCapture", none)
			s.call("cuMemAllocAsync", Call{Address: 2, Size: uint64(gib), Context: 0xc000, Device: -1})
		}, true},
		"it does not begin": {func(s *scene) {
			s.call("cuStreamBeginCapture_v2", Call{Context: 0xc000, Device: -1, Answer: 900})
			s.call("cuMemAllocAsync", Call{Address: 2, Size: uint64(gib), Context: 0xc000, Device: -1})
		}, true},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, gib)
		row.do(s)
		if r := s.requests(0); r.Whole != row.whole {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
