package request

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// The peak of a process: what the driver says it has, and what it held between two such figures.
func TestExactPeak(t *testing.T) {
	const context = 500 * mib
	type step struct {
		alloc, free uint64 // GiB, which is its address too
		listed      sampler.Opt[sampler.Bytes]
	}
	list := func(b sampler.Bytes) step { return step{listed: sampler.Some(b)} }
	rows := map[string]struct {
		steps []step
		want  sampler.Bytes
	}{
		"no figure: what was asked for":        {[]step{{alloc: 3}, {alloc: 5}, {free: 3}}, 8 * gib},
		"with the context":                     {[]step{{alloc: 3}, list(3*gib + context), {alloc: 5}, {free: 5}}, 8*gib + context},
		"a spike before the first figure":      {[]step{{alloc: 3}, {alloc: 5}, {free: 5}, list(3*gib + context)}, 8*gib + context},
		"from the middle of its life":          {[]step{list(20 * gib), {alloc: 5}, {free: 5}}, 25 * gib},
		"what it had before goes":              {[]step{list(20 * gib), {alloc: 5}, {free: 5}, list(6 * gib), {alloc: 9}, {free: 9}}, 25 * gib},
		"a figure that does not follow":        {[]step{list(2 * gib), {alloc: 3}, list(2 * gib), {alloc: 5}}, 8 * gib},
		"one that follows again":               {[]step{list(gib), {alloc: 3}, list(gib), {alloc: 5}, list(9 * gib), {alloc: 2}, list(11 * gib)}, 11 * gib},
		"the figure grows after a spike":       {[]step{{alloc: 5}, {free: 5}, list(gib), {alloc: 1}, {free: 1}, list(2 * gib), {alloc: 1}, {free: 1}}, 6 * gib},
		"the context grows while nothing does": {[]step{list(gib), list(2 * gib), {alloc: 4}, {free: 4}}, 6 * gib},
	}
	alone := map[string]string{"no figure: what was asked for": sampler.PeakCallsAlone, "a figure that does not follow": sampler.PeakCallsAlone}
	for name, row := range rows {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.apply()
		s.call("cuMemAlloc_v2", Call{Address: 99, Size: 0, Context: 0xc000, Device: -1})
		for _, x := range row.steps {
			s.later(ms(50))
			switch n, ok := x.listed.Value(); {
			case ok:
				s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
			case x.alloc > 0:
				s.alloc(x.alloc, sampler.Bytes(x.alloc)*gib)
			default:
				s.free(x.free)
			}
		}
		s.later(givingBack)
		if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes != row.want || p.Peak.Source != cmp.Or(alone[name], sampler.PeakCalls) {
			t.Errorf("%s: %+v, not %v", name, p.Peak, row.want)
		}
	}
}

// A figure and a call within some milliseconds may be in either order: such a figure is not taken.
func TestUnsure(t *testing.T) {
	for gap, want := range map[time.Duration]sampler.Bytes{unsure - ms(2): 5 * gib, unsure + ms(1): 6 * gib} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, gib)
		s.later(ms(50))
		key := s.gpus[0].Key()
		s.Listed(key, s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(2 * gib)}}) // 1 GiB that no call asked for
		s.later(ms(50))
		s.alloc(2, mib)
		s.later(gap)
		s.Listed(key, s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(3*gib + mib)}}) // 2 GiB, if it is right
		s.later(ms(50))
		s.alloc(3, 3*gib)
		if p := s.of(0, 7); p.Peak.Bytes/gib != want/gib {
			t.Errorf("%v: %v, not %v", gap, p.Peak.Bytes, want)
		}
	}
}

// A figure that came just before a call was heard, and may have what that gave: the peak is none that never was, and where it cannot have
// it, the whole.
func TestFigureBeforeCall(t *testing.T) {
	for name, row := range map[string]struct{ listed, want sampler.Bytes }{
		"it may have it":    {256*mib + 1801*mib, 256*mib + 1801*mib},
		"it cannot have it": {256*mib + 900*mib, 256*mib + 1801*mib},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, 900*mib)
		s.later(ms(50))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(row.listed)}})
		s.alloc(2, 901*mib)
		s.later(ms(50))
		if p := s.of(0, 7).Peak; p.Bytes != row.want || p.Source != sampler.PeakAtLeast {
			t.Errorf("%s: %+v, not %v", name, p, row.want)
		}
	}
}

// A use of the GPU that came and went between two readings.
func TestBetweenReadings(t *testing.T) {
	rows := map[string]struct {
		after time.Duration // the reading
		n     sampler.Bytes
		held  bool // the reading is followed by another one while it is held
		call  string
		want  sampler.Bytes
	}{
		"no reading has it":               {ms(5), 30 * gib, false, "cuMemAlloc_v2", 40 * gib},
		"the reading may have it already": {included - ms(1), 30 * gib, false, "cuMemAlloc_v2", 0},
		"just no more":                    {included, 30 * gib, false, "cuMemAlloc_v2", 40 * gib},
		"another reading has it":          {ms(5), 30 * gib, true, "cuMemAlloc_v2", 0},
		"small":                           {ms(5), shorter, false, "cuMemAlloc_v2", 0},
		"not so small":                    {ms(5), shorter + 1, false, "cuMemAlloc_v2", 10*gib + shorter + 1},
		"more than there is":              {ms(5), 39 * gib, false, "cuMemAlloc_v2", 0},
		"from a pool":                     {ms(5), 30 * gib, false, "cuMemAllocAsync", 0},
		"managed":                         {ms(5), 30 * gib, false, "cuMemAllocManaged", 0},
		"in a piece":                      {ms(5), 30 * gib, false, "cuMemCreate", 40 * gib},
	}
	for name, row := range rows {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.apply()
		key := s.gpus[0].Key()
		s.later(ms(50))
		s.Reading(key, s.now, 10*gib)
		s.later(row.after - ms(1)) // a call is a millisecond later
		s.call(row.call, Call{Address: 1, Size: uint64(row.n), Context: 0xc000, Device: 0})
		most := 10 * gib
		if row.held {
			most = 10*gib + row.n
			s.Reading(key, s.now.Add(ms(3)), most)
		}
		s.call(map[bool]string{true: "cuMemRelease", false: "cuMemFree_v2"}[row.call == "cuMemCreate"], Call{Address: 1, Device: -1})
		s.gpus[0].Memory.Window = &sampler.Window{Readings: 50, Max: most}
		m := s.apply().GPUs[0].Memory
		if row.want == 0 && (m.Peak != nil || m.Window.Max != most) {
			t.Errorf("%s: peak %+v, window %+v", name, m.Peak, m.Window)
		}
		if row.want > 0 && (m.Peak == nil || m.Peak.Bytes != row.want || m.Peak.Source != sampler.PeakCalls || m.Window.Max != row.want) {
			t.Errorf("%s: peak %+v, window %+v, not %v", name, m.Peak, m.Window, row.want)
		}
		if s.gpus[0].Memory.Window.Max != most {
			t.Errorf("%s: the window of the poller was changed", name)
		}
		if m := s.apply().GPUs[0].Memory; m.Peak != nil {
			t.Errorf("%s: told again", name)
		}
	}
}

// A figure is taken 5 ms from a call, and follows when it is off by no more than half of a change of 32 MiB.
func TestExactBounds(t *testing.T) {
	for name, row := range map[string]struct {
		moved, next time.Duration // before the figure, and after it
		live, n     sampler.Bytes
		base        sampler.Bytes
		apart       bool
	}{
		"sure":               {unsure, unsure, 0, 200 * mib, 200 * mib, false},
		"a call just before": {unsure - 1, unsure, 0, 200 * mib, 100 * mib, false},
		"a call just after":  {unsure, unsure - 1, 0, 200 * mib, 100 * mib, false},
		"half off":           {unsure, unsure, 64 * mib, 132 * mib, 68 * mib, false},
		"more off":           {unsure, unsure, 64 * mib, 132*mib - 1, 68*mib - 1, true},
		"half above":         {unsure, unsure, 64 * mib, 196 * mib, 132 * mib, false},
		"more above":         {unsure, unsure, 64 * mib, 196*mib + 1, 132*mib + 1, true},
		"a small change":     {unsure, unsure, follows - 1, 100 * mib, 68*mib + 1, false},
		"a change":           {unsure, unsure, follows, 100 * mib, 68 * mib, true},
	} {
		var e exact
		e.list(noon, 0, 100*mib, 0)
		e.before(noon.Add(time.Second), 0, 0, 0)
		at := noon.Add(time.Minute)
		e.before(at.Add(-row.moved), 0, 0, 0)
		e.list(at, 0, row.n, 0)
		e.before(at.Add(row.next), 0, row.live, 0)
		e.settle(at.Add(time.Second), row.live)
		if e.base.Or(0) != row.base || e.apart != row.apart || e.listed.Known() {
			t.Errorf("%s: base %v, apart %v, want %v, %v", name, e.base, e.apart, row.base, row.apart)
		}
	}
	var e exact
	e.list(noon, 0, gib, 0)
	if e.before(noon, 0, 0, 0); !e.listed.Known() {
		t.Error("a call of the same moment tells what a figure means")
	}
	e.before(noon.Add(time.Second), 0, 0, 0)
	e.rose(noon.Add(time.Minute), gib, false, 0)
	if e.rose(noon.Add(time.Hour), gib, false, 0); !e.topAt.Equal(noon.Add(time.Minute)) {
		t.Errorf("the peak was at %v", e.topAt)
	}
}

// A figure that no call told the meaning of is told by the next, if that is not of the same moment.
func TestFigureAfterFigure(t *testing.T) {
	for next, want := range map[time.Duration]sampler.Bytes{unsure: 0, unsure + 1: 100 * mib} {
		var e exact
		e.list(noon, 0, 300*mib, 200*mib)
		if e.list(noon.Add(next), 0, 300*mib, 200*mib); e.base.Or(0) != want || !e.listed.Known() {
			t.Errorf("%v later: base %v, want %v", next, e.base, want)
		}
	}
}

// Where one reading may have a call or not, the one before it tells; and so it does of a call heard late.
func TestReadingsInDoubt(t *testing.T) {
	rows := map[string]struct {
		earlier, reading, call, later int // milliseconds; 0: none
		used                          sampler.Bytes
		want                          sampler.Bytes
	}{
		"the reading may have it, and has not":     {earlier: 20, reading: 50, call: 51, used: 10 * gib, want: 40 * gib},
		"the reading may have it, and has":         {earlier: 20, reading: 50, call: 51, used: 40 * gib, want: 40 * gib},
		"heard after a reading that is later":      {reading: 50, call: 60, later: 70, used: 10 * gib, want: 40 * gib},
		"heard late, and in doubt":                 {earlier: 20, reading: 50, call: 51, later: 70, used: 10 * gib, want: 40 * gib},
		"in doubt, and there is no other":          {reading: 50, call: 51, used: 10 * gib},
		"all readings are later than the call":     {call: 51, later: 70, used: 10 * gib},
		"the one before is in doubt as well":       {earlier: 50, reading: 51, call: 51, used: 10 * gib},
		"what no call told of between them is not": {earlier: 20, reading: 50, call: 51, used: 10*gib + 100*mib, want: 40 * gib},
	}
	for name, row := range rows {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.apply()
		key := s.gpus[0].Key()
		for _, x := range []struct {
			at   int
			used sampler.Bytes
		}{{row.earlier, 10 * gib}, {row.reading, row.used}, {row.later, 10 * gib}} {
			if x.at > 0 {
				s.Reading(key, noon.Add(ms(x.at)), x.used)
			}
		}
		s.now = noon.Add(ms(row.call - 1)) // a call is a millisecond later
		s.alloc(1, 30*gib)
		s.free(1)
		s.gpus[0].Memory.Window = &sampler.Window{Readings: 50, Max: 10 * gib}
		m := s.apply().GPUs[0].Memory
		if got := m.Peak; row.want == 0 && got != nil || row.want > 0 && (got == nil || got.Bytes != row.want) {
			t.Errorf("%s: %+v, not %v", name, got, row.want)
		}
	}
}

// Where one thread gives memory back while another is given some, the peak is not called exact.
func TestOverlapping(t *testing.T) {
	rows := map[string]struct {
		tid  int           // that gives back
		gap  time.Duration // from then to the end of the call of thread 7
		took time.Duration
		want string
	}{
		"meanwhile":         {8, ms(2), ms(3), sampler.PeakOverlapping},
		"just before":       {8, ms(3) + apart/2, ms(3), sampler.PeakOverlapping},
		"well before":       {8, ms(4) + apart, ms(3), sampler.PeakCalls},
		"by itself, before": {7, ms(4), ms(3), sampler.PeakCalls},
	}
	for name, row := range rows {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, 4*gib)
		s.apply()
		s.later(ms(50))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(4 * gib)}})
		s.later(ms(50))
		s.call("cuMemFree_v2", Call{Address: 1, Device: -1, TID: row.tid})
		s.later(row.gap - ms(1)) // a call is a millisecond later
		s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(6 * gib), Context: 0xc000, Device: -1, Took: row.took})
		if p := s.of(0, 7); (p.Peak.Source == sampler.PeakCalls) != (row.tid == 7) { // the other one may be at it still
			t.Errorf("%s, at once: %+v", name, p.Peak)
		}
		s.later(givingBack)
		if p := s.of(0, 7); p.Peak == nil || p.Peak.Bytes != 6*gib || p.Peak.Source != row.want {
			t.Errorf("%s: %+v, not %s", name, p.Peak, row.want)
		}
		for i, then := range []struct { // 10 GiB may have been held by then
			more, peak sampler.Bytes
			source     string
		}{{gib, 7 * gib, row.want}, {3 * gib, 10 * gib, sampler.PeakCalls}} {
			s.later(ms(50))
			s.alloc(uint64(3+i), then.more) //nolint:gosec // an address
			if p := s.of(0, 7); p.Peak.Bytes != then.peak || p.Peak.Source != then.source {
				t.Errorf("%s, and then: %+v, not %s", name, p.Peak, then.source)
			}
		}
	}
}

// A snapshot without a reading, or without its total for a moment, loses no peak.
func TestPeakWithoutReadings(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.Reading(s.gpus[0].Key(), s.now, 10*gib)
	s.apply()
	total := s.gpus[0].Memory.Total
	s.gpus[0].Memory.Total = sampler.Opt[sampler.Bytes]{}
	s.apply()
	s.later(ms(50))
	s.alloc(1, 30*gib)
	s.free(1)
	s.gpus[0].Memory = sampler.Memory{Total: total, Used: sampler.Some(10 * gib), Window: &sampler.Window{}}
	if m := s.apply().GPUs[0].Memory; m.Peak == nil || m.Peak.Bytes != 40*gib || m.Window.Max != 0 {
		t.Errorf("peak %+v, window %+v", m.Peak, m.Window)
	}
}

// A process that was there before has what the driver said of it then beside what it asks for; and what it gives back of that, however much
// it is, takes nothing from its peak.
func TestPeakInMidLife(t *testing.T) {
	type step struct {
		alloc, free uint64 // GiB, which is its address; an unknown one is of before
		listed      sampler.Bytes
	}
	emptied := []step{{listed: 20 * gib}, {alloc: 10}, {free: 33}, {alloc: 12}, {free: 34}, {free: 10}, {free: 12}, {listed: 5 * gib}}
	for name, row := range map[string]struct {
		steps  []step
		want   sampler.Bytes
		source string
	}{
		"it gives back what it had":            {[]step{{listed: 8 * gib}, {alloc: 2}, {alloc: 1}, {free: 33}, {listed: 8 * gib}, {alloc: 4}, {free: 4}}, 12 * gib, sampler.PeakCalls},
		"more than that after":                 {[]step{{listed: 8 * gib}, {alloc: 2}, {free: 33}, {alloc: 5}, {listed: 12 * gib}}, 12 * gib, sampler.PeakCalls},
		"nothing was listed before":            {[]step{{alloc: 2}, {free: 33}, {listed: 7 * gib}}, 7 * gib, sampler.PeakCallsAlone},
		"between two that it gives back":       {[]step{{listed: 8 * gib}, {free: 33}, {alloc: 5}, {free: 34}, {listed: 9 * gib}}, 9 * gib, sampler.PeakCallsAlone},
		"it empties its cache between grants":  {emptied, 30 * gib, sampler.PeakCallsAlone},
		"and holds a little more later":        {append(slices.Clone(emptied), step{alloc: 29}), 34 * gib, sampler.PeakCallsAlone},
		"and holds more than it can have had":  {append(slices.Clone(emptied), step{alloc: 38}), 43 * gib, sampler.PeakCalls},
		"it is let go of, and looked at again": {[]step{{listed: 2 * gib}, {alloc: 9}, {free: 99}, {listed: 3 * gib}, {alloc: 1}, {listed: 4 * gib}}, 11 * gib, sampler.PeakCalls},
	} {
		s := newScene(t, 1, people{6: {}})
		s.list(0, 6, sampler.Some(gib))
		s.apply()
		s.Late(6, s.now)
		for _, x := range row.steps {
			s.later(ms(50))
			switch {
			case x.listed > 0:
				s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 6, Memory: sampler.Some(x.listed)}})
			case x.alloc > 0:
				s.call("cuMemAlloc_v2", Call{PID: 6, Address: x.alloc, Size: uint64(sampler.Bytes(x.alloc) * gib), Context: 0xc000, Device: 0})
			case x.free == 99:
				s.LetGo(6, function("cuMemFree_v2"), s.now.Add(ms(40)))
			default:
				s.call("cuMemFree_v2", Call{PID: 6, Address: x.free, Device: -1})
			}
		}
		s.later(ms(50))
		if p := s.of(0, 6).Peak; p == nil || p.Bytes != row.want || p.Source != row.source {
			t.Errorf("%s: %+v, not %v", name, p, row.want)
		}
	}
}

// A figure may be told of long after it was read, when many calls of after it have been heard: only those before it are in it. Where one is too
// near, the peak is a lower bound, and says so.
func TestFigureToldLate(t *testing.T) {
	const context = 436 * mib
	for name, row := range map[string]struct {
		pause, after int // ms between calls; of the figure after one
		then         func(s *scene)
		want         sampler.Bytes
		source       string
	}{
		"between two calls": {12, 6, nil, context + 2400*mib, sampler.PeakCalls},
		"near to one":       {4, 2, nil, context + 2400*mib, sampler.PeakAtLeast},
		"nearer":            {4, 3, nil, context + 2380*mib, sampler.PeakAtLeast},
		"a context since":   {12, 6, func(s *scene) { s.call("cuCtxCreate_v2", Call{Address: 0xc9, Device: 0}) }, 2400 * mib, sampler.PeakCallsAlone},
		"far more calls than": {12, 6, func(s *scene) {
			for i := range uint64(keptChanges) {
				s.alloc(1000+i, mib)
				s.free(1000 + i)
			}
		}, 2401 * mib, sampler.PeakCallsAlone},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.context(0)
		key := s.gpus[0].Key()
		var at time.Time
		var n sampler.Bytes
		for i := range uint64(120) {
			s.later(ms(row.pause - 1))
			if s.alloc(i+1, 20*mib); i == 80 {
				at, n = s.now.Add(ms(row.after)), context+81*20*mib
			}
		}
		if row.then != nil {
			row.then(s)
		}
		s.Listed(key, at, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
		s.later(ms(50))
		if p := s.of(0, 7).Peak; p.Bytes != row.want || p.Source != row.source {
			t.Errorf("%s: %+v, not %v by %s", name, p, row.want, row.source)
		}
	}
}

// A figure that was read while a context was being made has a part of it, also where it is told of only after the first grant.
func TestFigureAmidAContext(t *testing.T) {
	for name, row := range map[string]struct {
		told bool // before the first grant
		took time.Duration
		want string
	}{
		"told before the grant":             {true, 0, sampler.PeakCallsAlone},
		"told after it":                     {false, 0, sampler.PeakCallsAlone},
		"read for a while, told before":     {true, ms(30), sampler.PeakCallsAlone},
		"read for a while, told after that": {false, ms(30), sampler.PeakCallsAlone},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.Begins(7)
		at := s.now.Add(ms(30))
		list := func() {
			s.Tracker.Listed(s.gpus[0].Key(), at, row.took, []sampler.Process{{PID: 7, Memory: sampler.Some(150 * mib)}})
		}
		s.later(ms(60))
		if row.took > 0 {
			at = s.now.Add(ms(20))
		}
		s.call("cuDevicePrimaryCtxRetain", Call{Address: 0xc000, Device: 0, Took: ms(60)})
		s.later(ms(20))
		if row.told {
			list()
		}
		s.alloc(1, 300*mib)
		s.later(ms(20))
		s.alloc(2, 300*mib)
		if !row.told {
			list()
		}
		s.free(2)
		s.later(ms(100))
		if p := s.of(0, 7).Peak; p == nil || p.Bytes != 600*mib || p.Source != row.want {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// What the driver said of a process before it asked for anything is its context.
func TestFigureBeforeAll(t *testing.T) {
	s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
	s.context(0)
	s.later(ms(10))
	s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(436 * mib)}})
	s.later(ms(10))
	s.alloc(1, 300*mib)
	s.alloc(2, 64*mib)
	if p := s.of(0, 7).Peak; p.Bytes != 800*mib || p.Source != sampler.PeakCalls {
		t.Errorf("%+v", p)
	}
}

// Where one thread gives memory back while another is given some the two may have been held at the same time: the most that was held is at least what
// calls tell, until more was for sure.
func TestPeakOfOverlappingCalls(t *testing.T) {
	for name, row := range map[string]struct {
		tid         int           // that gives back
		after       time.Duration // of that, it is answered
		more        sampler.Bytes // granted later
		overlapping bool
	}{
		"another thread, at the same time": {99, 0, 0, true},
		"and more later":                   {99, 0, 6 * mib, false},
		"and a little later":               {99, 0, 5 * mib, true},
		"the same thread":                  {7, 0, 0, false},
		"another one, before that":         {99, ms(5), 0, false},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, 10*mib)
		s.alloc(2, 6*mib)
		s.later(ms(20))
		s.call("cuMemFree_v2", Call{TID: row.tid, Address: 2, Device: -1})
		s.later(row.after)
		s.call("cuMemAlloc_v2", Call{Address: 3, Size: uint64(20 * mib), Context: 0xc000, Device: -1, Took: time.Millisecond})
		if row.more > 0 {
			s.later(ms(20))
			s.alloc(4, row.more)
		}
		r := s.requests(0)
		if r.Peak != 30*mib+row.more || r.Overlapping != row.overlapping || !r.Whole {
			t.Errorf("%s: peak %v, overlapping %v, whole %v", name, r.Peak, r.Overlapping, r.Whole)
		}
	}
}

// Whose first calls were missed though it began under our eyes, for its libcuda was new, has no exact peak: the driver's figure may be from amid them.
func TestPeakOfWhoWasMissed(t *testing.T) {
	for pid, want := range map[int]string{6: sampler.PeakCalls, 8: sampler.PeakAtLeast} { // 6 was there before
		s := newScene(t, 1, people{pid: {}})
		s.list(0, pid, sampler.Some(gib))
		s.apply()
		s.Late(pid, s.now)
		s.call("cuMemAlloc_v2", Call{PID: pid, Address: 1, Size: uint64(mib), Context: 0xc000, Device: 0})
		s.call("cuMemFree_v2", Call{PID: pid, Address: 1, Device: -1})
		s.later(ms(50))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: pid, Memory: sampler.Some(8 * gib)}})
		s.later(ms(50))
		s.call("cuMemAlloc_v2", Call{PID: pid, Address: 2, Size: uint64(2 * gib), Context: 0xc000, Device: 0})
		s.later(ms(50))
		if p := s.of(0, pid).Peak; p == nil || p.Bytes != 10*gib || p.Source != want {
			t.Errorf("process %d: %+v, want %s", pid, p, want)
		}
	}
}

// A figure that is taken while a call is still under way may have what it gives: no peak is told that never was. One that is lower than that gives has it not.
func TestFigureAmidCall(t *testing.T) {
	const context = 500 * mib
	for had, want := range map[bool]string{true: sampler.PeakAtLeast, false: sampler.PeakCalls} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, gib)
		s.later(ms(100))
		n := gib + context
		if had {
			n += 2 * gib
		}
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(n)}})
		s.later(ms(20))
		s.apply()
		s.later(ms(60))
		s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(2 * gib), Context: 0xc000, Device: -1, Took: ms(120)})
		p := s.of(0, 7)
		if p.Peak == nil || p.Peak.Bytes != 3*gib+context || p.Peak.Source != want {
			t.Errorf("the figure had it (%v): %+v", had, p.Peak)
		}
	}
}

// What a process has held for sure it has held, whatever comes after: another program, a pool, a context during which a list says nothing.
func TestPeakStays(t *testing.T) {
	const context = 300 * mib
	for name, row := range map[string]struct {
		then   func(*scene)
		source string
	}{
		"it runs another program": {func(s *scene) {
			s.Execed(7, s.now)
			s.later(time.Second)
			s.context(0)
			s.alloc(1, 100*mib)
		}, sampler.PeakCalls},
		"it does at once": {func(s *scene) {
			s.Execed(7, s.now)
			s.context(0)
			s.alloc(1, 100*mib)
		}, sampler.PeakCalls},
		"it asks a pool": {func(s *scene) {
			s.call("cuMemAllocAsync", Call{Address: 3, Size: uint64(100 * mib), Context: 0xc000, Other: 1, Device: -1})
		}, sampler.PeakCallsAlone},
		"it makes a context as the driver lists it": {func(s *scene) {
			s.later(300 * time.Millisecond)
			s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(context + 1100*mib)}})
			s.later(300 * time.Millisecond)
			s.apply()
			s.call("cuCtxCreate_v2", Call{Address: 0xd000, Device: 0, Took: 500 * time.Millisecond})
		}, sampler.PeakAtLeast},
	} {
		s := newScene(t, 1, people{7: {Environment: map[string]string{}}})
		s.context(0)
		s.alloc(1, gib)
		s.later(ms(100))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(gib + context)}})
		s.later(ms(100))
		s.apply() // the figure is taken
		s.alloc(2, 4*gib)
		before := sampler.Peak{Bytes: 5*gib + context, Time: s.now}
		s.free(2)
		if name != "it does at once" { // no snapshot has told it
			if p := *s.of(0, 7).Peak; p.Bytes != before.Bytes || p.Source != sampler.PeakCalls {
				t.Fatalf("%s: before, %+v", name, p)
			}
		}
		row.then(s)
		if p := s.of(0, 7).Peak; p == nil || p.Bytes != before.Bytes || !p.Time.Equal(before.Time) || p.Source != row.source {
			t.Errorf("%s: %+v, not %+v by %s", name, p, before, row.source)
		}
	}
}

// A process that ends while it asks for memory may have been given that: where it would have held more than ever, its peak is at least what is known.
func TestPeakOfWhoEndedAsking(t *testing.T) {
	for name, row := range map[string]struct {
		asking sampler.Bytes
		want   string
	}{
		"for nothing":                 {0, sampler.PeakCalls},
		"for as much as it gave back": {gib, sampler.PeakCalls},
		"for more":                    {gib + 1, sampler.PeakAtLeast},
	} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.alloc(1, gib)
		s.alloc(2, gib)
		s.later(ms(100))
		s.Listed(s.gpus[0].Key(), s.now, []sampler.Process{{PID: 7, Memory: sampler.Some(2*gib + 500*mib)}})
		s.later(ms(100))
		s.apply()
		s.free(2)
		s.later(ms(100))
		s.Tracker.Ended(7, s.now, 9, []UnderWay{{PID: 7, TID: 7, Function: function("cuMemAlloc_v2"), Size: uint64(row.asking), Began: s.now}})
		if p := s.of(0, 7).Peak; p == nil || p.Bytes != 2*gib+500*mib || p.Source != row.want {
			t.Errorf("%s: %+v, want %s", name, p, row.want)
		}
	}
}

// What is known of a process's peak stays known when another of its threads asks for the first time, on the same GPU.
func TestPeakWithAnotherThread(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.Late(7, s.now)
	listed := func(n sampler.Bytes) {
		s.gpus[0].Processes = nil
		s.list(0, 7, sampler.Some(n))
		s.listAll()
		s.later(ms(50))
	}
	ask := func(tid int, at uint64, n sampler.Bytes) {
		s.call("cuMemAlloc_v2", Call{TID: tid, Address: at, Size: uint64(n), Device: -1})
		s.later(ms(50))
	}
	ask(8, 1, 100*mib)
	listed(gib + 100*mib)
	s.apply()
	ask(8, 2, 500*mib)
	s.free(1 << 40) // of before
	s.free(2)
	s.later(ms(300))
	ask(9, 3, 10*mib)
	listed(gib - 90*mib)
	if p := s.of(0, 7).Peak; p == nil || p.Bytes != gib+600*mib {
		t.Errorf("%+v", p)
	}
}

// A list that is told of after memory of before anybody looked was given back may have that still: it is no figure of what there was before the first request.
func TestListBeforeGivenBack(t *testing.T) {
	for name, late := range map[string]bool{"told before": false, "told after": true} {
		s := newScene(t, 1, people{7: {}})
		s.Late(7, s.now)
		s.list(0, 7, sampler.Some(gib))
		s.apply()
		at := s.now
		if !late {
			s.Listed(s.gpus[0].Key(), at, s.gpus[0].Processes)
		}
		s.later(ms(20))
		s.free(1 << 40)
		if late {
			s.Listed(s.gpus[0].Key(), at, s.gpus[0].Processes)
		}
		if f := s.processes[7].figures; len(f) > 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
