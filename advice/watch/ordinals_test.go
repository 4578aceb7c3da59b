package watch

import (
	"fmt"
	"testing"

	"nvpeak/sampler"
)

// visible is a job on a box of four GPUs that sees some of them, and the time at which its log is read.
type visible struct {
	gpu    int // that it uses
	env    map[string]string
	pid    int
	unseen bool // nobody sees its requests
	gone   int  // the snapshot in which it is listed no more; 0: never
}

// printed is the failure of a job in the words of PyTorch, which calls its GPU 0.
func printed(n, free sampler.Bytes) sampler.OOMEvent {
	return sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, GPUIndex: sampler.Some(0), GPUTotal: sampler.Some(40 * gib), Requested: sampler.Some(n),
		GPUFree: sampler.Some(free), Line: 7, Occurrences: 1}
}

// playVisible plays jobs that are refused 2.15 GiB with 780 MiB free at 4.2 s, of which logs tell as the snapshots of some seconds have come, and tells
// the alerts that came of it.
func playVisible(jobs []visible, read map[int]sampler.OOMEvent) (said []string) {
	w := New(Options{})
	for i := range 14 {
		s := sampler.Snapshot{Time: drivenTime(float64(i))}
		for n := range 4 {
			g := gpuOf(n, 40960, 0)
			g.UUID = fmt.Sprint("GPU-", n)
			for _, j := range jobs {
				p := processOf(j.pid, "python train.py", 38*1024)
				p.Environment = j.env
				if !j.unseen {
					p.Requests = &sampler.Requests{Granted: 9, Whole: true}
				}
				if i > 4 && !j.unseen {
					p.Requests.Refused, p.Requests.Refusal = 2, &sampler.Refusal{Time: drivenTime(4.2), Bytes: 2202 * mib, Smallest: 2202 * mib, Tries: 2, Function: "cuMemAlloc_v2", Free: sampler.Some(780 * mib)}
				}
				if j.gone > 0 && i >= j.gone-1 && !j.unseen {
					p.Requests.ExitStatus = sampler.Some(1)
				}
				if n == j.gpu && (j.gone == 0 || i < j.gone) {
					g.Processes = append(g.Processes, p)
				}
			}
			s.GPUs = append(s.GPUs, g)
		}
		w.Add(s)
		if e, is := read[i]; is {
			w.Event(e, drivenTime(float64(i)+0.3))
		}
	}
	for _, in := range w.past { // as they are by now
		said = append(said, fmt.Sprint(in.now.Level, " ", in.now.GPU.Or(-1), " ", in.now.PID.Or(0)))
	}
	return said
}

// A program counts the GPUs that it can see: what its log calls GPU 0 is where the driver has refused it that, or where a process is that counts so.
func TestVisible(t *testing.T) {
	on := func(list string) map[string]string { return map[string]string{"CUDA_VISIBLE_DEVICES": list} }
	told := printed(2308544922, 780*mib)
	other := told
	other.GPUFree = sampler.Some(500 * mib)
	for name, row := range map[string]struct {
		jobs []visible
		read map[int]sampler.OOMEvent
		want []string
	}{
		"after the death":           {[]visible{{3, on("3"), 7, false, 7}}, map[int]sampler.OOMEvent{9: told}, []string{"critical 3 7"}},
		"other figures":             {[]visible{{3, on("3"), 7, false, 7}}, map[int]sampler.OOMEvent{9: other}, []string{"critical 3 7"}},
		"before it":                 {[]visible{{3, on("3"), 7, false, 7}}, map[int]sampler.OOMEvent{5: told}, []string{"critical 3 7"}},
		"before the refusal":        {[]visible{{3, on("3"), 7, false, 7}}, map[int]sampler.OOMEvent{4: told}, []string{"critical 3 7"}},
		"by UUID":                   {[]visible{{2, on("GPU-2,GPU-0"), 7, false, 7}}, map[int]sampler.OOMEvent{9: told}, []string{"critical 2 7"}},
		"set by itself":             {[]visible{{3, map[string]string{}, 7, false, 7}}, map[int]sampler.OOMEvent{9: told}, []string{"critical 3 7"}},
		"of no known environment":   {[]visible{{3, nil, 7, false, 7}}, map[int]sampler.OOMEvent{9: told}, []string{"critical 3 7"}},
		"set by itself, before":     {[]visible{{3, map[string]string{}, 7, false, 7}}, map[int]sampler.OOMEvent{4: told}, []string{"critical 3 7"}},
		"beside one on GPU 0":       {[]visible{{0, map[string]string{}, 6, true, 0}, {3, on("3"), 7, false, 7}}, map[int]sampler.OOMEvent{9: told}, []string{"critical 3 7"}},
		"of another failure":        {[]visible{{3, map[string]string{}, 7, false, 7}}, map[int]sampler.OOMEvent{9: other}, []string{"critical 3 7", "critical 0 0"}},
		"without requests":          {[]visible{{3, on("3"), 7, true, 7}}, map[int]sampler.OOMEvent{6: told}, []string{"critical 3 7"}},
		"without requests, by UUID": {[]visible{{1, on("GPU-1"), 7, true, 0}}, map[int]sampler.OOMEvent{6: told}, []string{"critical 1 7"}},
		"nothing tells":             {[]visible{{3, nil, 7, true, 0}}, map[int]sampler.OOMEvent{6: told}, []string{"critical 0 0"}},
	} {
		if got := playVisible(row.jobs, row.read); fmt.Sprint(got) != fmt.Sprint(row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Of a GPU that a message numbers in another way than nvidia-smi the explanation says both.
func TestVisibleExplained(t *testing.T) {
	w := New(Options{})
	p := processOf(7, "python train.py", 38*1024)
	p.Environment = map[string]string{"CUDA_VISIBLE_DEVICES": "1"}
	w.Add(sampler.Snapshot{Time: drivenTime(0), GPUs: []sampler.GPU{gpuOf(0, 40960, 0), gpuOf(1, 40960, 0, p)}})
	e := printed(2308544922, 780*mib)
	w.Event(e, drivenTime(1))
	told := w.failures[0].explained.Events[0]
	if told.Headline != "CUDA out of memory on GPU 1" || len(told.Notes) != 1 || told.Notes[0] != "The message calls it GPU 0: the program counts the GPUs that it can see, and nvidia-smi's number of this one is 1." {
		t.Errorf("%q %q", told.Headline, told.Notes)
	}
}

// A process whose requests are not all seen, and that ends with 0 with the GPU full, has coped.
func TestEndsWellFull(t *testing.T) {
	for status, want := range map[int]int{0: 0, 1: 1} {
		w := New(Options{})
		for i := range 60 {
			s := snapshotOf(float64(i), 40960, float64(20900+500*min(i, 39)))
			if i < 40 {
				p := processOf(7, "python a.py", float64(20000+500*i))
				p.Requests = &sampler.Requests{Granted: 5}
				if i == 39 {
					p.Requests.ExitStatus = sampler.Some(status)
				}
				s.GPUs[0].Processes = []sampler.Process{p}
			}
			s.Door = &sampler.Door{Busy: []sampler.Busy{{PID: 7, Function: "cuMemAlloc_v2"}}}
			w.Add(s)
		}
		n := 0
		for _, a := range w.Past() {
			if a.Kind == sampler.AlertOOM {
				n++
			}
		}
		if n != want {
			t.Errorf("with %d: %+v", status, w.Past())
		}
	}
}
