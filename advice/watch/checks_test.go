package watch

import (
	"fmt"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// levels are the findings of a rule as level and id.
func levels(list []finding) string {
	out := []string{}
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s %d", f.level, f.id))
	}
	return fmt.Sprint(out)
}

// fullOf is a GPU of 20000 MiB at 100 s whose processes hold so much, which they have for as long as it was watched.
func fullOf(used float64, procs ...sampler.Process) *Facts {
	w := New(Options{})
	for i := range 101 {
		w.Add(snapshotOf(float64(i), 20000, used, procs...))
	}
	f := w.facts(time.Time{})
	f.gpu = w.gpus[0]
	return &f
}

// Host memory is low with a twentieth left after a fall of a twentieth, and critical with a fiftieth.
func TestHostLowBounds(t *testing.T) {
	for _, row := range []struct {
		left, most float64
		want       string
	}{
		{5000, 10000, "[warning 0]"}, {5001, 10001, "[]"}, {4000, 9000, "[warning 0]"}, {4000, 8999, "[]"},
		{2000, 50000, "[critical 0]"}, {2001, 50000, "[warning 0]"}, {0, 50000, "[critical 0]"},
	} {
		h := &host{known: true, total: 100000, most: row.most, memory: sampler.HostMemory{Available: series.Bytes(row.left)}}
		if got := levels(checkHostMemory(&Facts{host: h})); got != row.want {
			t.Errorf("%v left of %v: %s, want %s", row.left, row.most, got, row.want)
		}
		if got := checkHostMemory(&Facts{host: h, gpu: &gpu{}}); got != nil {
			t.Errorf("told for a GPU: %v", got)
		}
		if h.known = false; checkHostMemory(&Facts{host: h}) != nil {
			t.Error("told of unknown memory")
		}
	}
	for likely, want := range map[float64]string{300: "[critical 0]", 301: "[warning 0]"} {
		h := &host{known: true, total: 100000, memory: sampler.HostMemory{Available: series.Bytes(1000 * likely)},
			growing: series.Growth{Found: true, Trend: series.Trend{Slope: 1000, Early: 1000, Late: 1000}}}
		if got := levels(checkHostMemory(&Facts{host: h})); got != want {
			t.Errorf("gone in %v s: %s, want %s", likely, got, want)
		}
	}
}

// Swap that grew by 1 % of the memory, and 512 MiB, within five minutes is told while a tenth or less is available.
func TestSwapBounds(t *testing.T) {
	for _, row := range []struct {
		total, left, grown float64
		want               bool
	}{
		{100000, 10000, 1000, true}, {100000, 10001, 1000, false}, {100000, 10000, 999, false},
		{20000, 2000, 512, true}, {20000, 2000, 511, false},
	} {
		h := &host{known: true, total: row.total, memory: sampler.HostMemory{Available: series.Bytes(row.left)}}
		h.swap.Start(0, true)
		for at := 0.0; at < 200; at++ {
			h.swap.Add(at, 100, 100, 100, row.total)
		}
		h.swap.Add(200, 100+row.grown, 100+row.grown, 100+row.grown, row.total)
		if got := len(checkSwap(&Facts{host: h})) > 0; got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
		if checkSwap(&Facts{host: h, gpu: &gpu{}}) != nil {
			t.Error("told for a GPU")
		}
	}
}

// Figures of the host that cannot be are none.
func TestHostPlausible(t *testing.T) {
	for name, row := range map[string]struct {
		m    sampler.HostMemory
		want bool
	}{
		"plain":         {sampler.HostMemory{Total: 100, Available: 60, SwapUsed: 5}, true},
		"all available": {sampler.HostMemory{Total: 100, Available: 100}, true},
		"more than all": {sampler.HostMemory{Total: 100, Available: 101}, false},
		"nothing":       {sampler.HostMemory{}, false},
		"too much":      {sampler.HostMemory{Total: sampler.MaxPlausible}, false},
		"too much swap": {sampler.HostMemory{Total: 100, SwapUsed: sampler.MaxPlausible}, false},
	} {
		var h host
		if h.fold(sampler.Some(row.m), 0, false); h.known != row.want {
			t.Errorf("%s: known %v", name, h.known)
		}
	}
	var h host
	h.fold(sampler.Some(sampler.HostMemory{Total: 100, Available: 60}), 0, false)
	if h.fold(sampler.Opt[sampler.HostMemory]{}, 1, false); h.known {
		t.Error("what is not read is still known")
	}
}

// A silent GPU is told after ten seconds, a lost one at once.
func TestFaultBounds(t *testing.T) {
	for _, row := range []struct {
		kind   faultKind
		lasted float64
		want   string
	}{{faultLost, 0, "[critical 0]"}, {faultSilent, 9.9, "[]"}, {faultSilent, 10, "[warning 0]"}, {faultOther, 99, "[]"}, {faultNone, 99, "[]"}} {
		g := &gpu{last: &sampler.GPU{}, fault: fault{kind: row.kind, since: 50}}
		if got := levels(checkLost(&Facts{now: 50 + row.lasted, gpu: g})); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
	for text, want := range map[string]faultKind{"": faultNone, "x: " + sampler.ErrLost.Error(): faultLost, "GPU has fallen off the bus": faultLost, sampler.ErrNotAnswering.Error() + "!": faultSilent, "no permission": faultOther} {
		if got := faultOf(text); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
	var f fault
	for i, text := range []string{"a", "b", "", "GPU has fallen off the bus"} {
		f.add(&sampler.GPU{Error: sampler.Some(text)}, float64(i))
		if want := []float64{0, 0, 2, 3}[i]; f.since != want || f.text != text {
			t.Errorf("%q since %v", f.text, f.since)
		}
	}
}

// An Xid is told for ten minutes; one that was there an hour before watching began, or is repeated, is not new.
func TestXIDBounds(t *testing.T) {
	at := time.Unix(100_000, 0)
	look := func(x *xid, now float64, code uint64, before time.Duration) {
		g := sampler.GPU{LastXID: sampler.Some(code)}
		if before >= 0 {
			g.LastXIDTime = sampler.Some(at.Add(-before))
		}
		x.add(&g, at, now)
	}
	for before, want := range map[time.Duration]bool{time.Hour - 1: true, time.Hour: false, -1: true} {
		var x xid
		if look(&x, 0, 79, before); x.fresh != want {
			t.Errorf("%v before: new %v", before, x.fresh)
		}
	}
	var x xid
	x.add(&sampler.GPU{}, at, 0)
	look(&x, 5, 79, 2*time.Hour) // it came while somebody looked
	for i, row := range []struct {
		code   uint64
		before time.Duration
		seen   float64
	}{{79, 2 * time.Hour, 5}, {79, -1, 5}, {79, time.Hour, 5}, {79, time.Minute, 13}, {48, time.Minute, 14}} {
		if look(&x, float64(10+i), row.code, row.before); x.seen != row.seen || !x.fresh || x.code != row.code {
			t.Errorf("look %d: %+v, want it seen at %v", i, x, row.seen)
		}
	}
	for now, want := range map[float64]int{600: 1, 601: 0} {
		if got := checkXID(&Facts{now: now, gpu: &gpu{xid: xid{fresh: true, code: 79}}}); len(got) != want {
			t.Errorf("%v s later: %v", now, got)
		}
	}
}

// A failure is told for ten minutes, on its own GPU or, where that is not known, of the machine.
func TestFailureBounds(t *testing.T) {
	here, there := &gpu{key: sampler.GPUKey{ID: "a"}}, &gpu{key: sampler.GPUKey{ID: "b"}}
	for _, row := range []struct {
		o    failure
		gpu  *gpu
		now  float64
		want string
	}{
		{failure{placed: true, gpu: here.key}, here, 600, "[critical 0]"}, {failure{placed: true, gpu: here.key}, here, 601, "[]"},
		{failure{placed: true, gpu: here.key}, there, 1, "[]"}, {failure{placed: true, gpu: here.key}, nil, 1, "[]"},
		{failure{}, here, 1, "[]"}, {failure{}, nil, 1, "[critical 0]"},
		{failure{event: sampler.OOMEvent{Recovered: true, Line: 7}}, nil, 1, "[notice 7]"},
	} {
		if got := levels(reportedFailures(&Facts{now: row.now, gpu: row.gpu, failures: []failure{row.o}})); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
	g := &gpu{procs: []*proc{{refused: 100}, {refused: nan}}}
	for now, want := range map[float64]string{700: "[warning -1]", 701: "[]"} {
		if got := levels(checkOOM(&Facts{now: now, gpu: g})); got != want {
			t.Errorf("counted %v s ago: %s", now-100, got)
		}
	}
}

// A failure is told with its place, and of host memory as one of that.
func TestFailureWords(t *testing.T) {
	words := lang.English()
	for kind, want := range map[string]string{sampler.MemoryHost: "alert.oom.host", sampler.MemoryGPU: "alert.oom", "": "alert.oom"} {
		got := renderFailure(&Facts{words: words}, &failure{event: sampler.OOMEvent{MemoryKind: kind}})
		if got.text != words.Say(want) || len(got.evidence) != 0 {
			t.Errorf("%q: %q, %q", kind, got.text, got.evidence)
		}
	}
	got := renderFailure(&Facts{words: words, gpu: &gpu{last: &sampler.GPU{Index: 3}}}, &failure{event: sampler.OOMEvent{Line: 1}})
	if got.text != words.Say("alert.oom.gpu", "gpu", 3) || len(got.evidence) != 1 {
		t.Errorf("%q, %q", got.text, got.evidence)
	}
}

// Processes that ended at their peak with the GPU full are told for ten minutes, those of one command within an hour together.
func TestEndingBounds(t *testing.T) {
	g := &gpu{ends: []ending{{command: "a", at: 0}, {command: "b", at: 3000}, {user: "x", command: "a", at: 3100}, {command: "a", at: 3200}}}
	for now, want := range map[float64]string{3600: "[warning -2]", 3601: "[notice -2]", 3800: "[notice -2]", 3801: "[]"} {
		if got := levels(checkOOM(&Facts{now: now, gpu: g})); got != want {
			t.Errorf("at %v: %s, want %s", now, got, want)
		}
	}
	if _, n := g.endings(3600); n != 2 {
		t.Errorf("%d endings", n)
	}
}

// What nobody has is told where a need lacks just that: over 1 GiB and 5 % of the GPU, and no less than what is missing.
func TestNobodyHasIt(t *testing.T) {
	for name, row := range map[string]struct {
		total, nobody, need float64 // the rest of the GPU is a process's
		want                bool
	}{
		"it would fit":       {40000, 2000, 2000, true},
		"not even then":      {40000, 2000, 2001, false},
		"5 % of the GPU":     {40000, 2000, 1, true},
		"less than that":     {40000, 1999, 1, false},
		"a GiB":              {10000, 1024, 1, true},
		"less":               {10000, 1023, 1, false},
		"nothing is missing": {40000, 2000, 0, false},
	} {
		w := New(Options{Need: sampler.Some(series.Bytes(row.need))})
		p := processOf(7, "python a.py", row.total-row.nobody)
		for i := range 10 {
			s := snapshotOf(float64(i), row.total, row.total, p)
			s.GPUs[0].Memory.Unattributed = sampler.Some(series.Bytes(row.nobody))
			w.Add(s)
		}
		f := w.facts(time.Time{})
		f.gpu = w.gpus[0]
		if got := len(checkUnattributed(&f)) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Memory grows by hand in an interactive program on a GPU that is mostly idle.
func TestByHand(t *testing.T) {
	for _, row := range []struct {
		command string
		busy    float64
		want    bool
	}{{"python -m ipykernel", 0.49, true}, {"python -m ipykernel", 0.5, false}, {"python -m ipykernel", nan, false}, {"python train.py", 0.1, false}} {
		g := &gpu{busy: row.busy}
		if got := g.byHand(&proc{process: &sampler.Process{Command: row.command}}); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
		if g.byHand(nil) {
			t.Error("nobody works by hand")
		}
	}
}

// Utilization of late comes to that of now within minutes.
func TestBusyOfLate(t *testing.T) {
	g := &gpu{busy: nan}
	for i, row := range []struct{ percent, least, most float64 }{{-1, 0, 0}, {80, 0.8, 0.8}, {0, 0.78, 0.79}, {-1, 0.78, 0.79}, {100, 0.78, 0.80}} {
		g.last = &sampler.GPU{}
		if row.percent >= 0 {
			g.last.Utilization.GPU = sampler.Some(int(row.percent))
		}
		if g.foldBusy(); i > 0 && !(g.busy >= row.least && g.busy <= row.most) || i == 0 && !equal(g.busy, nan) {
			t.Errorf("after %v %%: %v", row.percent, g.busy)
		}
	}
	for range 300 {
		g.foldBusy()
	}
	if g.busy < 0.99 || g.busy > 1 {
		t.Errorf("after five minutes: %v", g.busy)
	}
}

// A neighbor is told who took 256 MiB, and 2 % of the GPU, since a peak that does not fit beside it any more.
func TestNeighborBounds(t *testing.T) {
	for name, row := range map[string]struct {
		peak, others float64 // of the process; what the others held at its peak
		holds, other float64 // now
		want         bool
	}{
		"does not fit":   {16000, 100, 8000, 5000, true},
		"just fits":      {15020, 100, 8000, 5000, false},
		"just does not":  {15021, 100, 8000, 5000, true},
		"took 2 %":       {16000, 4600, 8000, 5000, true},
		"took less":      {16000, 4601, 8000, 5000, false},
		"at its peak":    {8000, 100, 8000, 13000, false},
		"idle":           {16000, 100, 1919, 5000, false},
		"not quite idle": {16000, 100, 1920, 5000, true},
	} {
		f := fullOf(row.holds+row.other, processOf(1, "python a.py", row.holds), processOf(2, "python b.py", row.other))
		for _, p := range f.gpu.procs {
			p.peak.reset(0)
			p.peak.now = peakAt{value: p.series.Value}
			if p.pid == 1 {
				p.peak.now, p.series.Peak = peakAt{row.peak, row.others, 50}, row.peak
			}
		}
		if got := len(checkNeighbor(f)) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	p := &proc{}
	for peak, want := range map[float64]bool{9500: true, 9499: false} { // of this run; the last one came to 10000
		p.series.Value, p.series.Peak = 100, peak
		if got := p.idle(10000); got != want {
			t.Errorf("a peak of %v: idle %v", peak, got)
		}
	}
}

// newest names who came or grew within the time, else the largest.
func TestNewestNeighbor(t *testing.T) {
	of := func(pid int, first, value, base float64) *proc {
		p := &proc{pid: pid, first: first}
		p.series.Value, p.series.Base, p.series.Samples = value, base, 1
		return p
	}
	for name, row := range map[string]struct {
		procs []*proc
		want  int
	}{
		"came":        {[]*proc{of(1, 0, 9000, 9000), of(2, 90, 500, 500), of(3, 0, 9999, 9999)}, 2},
		"came before": {[]*proc{of(2, 89, 500, 500), of(3, 0, 900, 900)}, 3},
		"grew":        {[]*proc{of(2, 0, 500, 244), of(3, 0, 900, 900)}, 2},
		"grew less":   {[]*proc{of(2, 0, 500, 245), of(3, 0, 900, 900)}, 3},
		"nobody":      {nil, 0},
	} {
		g := &gpu{seen: 100, procs: append(row.procs, of(9, 99, 1, 0))}
		got := 0
		if p := g.newest(g.procs[len(g.procs)-1], 10); p != nil {
			got = p.pid
		}
		if got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// Imbalance is told with less than 8 % free and 2 GiB, or a fifth of the GPU, more than the others of the job.
func TestImbalanceBounds(t *testing.T) {
	for name, row := range map[string]struct {
		total, used, other float64
		otherCommand       string
		want               bool
	}{
		"a fifth more":    {20000, 18500, 14500, "", true},
		"less":            {20000, 18500, 14501, "", false},
		"8 % are free":    {20000, 18400, 14000, "", false},
		"2 GiB more":      {8000, 7800, 5752, "", true},
		"less than 2 GiB": {8000, 7800, 5753, "", false},
		"of another job":  {20000, 18500, 10000, "python other.py", false},
	} {
		w := New(Options{})
		for i := range 200 {
			command := "python a.py"
			s := snapshotOf(float64(i), row.total, row.used, processOf(1, command, row.used))
			if row.otherCommand != "" {
				command = row.otherCommand
			}
			s.GPUs = append(s.GPUs, gpuOf(1, row.total, row.other, processOf(2, command, row.other)))
			w.Add(s)
		}
		f := w.facts(time.Time{})
		f.gpu = w.gpus[0]
		if got := len(checkImbalance(&f)) > 0; got != row.want {
			t.Errorf("%s: %v", name, got)
		}
		w.gpus[1].total++
		if checkImbalance(&f) != nil {
			t.Errorf("%s: beside a GPU of another size", name)
		}
		w.gpus[1].total--
		w.gpus[1].seen--
		if checkImbalance(&f) != nil {
			t.Errorf("%s: beside a GPU that is listed no more", name)
		}
	}
}
