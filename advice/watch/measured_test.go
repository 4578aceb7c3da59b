package watch

import (
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A log tells of a failure before a snapshot has what the allocator measured: the alert says it as soon as it is
// known, and only of the failure that it is of.
func TestMeasuredLater(t *testing.T) {
	gib := func(n float64) sampler.Opt[sampler.Bytes] {
		return sampler.Some(sampler.Bytes(n * float64(sampler.GiB)))
	}
	for name, row := range map[string]struct {
		size float64
		ago  time.Duration
		says bool
	}{"this one": {3, time.Second, true}, "another size": {2, time.Second, false}, "long ago": {3, time.Minute, false}} {
		w := New(Options{})
		start := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		snapshot := func(i int, a *sampler.Allocator) sampler.Snapshot {
			p := sampler.Process{PID: 7, Name: "python", Visible: true, Memory: gib(70), Allocator: a}
			g := sampler.GPU{UUID: "GPU-0", Memory: sampler.Memory{Total: gib(80), Used: gib(78), Free: gib(2)}, Processes: []sampler.Process{p}}
			return sampler.Snapshot{Time: start.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{g}}
		}
		for i := range 5 {
			w.Add(snapshot(i, nil))
		}
		e := sampler.OOMEvent{Kind: sampler.KindCUDA, Framework: "pytorch", MemoryKind: sampler.MemoryGPU, GPUIndex: sampler.Some(0), Requested: gib(3), GPUFree: gib(2), Line: 5,
			Allocated: gib(60), ReservedUnallocated: gib(9)}
		w.Event(e, start.Add(4500*time.Millisecond))
		refused := &sampler.RefusedTensor{Time: start.Add(5*time.Second - row.ago), Requested: gib(row.size).Or(0), GPUFree: gib(2), LargestFree: gib(1), Allocated: gib(60), Reserved: gib(69)}
		var said string
		for i := 5; i < 12; i++ {
			for _, a := range w.Add(snapshot(i, &sampler.Allocator{Reserved: gib(69).Or(0), OOMs: 1, LastOOM: refused})) {
				if a.Kind == sampler.AlertOOM && a.Level == sampler.LevelCritical {
					said = strings.Join(a.Evidence, "\n")
				}
			}
		}
		if !strings.Contains(said, "unallocated") || strings.Contains(said, "in blocks of at most 1.0 GiB: too broken up") != row.says {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// What the allocator measured at a refusal that the driver saw, too, is told with the failure that a log has of it.
func TestMeasuredBesideTheDriver(t *testing.T) {
	gib := func(n float64) sampler.Opt[sampler.Bytes] {
		return sampler.Some(sampler.Bytes(n * float64(sampler.GiB)))
	}
	w := New(Options{})
	start := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for i := range 6 {
		at := start.Add(time.Duration(i) * time.Second)
		asked := &sampler.Requests{Granted: 40, Live: gib(69).Or(0), Peak: gib(69).Or(0), Whole: true}
		p := sampler.Process{PID: 7, Name: "python", Visible: true, Type: "compute", Memory: gib(70), Requests: asked, Allocator: &sampler.Allocator{Reserved: gib(69).Or(0)}}
		if i == 5 {
			refused := at.Add(-100 * time.Millisecond)
			asked.Refused, asked.Refusal = 2, &sampler.Refusal{Time: refused, Bytes: gib(3).Or(0), Smallest: gib(3).Or(0), Free: gib(2), Function: "cuMemAlloc_v2", Tries: 2}
			p.Allocator.OOMs, p.Allocator.LastOOM = 1, &sampler.RefusedTensor{Time: refused, Requested: gib(3).Or(0), GPUFree: gib(2), LargestFree: gib(1), Allocated: gib(60), Reserved: gib(69)}
		}
		g := sampler.GPU{UUID: "GPU-0", Memory: sampler.Memory{Total: gib(80), Used: gib(78), Free: gib(2)}, Processes: []sampler.Process{p}}
		w.Add(sampler.Snapshot{Time: at, GPUs: []sampler.GPU{g}, Door: &sampler.Door{}})
	}
	e := sampler.OOMEvent{Kind: sampler.KindCUDA, Framework: "pytorch", MemoryKind: sampler.MemoryGPU, GPUIndex: sampler.Some(0), Requested: gib(3), GPUFree: gib(2), Line: 5,
		Allocated: gib(60), ReservedUnallocated: gib(9)}
	if _, ok := w.Refused(e, w.clock.Now); !ok {
		t.Fatal("the driver's refusal is not that of the log")
	}
	in := w.Incident(e)
	if r := in.Events[0].Refused; r == nil || r.LargestFree != gib(1) {
		t.Errorf("%+v", r)
	}
}
