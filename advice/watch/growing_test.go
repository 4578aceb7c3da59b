package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Growth is a warning when at most 5 % of the GPU are left, 8 % where it has gone on for forty minutes, and it has come two
// thirds of the way, else a notice; it is critical ten minutes before the end; and when that is, is not said with less
// than 1 % left.
func TestGrowthLevels(t *testing.T) {
	for name, row := range map[string]struct {
		used, slope, watched float64
		found                bool
		want                 string
		eta                  sampler.Opt[float64]
	}{
		"ten minutes":      {19000, 1240.0 / 600, 1200, true, "critical 0", sampler.Some(600.0)}, // 1000 MiB are left, and 240 that caches give back
		"longer":           {19000, 1240.0 / 601, 1202, true, "warning 0", sampler.Some(601.0)},
		"half of the time": {19000, 1240.0 / 736, 1472, true, "warning 0", sampler.Some(736.0)},
		"more than half":   {19000, 1240.0 / 736, 1471, true, "notice 1", sampler.Some(736.0)},
		"less near":        {18999, 1241.0 / 600, 2399, true, "notice 1", sampler.Some(600.0)},
		"for forty min":    {18400, 1840.0 / 600, 2400, true, "critical 0", sampler.Some(600.0)},
		"not so long":      {18400, 1840.0 / 600, 2399, true, "notice 1", sampler.Some(600.0)},
		"room":             {18399, 1840.0 / 700, 9999, true, "notice 1", sampler.Some(700.0)},
		"nearly full":      {19800, 250.0 / 700, 9999, true, "warning 0", sampler.Some(700.0)}, // 200 MiB are left, and 50
		"full":             {19801, 250.0 / 700, 9999, true, "warning 0", sampler.Opt[float64]{}},
		"a minute is left": {17000, 50, 240, true, "critical 0", sampler.Some(65.0)}, // and what caches give back
		"a little more":    {17000, 49.9, 240, true, "notice 1", sampler.Some(65.0)},
		"a fifth is left":  {15999, 80, 240, true, "notice 1", sampler.Some(53.0)},
		"not found":        {18400, 1840.0 / 600, 1200, false, "", sampler.Opt[float64]{}},
	} {
		f := fullOf(row.used, processOf(7, "python a.py", row.used))
		growth := &series.Growth{Found: row.found, Trend: series.Trend{Until: row.watched, Slope: row.slope, Early: row.slope, Late: row.slope, To: 5000}}
		got, ok := growthOf(f, 7, &f.gpu.procs[0].series, growth)
		if want := row.want != ""; ok != want || ok && (levels([]finding{got}) != "["+row.want+"]" || got.eta != row.eta) {
			t.Errorf("%s: %v %+v", name, ok, got)
		}
		f.gpu.near.count = 1 // its cache saved it before: when it fails is anybody's guess
		if got, _ := growthOf(f, 7, &f.gpu.procs[0].series, growth); got.eta.Known() {
			t.Errorf("%s: it ends in %v", name, got.eta)
		}
	}
}

// Peaks that grow reach the limit, however low the level between them is at this moment.
func TestGrowthOfPeaks(t *testing.T) {
	f := fullOf(9000, processOf(7, "python a.py", 9000))
	growth := &series.Growth{Found: true, Trend: series.Trend{Until: growthLong, Slope: 1840.0 / 600, Early: 1840.0 / 600, Late: 1840.0 / 600, To: 18400, Peaks: true}}
	got, ok := growthOf(f, 7, &f.gpu.procs[0].series, growth)
	if !ok || got.eta != sampler.Some(600.0) || levels([]finding{got}) != "[critical 0]" {
		t.Errorf("%v %+v", ok, got)
	}
}

// Where the next peak of another does not fit any more, that comes first: when growth reaches the limit is not said.
func TestGrowthBesidePeaks(t *testing.T) {
	trend := series.Trend{Until: 1200, Slope: 2, Early: 2, Late: 2, To: 9000}
	for peak, want := range map[float64]bool{10000: true, 11100: false} {
		f := fullOf(18400, processOf(7, "python server.py", 9000), processOf(8, "python train.py", 9000))
		p := f.gpu.procs[1]
		p.peak.add(0, peak, 4000)
		if got, ok := growthOf(f, 7, &f.gpu.procs[0].series, &series.Growth{Found: true, Trend: trend}); !ok || got.eta.Known() != want {
			t.Errorf("a peak of %v: %v %+v", peak, ok, got)
		}
		if got, ok := growthOf(f, 8, &p.series, &series.Growth{Found: true, Trend: trend}); !ok || !got.eta.Known() {
			t.Errorf("its own peak of %v: %v %+v", peak, ok, got)
		}
	}
}

// A server that grows beside a trainer which empties its cache in each step has the room that the trainer's peaks leave.
func TestGrowthBetweenPeaks(t *testing.T) {
	for name, row := range map[string]struct {
		top  float64 // MiB that the trainer comes to
		want bool
	}{"leaves 800 MiB": {10000, true}, "leaves 5800 MiB": {5000, false}} {
		w := New(Options{})
		var told *sampler.Alert
		for i := range 2560 {
			train, server := 3000+(row.top-3000)*[]float64{0, 0.4, 1, 0.2}[i/3%4], 2000+3*float64(i)
			s := snapshotOf(float64(i), 20500, train+server, processOf(7, "python server.py", server), processOf(8, "python train.py", train))
			s.GPUs[0].Utilization.GPU = sampler.Some(90)
			s.GPUs[0].Processes[1].SM = sampler.Some(80)
			for _, a := range w.Add(s) {
				if a.Kind == sampler.AlertGrowth && a.PID.Or(0) == 7 && a.Level != sampler.LevelNotice {
					told = &a
				}
			}
		}
		if (told != nil) != row.want {
			t.Fatalf("%s: %+v", name, told)
		}
		if told == nil {
			continue
		}
		if eta, known := told.ETA.Value(); !known || eta < 273 || eta > 546 {
			t.Errorf("%s: %v, want 273 to 546 s: the room, and twice that for what an allocator gives back", name, told.ETA)
		}
		if !slices.ContainsFunc(told.Evidence, func(s string) bool { return strings.Contains(s, "pid 8") && strings.Contains(s, "9.8 GiB") }) {
			t.Errorf("%s: %q says nothing of the trainer's peak", name, told.Evidence)
		}
	}
}

// A program of which each stage takes more in every step, and gives it back after the step, stands on none of its records: that one more such rise
// does not fit is told once the last is a minute old.
func TestRecordsOfALoop(t *testing.T) {
	w := New(Options{})
	var told *sampler.Alert
	since := -1
	for i := range 1200 {
		stage := i / 200
		top := 2000 + 1600*float64(stage)
		used := top - 1600*[]float64{1, 0.4, 0, 0.8}[i%4]
		s := snapshotOf(float64(i), 11000, used, processOf(7, "relion_refine", used))
		s.GPUs[0].Processes[0].SM = sampler.Some(80)
		for _, a := range w.Add(s) {
			if a.Kind == sampler.AlertRepeatSpike && told == nil {
				told, since = &a, i%200
			}
		}
		if told != nil && stage < 5 {
			t.Fatalf("after %d s, where another rise fits: %s", i, told.Text)
		}
	}
	if told == nil || since < 60 || since > 100 {
		t.Errorf("%d s after the last rise: %+v", since, told)
	}
}

// When a climb by steps ends that will within 15 s is not said: what is given back is worth several of them.
func TestClimbETA(t *testing.T) {
	for interval, want := range map[int]bool{10: false, 14: false, 15: true} {
		w := New(Options{})
		warned, soon := false, false
		for i := range 120 + 16*interval {
			used := 8000 + 1000*float64(max(0, (i-120)/interval))
			for _, a := range w.Add(snapshotOf(float64(i), 23900, used+20, processOf(7, "python train.py", used))) {
				if a.Kind == sampler.AlertGrowth && a.Level == sampler.LevelCritical {
					eta, known := a.ETA.Value()
					warned, soon = true, soon || known && eta > 0 && eta < climbSeconds-0.5
				}
			}
		}
		if !warned || soon != want {
			t.Errorf("steps each %d s: warned %v, said to end soon %v", interval, warned, soon)
		}
	}
}

// What is kept grows by 10 MiB a second, and 2000 MiB above it are needed: when that ends is not said with less than 1 % left.
func TestKeptGrowthETA(t *testing.T) {
	for used, want := range map[float64]sampler.Opt[float64]{16400: sampler.Some(20.0), 16401: {}} {
		var kept series.Kept
		for i := range 8 {
			kept.Add(float64(20*i), used+float64(200*i))
			kept.Seen(used + float64(200*i) + 2000)
		}
		f := fullOf(19800, processOf(7, "python a.py", 19800))
		f.now = 140
		if got, ok, _ := keptGrowth(f, f.gpu.procs[0], &kept, "alert.growth.dips"); !ok || got.eta != want {
			t.Errorf("%v MiB kept: %v %+v", used, ok, got)
		}
		f.gpu.near.count = 1 // it needed all there is already
		if got, ok, _ := keptGrowth(f, f.gpu.procs[0], &kept, "alert.growth.dips"); !ok || got.eta.Known() {
			t.Errorf("%v MiB kept, after a near miss: %v %+v", used, ok, got)
		}
	}
}

// Memory that grows while the log says that tensors do not, by a quarter of it, is a notice; so is growth whose end the
// log announces and that fits until then.
func TestGrowthOfTheLog(t *testing.T) {
	for _, start := range []float64{0, 50_000} {
		for rise, want := range map[float64]bool{250: false, 249: true} {
			f := &Facts{now: start + 900, tensors: &tensors{}}
			for i := range 91 { // they rise in the second third
				f.tensors.add(start+float64(10*i), min(rise, 1000*float64(i/45)))
			}
			if got := f.noTensors(series.Trend{Since: start, From: 1000, To: 2000}); got != want {
				t.Errorf("a rise of %v of 1000 from %v s on: none %v", rise, start, got)
			}
		}
	}
	for room, want := range map[float64]bool{1500: true, 1499: false} {
		f := &Facts{stages: &stages{}}
		for n := range 4 {
			f.stages.add(float64(n*100), sampler.LogMark{Kind: sampler.MarkStage, Label: "level", N: sampler.Some(n + 1), Of: 6})
		}
		tr := series.Trend{Since: 50, From: 1000, To: 2500} // 500 in each of three, so 750 at most in each of the two that come
		if got, _ := f.ends(tr, series.Flight{}, false, room); got != want {
			t.Errorf("room for %v MiB: ends %v", room, got)
		}
		if got, _ := f.ends(series.Trend{}, series.Flight{Since: 50, Steps: 3, Size: 500}, true, room); got != want {
			t.Errorf("room for %v MiB of steps: ends %v", room, got)
		}
	}
}

// An ETA whose time came half a minute ago is refuted for good, and what was critical by it is a warning.
func TestRefute(t *testing.T) {
	some := sampler.Some[float64]
	in := &incident{dueSince: nan}
	for _, row := range []struct {
		now   float64
		eta   sampler.Opt[float64]
		known bool
		level string
	}{
		{0, some(1), true, "critical"}, {10, some(1.1), true, "critical"}, {20, some(1), true, "critical"}, {50, some(0), true, "critical"},
		{50.1, some(0), false, "warning"}, {60, some(500), false, "warning"}, {70, sampler.Opt[float64]{}, false, "critical"},
	} {
		in.found = finding{level: sampler.LevelCritical, eta: row.eta}
		if in.refute(row.now); in.found.eta.Known() != row.known || in.found.level != row.level {
			t.Errorf("at %v: %s, %v", row.now, in.found.level, in.found.eta)
		}
	}
}

// A GPU that is listed no more is remembered for an hour; one that was left out for longer than five seconds has to show
// anew what is usual.
func TestGPULeftOut(t *testing.T) {
	for away, want := range map[float64]bool{5: false, 5.1: true} {
		w := New(Options{})
		two := func(at float64, both bool) {
			s := snapshotOf(at, 20000, 5000, processOf(1, "python a.py", 5000))
			if both {
				s.GPUs = append(s.GPUs, gpuOf(1, 20000, 5000, processOf(2, "python b.py", 5000)))
			}
			w.Add(s)
		}
		for i := range 200 {
			two(float64(i), true)
		}
		for at := 200.0; at < 199+away; at++ {
			two(at, false)
		}
		two(199+away, true)
		if got := w.gpus[1].blind(199 + away); got != want || w.gpus[0].blind(199+away) {
			t.Errorf("left out for %v s: blind %v", away, got)
		}
	}
	w := New(Options{})
	w.Add(sampler.Snapshot{Time: advicetest.Epoch, GPUs: []sampler.GPU{gpuOf(0, 20000, 5000), gpuOf(1, 20000, 5000)}})
	for i, at := range []float64{3600, 3601} {
		w.clock.Now, w.gpus[0].seen = at, at
		if w.dropGPUs(); len(w.gpus) != 2-i {
			t.Errorf("after %v s: %d GPUs", at, len(w.gpus))
		}
	}
}

// The largest process works when the GPU has been busy for a fifth of the time.
func TestWorking(t *testing.T) {
	for percent, want := range map[int]bool{20: true, 19: false} {
		w := New(Options{})
		for i := range 3 {
			s := snapshotOf(float64(i), 20000, 9000, processOf(1, "python a.py", 3000), processOf(2, "python b.py", 6000))
			s.GPUs[0].Utilization.GPU = sampler.Some(percent)
			w.Add(s)
		}
		if a, b := w.gpus[0].withPID(1).series.Working, w.gpus[0].withPID(2).series.Working; a || b != want {
			t.Errorf("at %d %%: %v and %v", percent, a, b)
		}
	}
}

// A process that died for want of memory reached its peak in its last ten seconds, had half of what can be used, and the
// GPU had nothing left: 3 %, or 256 MiB.
func TestRecordEnding(t *testing.T) {
	for name, row := range map[string]struct {
		total, free, peak, peakAgo float64
		samples                    int
		want                       int
	}{
		"it did":         {20000, 600, 10000, 10, series.MinSamples, 1},
		"some was left":  {20000, 601, 10000, 10, series.MinSamples, 0},
		"256 MiB":        {5000, 256, 2500, 10, series.MinSamples, 1},
		"more":           {5000, 257, 2500, 10, series.MinSamples, 0},
		"less than half": {20000, 600, 9999, 10, series.MinSamples, 0},
		"earlier":        {20000, 600, 10000, 10.1, series.MinSamples, 0},
		"a moment":       {20000, 600, 10000, 10, series.MinSamples - 1, 0},
	} {
		g := &gpu{total: row.total, usable: row.total}
		g.lowest.reset()
		g.lowest.add(100, row.free)
		p := newProc(&sampler.Process{PID: 7, Command: "a"}, 0, time.Unix(0, 0))
		p.seen, p.series.Samples, p.series.Last, p.series.PeakTime, p.series.Peak = 100, row.samples, 100, 100-row.peakAgo, row.peak
		if g.recordEnding(p); len(g.ends) != row.want {
			t.Errorf("%s: %+v", name, g.ends)
		}
	}
	g := &gpu{}
	g.lowest.reset()
	g.recordEnding(newProc(&sampler.Process{PID: 7}, 0, time.Unix(0, 0)))
	if len(g.ends) != 0 {
		t.Error("it died on a GPU without figures")
	}
}

// An end that was foretold says so, and what to do, instead of asking for a log.
func TestForetoldEnding(t *testing.T) {
	for name, row := range map[string]struct {
		foretold flushes
		want     bool
	}{
		"nothing":          {flushes{}, false},
		"three falls":      {flushes{falls: 3, fell: 1990, bottoms: [3]float64{8000, 9000, 10000}}, true},
		"two":              {flushes{falls: 2, fell: 1990, bottoms: [3]float64{8000, 9000, 10000}}, false},
		"half an hour ago": {flushes{falls: 3, fell: 2000 - risingSpan, bottoms: [3]float64{8000, 9000, 10000}}, true},
		"longer ago":       {flushes{falls: 3, fell: 1999 - risingSpan, bottoms: [3]float64{8000, 9000, 10000}}, false},
	} {
		g := &gpu{total: 20000, usable: 20000, foretold: row.foretold}
		g.last = &sampler.GPU{}
		g.lowest.reset()
		g.lowest.add(2000, 0)
		p := newProc(&sampler.Process{PID: 7, Command: "a"}, 0, time.Unix(0, 0))
		p.seen, p.series.Samples, p.series.Last, p.series.PeakTime, p.series.Peak = 2000, series.MinSamples, 2000, 2000, 20000
		if g.recordEnding(p); len(g.ends) != 1 {
			t.Fatalf("%s: %+v", name, g.ends)
		}
		m := renderEnding(&Facts{now: 2000, gpu: g, words: lang.For("en")}, g.ends[0], 1)
		evidence := strings.Join(m.evidence, "; ")
		if strings.Contains(evidence, "partly in use") != row.want || strings.Contains(evidence, "rerun with") == row.want || len(m.advice) > 0 != row.want {
			t.Errorf("%s: %s, %d steps", name, evidence, len(m.advice))
		}
	}
}

// What a process left behind counts from a GiB and 5 % of the GPU on, where processes are listed, and up to what it held.
func TestLeftBehind(t *testing.T) {
	for name, row := range map[string]struct {
		total, held, stays float64
		want               float64
	}{
		"5 %":              {40000, 9000, 2000, 2000},
		"less":             {40000, 9000, 1999, 0},
		"a GiB":            {10000, 9000, 1024, 1024},
		"less than it":     {10000, 9000, 1023, 0},
		"all":              {40000, 9000, 9000, 9000},
		"held too little":  {40000, 1999, 1999, 0},
		"held just enough": {40000, 2000, 2000, 2000},
	} {
		w := New(Options{})
		at := 0.0
		for ; at < 100; at++ {
			w.Add(snapshotOf(at, row.total, 100+row.held, processOf(1, "python b.py", 100), processOf(7, "python a.py", row.held)))
		}
		for ; at < 200; at++ {
			w.Add(snapshotOf(at, row.total, 100+row.stays, processOf(1, "python b.py", 100)))
		}
		if got := w.gpus[0].left(); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// An alert that another one of the same GPU says more about is not raised, one of another GPU is.
func TestSilenced(t *testing.T) {
	w := New(Options{})
	place := func(code string) int {
		for i, r := range rules {
			if r.Code == code {
				return i
			}
		}
		t.Fatalf("no rule %s", code)
		return 0
	}
	a, b := sampler.GPUKey{ID: "a"}, sampler.GPUKey{ID: "b"}
	lost := incidentKey{rule: place(sampler.AlertGPULost), gpu: a}
	w.open[lost] = &incident{key: lost, fired: true}
	for _, row := range []struct {
		key  incidentKey
		want bool
	}{
		{incidentKey{rule: place(sampler.AlertImbalance), gpu: a}, true}, {incidentKey{rule: place(sampler.AlertImbalance), gpu: b}, false},
		{incidentKey{rule: place(sampler.AlertNeed), gpu: a}, false}, {incidentKey{rule: place(sampler.AlertImbalance), gpu: a, machine: true}, false},
	} {
		if got := w.silenced(&incident{key: row.key}); got != row.want {
			t.Errorf("%+v: %v", row.key, got)
		}
	}
	flush := func(gpu sampler.GPUKey, pid int) bool {
		return w.silenced(&incident{key: incidentKey{rule: place(sampler.AlertFlush), gpu: gpu, pid: pid}})
	}
	for _, died := range []int{0, 7} {
		oom := incidentKey{rule: place(sampler.AlertOOM), gpu: b, pid: died}
		w.open = map[incidentKey]*incident{lost: w.open[lost], oom: {key: oom, fired: true}}
		if !flush(b, 7) || !flush(b, 0) || flush(b, 8) != (died == 0) || flush(a, 7) {
			t.Errorf("where %d has died, near misses of others are silenced: %v", died, flush(b, 8))
		}
	}
	if w.open[lost].fired = false; w.silenced(&incident{key: incidentKey{rule: place(sampler.AlertImbalance), gpu: a}}) {
		t.Error("silenced by what is not told")
	}
}

// What is remembered of the past is bounded: the oldest alert that is over goes first, else the oldest.
func TestPastIsBounded(t *testing.T) {
	for closed, gone := range map[int]int{-1: 0, 5: 5} {
		w := New(Options{})
		for i := range MaxPast + 1 {
			in := &incident{first: sampler.Alert{T: float64(i)}}
			if i == closed {
				in.first.End = sampler.Some(float64(i))
			}
			w.remember(in)
		}
		if len(w.past) != MaxPast {
			t.Fatalf("%d alerts", len(w.past))
		}
		for _, a := range w.Past() {
			if a.T == float64(gone) {
				t.Errorf("alert %v stayed", gone)
			}
		}
	}
}

// A process with spikes that ends as the next is due, or under way, died of it where others have left too little room.
func TestCutShort(t *testing.T) {
	for name, row := range map[string]struct {
		last   float64 // seconds for which it lives on after its third spike began
		rise   float64 // MiB above the level in its last seconds
		others float64 // MiB that came after the third spike
		want   bool
	}{
		"due":                    {58, 0, 8000, true},
		"due, and there is room": {58, 0, 1000, false},
		"under way":              {63, 6000, 8000, true},
		"long before":            {30, 0, 8000, false},
	} {
		w := New(Options{})
		at := 0.0
		add := func(seconds, used, others float64) {
			for range int(seconds) {
				procs := []sampler.Process{processOf(7, "python train.py", used)}
				if others > 0 {
					procs = append(procs, processOf(8, "python other.py", others))
				}
				w.Add(snapshotOf(at, 20000, used+others, procs...))
				at++
			}
		}
		add(60, 5000, 0)
		for range 2 {
			add(4, 15000, 0)
			add(56, 5000, 0)
		}
		add(4, 15000, 0)
		add(row.last-4-3, 5000, row.others)
		add(3, 5000+row.rise, row.others)
		for range 10 { // it is gone
			w.Add(snapshotOf(at, 20000, row.others, processOf(8, "python other.py", row.others)))
			at++
		}
		if got := len(w.gpus[0].ends) == 1 && w.gpus[0].ends[0].wanted == 15000; got != row.want {
			t.Errorf("%s: %+v", name, w.gpus[0].ends)
		}
	}
}

// What climbs step by step above all spikes before has the room above where it stands, not that above them.
func TestStepsAboveSpikes(t *testing.T) {
	w := New(Options{})
	told := 0
	for i := range 688 {
		used := 8800.0
		switch into := i % 200; {
		case i >= 590:
			used = 11000 + 620*float64(max(0, i-634)/6)
		case i > 100 && into > 100 && into < 130:
			used = 11000
		}
		for _, a := range w.Add(snapshotOf(float64(i), 16376, used+20, processOf(7, "python fid.py", used))) {
			if a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice && told == 0 {
				told = i
			}
		}
	}
	if told < 664 || told > 684 { // from the fifth step on; the ninth does not fit
		t.Errorf("told at %d s", told)
	}
}

// A level that has come to where the newest spike ended, with no other between, is one more of them, or a phase; above and below that it has risen.
func TestRisenToTheTop(t *testing.T) {
	for stands, want := range map[float64]bool{60000: true, 63000: false, 65000: false, 67000: false, 70000: true} {
		w := New(Options{})
		for i := range 600 {
			w.Add(snapshotOf(float64(i), 85000, stands, processOf(7, "python turns.py", stands)))
		}
		s := &w.gpus[0].procs[0].series
		rise := risen(599, s, series.Pattern{Level: 40000, Newest: 65000, Low: 60000, Even: true, Count: 2})
		if got := rise == stands-40000; got != want {
			t.Errorf("at %v: risen by %v", stands, rise)
		}
	}
}

// What comes higher each time and gives all of it back keeps nothing: one model after another, each larger. Where it keeps what it has risen by, it leaks.
func TestGivesAllBack(t *testing.T) {
	for name, row := range map[string]struct {
		keeps float64 // of the rises
		want  bool
	}{"all is given back": {0, false}, "what it rose by is kept": {1, true}} {
		w := New(Options{})
		told := false
		for i := range 1300 {
			model, into := float64(i/190), i%190
			used := 4600 + 1950*model
			if into < 45 {
				used = 220 + 1950*model*row.keeps
			}
			for _, a := range w.Add(snapshotOf(float64(i), 16376, used+20, processOf(7, "python nas.py", used))) {
				told = told || a.Kind == sampler.AlertGrowth
			}
		}
		if told != row.want {
			t.Errorf("%s: told %v", name, told)
		}
	}
}

// A growth that has stopped is none any more, however steady it was: one epoch with longer and longer inputs, a schedule that has come to its end.
func TestGrowthThatStopped(t *testing.T) {
	for name, row := range map[string]struct {
		stops int // seconds; 0: never
		want  bool
	}{"it has stopped": {809, false}, "it goes on": {0, true}} {
		w := New(Options{})
		told := false
		for i := range 1300 {
			at := i
			if row.stops > 0 {
				at = min(i, row.stops)
			}
			part := float64(max(0, at-310)/3*3) / 499
			used := 7600 + 21800*part*part*part // faster and faster
			s := snapshotOf(float64(i), 32768, used+20, processOf(7, "python train.py", used))
			s.GPUs[0].Processes[0].SM = sampler.Some(80)
			for _, a := range w.Add(s) {
				told = told || a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice
			}
		}
		if told != row.want {
			t.Errorf("%s: told %v", name, told)
		}
	}
}

// A program that grows again as it did before, when it ended well, gets no warning until it comes higher; one that died of it does.
func TestGrowsAgain(t *testing.T) {
	for name, row := range map[string]struct {
		died    bool // the first run
		short   int  // seconds that the first run ends sooner
		command string
		want    bool // the second run is warned of
	}{
		"as before":                    {false, 0, "python score.py", false},
		"another command":              {false, 0, "python other.py", true},
		"it died":                      {true, 0, "python score.py", true},
		"it was stopped as it grew":    {false, 150, "python score.py", true},
		"it was stopped a while later": {false, 130, "python score.py", false},
	} {
		w := New(Options{})
		warned := map[int]bool{}
		for i := range 1600 {
			run, at := i/800, i%800
			levels := []float64{432, 782, 1480, 2876, 5670, 11258}
			used, pid, command := levels[min(at/60, 5)], 7+run, "python score.py"
			if run == 1 {
				command = row.command
			}
			s := snapshotOf(float64(i), 12288, 10)
			if at < 500 && !(run == 0 && (row.died && at >= 310 || at >= 500-row.short)) {
				s = snapshotOf(float64(i), 12288, used+10, processOf(pid, command, used))
				s.GPUs[0].Processes[0].SM = sampler.Some(80)
			}
			if row.died && run == 0 && at == 309 {
				s = snapshotOf(float64(i), 12288, 12280, processOf(pid, command, 12270))
			}
			for _, a := range w.Add(s) {
				if a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice {
					warned[run] = true
				}
			}
		}
		if warned[1] != row.want {
			t.Errorf("%s: warned in run %v", name, warned)
		}
	}
}

// Who fills its cache again after it was emptied takes equal steps, which are none of a growth; one that was never emptied grows.
func TestStepsOfACache(t *testing.T) {
	for name, row := range map[string]struct {
		emptied, want bool
	}{"it was emptied": {true, false}, "never": {false, true}} {
		w := New(Options{})
		warned := false
		for i := range 460 {
			used := 8000.0
			switch {
			case row.emptied && i >= 395 && i < 400:
				used = 2000
			case i >= 400:
				used = 8000 + 4000*float64((i-400)/20+1)
			}
			for _, a := range w.Add(snapshotOf(float64(i), 23900, used+20, processOf(7, "python gp.py", used))) {
				warned = warned || a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice
			}
		}
		if warned != row.want {
			t.Errorf("%s: warned %v", name, warned)
		}
	}
}

// When memory runs out is told where that can be seen, and else what is left.
func TestUntimedGrowth(t *testing.T) {
	f := &Facts{words: lang.English(), gpu: &gpu{last: &sampler.GPU{Index: 3}, total: 10000, tightest: tightest{}}}
	tr := series.Trend{Since: 0, Until: 600, From: 1000, To: 7000, Slope: 10, Early: 10, Late: 10}
	for timed, want := range map[bool]string{true: "runs out of memory in", false: "with 23 MiB left"} {
		m := renderGrowth(f, 0, tr, "alert.growth.baseline", 23, 19, 23, timed)
		if _, told := m.numbers["eta_low_s"]; told != timed || !strings.Contains(m.text, want) {
			t.Errorf("%v: %s, %v", timed, m.text, m.numbers)
		}
	}
}

// Two large steps of one size are a warning where a third does not fit, unless the holder had given back most of what it had before, as who loads
// models does.
func TestPairOfSteps(t *testing.T) {
	for name, row := range map[string]struct {
		step  float64
		fell  bool
		warns bool
	}{
		"a third does not fit": {2100, false, true},
		"it fits":              {1900, false, false},
		"most was given back":  {2100, true, false},
	} {
		w := New(Options{})
		for i := range 900 {
			used := 14000.0
			switch {
			case row.fell && i > 100 && i < 140:
				used = 1000
			case i >= 700:
				used += 2 * row.step
			case i >= 400:
				used += row.step
			}
			w.Add(oneJob(float64(i), used))
		}
		if got := warnedOf(w, sampler.AlertGrowth) || slices.ContainsFunc(w.Open(), func(a sampler.Alert) bool { return a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice }); got != row.warns {
			t.Errorf("%s: warned %v, %v", name, got, w.Open())
		}
	}
}
