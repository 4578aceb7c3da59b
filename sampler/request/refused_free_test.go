package request

import (
	"testing"

	"nvpeak/sampler"
)

// What was free at a refusal is told by what was read about then only as far as that tells it: not where more was given back, or by more calls, since
// than are known any more, nor as less than there was, for a call that was under way as it was read, nor as more than was refused, where a pool took some before.
func TestFreeByReadingsAmidCalls(t *testing.T) {
	const piece = 20 * mib
	none := sampler.Opt[sampler.Bytes]{}
	late := func(s *scene, read func(sampler.Bytes)) { // a context was made, and the reading after the refusal fell into a slow call
		s.call("cuCtxCreate_v2", Call{Address: 0xc001, Device: 0})
		s.refused(47*gib + mib)
		s.later(ms(10))
		read(gib + gib/2)
		s.later(ms(10))
		s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(30 * gib), Context: 0xc000, Device: -1, Took: ms(20)})
	}
	for name, row := range map[string]struct {
		play func(s *scene, read func(sampler.Bytes))
		free sampler.Opt[sampler.Bytes]
	}{
		"more calls came since than are kept": {func(s *scene, read func(sampler.Bytes)) {
			s.alloc(1, 48*gib-1544*mib)
			for n := range uint64(77) {
				s.alloc(n+2, piece)
			}
			s.later(ms(20))
			read(48*gib - 4*mib)
			s.later(ms(20))
			s.refused(piece)
			for n := range uint64(77) {
				s.now = s.now.Add(-ms(1) + ms(1)/20)
				s.free(n + 2)
			}
			for n := range uint64(keptMoves) {
				s.now = s.now.Add(-ms(1) + ms(1)/20)
				s.alloc(n+100, mib/4)
			}
			s.later(ms(10))
			read(48*gib - 1544*mib + keptMoves*mib/4)
			s.later(ms(20))
		}, sampler.Some(4 * mib)},
		"the next call had moved memory, and is answered": {func(s *scene, read func(sampler.Bytes)) {
			s.later(ms(20))
			s.refused(47*gib + mib)
			s.later(ms(10))
			read(gib + 30*gib)
			s.later(ms(10))
			s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(30 * gib), Context: 0xc000, Device: -1, Took: ms(20)})
		}, sampler.Some(47 * gib)},
		"that had not moved it, and nothing is known of before": {late, none},
		"but it is read once more": {func(s *scene, read func(sampler.Bytes)) {
			late(s, read)
			s.later(ms(10))
			read(31*gib + gib/2)
		}, sampler.Some(47*gib - gib/2)},
		"it is under way": {func(s *scene, read func(sampler.Bytes)) {
			s.later(ms(20))
			s.refused(47*gib + mib)
			began := s.now
			s.Ask(func() {}, func() []UnderWay {
				return []UnderWay{{PID: 7, TID: 7, Function: function("cuMemAlloc_v2"), Size: uint64(30 * gib), Number: 9, Began: began, For: s.now.Sub(began)}}
			})
			s.later(ms(10))
			read(gib + 30*gib)
		}, sampler.Some(47 * gib)},
		"one of another process is": {func(s *scene, read func(sampler.Bytes)) {
			s.call("cuMemAlloc_v2", Call{PID: 8, Address: 1, Size: uint64(mib), Device: 0})
			s.later(ms(20))
			read(gib + mib)
			s.later(ms(20))
			s.refused(47*gib + mib)
			began := s.now
			s.Ask(func() {}, func() []UnderWay {
				return []UnderWay{{PID: 8, TID: 8, Function: function("cuMemAlloc_v2"), Size: uint64(30 * gib), Number: 9, Began: began, For: s.now.Sub(began)}}
			})
			s.later(ms(10))
			read(gib + 30*gib)
		}, sampler.Some(47*gib - mib)},
		"a pool took some before": {func(s *scene, read func(sampler.Bytes)) {
			s.later(ms(20))
			s.call("cuMemAllocAsync", Call{Address: 1, Size: uint64(46 * gib), Context: 0xc000, Device: -1})
			s.later(ms(20))
			s.refused(gib)
		}, none},
		"and is read": {func(s *scene, read func(sampler.Bytes)) {
			s.later(ms(20))
			s.call("cuMemAllocAsync", Call{Address: 1, Size: uint64(46 * gib), Context: 0xc000, Device: -1})
			s.later(ms(20))
			s.refused(gib)
			s.later(ms(20))
			read(48*gib - 256*mib)
		}, sampler.Some(256 * mib)},
	} {
		s := newScene(t, 1, people{7: {}, 8: {}})
		read := func(n sampler.Bytes) { s.Reading(s.gpus[0].Key(), s.now, n) }
		s.context(0)
		s.later(ms(20))
		read(gib)
		row.play(s, read)
		if r := s.requests(0).Refusal; !r.Free.Equal(row.free) {
			t.Errorf("%s: %v free, by a reading of %v ms; want %v", name, r.Free, r.FreeAge, row.free)
		}
	}
}
