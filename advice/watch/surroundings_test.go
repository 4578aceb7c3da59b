package watch

import (
	"testing"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// A failure for host memory is told with the process that holds most of it, how much that has grown and how much the
// machine has lost; without figures of both nothing is told.
func TestHostIncident(t *testing.T) {
	for name, row := range map[string]struct {
		process, machine bool
		grown, lost      sampler.Opt[sampler.Bytes]
	}{
		"both known":     {true, true, sampler.Some(4 * sampler.GiB), sampler.Some(30 * sampler.GiB)},
		"no process":     {false, true, sampler.Opt[sampler.Bytes]{}, sampler.Opt[sampler.Bytes]{}},
		"not of machine": {true, false, sampler.Opt[sampler.Bytes]{}, sampler.Opt[sampler.Bytes]{}},
	} {
		w := New(Options{})
		for i, held := range []sampler.Bytes{10, 12, 14} {
			small, p := processOf(1, "python b.py", 500), processOf(7, "python a.py", 500)
			if row.process {
				small.HostMemory, p.HostMemory = sampler.Some(sampler.GiB), sampler.Some(held*sampler.GiB)
			}
			s := snapshotOf(float64(i), 20000, 1000, small, p, processOf(8, "python c.py", 10))
			if row.machine {
				s.HostMemory = sampler.Some(sampler.HostMemory{Total: 64 * sampler.GiB, Available: []sampler.Bytes{40, 50, 20}[i] * sampler.GiB})
			}
			w.Add(s)
		}
		in := w.Incident(sampler.OOMEvent{MemoryKind: sampler.MemoryHost})
		h := in.History
		if h == nil {
			h = &explain.History{}
		}
		if h.HostGrown != row.grown || h.HostLost != row.lost || (in.Command == "python a.py") != row.grown.Known() {
			t.Errorf("%s: %s grew by %v, the machine lost %v", name, in.Command, h.HostGrown, h.HostLost)
		}
	}
}

// The age of a process is counted from its start, or from when it was first listed.
func TestAge(t *testing.T) {
	clock := &series.Clock{Last: time.Unix(1000, 0), Now: 100}
	if got := ageOf(&proc{start: sampler.Some(time.Unix(400, 0)), first: 30}, clock); got != 600 {
		t.Errorf("%v s since its start", got)
	}
	if got := ageOf(&proc{first: 30}, clock); got != 70 {
		t.Errorf("%v s since it was listed", got)
	}
}

// Peers are the ranks of a job, and the process itself, on other GPUs of the same size.
func TestPeers(t *testing.T) {
	w := New(Options{})
	for i := range 200 {
		s := snapshotOf(float64(i), 20000, 9000, processOf(7, "python a.py", 9000))
		for n, p := range []sampler.Process{processOf(7, "renamed", 1000), processOf(8, "python a.py", 2000), processOf(9, "python b.py", 3000), processOf(10, "python a.py", 4000)} {
			total := 20000.0
			if n == 3 {
				total = 40000
			}
			s.GPUs = append(s.GPUs, gpuOf(n+1, total, 5000, p))
		}
		w.Add(s)
	}
	usual, most := peersOf(w.gpus, w.gpus[0], w.gpus[0].procs[0])
	if len(usual) != 2 || usual[0] != 1000*sampler.MiB || usual[1] != 2000*sampler.MiB || len(most) != 2 || most[1] != 2000*sampler.MiB {
		t.Errorf("usually %v, at most %v", usual, most)
	}
}

// What the others are to a failed process: those that came over 15 s after it arrived while it ran.
func TestArrived(t *testing.T) {
	for first, want := range map[float64]bool{25: false, 26: true} {
		g := &gpu{last: &sampler.GPU{}, procs: []*proc{{pid: 7, first: 10, process: &sampler.Process{}}, {pid: 8, first: first, process: &sampler.Process{}}}}
		g.procs[1].series.Samples = 1
		list := incidentOf(g, g.procs[0]).History.Others
		if len(list) != 1 || list[0].Arrived != want {
			t.Errorf("first listed at %v: %+v", first, list)
		}
		if list := incidentOf(g, nil).History.Others; len(list) != 1 || list[0].Arrived {
			t.Errorf("of an unknown process: %+v", list)
		}
	}
}

// Settled memory is asked for again with each snapshot, and at another time.
func TestSettledFree(t *testing.T) {
	g := &gpu{usable: 1000}
	p := &proc{}
	p.series.Start(0, false)
	p.series.Add(0, 100, 100, 100, 1000)
	g.procs = []*proc{p}
	if got := g.settledFree(1); got != 900 {
		t.Fatalf("%v free", got)
	}
	g.usable = 2000
	if g.settledFree(1) != 900 {
		t.Error("it is summed up anew within a snapshot")
	}
	if g.settledFree(2) != 1900 {
		t.Error("that of another time is told")
	}
	g.usable = 3000
	if g.tick++; g.settledFree(2) != 2900 {
		t.Error("that of the snapshot before is told")
	}
	if g.usable = 50; g.settledFree(3) != 0 {
		t.Error("less than nothing is free")
	}
}

// What stayed of a process is not known while nothing says what nobody held before.
func TestLeftUnknown(t *testing.T) {
	g := &gpu{total: 20000, listed: true, last: &sampler.GPU{}}
	g.rest.Start(0, true)
	g.rest.Add(0, 5000, 5000, 5000, 20000)
	for name, row := range map[string]struct {
		o      orphan
		listed bool
		want   float64
	}{
		"known":          {orphan{open: true, bytes: 9000, rest: 1000}, true, 4000},
		"over":           {orphan{bytes: 9000, rest: 1000}, true, 0},
		"unknown before": {orphan{open: true, bytes: 9000, rest: nan}, true, 0},
		"nothing listed": {orphan{open: true, bytes: 9000, rest: 1000}, false, 0},
	} {
		if g.orphan, g.listed = row.o, row.listed; g.left() != row.want {
			t.Errorf("%s: %v", name, g.left())
		}
	}
}

// A failure on a box of several GPUs whose message names neither process nor index is of none of them.
func TestOwnerUnknown(t *testing.T) {
	gpus := []*gpu{{last: &sampler.GPU{Index: 0}}, {last: &sampler.GPU{Index: 1}}}
	for _, index := range []sampler.Opt[int]{{}, sampler.Some(-1)} {
		if g, p, _ := (&Watch{gpus: gpus}).ownerOf(sampler.OOMEvent{GPUIndex: index}, 0); g != nil || p != nil {
			t.Errorf("%v: GPU %d", index, g.last.Index)
		}
	}
	if g, _, _ := (&Watch{gpus: gpus}).ownerOf(sampler.OOMEvent{GPUIndex: sampler.Some(1)}, 0); g != gpus[1] {
		t.Error("its index is not taken")
	}
	gpus[1].last.MIG = &sampler.MIG{}
	if g, _, _ := (&Watch{gpus: gpus}).ownerOf(sampler.OOMEvent{GPUIndex: sampler.Some(1)}, 0); g != nil {
		t.Error("the index is taken for that of an instance")
	}
}

// A process that the message names is looked for on the GPU that it numbers so, of the size in the message.
func TestOwnerOfSeveral(t *testing.T) {
	on := func(index int, visible string) *gpu {
		p := rank(7, visible)
		return &gpu{total: 1000, last: &sampler.GPU{Index: index}, procs: []*proc{{pid: 7, process: &p}}}
	}
	for name, row := range map[string]struct {
		visible string
		event   sampler.OOMEvent
		want    int
	}{
		"the first":     {"", sampler.OOMEvent{}, 0},
		"as it numbers": {"5,1", sampler.OOMEvent{GPUIndex: sampler.Some(1)}, 1},
		"as others":     {"1,5", sampler.OOMEvent{GPUIndex: sampler.Some(1)}, 0},
	} {
		gpus := []*gpu{on(0, row.visible), on(1, row.visible)}
		row.event.PID = sampler.Some(7)
		if g, p, _ := (&Watch{gpus: gpus}).ownerOf(row.event, 0); g != gpus[row.want] || p == nil {
			t.Errorf("%s: %+v", name, g.last)
		}
	}
	gpus := []*gpu{on(0, ""), on(1, "")}
	gpus[0].total = 9000
	if g, _, _ := (&Watch{gpus: gpus}).ownerOf(sampler.OOMEvent{PID: sampler.Some(7), GPUTotal: sampler.Some(1000 * sampler.MiB)}, 0); g != gpus[1] {
		t.Error("a GPU of another size is taken")
	}
}

// A message that names a rank alone is of the one process that has it.
func TestOwnerByRank(t *testing.T) {
	on := func(index int, ranks ...string) *gpu {
		g := &gpu{last: &sampler.GPU{Index: index}}
		for _, r := range ranks {
			g.procs = append(g.procs, &proc{pid: 10*index + len(g.procs), process: &sampler.Process{Environment: map[string]string{"LOCAL_RANK": r}}})
		}
		return g
	}
	e := sampler.OOMEvent{Rank: sampler.Some(1)}
	gpus := []*gpu{on(0, "0"), on(1, "1")}
	if g, p, _ := (&Watch{gpus: gpus}).ownerOf(e, 0); g != gpus[1] || p == nil {
		t.Error("its rank is not taken")
	}
	for name, gpus := range map[string][]*gpu{"two jobs": {on(0, "0", "1"), on(1, "1")}, "no such rank": {on(0, "0"), on(1, "2")}, "no ranks": {on(0, ""), on(1, "")}} {
		if g, p, _ := (&Watch{gpus: gpus}).ownerOf(e, 0); g != nil || p != nil {
			t.Errorf("%s: GPU %d", name, g.last.Index)
		}
	}
}

// A failure that is foreseen is told with what is known of the GPU and the process.
func TestForeseenFailure(t *testing.T) {
	p := sampler.Process{PID: 7, Framework: sampler.Some("jax"), Allocator: &sampler.Allocator{Allocated: 5, Reserved: 8}}
	g := &gpu{usable: 20000, used: 9000, last: &sampler.GPU{}}
	q := &proc{pid: 7, process: &p}
	q.series.Value = 6000
	e := hypothetical{gpu: g, proc: q, need: 500, free: 300, causes: certain(explain.CauseTooBig)}.event()
	if e.Requested.Or(0) != 500*sampler.MiB || e.GPUFree.Or(0) != 300*sampler.MiB || e.GPUTotal.Or(0) != 20000*sampler.MiB || e.ProcessInUse.Or(0) != 6000*sampler.MiB ||
		e.PID.Or(0) != 7 || e.Framework != "jax" || e.Allocated.Or(0) != 5 || e.ReservedUnallocated.Or(0) != 3 {
		t.Errorf("%+v", e)
	}
	if e := (hypothetical{host: true, causes: certain(explain.CauseHostMemory)}).event(); e.MemoryKind != sampler.MemoryHost || e.Requested.Known() || e.Framework != "" {
		t.Errorf("%+v", e)
	}
}

// Of near misses and growth the worst reading of the window counts, and only one that can be.
func TestWorstOfWindow(t *testing.T) {
	m := func(used, high sampler.Bytes) sampler.Memory {
		return sampler.Memory{Total: sampler.Some(sampler.Bytes(1000)), Used: sampler.Some(used), Free: sampler.Some(1000 - used), Window: &sampler.Window{Readings: 1, Max: high}}
	}
	for want, in := range map[sampler.Bytes]sampler.Memory{300: m(600, 700), 400: m(600, 600), 401: m(599, 500), 0: m(600, 1000), 450: m(550, sampler.MaxPlausible)} {
		if got := worstOfWindow(in); got != sampler.Some(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if worstOfWindow(sampler.Memory{}).Known() {
		t.Error("something is free of nothing")
	}
}

// The words of an open alert are made anew after five seconds, or when a new peak left less free than they say.
func TestStaleWords(t *testing.T) {
	for name, row := range map[string]struct {
		now, lowered float64
		want         bool
	}{
		"young":            {104.9, 100, false},
		"five seconds old": {105, 100, true},
		"a new peak":       {101, 100.5, true},
		"no newer peak":    {101, 100, false},
	} {
		in := &incident{renderedAt: 100, dueSince: nan, found: finding{level: "warning"}, now: sampler.Alert{Level: "warning"}}
		if got := in.renew(&Facts{now: row.now, gpu: &gpu{lowered: row.lowered}}); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A GPU whose memory reads 0 once after it was more is not empty; the second time it is.
func TestZeroOnce(t *testing.T) {
	w := New(Options{})
	for i, row := range []struct{ used, want float64 }{{5000, 5000}, {0, 1}, {0, 0}, {0, 0}, {5000, 5000}} {
		s := snapshotOf(float64(i), 20000, row.used)
		w.Add(s)
		if got := w.gpus[0].used; got != row.want {
			t.Errorf("reading %d of %v counts as %v", i, row.used, got)
		}
	}
}

// A failure that is told does not bring out what has yet to hold.
func TestFailureFiresAlone(t *testing.T) {
	w := New(Options{Need: sampler.Some(19 * sampler.GiB)})
	s := snapshotOf(0, 20480, 19000, processOf(7, "python a.py", 19000))
	w.Add(s)
	open := w.Event(sampler.OOMEvent{MemoryKind: sampler.MemoryGPU, Line: 3}, s.Time.Add(time.Second/10))
	if len(open) != 1 || open[0].Kind != sampler.AlertOOM {
		t.Errorf("%+v", open)
	}
	if open = w.Event(sampler.OOMEvent{MemoryKind: sampler.MemoryGPU, Line: 9}, s.Time.Add(time.Second/5)); len(open) != 2 || len(w.Past()) != 2 {
		t.Errorf("%+v", open)
	}
	for i := range 4 {
		open = w.Add(snapshotOf(float64(1+i), 20480, 19000, processOf(7, "python a.py", 19000)))
	}
	if len(open) != 3 {
		t.Errorf("%+v", open)
	}
}
