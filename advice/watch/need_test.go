package watch

import (
	"fmt"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

const inMiB = 1024.0 // one GiB

func gpuOf(index int, total, used float64, procs ...sampler.Process) sampler.GPU {
	g := snapshotOf(0, total, used, procs...).GPUs[0]
	g.Index = index
	return g
}

func TestFits(t *testing.T) {
	window := gpuOf(0, 80*inMiB, 60*inMiB)
	window.Memory.Window = &sampler.Window{Min: 60 * sampler.GiB, Max: 66 * sampler.GiB, Readings: 50}
	reserved := gpuOf(0, 80*inMiB, 60*inMiB)
	reserved.Memory.Reserved = sampler.Some(sampler.GiB)
	nonsense := gpuOf(0, 80*inMiB, 60*inMiB)
	nonsense.Memory.Used = sampler.Some(sampler.Bytes(1<<64 - 1))
	for _, row := range []struct {
		name         string
		gpu          sampler.GPU
		need, short  sampler.Bytes
		fits, known  bool
		near         bool
		worst        sampler.Bytes
		inTheWayPIDs []int
	}{
		{name: "fits", gpu: gpuOf(0, 80*inMiB, 60*inMiB), need: 18 * sampler.GiB, fits: true, known: true, worst: 20 * sampler.GiB},
		{name: "fits to the byte", gpu: gpuOf(0, 80*inMiB, 60*inMiB), need: 20 * sampler.GiB, fits: true, known: true, near: true, worst: 20 * sampler.GiB},
		{name: "short", gpu: gpuOf(0, 80*inMiB, 60*inMiB), need: 21 * sampler.GiB, short: sampler.GiB, known: true, near: true, worst: 20 * sampler.GiB},
		{name: "worst of the window", gpu: window, need: 15 * sampler.GiB, short: sampler.GiB, known: true, near: true, worst: 14 * sampler.GiB},
		{name: "reserved is not free", gpu: reserved, need: 20 * sampler.GiB, short: sampler.GiB, known: true, near: true, worst: 19 * sampler.GiB},
		{name: "no figures", gpu: nonsense, need: sampler.GiB, fits: true},
		{name: "no total", gpu: gpuOf(0, 0, 0), need: sampler.GiB, fits: true},
		{name: "one is enough", gpu: gpuOf(0, 80*inMiB, 60*inMiB, processOf(1, "a", 40*inMiB), processOf(2, "b", 12*inMiB), processOf(3, "c", 8*inMiB)),
			need: 30 * sampler.GiB, short: 10 * sampler.GiB, known: true, near: true, worst: 20 * sampler.GiB, inTheWayPIDs: []int{2}},
		{name: "two are needed", gpu: gpuOf(0, 80*inMiB, 60*inMiB, processOf(1, "a", 40*inMiB), processOf(2, "b", 20*inMiB)),
			need: 70 * sampler.GiB, short: 50 * sampler.GiB, known: true, near: true, worst: 20 * sampler.GiB, inTheWayPIDs: []int{1, 2}},
		{name: "larger than the GPU", gpu: gpuOf(0, 80*inMiB, 60*inMiB, processOf(1, "a", 60*inMiB)),
			need: 90 * sampler.GiB, short: 70 * sampler.GiB, known: true, near: true, worst: 20 * sampler.GiB},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := Fits(row.gpu, row.need)
			fits, known := f.Fits()
			if f.Short != row.short || fits != row.fits || known != row.known || f.Near() != row.near || f.WorstFree.Or(0) != row.worst {
				t.Errorf("short %v fits %v known %v near %v worst %v", f.Short, fits, known, f.Near(), f.WorstFree.Or(0))
			}
			var pids []int
			for _, h := range f.InTheWay() {
				pids = append(pids, h.PID)
			}
			if !slices.Equal(pids, row.inTheWayPIDs) {
				t.Errorf("in the way: %v", pids)
			}
		})
	}
}

// TestFitsSums: whatever the figures are, holders are sorted and short is exactly what a
// need has more than what was free.
func TestFitsSums(t *testing.T) {
	property := func(total, used, need uint32, parts []uint16) bool {
		var procs []sampler.Process
		for i, m := range parts {
			procs = append(procs, processOf(i+1, "x", float64(m)))
		}
		f := Fits(gpuOf(0, float64(total), float64(used), procs...), sampler.Bytes(need)*sampler.MiB)
		free, ok := f.WorstFree.Value()
		if !ok {
			return f.Short == 0
		}
		sorted := slices.IsSortedFunc(f.Holders, func(a, b Holder) int { return int(int64(b.Bytes) - int64(a.Bytes)) })
		return sorted && f.Short == (sampler.Bytes(need)*sampler.MiB).Less(free)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func boxOf(seconds float64, used ...float64) sampler.Snapshot {
	s := sampler.Snapshot{Time: advicetest.Epoch.Add(time.Duration(seconds * float64(time.Second)))}
	for i, u := range used {
		s.GPUs = append(s.GPUs, gpuOf(i, 80*inMiB, u*inMiB))
	}
	return s
}

func TestCheck(t *testing.T) {
	s := boxOf(0, 70, 10, 40)
	check := func(s sampler.Snapshot, need sampler.Bytes) Answer {
		c := NewChecker(need)
		c.Add(s)
		return c.Answer()
	}
	v := check(s, 30*sampler.GiB)
	if !v.Known() || !v.Enough(2) || v.Enough(3) || v.GPUs[0].GPU != 1 || v.GPUs[2].GPU != 0 {
		t.Errorf("%+v", v)
	}
	if last := v.GPUs[2]; last.Short != 20*sampler.GiB {
		t.Errorf("%+v", last)
	}
	if v := check(sampler.Snapshot{}, sampler.GiB); v.Known() || v.Enough(1) {
		t.Errorf("no GPU: %+v", v)
	}
	c := NewChecker(30 * sampler.GiB)
	for i, used := range []float64{10, 60, 10} {
		c.Add(boxOf(float64(i), used, 10))
	}
	if v := c.Answer(); v.Enough(2) || !v.Enough(1) || v.GPUs[1].WorstFree.Or(0) != 20*sampler.GiB {
		t.Errorf("worst of a window: %+v", v)
	}
}

func TestWaiter(t *testing.T) {
	type step struct {
		at   float64
		used []float64
	}
	for _, row := range []struct {
		name  string
		gpus  int
		hold  time.Duration
		steps []step
		want  []int // indices when done with the last step; nil: still waiting
	}{
		{name: "at once", gpus: 1, steps: []step{{0, []float64{70, 10}}}, want: []int{1}},
		{name: "most free first, printed by index", gpus: 2, steps: []step{{0, []float64{20, 40, 0, 10}}}, want: []int{2, 3}},
		{name: "not enough", gpus: 2, steps: []step{{0, []float64{70, 10}}, {1, []float64{70, 10}}}},
		{name: "held", gpus: 1, hold: 2 * time.Second, steps: []step{{0, []float64{10}}, {1, []float64{10}}, {2, []float64{10}}}, want: []int{0}},
		{name: "not yet held", gpus: 1, hold: 3 * time.Second, steps: []step{{0, []float64{10}}, {1, []float64{10}}, {2, []float64{10}}}},
		{name: "broken", gpus: 1, hold: 2 * time.Second, steps: []step{{0, []float64{10}}, {1, []float64{70}}, {2, []float64{10}}, {3, []float64{10}}}},
		{name: "gone from the list", gpus: 1, hold: 2 * time.Second, steps: []step{{0, []float64{10}}, {1, nil}, {2, []float64{10}}, {3, []float64{10}}}},
		{name: "slept", gpus: 1, hold: 2 * time.Second, steps: []step{{0, []float64{10}}, {1, []float64{10}}, {900, []float64{10}}}},
		{name: "clock set back", gpus: 1, hold: 2 * time.Second, steps: []step{{10, []float64{10}}, {11, []float64{10}}, {0, []float64{10}}, {1, []float64{10}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := NewWaiter(WaitOptions{Need: 30 * sampler.GiB, GPUs: row.gpus, Hold: row.hold})
			var got []int
			for _, s := range row.steps {
				got = nil
				ready, done := w.Add(boxOf(s.at, s.used...))
				if done != (len(ready) > 0) {
					t.Errorf("done %v with %d", done, len(ready))
				}
				for _, f := range ready {
					got = append(got, f.GPU)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
	w := NewWaiter(WaitOptions{Need: 30 * sampler.GiB, Hold: time.Minute})
	w.Add(boxOf(0, 10, 70))
	w.Add(boxOf(5, 10, 70))
	if s := w.Status(); len(s) != 2 || !s[0].Free || s[0].For != 5*time.Second || s[1].Free || s[1].Short != 20*sampler.GiB {
		t.Errorf("%+v", s)
	}
}

// Compute instances that share a GPU instance share its memory: the need must fit as often as they are counted.
func TestSharedInstances(t *testing.T) {
	instance := func(gpuInstance, compute int, free sampler.Bytes) sampler.GPU {
		g := sampler.GPU{Index: 0, UUID: fmt.Sprintf("MIG-%d-%d", gpuInstance, compute), MIG: &sampler.MIG{ParentUUID: "GPU-0", GPUInstance: gpuInstance, ComputeInstance: compute}}
		g.Memory.Total, g.Memory.Free, g.Memory.Used = sampler.Some(40*sampler.GiB), sampler.Some(free), sampler.Some(40*sampler.GiB-free)
		return g
	}
	s := sampler.Snapshot{Time: time.Unix(1000, 0), GPUs: []sampler.GPU{instance(1, 0, 40*sampler.GiB), instance(1, 1, 40*sampler.GiB), instance(2, 0, 35*sampler.GiB)}}
	for _, row := range []struct {
		need sampler.Bytes
		gpus int
		want bool
	}{{30 * sampler.GiB, 1, true}, {30 * sampler.GiB, 2, true}, {30 * sampler.GiB, 3, false}, {20 * sampler.GiB, 3, true}, {36 * sampler.GiB, 2, false}} {
		if _, done := NewWaiter(WaitOptions{Need: row.need, GPUs: row.gpus}).Add(s); done != row.want {
			t.Errorf("wait for %v on %d: %v", row.need, row.gpus, done)
		}
		c := NewChecker(row.need)
		c.Add(s)
		if got := c.Answer().Enough(row.gpus); got != row.want {
			t.Errorf("check %v on %d: %v", row.need, row.gpus, got)
		}
	}
}
