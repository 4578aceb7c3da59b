package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// The largest request is told with when it was made first, and counts as lately made for a minute.
func TestLargest(t *testing.T) {
	const slot = recentFor / recentSlots
	var y tally
	y.asked(noon, 10)
	y.asked(noon.Add(time.Second), 10)
	y.asked(noon.Add(2*time.Second), 9)
	if y.largest != 10 || !y.largestAt.Equal(noon) {
		t.Errorf("%d at %v", y.largest, y.largestAt)
	}
	for after, want := range map[time.Duration]sampler.Bytes{0: 10, 11 * slot: 10, 12 * slot: 0} {
		if got := y.lately(noon.Add(after)); got != want {
			t.Errorf("%v later: %d, want %d", after, got, want)
		}
	}
}

// How late, how small and by whom a further try or a smaller plan may be.
func TestTriesAndPlans(t *testing.T) {
	for name, row := range map[string]struct {
		after time.Duration
		tid   int
		n     sampler.Bytes
		tries int
	}{
		"at once": {0, 1, 800, 2}, "as late as may be": {retryWithin, 1, 800, 2}, "later": {retryWithin + 1, 1, 800, 1},
		"of more": {0, 1, 801, 1}, "of another thread": {0, 2, 800, 1},
	} {
		var y tally
		y.refuse(&Call{Time: noon, TID: 1}, 800)
		y.refuse(&Call{Time: noon.Add(row.after), TID: row.tid}, row.n)
		if y.refusal.Tries != row.tries {
			t.Errorf("%s: %d tries, want %d", name, y.refusal.Tries, row.tries)
		}
	}
	for name, row := range map[string]struct {
		after   time.Duration
		tid     int
		n       sampler.Bytes
		outcome string
	}{
		"an eighth": {0, 1, 100, sampler.RefusalOther}, "less than an eighth": {0, 1, 99, sampler.RefusalOpen},
		"as late as may be": {retryWithin, 1, 100, sampler.RefusalOther}, "later": {retryWithin + 1, 1, 100, sampler.RefusalOpen},
		"another thread": {0, 2, 800, sampler.RefusalOpen},
	} {
		var y tally
		y.refuse(&Call{Time: noon, TID: 1}, 800)
		y.other(&Call{Time: noon.Add(row.after), TID: row.tid}, row.n)
		if y.refusal.Outcome != row.outcome {
			t.Errorf("another kind of memory, %s: %q, want %q", name, y.refusal.Outcome, row.outcome)
		}
	}
}

// Two tallies of one GPU become one.
func TestJoin(t *testing.T) {
	refused := func(at time.Duration) *refusal { return &refusal{last: noon.Add(at)} }
	one, two := refused(1), refused(2)
	for name, row := range map[string]struct {
		a, b, want *refusal
		partly     [2]bool
	}{
		"none": {nil, nil, nil, [2]bool{}}, "the first": {one, nil, one, [2]bool{true, false}}, "the second": {nil, one, one, [2]bool{false, true}},
		"the later one": {one, two, two, [2]bool{}}, "the later one, here": {two, one, two, [2]bool{true, true}},
	} {
		a, b := &tally{refusal: row.a, partly: row.partly[0], largest: 5, largestAt: noon}, &tally{refusal: row.b, partly: row.partly[1], largest: 5, largestAt: noon.Add(1)}
		if a.join(b, 0); a.refusal != row.want || a.partly != (row.partly[0] || row.partly[1]) || !a.largestAt.Equal(noon) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	a, b := &tally{live: 10, peak: 30, granted: 1}, &tally{live: 25, peak: 26, granted: 2, largest: 7, largestAt: noon}
	for i, slots := range [][4]int64{{1, 50, 1, 60}, {1, 60, 1, 50}, {2, 50, 1, 60}, {1, 60, 2, 50}} { // slot and largest of each
		a.recent[i].slot, a.recent[i].largest = slots[0], sampler.Bytes(slots[1])
		b.recent[i].slot, b.recent[i].largest = slots[2], sampler.Bytes(slots[3])
	}
	a.join(b, 36)
	if a.live != 35 || a.peak != 36 || a.exact.since != 36 || a.granted != 3 || a.largest != 7 || !a.largestAt.Equal(noon) {
		t.Errorf("%+v", a)
	}
	for i, want := range []sampler.Bytes{60, 60, 50, 50} {
		if a.recent[i].largest != want {
			t.Errorf("slot %d: %d, want %d", i, a.recent[i].largest, want)
		}
	}
}

// What a GPU can give bounds what is held of it, where it is known.
func TestMostOfAGPU(t *testing.T) {
	for name, row := range map[string]struct {
		gpu  *gpu
		want sampler.Bytes
	}{"not known which": {nil, sampler.MaxPlausible}, "not known how much": {&gpu{}, sampler.MaxPlausible}, "known": {&gpu{usable: 100}, 100}} {
		y := tally{gpu: row.gpu}
		free, _ := row.gpu.free(noon)
		if got := y.most(); got != row.want || free.Known() != (row.want == 100) {
			t.Errorf("%s: %d", name, got)
		}
	}
	var r gpu
	r.usable = 100
	r.take(noon, 1)
	for i, n := range []int64{99, 0, 1} {
		r.give(noon.Add(ms(10+i)), moveAt(noon.Add(ms(10+i)), n)) // full; full again; more than there is
	}
	if r.top != 100 || !r.topAt.Equal(noon.Add(ms(10))) {
		t.Errorf("top %d at %v", r.top, r.topAt)
	}
}

// A reading is sure while no call near it has been forgotten.
func TestForgottenMoves(t *testing.T) {
	for name, row := range map[string]struct {
		moves int
		from  int // ms of the first
		at    int
		want  bool
	}{
		"as many as are kept, all later":    {keptMoves, 100, 50, true},
		"one more, all later":               {keptMoves + 1, 100, 50, false}, // the one that is forgotten may have been near
		"one more, and it was long before":  {keptMoves + 1, 100, 1000, true},
		"one of them in the same instant":   {1, 50, 50, false},
		"one of them as near as may be":     {1, 51, 50, false},
		"one of them no longer so near":     {1, 52, 50, true},
		"one more, the oldest kept at that": {keptMoves + 1, 100, 101, false},
	} {
		var g gpu
		for i := range row.moves {
			g.add(moveAt(noon.Add(ms(row.from+i)), 1))
		}
		if got := g.sure(noon.Add(ms(row.at))); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A use that came and went between readings is told where it stands out from all that they saw.
func TestCorrect(t *testing.T) {
	known := func(n sampler.Bytes) sampler.Opt[sampler.Bytes] { return sampler.Some(n) }
	window := func(readings int, most sampler.Bytes) *sampler.Window {
		return &sampler.Window{Readings: readings, Max: most}
	}
	for name, row := range map[string]struct {
		top    sampler.Bytes
		used   sampler.Opt[sampler.Bytes]
		window *sampler.Window
		want   bool
	}{
		"no calls":                       {0, known(0), nil, false},
		"stands out":                     {shorter + 11, known(10), nil, true},
		"does not":                       {shorter + 10, known(10), nil, false},
		"from the most":                  {shorter + 21, known(10), window(1, 20), true},
		"not from the most":              {shorter + 20, known(10), window(1, 20), false},
		"the most of no reading":         {shorter + 20, known(10), window(0, 20), true},
		"nothing else is known":          {shorter + 20, sampler.Opt[sampler.Bytes]{}, nil, false},
		"only the most is known":         {shorter + 21, sampler.Opt[sampler.Bytes]{}, window(1, 20), true},
		"only the most, and as high":     {shorter + 20, sampler.Opt[sampler.Bytes]{}, window(1, 20), false},
		"used is more than the most was": {shorter + 30, known(30), window(1, 20), false},
	} {
		g := gpu{top: row.top, topAt: noon}
		m := sampler.Memory{Used: row.used, Window: row.window}
		g.correct(&m)
		if (m.Peak != nil) != row.want || row.want && (m.Peak.Bytes != row.top || m.Peak.Source != sampler.PeakCalls) || g.top != 0 {
			t.Errorf("%s: %+v", name, m.Peak)
		}
		if raised := m.Window != nil && m.Window.Max == row.top; raised != (row.want && row.window != nil && row.window.Readings > 0) {
			t.Errorf("%s: window %+v", name, m.Window)
		}
	}
	if shorter != 32*mib {
		t.Errorf("%s", sampler.Bytes(shorter))
	}
}

// The GPU of a seat: only many calls that another GPU follows better overrule what the program says, and the driver's list outweighs
// both.
func TestPlaces(t *testing.T) {
	a, b, c := sampler.GPUKey{ID: "GPU-0"}, sampler.GPUKey{ID: "GPU-1"}, sampler.GPUKey{ID: "GPU-2"}
	type scores = map[sampler.GPUKey]float64
	for name, row := range map[string]struct {
		device int
		scores scores
		on     []sampler.GPUKey
		want   sampler.GPUKey
	}{
		"the environment":                             {0, nil, nil, a},
		"another is followed a little":                {0, scores{b: overrule - 1}, nil, a},
		"another is followed":                         {0, scores{b: overrule}, nil, b},
		"and the one that is said, too":               {0, scores{a: 30.1, b: 90}, nil, a},
		"the one that is said is followed less":       {0, scores{a: 30, b: 90}, nil, b},
		"hardly less":                                 {0, scores{a: 10.1, b: 50}, nil, a},
		"the one that is said is not, another is":     {0, scores{a: -30, b: 10}, nil, b},
		"a third is, too":                             {0, scores{b: 60, c: 20.1}, nil, a},
		"a third is less":                             {0, scores{b: 60, c: 20}, nil, b},
		"followed, but listed elsewhere":              {0, scores{b: 90}, []sampler.GPUKey{a}, a},
		"followed, listed on both":                    {0, scores{b: 90}, []sampler.GPUKey{a, b}, b},
		"followed where it is not, of two":            {0, scores{a: 90}, []sampler.GPUKey{b, c}, sampler.GPUKey{}},
		"listed elsewhere than the environment":       {0, nil, []sampler.GPUKey{b}, b},
		"listed on two others, one follows":           {0, scores{b: 2.5}, []sampler.GPUKey{b, c}, b},
		"nothing is said":                             {-1, nil, []sampler.GPUKey{a, b}, sampler.GPUKey{}},
		"nothing is said, one follows":                {-1, scores{b: 2.5}, []sampler.GPUKey{a, b}, b},
		"nothing is said, one follows nearly":         {-1, scores{b: 2.4}, []sampler.GPUKey{a, b}, sampler.GPUKey{}},
		"nothing is said, one follows clearly better": {-1, scores{a: 2.4, b: 7.4}, []sampler.GPUKey{a, b}, b},
		"nothing is said, one follows better":         {-1, scores{a: 2.4, b: 7.3}, []sampler.GPUKey{a, b}, sampler.GPUKey{}},
	} {
		s := newScene(t, 3, people{7: {Environment: map[string]string{}}})
		s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: row.device})
		s.apply()
		p := s.processes[7]
		seat := p.seats[0]
		seat.follow = map[sampler.GPUKey]*follower{}
		for key, score := range row.scores {
			seat.follow[key] = &follower{score: score, judged: again, agreed: again}
		}
		seat.elect()
		s.listed = map[int][]sampler.GPUKey{7: row.on}
		if got, _ := s.place(p, seat); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Where a call asks: at the device that it names, at that of its context, or where only its context or thread is known.
func TestSeats(t *testing.T) {
	p := newProcess(7)
	p.handles[5] = 1
	p.uncovered = map[int]int{10: 1}
	for name, row := range map[string]struct {
		call Call
		want seatKey
	}{
		"a device":                        {Call{Device: 0, TID: 9}, seatKey{device: 0}},
		"a device, and another's context": {Call{Device: 0, Context: 5, TID: 9}, seatKey{device: 0}},
		"the device of a context":         {Call{Device: -1, Context: 5, TID: 9}, seatKey{device: 1}},
		"a context":                       {Call{Device: -1, Context: 6, TID: 9}, seatKey{device: -1, handle: 6}},
		"a thread":                        {Call{Device: -1, TID: 9}, seatKey{device: -1, tid: 9}},
		"what it had below":               {Call{Device: -1, TID: 9, Era: 1}, seatKey{device: -1, tid: 9, era: 1}},
		"what lay below what was ended":   {Call{Device: -1, TID: 10}, seatKey{device: -1, tid: 10, era: 1}},
		"and what lay below that":         {Call{Device: -1, TID: 10, Era: 1}, seatKey{device: -1, tid: 10, era: 2}},
		"a context of a later era":        {Call{Device: -1, Context: 6, TID: 9, Era: 1}, seatKey{device: -1, handle: 6}},
	} {
		if got := p.seat(&row.call, false).key; got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

// What ends with a device, and what with a context.
func TestEndsWhat(t *testing.T) {
	for name, row := range map[string]struct {
		device  int
		address uint64
		left    int
		handles int
	}{
		"device 0": {0, 7, 2, 1}, "device 1": {1, 0, 1, 1}, "device 2": {2, 7, 3, 1}, "context 7": {-1, 7, 2, 0}, "a context of nobody": {-1, 0, 3, 1}, "context 8": {-1, 8, 3, 1},
	} {
		p := newProcess(7)
		p.handles[7] = 1
		for i, device := range []int{0, 1, -1} {
			context := uint64(0)
			if device < 0 {
				context = 7
			}
			for _, memory := range []Memory{Piece, Pool} {
				p.blocks[where{memory, uint64(i)}] = &block{seat: &seat{key: seatKey{device: device}}, context: context, memory: memory}
			}
			p.blocks[where{at: uint64(i)}] = &block{seat: &seat{key: seatKey{device: device}, tally: &tally{gpu: &gpu{}}}, context: context, bytes: 1, memory: Device, refs: 1}
		}
		p.ends(&Call{Device: row.device, Address: row.address, Function: function("cuCtxDestroy_v2")})
		if len(p.blocks) != row.left+6 || len(p.handles) != row.handles {
			t.Errorf("%s: %d blocks and %d handles are left, want %d and %d", name, len(p.blocks), len(p.handles), row.left+6, row.handles)
		}
	}
	for memory, want := range map[Memory]int{Device: 1, Piece: 1, Managed: 0, Pool: 0} { // the driver moves what is not the GPU's
		g, p := &gpu{}, newProcess(7)
		b := &block{seat: &seat{tally: &tally{gpu: g, live: 1}}, bytes: 1, memory: memory}
		if p.drop(&Call{Time: noon}, where{}, b); g.moved != want {
			t.Errorf("memory of kind %d: %d moves on the GPU, want %d", memory, g.moved, want)
		}
	}
}

// The driver's figure follows the calls or not by changes that are large enough to tell.
func TestFollows(t *testing.T) {
	for name, row := range map[string]struct {
		live, listed sampler.Bytes // from 100 MiB live, with 20 MiB that no call asks for
		want         bool
	}{
		"it follows up":        {132 * mib, 152 * mib, false},
		"it follows down":      {60 * mib, 80 * mib, false},
		"it does not up":       {132 * mib, 120 * mib, true},
		"it does not down":     {60 * mib, 120 * mib, true},
		"too little to tell":   {131 * mib, 120 * mib, false},
		"as little, downwards": {69 * mib, 120 * mib, false},
		"half of it":           {132 * mib, 136 * mib, false},
		"less than half of it": {132 * mib, 135 * mib, true},
	} {
		e := exact{base: sampler.Some(20 * mib), with: 100 * mib, listed: sampler.Some(row.listed), listedAt: noon.Add(time.Second)}
		if e.settle(noon.Add(2*time.Second), row.live); e.apart != row.want {
			t.Errorf("%s: apart %v", name, e.apart)
		}
	}
}

// A reading with a call near it, which may be in it or not, has it in it when it stood for a while: what no call tells, such as a
// context, is in it as well, and not in the reading before.
func TestReadingThatStood(t *testing.T) {
	for name, row := range map[string]struct {
		second int // ms of the next call
		until  int // of which readings have been passed on
		want   sampler.Bytes
	}{"it stood": {600, 700, 4500}, "not for long": {400, 700, 4000}, "others may be under way": {600, 500, 4000}} {
		var g gpu
		g.usable, g.readUntil = 8000, noon.Add(ms(row.until))
		g.take(noon, 0)
		g.take(noon.Add(ms(100)), 1500) // a context of 500, and the 1000 that are given next
		g.give(noon.Add(ms(101)), moveAt(noon.Add(ms(101)), 1000))
		g.give(noon.Add(ms(100+row.second)), moveAt(noon.Add(ms(100+row.second)), 3000))
		if g.top != row.want {
			t.Errorf("%s: %d, not %d", name, g.top, row.want)
		}
	}
}

// Readings come later than calls: the newest that is known has not stood until now if the readings of meanwhile are still to come.
func TestFreeBeforeReadings(t *testing.T) {
	for until, want := range map[int]sampler.Bytes{700: 7000, 50: 6200} {
		var g gpu
		g.usable, g.readUntil = 8000, noon.Add(ms(until))
		g.take(noon, 1000)
		g.add(moveAt(noon.Add(ms(1)), 300)) // it may be in that or not
		g.add(moveAt(noon.Add(ms(100)), 500))
		if got, _ := g.free(noon.Add(ms(690))); got != sampler.Some(want) {
			t.Errorf("with readings until %d ms: %v are free, not %v", until, got, want)
		}
	}
}

// moveAt is a move that took no time.
func moveAt(at time.Time, n int64) move { return moveOf(&Call{Time: at}, n, nil) }
