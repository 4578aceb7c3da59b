package watch

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// steady is a process that holds 10000 MiB of a GPU of 20000, and so can have all of it.
func steady() (*Facts, *series.Series) {
	f := fullOf(10000, processOf(7, "python a.py", 10000))
	return f, &f.gpu.procs[0].series
}

// known is a pattern of five brief spikes of 5000 MiB each ten minutes, from 10000 MiB, of which none tells that the next
// will not fit.
func knownSpikes() series.Pattern {
	return series.Pattern{Count: 5, Seen: 5, Last: 60, Period: 600, Regular: true, Low: 5000, High: 5000, Newest: 15000, Top: 15000, Most: 15000,
		Mean: 15000, Level: 10000, Even: true, Width: 10, Free: 10000}
}

// The next spike does not fit by how the level has risen since, by what others took, by how the tops rise, or by how
// much they vary; readings may be off by 0.2 % of the GPU, here 40 MiB.
func TestExpects(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*series.Pattern)
		top    float64 // 0: it fits
		later  int
	}{
		"as known":           {func(*series.Pattern) {}, 0, 0},
		"on a risen level":   {func(p *series.Pattern) { p.Level, p.Newest = 9919, 19960 }, 20041, 0},
		"that just fits":     {func(p *series.Pattern) { p.Level, p.Newest = 9919, 19959 }, 0, 0},
		"risen by 0.4 %":     {func(p *series.Pattern) { p.Level, p.Newest = 9920, 19990 }, 0, 0},
		"others took 2 %":    {func(p *series.Pattern) { p.Top, p.Free = 20041, 10400 }, 20041, 0},
		"that just fits too": {func(p *series.Pattern) { p.Top, p.Free = 20040, 10400 }, 0, 0},
		"others took less":   {func(p *series.Pattern) { p.Top, p.Free = 20041, 10399 }, 0, 0},
		"of two spikes":      {func(p *series.Pattern) { p.Top, p.Free, p.Count = 20041, 10400, series.SpikesNeeded-1 }, 0, 0},
		"tops rise":          {func(p *series.Pattern) { p.Newest, p.Rise = 19001, 1000 }, 20001, 0},
		"one step further":   {func(p *series.Pattern) { p.Newest, p.Rise = 19000, 1000 }, 21000, 1},
		"still one further":  {func(p *series.Pattern) { p.Newest, p.Rise = 18001, 1000 }, 20001, 1},
		"two steps further":  {func(p *series.Pattern) { p.Newest, p.Rise = 18000, 1000 }, 0, 0},
		"one leaps after":    {func(p *series.Pattern) { p.Newest, p.Before = 19801, 200 }, 20001, 0},
		"and fits yet":       {func(p *series.Pattern) { p.Newest, p.Before = 19800, 200 }, 0, 0},
		"tops fall":          {func(p *series.Pattern) { p.Newest, p.Rise = 19990, -1 }, 0, 0},
		"long ones rise":     {func(p *series.Pattern) { p.Newest, p.Rise, p.Width, p.Regular, p.Period = 19001, 1000, 599, false, 600 }, 0, 0},
		"long and regular":   {func(p *series.Pattern) { p.Newest, p.Rise, p.Width, p.Count = 19001, 1000, 599, climbsNeeded }, 20001, 0},
		"too few of them":    {func(p *series.Pattern) { p.Newest, p.Rise, p.Width, p.Count = 19001, 1000, 599, climbsNeeded-1 }, 0, 0},
		"long, equal rises": {func(p *series.Pattern) {
			p.Newest, p.Rise, p.Width, p.Regular, p.Equal, p.Period = 19001, 1000, 29, false, true, 30
		}, 20001, 0},
		"steps of a loop": {func(p *series.Pattern) {
			p.Newest, p.Rise, p.Width, p.Regular, p.Equal, p.Period = 19001, 1000, 29, false, true, 29
		}, 0, 0},
		"they vary":        {func(p *series.Pattern) { p.Mean, p.Deviation = 19039, 501 }, 20041, 0},
		"but fit":          {func(p *series.Pattern) { p.Mean, p.Deviation = 19038, 501 }, 0, 0},
		"uneven ones vary": {func(p *series.Pattern) { p.Mean, p.Deviation, p.Even = 19039, 501, false }, 0, 0},
		"long ones vary":   {func(p *series.Pattern) { p.Mean, p.Deviation, p.Width, p.Regular = 19039, 501, 599, false }, 0, 0},
	} {
		f, s := steady()
		p := knownSpikes()
		row.change(&p)
		e, ok := expects(f, s, p)
		if ok != (row.top > 0) || ok && (e.top != row.top || e.later != row.later || e.available != 20000) {
			t.Errorf("%s: %v, %+v, want %v", name, ok, e, row.top)
		}
	}
	for left, want := range map[float64]bool{499: true, 500: false} { // each leaves 500 MiB less to others, who take it
		f, s := steady()
		p := knownSpikes()
		p.Left, p.Sinks = left, 500
		if e, ok := expects(f, s, p); ok != want || ok && (e.top != p.Newest || e.available != p.Newest-1) {
			t.Errorf("%v MiB left: %v %+v", left, ok, e)
		}
	}
	f, s := steady() // its next fits by its own rise, but not beside what others take meanwhile
	p := knownSpikes()
	p.Newest, p.Rise, p.Left, p.Sinks = 19000, 600, 700, 900
	if e, ok := expects(f, s, p); !ok || e.later != 0 || e.top-e.available != 200 {
		t.Errorf("it rises, and others grow: %v %+v", ok, e)
	}
	for falls, want := range map[int]bool{fallsEach * 5: false, fallsEach*5 - 1: true} { // it empties its cache before and after each
		f, s := steady()
		p := knownSpikes()
		p.Newest, p.Rise = 19001, 1000
		f.gpu.near.fallen(f.now, falls)
		if _, ok := expects(f, s, p); ok != want {
			t.Errorf("after %d falls: %v", falls, ok)
		}
	}
	for logged, want := range map[float64]float64{11500: 0, 15900: 20000, 15950: 20050, 18000: 20100} { // a level as far up as a spike ended: what the log counts on top is none
		f, s := steady()
		p := knownSpikes()
		p.Level, p.Newest, p.Count, p.Even = 2000, 12100, 1, false
		p.Low, p.High, p.Last = 9000, 9000, 60
		for i := range 2 * tensorsFew {
			f.tensors.add(float64(40+5*i+map[bool]int{true: 40}[i >= tensorsFew]), map[bool]float64{true: logged, false: 8000}[i >= tensorsFew])
		}
		if e, ok := expects(f, s, p); ok != (want > 20040) || ok && e.top != want {
			t.Errorf("%v MiB of tensors: %v %+v", logged, ok, e)
		}
	}
	for count, want := range map[int]bool{risesUnlisted: true, risesUnlisted - 1: false} { // they may be those of several programs
		f, s := steady()
		p := knownSpikes()
		p.Newest, p.Rise, p.Count, f.gpu.listed = 19001, 1000, count, false
		if _, ok := expects(f, s, p); ok != want {
			t.Errorf("of %d, without a list: %v", count, ok)
		}
	}
}

// Tops that rise to what the holder had at its start already are no climb; the next above it begins one.
func TestRisesToTheStart(t *testing.T) {
	for start, want := range map[float64]bool{10000: true, 17950: false, 16950: true} {
		w := New(Options{})
		for at := range 2500 {
			used := 10000.0
			switch {
			case at >= 20 && at < 25:
				used = start
			case at >= 600 && at%600 < 10:
				used = 15000 + 1000*math.Floor(float64(at)/600) // up to 19000, of 20000
			}
			w.Add(snapshotOf(float64(at), 20000, used, processOf(7, "python a.py", used)))
		}
		told := slices.ContainsFunc(w.Past(), func(a sampler.Alert) bool { return a.Kind == sampler.AlertRepeatSpike })
		if told != want {
			t.Errorf("%v MiB at the start: told %v, want %v", start, told, want)
		}
	}
}

// Spikes vary by chance when five to eighty of them, half a minute apart or more, differ by over 1 % of the GPU.
func TestVaries(t *testing.T) {
	for name, row := range map[string]struct {
		p    series.Pattern
		want bool
	}{
		"they do":           {series.Pattern{Count: 5, Seen: 80, Period: 30, Deviation: 201}, true},
		"too few":           {series.Pattern{Count: 4, Seen: 80, Period: 30, Deviation: 201}, false},
		"too many":          {series.Pattern{Count: 5, Seen: 81, Period: 30, Deviation: 201}, false},
		"steps of a loop":   {series.Pattern{Count: 5, Seen: 80, Period: 29, Deviation: 201}, false},
		"of about one size": {series.Pattern{Count: 5, Seen: 80, Period: 30, Deviation: 200}, false},
	} {
		if got := varies(row.p, 20000); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The level has risen by up to three fifths of what spikes give back; what rises by more is one.
func TestLevelRisen(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*series.Pattern)
		want   float64
	}{
		"some":               {func(p *series.Pattern) { p.Level, p.Low = 7001, 5000 }, 2999},
		"as much as a spike": {func(p *series.Pattern) { p.Level, p.Low, p.Even = 7000, 5000, false }, nan},
		"of known spikes":    {func(p *series.Pattern) { p.Level, p.Low = 7000, 5000 }, 3000},
		"of too few of them": {func(p *series.Pattern) { p.Level, p.Low, p.Count = 7000, 5000, series.SpikesNeeded-1 }, nan},
		"of long ones":       {func(p *series.Pattern) { p.Level, p.Low, p.Width = 7000, 5000, 599 }, nan},
		"fallen":             {func(p *series.Pattern) { p.Level = 11000 }, -1000},
	} {
		f, s := steady()
		p := knownSpikes()
		row.change(&p)
		if got := risen(f.now, s, p); !equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// A spike that will not fit is critical a minute before it is due; when it comes is said only where they come regularly
// and are brief, where it is the next one that does not fit, and where nothing saved the program before.
func TestSpikeDue(t *testing.T) {
	for name, row := range map[string]struct {
		last   float64 // it is 1000 s, and they come each 600
		change func(*Facts, *series.Pattern, *expectation)
		level  string
		eta    sampler.Opt[float64]
	}{
		"in a minute":   {460, func(*Facts, *series.Pattern, *expectation) {}, "critical", sampler.Some(60.0)},
		"later":         {461, func(*Facts, *series.Pattern, *expectation) {}, "warning", sampler.Some(61.0)},
		"overdue":       {300, func(*Facts, *series.Pattern, *expectation) {}, "critical", sampler.Some(0.0)},
		"the one after": {401, func(f *Facts, p *series.Pattern, e *expectation) { e.later = 1 }, "warning", sampler.Some(601.0)},
		"irregular":     {460, func(f *Facts, p *series.Pattern, e *expectation) { p.Regular = false }, "warning", sampler.Opt[float64]{}},
		"of no period":  {460, func(f *Facts, p *series.Pattern, e *expectation) { p.Period = 0 }, "warning", sampler.Opt[float64]{}},
		"by chance":     {460, func(f *Facts, p *series.Pattern, e *expectation) { e.chance = true }, "warning", sampler.Opt[float64]{}},
		"brief":         {460, func(f *Facts, p *series.Pattern, e *expectation) { p.Width = 360 }, "critical", sampler.Some(60.0)},
		"phases":        {460, func(f *Facts, p *series.Pattern, e *expectation) { p.Width = 361 }, "warning", sampler.Opt[float64]{}},
		"saved before":  {460, func(f *Facts, p *series.Pattern, e *expectation) { f.gpu.near.count = 1 }, "warning", sampler.Opt[float64]{}},
		"by hand": {460, func(f *Facts, p *series.Pattern, e *expectation) {
			f.gpu.busy, f.gpu.procs[0].process = 0, &sampler.Process{Command: "ipython"}
		}, "notice", sampler.Some(60.0)},
	} {
		f, s := steady()
		p := knownSpikes()
		p.Last, f.now = row.last, 1000
		var e expectation
		row.change(f, &p, &e)
		if got := spikeFinding(f, s, 7, p, e); got.level != row.level || got.eta != row.eta || got.pid != 7 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An alert of a spike names the others where they hold half of what is missing.
func TestSpikeAdvice(t *testing.T) {
	for other, want := range map[float64]bool{1500: true, 1499: false} {
		f := fullOf(10000+other, processOf(7, "python a.py", 10000), processOf(8, "python b.py", other))
		m := renderSpike(f, 7, 10000, knownSpikes(), expectation{top: 23000 - other, available: 20000 - other}, nan)
		got := false
		for _, a := range m.advice {
			got = got || a.ID == "stop_other_process"
		}
		if got != want {
			t.Errorf("%v MiB of another: %+v", other, m.advice)
		}
		if m.numbers["need_bytes"] != bytesOf(13000-other) || m.numbers["free_bytes"] != bytesOf(10000-other) || m.numbers["short_bytes"] != bytesOf(3000) {
			t.Errorf("%v", m.numbers)
		}
		if _, due := m.numbers["due_s"]; due || m.numbers["period_s"] != 600 {
			t.Errorf("%v", m.numbers)
		}
	}
}

// An outlook names the program that fills the GPU by design when it holds over half of what is used, and the highest
// spikes that came twice.
func TestOutlookBounds(t *testing.T) {
	for held, want := range map[float64]string{5001: "vLLM", 5000: ""} {
		w := New(Options{})
		s := snapshotOf(0, 20000, 10000, processOf(7, "vllm serve", held))
		w.Add(s)
		if o, ok := w.Outlook(s.GPUs[0].Key()); !ok || o.ByDesign != want || o.Spike.Known() {
			t.Errorf("%v of 10000: %+v", held, o)
		}
	}
	w := New(Options{})
	if _, ok := w.Outlook(sampler.GPUKey{ID: "x"}); ok {
		t.Error("there is an outlook of an unknown GPU")
	}
	for i := range 760 {
		at := float64(i)
		s := snapshotOf(at, 20000, spike(at, 200, 10, 8000, 12000)+spike(at, 300, 10, 2000, 3000), processOf(7, "python a.py", spike(at, 200, 10, 8000, 12000)), processOf(8, "python b.py", spike(at, 300, 10, 2000, 3000)))
		w.Add(s)
		o, _ := w.Outlook(s.GPUs[0].Key())
		if i == 350 && o.Spike.Known() {
			t.Errorf("one spike is an outlook: %+v", o)
		}
		if i == 759 && (o.Spike != sampler.Some(series.Bytes(14000)) || o.Due != sampler.Some(31.0)) {
			t.Errorf("%+v", o)
		}
	}
}

// A spike that is on its way and has outgrown those before may grow by as much again, where one spike or a record among
// them says how high they come. One larger among many of one height was an odd one.
func TestExpectsOutgrown(t *testing.T) {
	record := func(_ *series.Series, p *series.Pattern) { p.Record = 201 }
	for name, row := range map[string]struct {
		high   float64 // it has come to that
		change func(s *series.Series, p *series.Pattern)
		top    float64 // 0: it fits, or nothing is known
	}{
		"of one height":                    {18000, func(*series.Series, *series.Pattern) {}, 0},
		"it just does not fit":             {17501, record, 20002},
		"it just fits":                     {17500, record, 0},
		"after a record":                   {18000, func(_ *series.Series, p *series.Pattern) { p.Most, p.Record = 15100, 201 }, 20900},
		"a small one":                      {18000, func(_ *series.Series, p *series.Pattern) { p.Most, p.Record = 15100, 200 }, 0},
		"the only one":                     {18000, func(s *series.Series, p *series.Pattern) { p.Count, p.Last, p.High = 1, s.Rose+spikeStart+1, 6001 }, 21000},
		"the only one, half as high again": {18000, func(s *series.Series, p *series.Pattern) { p.Count, p.Last, p.High = 1, s.Rose+spikeStart+1, 6000 }, 0},
		"at its start":                     {18000, func(s *series.Series, p *series.Pattern) { p.Count, p.Last = 1, s.Rose+spikeStart }, 0},
		"a little outgrown":                {19900, func(_ *series.Series, p *series.Pattern) { p.Record, p.Top, p.Most = 201, 19699, 19699 }, 20101},
		"less":                             {19900, func(_ *series.Series, p *series.Pattern) { p.Record, p.Top, p.Most = 201, 19700, 19700 }, 0},
		"nearly another phase":             {18000, func(_ *series.Series, p *series.Pattern) { p.Record, p.High, p.Top, p.Most = 201, 1000, 15001, 15001 }, 20999},
		"another phase":                    {18000, func(_ *series.Series, p *series.Pattern) { p.Record, p.High = 201, 1000 }, 0},
	} {
		f, s := steady()
		f.now++
		s.Add(f.now, row.high, row.high, row.high, 20000)
		p := knownSpikes()
		row.change(s, &p)
		if e, ok := expects(f, s, p); ok != (row.top > 0) || ok && e.top != row.top {
			t.Errorf("%s: %v, %+v, want %v", name, ok, e, row.top)
		}
	}
}

// When a spike comes is said where it is known: as due now within five seconds.
func TestSpikeWhen(t *testing.T) {
	f, _ := steady()
	for due, id := range map[float64]string{nan: "alert.repeat_spike.soon", 0: "alert.repeat_spike.now", 5: "alert.repeat_spike.now", 5.1: "alert.repeat_spike.in"} {
		m := renderSpike(f, 7, 10000, knownSpikes(), expectation{top: 21000, available: 20000}, due)
		if when := f.words.Say(id, "span", f.words.Span(due)); !strings.Contains(m.text, when) {
			t.Errorf("due in %v s: %q, want %q in it", due, m.text, when)
		}
		if got, ok := m.numbers["due_s"]; ok != (due >= 0) || ok && got != due {
			t.Errorf("due in %v s: %v", due, m.numbers)
		}
	}
}

// Growth has the room beneath the next spike, once enough of them came, and before that beneath the last minute.
func TestRoomBeneathSpikes(t *testing.T) {
	w := New(Options{})
	for i := range 700 {
		at := float64(i)
		w.Add(oneJob(at, spike(at, 200, 10, 8000, 15000)))
		if i%200 != 150 {
			continue
		}
		want := 12000.0
		if i/200 >= series.SpikesNeeded {
			want = 5000
		}
		g := w.gpus[0]
		if got := g.room(&g.procs[0].series, at); got != want {
			t.Errorf("after %d spikes: %v, want %v", i/200, got, want)
		}
	}
}

// A validation of two spikes is one: when the next is due is known at every second, between its spikes and within them, too.
func TestOutlookOfPairs(t *testing.T) {
	w := New(Options{})
	for i := range 900 {
		at, use := float64(i), 8000.0
		if in := i % 60; in < 4 || in >= 14 && in < 18 {
			use = 12000
		}
		s := snapshotOf(at, 20000, use, processOf(7, "python a.py", use))
		w.Add(s)
		o, _ := w.Outlook(s.GPUs[0].Key())
		if due, known := o.Due.Value(); i > 300 && (!known || !o.Spike.Known() || due > float64(60-i%60) || i%60 > 21 && due < float64(60-i%60)) {
			t.Fatalf("at %d: %+v", i, o)
		}
	}
}

// A single spike tells of the next where it was brief beside the time before it: what stays longer is a phase.
func TestPhaseIsNoSpike(t *testing.T) {
	for lead, want := range map[int]bool{60: false, 400: true} {
		w := New(Options{})
		told := false
		for i := range lead + 500 {
			used := 12000.0
			switch at := i - lead; {
			case at >= 0 && at < 50:
				used = 18000
			case at >= 200:
				used = 15000
			}
			for _, a := range w.Add(oneJob(float64(i), used)) {
				told = told || a.Kind == sampler.AlertRepeatSpike
			}
		}
		if told != want {
			t.Errorf("after %d s: warned of another %v", lead, told)
		}
	}
}

// Where the log says that tensors have not risen since the only spike, the level that has is a cache, which the next spike uses.
func TestCacheThatHasRisen(t *testing.T) {
	for name, row := range map[string]struct {
		held  float64 // MiB that tensors have risen by; the level rose by 400
		count int
		want  bool
	}{
		"the cache":              {99, 1, false},
		"tensors":                {100, 1, true},
		"the cache, more spikes": {99, 5, true},
	} {
		f, s := steady()
		p := knownSpikes()
		p.Count, p.Last, p.Level, p.Newest = row.count, f.now-100, 9600, 19700
		for i := range 21 {
			f.tensors.add(p.Last+5*float64(i), 2000+row.held*float64(i/11))
		}
		if e, ok := expects(f, s, p); ok != row.want {
			t.Errorf("%s: %v %+v", name, ok, e)
		}
	}
}

// Few equal steps of a pool that takes region by region are no leak; those of another program are, and more of them are of any.
func TestStepsOfPools(t *testing.T) {
	for name, row := range map[string]struct {
		environment map[string]string
		steps       int
		want        bool
	}{
		"of PyTorch":                     {nil, 4, true},
		"of JAX":                         {map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, 4, false},
		"of TensorFlow":                  {map[string]string{"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, 4, false},
		"of JAX, which takes it at once": {map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}, 4, true},
		"of JAX, many":                   {map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, 8, true},
	} {
		w := New(Options{})
		for at := range 100 + 60*(row.steps+1) {
			step := 8000 / float64(row.steps)
			used := 11500 + step*math.Floor(float64(max(0, at-100))/60)
			p := processOf(7, "python main.py", used)
			p.Environment = row.environment
			w.Add(snapshotOf(float64(at), 20000, used, p))
		}
		told := warnedOf(w, sampler.AlertGrowth)
		if told != row.want {
			t.Errorf("%s: told %v, want %v", name, told, row.want)
		}
	}
}

// The regions of a server are each twice as large as the one before, until one does not fit and a smaller is taken; who keeps twice as much each time
// without such a pool needs as much again.
func TestDoublingRegions(t *testing.T) {
	for name, want := range map[string]bool{"tensorflow_model_server": false, "index": true} {
		w := New(Options{})
		for at := range 1250 {
			used := 1000.0
			for i := range 5 {
				if at >= 100+240*i {
					used += 500 * float64(int(1)<<i)
				}
			}
			p := processOf(7, name+" --port 8500", used)
			p.Name = name
			w.Add(snapshotOf(float64(at), 17500, used, p))
		}
		told := warnedOf(w, sampler.AlertGrowth)
		if told != want {
			t.Errorf("%s: told %v, want %v: %+v", name, told, want, w.Past())
		}
	}
}

// Parts that are taken again as they were before, after all was given back, are no leak; more of them are.
func TestPartsTakenAgain(t *testing.T) {
	for before, want := range map[int]bool{3: false, 1: true} {
		w := New(Options{})
		for at := range 200 {
			used := 1000.0
			switch {
			case at >= 150:
				used += 24000 * float64(min(1+(at-150)/6, 3))
			case at >= 36 && at < 76:
				used += 24000 * float64(min(1+(at-36)/6, before))
			}
			w.Add(snapshotOf(float64(at), 90000, used, processOf(7, "python train_ppo.py", used)))
		}
		told := warnedOf(w, sampler.AlertGrowth)
		if told != want {
			t.Errorf("after %d parts: told %v, want %v: %+v", before, told, want, w.Past())
		}
	}
}

// What a process reaches for the first time within its first minute is its start; later two rises that are alike say that a third may come.
func TestRecordsOfAStart(t *testing.T) {
	for begin, want := range map[int]bool{10: false, 200: true} {
		w := New(Options{})
		for at := range begin + 280 {
			if at == 0 {
				w.Add(snapshotOf(0, 16000, 400))
				continue
			}
			used := 11000.0
			for i, rise := range []int{begin, begin + 45, begin + 110} { // a spike each, and then the level
				if at >= rise {
					used = []float64{14343, 14973, 15700}[i]
				}
			}
			w.Add(snapshotOf(float64(at), 16000, used+100, processOf(7, "python serve.py", used)))
		}
		told := warnedOf(w, sampler.AlertGrowth)
		if told != want {
			t.Errorf("from %d s on: told %v, want %v", begin, told, want)
		}
	}
}
