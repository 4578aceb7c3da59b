package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// A piece that the process has imported by a handle from itself is held by that, too: where its own handle is released, it may be held or not, and the end
// of what was imported may give some back. What another process was given it holds as long, and nothing is told of that.
func TestImportsOfItsOwn(t *testing.T) {
	const context = 400 * mib
	create := func(at uint64, n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.call("cuMemCreate", Call{Address: at, Size: uint64(n), Context: 0xc000, Device: 0})
		}
	}
	imports := func(at uint64) func(*scene) {
		return func(s *scene) { s.call("cuMemImportFromShareableHandle", Call{Address: at, Device: -1}) }
	}
	release := func(at uint64) func(*scene) {
		return func(s *scene) { s.call("cuMemRelease", Call{Address: at, Device: -1}) }
	}
	maps := func(piece, at uint64) func(*scene) {
		return func(s *scene) {
			s.call("cuMemMap", Call{Address: at, Size: uint64(64 * mib), Other: piece, Device: -1})
		}
	}
	retains := func(at uint64) func(*scene) {
		return func(s *scene) { s.call("cuMemRetainAllocationHandle", Call{Address: at, Device: -1}) }
	}
	unmaps := func(at uint64) func(*scene) {
		return func(s *scene) { s.call("cuMemUnmap", Call{Address: at, Size: uint64(64 * mib), Device: -1}) }
	}
	figure := func(n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.later(ms(300))
			s.gpus[0].Processes = nil
			s.list(0, 7, sampler.Some(n))
			s.listAll()
			s.later(ms(300))
		}
	}
	for name, row := range map[string]struct {
		steps []func(*scene)
		peak  sampler.Bytes // that was
		exact bool          // and is known to be
		whole bool
	}{
		"its own, released": {[]func(*scene){create(1, 64*mib), imports(2), release(1), figure(context + 64*mib), create(3, 32*mib), figure(context + 96*mib)},
			context + 96*mib, false, false},
		"and between two figures": {[]func(*scene){figure(context), create(1, 64*mib), imports(2), release(1), create(3, 32*mib)},
			context + 96*mib, false, false},
		"and the import is released, too": {[]func(*scene){create(1, 64*mib), imports(2), release(1), figure(context + 64*mib), release(2), create(3, 32*mib), create(4, 16*mib)},
			context + 64*mib, false, false},
		"and that is mapped": {[]func(*scene){create(1, 64*mib), imports(2), release(1), maps(2, 0x100), release(2), figure(context + 64*mib), create(3, 32*mib), figure(context + 96*mib), unmaps(0x100), create(4, 48*mib)},
			context + 96*mib, false, false},
		"retained by its own handle": {[]func(*scene){create(1, 64*mib), maps(1, 0x100), retains(1), release(1), unmaps(0x100), figure(context + 64*mib), create(3, 32*mib), release(1), create(4, 64*mib)},
			context + 96*mib, true, true},
		"retained by another one": {[]func(*scene){create(1, 64*mib), maps(1, 0x100), release(1), retains(2), unmaps(0x100), figure(context + 64*mib), create(3, 32*mib)},
			context + 96*mib, false, false},
		"of another process": {[]func(*scene){imports(2), create(1, 64*mib), figure(context + 64*mib), release(1), create(3, 96*mib)},
			context + 96*mib, true, true},
		"of another one, mapped and released": {[]func(*scene){imports(2), maps(2, 0x100), release(2), create(1, 64*mib), figure(context + 64*mib), release(1), create(3, 96*mib)},
			context + 96*mib, true, true},
		"what no handle holds": {[]func(*scene){func(s *scene) { s.alloc(1, 64*mib) }, imports(2), func(s *scene) { s.free(1) }, figure(context), create(3, 96*mib)},
			context + 96*mib, true, true},
		"the import is over before": {[]func(*scene){create(1, 64*mib), figure(context + 64*mib), imports(2), release(2), figure(context + 64*mib), release(1), create(3, 96*mib)},
			context + 96*mib, true, true},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.Begins(7)
		s.context(0)
		for i, step := range row.steps {
			step(s)
			s.later(ms(20))
			s.apply()
			for _, p := range s.apply().GPUs[0].Processes {
				if p.Peak != nil && p.Peak.Bytes > row.peak {
					t.Errorf("%s, step %d: %+v, which is more than %v", name, i, p.Peak, row.peak)
				}
			}
		}
		s.later(time.Second)
		p := s.of(0, 7)
		if p.Peak == nil || p.Peak.Bytes > row.peak || (p.Peak.Source == sampler.PeakCalls) != row.exact || row.exact && p.Peak.Bytes != row.peak || p.Requests.Whole != row.whole {
			t.Errorf("%s: %+v, whole %v, not %v", name, p.Peak, p.Requests.Whole, row.peak)
		}
	}
}

// Where memory is given at an address at which some is held, as to another copy of libcuda, the end of that was missed, or it is held still: no more is told than was there.
func TestGivenAtAnAddressAgain(t *testing.T) {
	const context = 320 * mib
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.Begins(7)
	s.context(0)
	s.alloc(1, 100*mib)
	s.Late(7, s.now)
	s.context(1)
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(128 * mib), Context: 0xc001, Device: -1})
	s.later(ms(300))
	s.list(0, 7, sampler.Some(context+100*mib))
	s.list(1, 7, sampler.Some(context+128*mib))
	s.listAll()
	s.later(ms(300))
	s.apply()
	s.free(1)
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(32 * mib), Context: 0xc001, Device: -1})
	s.later(ms(300))
	if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes > context+100*mib || p.Requests.Live > context+100*mib {
		t.Errorf("%+v, %+v", p.Peak, p.Requests)
	}
	if p := s.of(1, 7); p.Peak == nil || p.Peak.Bytes != context+128*mib {
		t.Errorf("%+v, %+v", p.Peak, p.Requests)
	}
}

// Memory of another process that is unmapped, or let go of, is none of the process's own, however long the call takes, and whether it fails or not.
func TestImportsThatLinger(t *testing.T) {
	for name, end := range map[string]func(s *scene){
		"one is held still": func(s *scene) { s.Lingered(7, 90, s.now) },
		"the last has ended by then": func(s *scene) {
			s.call("cuMemRelease", Call{Address: 2, Other: 91, Device: -1})
			s.Lingered(7, 90, s.now)
			s.Lingered(7, 91, s.now)
		},
		"and both failed": func(s *scene) {
			s.call("cuMemRelease", Call{Address: 2, Other: 91, Device: -1})
			s.Failed(7, 90, s.now)
			s.Failed(7, 91, s.now)
		},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, 64*mib)
		s.call("cuMemImportFromShareableHandle", Call{Address: 2, Device: -1})
		s.call("cuMemMap", Call{Address: 0x100, Size: uint64(20 * mib), Other: 2, Device: -1})
		s.later(ms(100))
		s.call("cuMemUnmap", Call{Address: 0x100, Size: uint64(20 * mib), Other: 90, Device: -1})
		s.later(ms(50))
		end(s)
		s.later(ms(10))
		s.alloc(3, 32*mib)
		if live := s.requests(0).Live; live != 96*mib {
			t.Errorf("%s: %v live, not 96 MiB", name, live)
		}
	}
}
