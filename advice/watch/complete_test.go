package watch

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A text that says no more than that there was no memory has the figures, the GPU and the process of what the driver refused then, whichever is heard
// of first, in one alert.
func TestTextWithoutFigures(t *testing.T) {
	bare := sampler.OOMEvent{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Framework: "pytorch", Line: 3, Text: "RuntimeError: CUDA error: out of memory"}
	own := bare
	own.Requested = sampler.Some(10 * gib)
	for name, row := range map[string]struct {
		event sampler.OOMEvent
		first bool // the text comes first
		want  string
		free  sampler.Opt[sampler.Bytes]
	}{
		"the text first":         {bare, true, "GPU 0: out of memory: 12.0 GiB refused with 9.7 GiB free", sampler.Some(9960 * mib)},
		"the driver first":       {bare, false, "GPU 0: out of memory: 12.0 GiB refused with 9.7 GiB free", sampler.Some(9960 * mib)},
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
