package request

import (
	"testing"

	"nvpeak/sampler"
)

// Of a context that comes and goes between two figures of the driver nobody knows how much it took: the peak of its time is a lower bound, unless
// one that is known is higher in any case. One that a figure has counts with what was held beside it.
func TestBriefContext(t *testing.T) {
	const context, second = 500 * mib, 300 * mib
	makes := func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd000, Device: 0}) }
	ends := func(s *scene) { s.call("cuCtxDestroy_v2", Call{Address: 0xd000, Device: -1}) }
	figure := func(n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.later(ms(50))
			s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
			s.later(ms(50))
		}
	}
	alloc := func(at uint64) func(*scene) { return func(s *scene) { s.alloc(at, sampler.Bytes(at)*gib) } }
	free := func(at uint64) func(*scene) { return func(s *scene) { s.free(at) } }
	rows := map[string]struct {
		steps  []func(*scene)
		want   sampler.Bytes
		source string
	}{
		"no second one":                     {[]func(*scene){alloc(5), free(5)}, 8*gib + context, sampler.PeakCalls},
		"between two figures":               {[]func(*scene){makes, ends, figure(3*gib + context)}, 3*gib + context, sampler.PeakCallsAlone},
		"with memory beside it":             {[]func(*scene){makes, alloc(5), free(5), ends, figure(3*gib + context)}, 8*gib + context, sampler.PeakCallsAlone},
		"a peak that is higher in any case": {[]func(*scene){makes, ends, figure(3*gib + context), alloc(2), free(2)}, 5*gib + context, sampler.PeakCalls},
		"it is there, and in no figure yet": {[]func(*scene){makes, alloc(5)}, 8*gib + context, sampler.PeakCallsAlone},
		"a figure has it":                   {[]func(*scene){makes, alloc(5), free(5), figure(3*gib + context + second)}, 8*gib + context + second, sampler.PeakCalls},
		"and it ends":                       {[]func(*scene){makes, figure(3*gib + context + second), ends, alloc(5), free(5), figure(3*gib + context)}, 8*gib + context, sampler.PeakCalls},
		"and it ends, and no figure comes":  {[]func(*scene){makes, figure(3*gib + context + second), ends, alloc(5), free(5)}, 3*gib + context + second, sampler.PeakCallsAlone},
		"retained once more":                {[]func(*scene){func(s *scene) { s.context(0) }, alloc(5), free(5)}, 8*gib + context, sampler.PeakCalls},
		"on another GPU":                    {[]func(*scene){func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd001, Device: 1}) }, alloc(5), free(5)}, 8*gib + context, sampler.PeakCalls},
	}
	for name, row := range rows {
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		s.context(0)
		s.alloc(3, 3*gib)
		figure(3*gib + context)(s)
		for _, step := range row.steps {
			step(s)
		}
		s.later(ms(50))
		if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes != row.want || p.Peak.Source != row.source {
			t.Errorf("%s: %+v, not %v by %s", name, p.Peak, row.want, row.source)
		}
	}
}

// Who is refused a context, and goes on with memory that another process shares, has taken that in its place; who is refused memory has not.
func TestImports(t *testing.T) {
	refuse := func(s *scene) { s.call("cuDevicePrimaryCtxRetain", Call{Device: 0, Answer: outOfMemory}) }
	imports := func(c Call) func(*scene) {
		return func(s *scene) { s.call("cuIpcOpenMemHandle_v2", c) }
	}
	for name, row := range map[string]struct {
		steps []func(*scene)
		want  string
	}{
		"a context":             {[]func(*scene){refuse, imports(Call{Device: -1})}, sampler.RefusalOther},
		"by a handle":           {[]func(*scene){refuse, func(s *scene) { s.call("cuMemImportFromShareableHandle", Call{Device: -1}) }}, sampler.RefusalOther},
		"it was refused that":   {[]func(*scene){refuse, imports(Call{Device: -1, Answer: 1})}, sampler.RefusalOpen},
		"before":                {[]func(*scene){imports(Call{Device: -1}), refuse}, sampler.RefusalOpen},
		"by another thread":     {[]func(*scene){refuse, imports(Call{TID: 99, Device: -1})}, sampler.RefusalOpen},
		"long after":            {[]func(*scene){refuse, func(s *scene) { s.later(retryWithin) }, imports(Call{Device: -1})}, sampler.RefusalOpen},
		"it was refused memory": {[]func(*scene){func(s *scene) { s.context(0); s.refused(gib) }, imports(Call{Device: -1})}, sampler.RefusalOpen},
	} {
		s := newScene(t, 1, people{7: {}})
		for _, step := range row.steps {
			step(s)
		}
		if r := s.requests(0); r.Refusal == nil || r.Refusal.Outcome != row.want {
			t.Errorf("%s: %+v", name, r.Refusal)
		}
	}
}
