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
		"and it ends, and no figure comes":  {[]func(*scene){makes, figure(3*gib + context + second), ends, alloc(5), free(5)}, 8 * gib, sampler.PeakCallsAlone},
		"retained once more":                {[]func(*scene){func(s *scene) { s.context(0) }, alloc(5), free(5)}, 8*gib + context, sampler.PeakCalls},
		"the first one ends, a second has come": {[]func(*scene){makes, func(s *scene) { s.call(primaryRelease, Call{Device: 0}) }, func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: 5, Size: uint64(5 * gib), Context: 0xd000, Device: -1})
		}, figure(5*gib + second)}, 5*gib + second, sampler.PeakCalls},
		"on another GPU": {[]func(*scene){func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd001, Device: 1}) }, alloc(5), free(5)}, 8*gib + context, sampler.PeakCalls},
	}
	for name, row := range rows {
		s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
		s.context(0)
		s.alloc(3, 3*gib)
		figure(3*gib + context)(s)
		for _, step := range row.steps {
			step(s)
		}
		s.later(givingBack)
		if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes != row.want || p.Peak.Source != row.source {
			t.Errorf("%s: %+v, not %v by %s", name, p.Peak, row.want, row.source)
		}
	}
}

// Contexts that have ended before any figure of the driver, or before the process asked for memory on that GPU, leave a lower bound as well, and none
// that is below what was asked for.
func TestContextBeforeFigures(t *testing.T) {
	const context = 500 * mib
	makes := func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd000, Device: 0}) }
	ends := func(s *scene) { s.call("cuCtxDestroy_v2", Call{Address: 0xd000, Device: -1}) }
	resets := func(s *scene) { s.call("cuDevicePrimaryCtxReset_v2", Call{Device: 0}) }
	alloc := func(context, at uint64, n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.call("cuMemAlloc_v2", Call{Address: at, Size: uint64(n), Context: context, Device: -1})
		}
	}
	figure := func(n sampler.Bytes) func(*scene) {
		return func(s *scene) {
			s.later(ms(50))
			s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
			s.later(ms(50))
		}
	}
	for name, row := range map[string]struct {
		late   bool
		steps  []func(*scene)
		want   sampler.Bytes
		source string
	}{
		"all between two figures":  {false, []func(*scene){figure(context), makes, alloc(0xd000, 1, gib), ends, figure(context)}, gib, sampler.PeakCallsAlone},
		"and it goes far beyond":   {false, []func(*scene){makes, alloc(0xd000, 1, gib), ends, figure(context), alloc(0xc000, 2, 4*gib)}, 4*gib + context, sampler.PeakCalls},
		"the device is reset":      {false, []func(*scene){alloc(0xc000, 1, 5*gib), resets, makes, alloc(0xd000, 2, gib), figure(gib + context)}, 5 * gib, sampler.PeakCallsAlone},
		"before it asks":           {false, []func(*scene){makes, ends, alloc(0xc000, 1, 100*mib), figure(100*mib + context)}, 100*mib + context, sampler.PeakCallsAlone},
		"before it asks for much":  {false, []func(*scene){makes, ends, alloc(0xc000, 1, 2*gib), figure(2*gib + context)}, 2*gib + context, sampler.PeakCalls},
		"one after the other":      {false, []func(*scene){resets, makes, alloc(0xd000, 1, 100*mib), figure(100*mib + context)}, 100*mib + context, sampler.PeakCalls},
		"of a process from before": {true, []func(*scene){alloc(0xc000, 1, gib), figure(gib + context), makes, alloc(0xd000, 2, gib), ends, figure(gib + context)}, 2*gib + context, sampler.PeakCallsAlone},
		"another one is made when memory is given back": {false, []func(*scene){makes, alloc(0xd000, 1, 200*mib), figure(200*mib + 2*context), ends, alloc(0xc000, 2, 400*mib),
			func(s *scene) { s.free(2) }, func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd001, Device: 0}) }, figure(2 * context)}, 200*mib + 2*context, sampler.PeakCallsAlone},
		"another one is made while it is held": {false, []func(*scene){makes, alloc(0xc000, 1, 200*mib), func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xd001, Device: 0}) },
			figure(200*mib + 3*context)}, 200*mib + 3*context, sampler.PeakCalls},
		"the one of before it ends": {false, []func(*scene){alloc(0xc000, 1, gib), figure(gib + context), makes, resets, alloc(0xd000, 2, 200*mib), figure(200*mib + context)},
			gib + context, sampler.PeakCallsAlone},
		"a figure that is not sure, and a piece of before": {true, []func(*scene){alloc(0xc000, 1, 100*mib),
			func(s *scene) {
				s.Listed(s.gpus[0].Key(), s.now.Add(ms(2)), []sampler.Process{{PID: 7, Memory: sampler.Some(gib + 100*mib)}})
			},
			func(s *scene) { s.later(ms(50)) }, alloc(0xc000, 2, 500*mib), func(s *scene) { s.free(1 << 40) }, func(s *scene) { s.free(2) }, figure(800 * mib)},
			gib + 600*mib, sampler.PeakCallsAlone},
		"a piece of before ends with its mapping": {true, []func(*scene){figure(gib + context), alloc(0xc000, 1, 100*mib), figure(gib + 100*mib + context),
			func(s *scene) { s.call("cuMemUnmap", Call{Address: 1 << 40, Size: uint64(gib), Device: -1}) }, alloc(0xc000, 2, 500*mib), func(s *scene) { s.free(2) }},
			gib + 100*mib + context, sampler.PeakCallsAlone},
		"of one, and a figure came": {true, []func(*scene){alloc(0xc000, 1, gib), makes, figure(gib + 2*context), ends, alloc(0xc000, 2, gib)}, 2 * gib, sampler.PeakCallsAlone},
	} {
		s := newScene(t, 1, people{7: {}})
		if row.late {
			s.Late(7, s.now)
		}
		s.context(0)
		for _, step := range row.steps {
			step(s)
		}
		s.later(ms(50))
		p := s.of(0, 7)
		if p.Peak == nil || p.Peak.Bytes != row.want || p.Peak.Source != row.source || !row.late && p.Peak.Bytes < p.Requests.Peak {
			t.Errorf("%s: %+v, not %v by %s (asked for %v)", name, p.Peak, row.want, row.source, p.Requests.Peak)
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

// A context from before gives back nobody knows how much as it ends. What is granted then and was refused before is a near miss, though the context
// of the thread is known only now.
func TestRefusedUntilContextEnds(t *testing.T) {
	for name, row := range map[string]struct {
		ends func(s *scene)
		want string
	}{
		"one of its own":  {func(s *scene) { s.call("cuCtxDestroy_v2", Call{PID: 6, Address: 0xd000, Device: -1}) }, sampler.RefusalFlush},
		"the primary one": {func(s *scene) { s.call("cuDevicePrimaryCtxReset_v2", Call{PID: 6, Device: 0}) }, sampler.RefusalFlush},
		"none":            {func(*scene) {}, sampler.RefusalGranted},
	} {
		s := newScene(t, 2, people{6: {Environment: map[string]string{}}})
		s.Late(6, s.now)
		s.list(0, 6, sampler.Some(10*gib))
		for i := range s.gpus {
			s.Listed(s.gpus[i].Key(), s.now, s.gpus[i].Processes)
		}
		s.later(listsCome)
		s.apply()
		asks := func(context uint64, answer int) {
			s.call("cuMemAlloc_v2", Call{PID: 6, Address: 1, Size: uint64(2 * gib), Context: context, Device: -1, Answer: answer})
		}
		asks(0, outOfMemory)
		row.ends(s)
		s.call("cuDevicePrimaryCtxRetain", Call{PID: 6, Address: 0xc000, Device: 0})
		asks(0xc000, success)
		r := s.of(0, 6).Requests
		if r.Refusal == nil || r.Refusal.Outcome != row.want || (r.Flushes == 1) != (row.want == sampler.RefusalFlush) {
			t.Errorf("%s: %+v, %+v", name, r, r.Refusal)
		}
	}
}
