package watch

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A text that says no more than that there was no memory has the figures, the GPU and the process of what the driver refused then, whichever is heard
// of first, in one alert.
func TestTextWithoutFigures(t *testing.T) {
	bare := sampler.OOMEvent{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Framework: "pytorch", Line: 3, Text: "RuntimeError: CUDA error: out of memory"}
	own, size := bare, bare
	own.Requested = sampler.Some(10 * gib)
	size.Requested = sampler.Some(12 * gib)
	for name, row := range map[string]struct {
		event sampler.OOMEvent
		first bool // the text comes first
		want  string
		free  sampler.Opt[sampler.Bytes]
	}{
		"the text first":         {bare, true, "GPU 0: out of memory: 12.0 GiB refused with 9.7 GiB free", sampler.Some(9960 * mib)},
		"the driver first":       {bare, false, "GPU 0: out of memory: 12.0 GiB refused with 9.7 GiB free", sampler.Some(9960 * mib)},
		"the size first":         {size, true, "GPU 0: out of memory: 12.0 GiB refused with 9.7 GiB free", sampler.Some(9960 * mib)},
		"the size second":        {size, false, "GPU 0: out of memory: 12.0 GiB refused with 9.7 GiB free", sampler.Some(9960 * mib)},
		"with a size of its own": {own, false, "GPU 0: out of memory: 10.0 GiB refused", sampler.Opt[sampler.Bytes]{}},
	} {
		w := New(Options{})
		for i := range 10 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 1000), gpuOf(1, 40960, 1000)}}
			if i <= 4 {
				s.GPUs[0] = gpuOf(0, 40960, 31000)
				p := processOf(7, "python a.py", 30000)
				p.Requests = &sampler.Requests{Granted: 9, Live: 29 * gib, Largest: 5 * gib}
				if i == 4 {
					p.Requests.Refusal = &sampler.Refusal{Time: s.Time, Bytes: 12 * gib, Smallest: 12 * gib, Tries: 1, Function: "cuMemAlloc_v2", Free: sampler.Some(9960 * mib)}
					p.Requests.ExitStatus = sampler.Some(1)
				}
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			for n := range s.GPUs {
				s.GPUs[n].UUID = string(rune('a' + n))
			}
			if row.first && i == 4 {
				w.Event(row.event, drivenTime(3.9))
			}
			w.Add(s)
			if !row.first && i == 7 {
				w.Event(row.event, drivenTime(7.1))
			}
		}
		w.Add(sampler.Snapshot{Time: drivenTime(14), GPUs: []sampler.GPU{gpuOf(0, 40960, 1000), gpuOf(1, 40960, 1000)}})
		past := w.Past()
		if len(past) != 1 || past[0].GPU.Or(-1) != 0 || row.first && (past[0].Text != row.want || past[0].PID.Or(0) != 7) {
			t.Fatalf("%s: %+v", name, past)
		}
		if got := w.failures; len(got) != 1 || got[0].explained.Causes == nil {
			t.Errorf("%s: %+v", name, got)
		}
		f := w.facts(drivenTime(14))
		f.gpu = w.gpus[0]
		if m := renderFailure(&f, &w.failures[0]); !strings.HasPrefix(m.text, row.want) {
			t.Errorf("%s: %s, not %s", name, m.text, row.want)
		}
		d, ok := w.Completed(row.event)
		if ok != row.free.Known() || !d.Event.GPUFree.Equal(row.free) || ok && (d.Event.Requested.Or(0) != 12*gib || d.Event.PID.Or(0) != 7 || d.Event.Framework != "pytorch" || d.Event.Text != bare.Text) {
			t.Errorf("%s: %v, %+v", name, ok, d.Event)
		}
	}
}

// A text that tells the size alone has what was free, the GPU and its total from the refusal of about that size, also of a process that lives on.
func TestTextWithItsSize(t *testing.T) {
	event := sampler.OOMEvent{Kind: sampler.KindXLA, MemoryKind: sampler.MemoryGPU, Framework: "jax", Text: "RESOURCE_EXHAUSTED", Requested: sampler.Some(12 * gib)}
	printed := 12*gib + gib/100
	for name, row := range map[string]struct {
		asked  sampler.Bytes
		series []sampler.Bytes // refused, first and last
		change func(e *sampler.OOMEvent)
		want   bool
	}{
		"the same":                {12 * gib, []sampler.Bytes{12 * gib, 12 * gib}, nil, true},
		"of a segment":            {12*gib - 5*mib, []sampler.Bytes{12 * gib, 12 * gib}, nil, true},
		"asked for less and less": {8 * gib, []sampler.Bytes{12 * gib, 7 * gib}, nil, true},
		"rounded up":              {printed, []sampler.Bytes{printed - 4*mib, printed - 4*mib}, nil, true},
		"rounded up by too much":  {printed, []sampler.Bytes{printed - 6*mib, printed - 6*mib}, nil, false},
		"more":                    {12*gib + 1, []sampler.Bytes{12 * gib, 12 * gib}, nil, false},
		"less":                    {10 * gib, []sampler.Bytes{12 * gib, 12 * gib}, nil, false},
		"it tells what was free":  {12 * gib, []sampler.Bytes{12 * gib, 12 * gib}, func(e *sampler.OOMEvent) { e.GPUFree = sampler.Some(gib) }, false},
		"of the host":             {12 * gib, []sampler.Bytes{12 * gib, 12 * gib}, func(e *sampler.OOMEvent) { e.MemoryKind = sampler.MemoryHost }, false},
	} {
		w, e := New(Options{}), event
		e.Requested = sampler.Some(row.asked)
		if row.change != nil {
			row.change(&e)
		}
		for i := range 8 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 31000), gpuOf(1, 40960, 1000)}}
			s.GPUs[0].UUID, s.GPUs[1].UUID = "a", "b"
			p := processOf(7, "python a.py", 30000)
			p.Requests = &sampler.Requests{Granted: 9, Live: 29 * gib, Largest: 5 * gib}
			if i >= 4 {
				p.Requests.Refused = 2
				p.Requests.Refusal = &sampler.Refusal{Time: drivenTime(3.9), Bytes: row.series[0], Smallest: row.series[1], Tries: 2, Function: "cuMemAlloc_v2", Free: sampler.Some(5 * gib)}
			}
			s.GPUs[0].Processes = []sampler.Process{p}
			if i == 4 {
				w.Event(e, drivenTime(3.95))
			}
			w.Add(s)
		}
		d, ok := w.Completed(e)
		if ok != row.want {
			t.Errorf("%s: %v", name, ok)
		}
		if got := d.Event; ok && (d.GPU != 0 || got.GPUFree.Or(0) != 5*gib || got.GPUTotal.Or(0) != 40960*mib || got.Requested.Or(0) != row.asked || got.Kind != e.Kind || got.PID.Or(0) != 7 || !d.Incident.History.Free.Equal(got.GPUFree)) {
			t.Errorf("%s: on GPU %d, %+v, %v free", name, d.GPU, got, d.Incident.History.Free)
		}
	}
}

// A text is of what was refused last before it, to a process that died or that is listed still, unless it names another one. It has the figures of that at
// once, and is one failure with the death that is seen later.
func TestTextIsOfTheNearestRefusal(t *testing.T) {
	bare := sampler.OOMEvent{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Text: "CUDA error 2: out of memory"}
	for name, row := range map[string]struct {
		pid  int
		want int // whose failure it is
	}{"none named": {0, 8}, "the last one": {8, 8}, "the one before": {7, 7}} {
		w, e := New(Options{}), bare
		if row.pid > 0 {
			e.PID = sampler.Some(row.pid)
		}
		refused := func(pid int, at float64, size sampler.Bytes) sampler.Process {
			p := processOf(pid, "./a", 30000)
			p.Requests = &sampler.Requests{Granted: 99, Live: 29 * gib, Largest: 5 * gib, Refused: 1, ExitStatus: sampler.Some(1),
				Refusal: &sampler.Refusal{Time: drivenTime(at), Bytes: size, Smallest: size, Tries: 1, Function: "cuMemAlloc_v2", Free: sampler.Some(9960 * mib)}}
			return p
		}
		add := func(at float64, list ...sampler.Process) {
			s := sampler.Snapshot{Time: drivenTime(at), GPUs: []sampler.GPU{gpuOf(0, 40960, 31000)}}
			s.GPUs[0].Processes = list
			w.Add(s)
		}
		add(0, processOf(7, "./a", 30000))
		add(1, refused(7, 0.9, 12*gib))
		add(2)
		add(3, processOf(8, "./b", 30000))
		add(4, refused(8, 3.9, 10*gib))
		w.Event(e, drivenTime(4.1))
		sizes := map[int]sampler.Bytes{7: 12 * gib, 8: 10 * gib}
		d, ok := w.Completed(e)
		if !ok || d.PID != row.want || d.Event.Requested.Or(0) != sizes[row.want] {
			t.Errorf("%s: %v, of %d", name, ok, d.PID)
		}
		if row.want == 8 && !slices.ContainsFunc(w.Open(), func(a sampler.Alert) bool {
			return a.PID.Or(0) == 8 && a.Numbers["requested_bytes"] == float64(10*gib)
		}) {
			t.Errorf("%s: told at once as %+v", name, w.Open())
		}
		for i := range 5 {
			add(float64(5 + i))
		}
		if n := len(w.failures); n != 2 {
			t.Errorf("%s: %d failures of two processes", name, n)
		}
		for _, o := range w.failures {
			if o.logged != (o.death.PID == row.want) {
				t.Errorf("%s: that of %d is logged: %v", name, o.death.PID, o.logged)
			}
		}
	}
}

// Who is refused memory unwinds and gives back: a death has what the allocator held when it was refused, also once the process is gone.
func TestDeathHasWhatWasMeasured(t *testing.T) {
	for name, row := range map[string]struct {
		told float64 // when the allocator told of it
		want sampler.Bytes
	}{"in time": {3.95, 28 * gib}, "of another time": {1, 5 * gib}} {
		w := New(Options{})
		for i := range 9 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 31000)}}
			if i <= 4 {
				p := processOf(7, "python a.py", 30000)
				p.Requests = &sampler.Requests{Granted: 9, Live: 29 * gib, Largest: 5 * gib}
				p.Allocator = &sampler.Allocator{Allocated: 20 * gib, Reserved: 29 * gib}
				if i == 4 {
					p.Requests.Refusal = &sampler.Refusal{Time: drivenTime(3.9), Bytes: 12 * gib, Smallest: 12 * gib, Tries: 2, Function: "cuMemAlloc_v2", Free: sampler.Some(9960 * mib)}
					p.Requests.ExitStatus = sampler.Some(1)
					p.Allocator = &sampler.Allocator{Allocated: 5 * gib, Reserved: 29 * gib, OOMs: 1, LastOOM: &sampler.RefusedTensor{Time: drivenTime(row.told), Requested: 12 * gib,
						Allocated: sampler.Some(28 * gib), Reserved: sampler.Some(29 * gib), LargestFree: sampler.Some(gib)}}
				}
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			w.Add(s)
		}
		list := w.Deaths()
		if len(list) != 1 || list[0].Event.Allocated.Or(0) != row.want || list[0].Event.ReservedUnallocated.Or(0) != 29*gib-row.want || list[0].Event.Refused == nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
