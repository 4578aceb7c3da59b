package request

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

const (
	mib = sampler.MiB
	gib = sampler.GiB
)

// people is a host whose processes are named in a test.
type people map[int]sampler.Process

func (people) Name() string                                { return "box" }
func (people) Memory() (m sampler.Opt[sampler.HostMemory]) { return m }
func (h people) Identify(list []sampler.Process) {
	for i := range list {
		if p, ok := h[list[i].PID]; ok {
			p.PID, p.Visible = list[i].PID, true
			if !p.StartTime.Known() {
				p.StartTime = sampler.Some(noon.Add(time.Minute))
			}
			list[i] = p
		}
	}
}

// scene is a tracker on a machine with GPUs of 48 GiB.
type scene struct {
	*Tracker
	t    *testing.T
	now  time.Time
	gpus []sampler.GPU

	sweeps bool // a test itself says until when readings are passed on
}

func newScene(t *testing.T, gpus int, host people) *scene {
	s := &scene{Tracker: New(host), t: t, now: noon}
	for i := range gpus {
		s.gpus = append(s.gpus, sampler.GPU{Index: i, UUID: fmt.Sprintf("GPU-%d", i), Name: "A", Memory: sampler.Memory{Total: sampler.Some(48 * gib)}})
	}
	s.Begin(map[int]bool{6: true})
	s.apply()
	return s
}

// apply is the snapshot of now.
func (s *scene) apply() *sampler.Snapshot {
	if !s.sweeps {
		s.ReadUntil(s.now)
	}
	snap := &sampler.Snapshot{Time: s.now}
	for _, g := range s.gpus {
		g.Processes = append([]sampler.Process{}, g.Processes...)
		snap.GPUs = append(snap.GPUs, g)
	}
	s.Apply(snap)
	return snap
}

// Listed is a list that takes no time.
func (s *scene) Listed(key sampler.GPUKey, at time.Time, procs []sampler.Process) {
	s.Tracker.Listed(key, at, 0, procs)
}

// Ended is the end of a process that was asking for nothing.
func (s *scene) Ended(pid int, at time.Time, status int) { s.Tracker.Ended(pid, at, status, nil) }

func (s *scene) list(gpu, pid int, memory sampler.Opt[sampler.Bytes]) {
	who := []sampler.Process{{PID: pid}}
	s.host.Identify(who)
	who[0].Memory = memory
	s.gpus[gpu].Processes = append(s.gpus[gpu].Processes, who[0])
}

func function(name string) int {
	for n := range Functions {
		if Functions[n].Name == name {
			return n
		}
	}
	panic(name)
}

// call makes a call a millisecond later.
// listAll tells the driver's lists of all GPUs, as they are now.
func (s *scene) listAll() {
	for i := range s.gpus {
		s.Listed(s.gpus[i].Key(), s.now, s.gpus[i].Processes)
	}
}

// firstSeat is the GPU of what process 7 asked for first, in a snapshot of now; -1: it has none.
func (s *scene) firstSeat() int {
	s.apply()
	at := s.processes[7].seats[0].at
	return slices.IndexFunc(s.gpus, func(g sampler.GPU) bool { return g.Key() == at })
}

func (s *scene) call(name string, c Call) {
	s.now = s.now.Add(time.Millisecond)
	c.Time, c.Function = s.now, function(name)
	if c.PID == 0 {
		c.PID = 7
	}
	if c.TID == 0 {
		c.TID = c.PID
	}
	s.Call(c)
}

func (s *scene) context(device int) uint64 {
	c := uint64(0xc000 + device)
	s.call("cuDevicePrimaryCtxRetain", Call{Address: c, Device: device})
	return c
}

func (s *scene) alloc(at uint64, n sampler.Bytes) {
	s.call("cuMemAlloc_v2", Call{Address: at, Size: uint64(n), Context: 0xc000, Device: -1})
}

func (s *scene) refused(n sampler.Bytes) {
	s.call("cuMemAlloc_v2", Call{Size: uint64(n), Context: 0xc000, Device: -1, Answer: outOfMemory})
}

func (s *scene) free(at uint64) { s.call("cuMemFree_v2", Call{Address: at, Device: -1}) }

// timeline is what happens in a test, in the order of its times.
type timeline []moment

type moment struct {
	at time.Time
	do func()
}

func (l *timeline) on(at time.Time, do func()) { *l = append(*l, moment{at, do}) }

// asks is that a thread of process 7 asks for memory from a time on, and is given it at another.
func (l *timeline) asks(s *scene, tid int, at, over time.Time, place uint64, n sampler.Bytes) {
	l.on(over, func() {
		s.Call(Call{Time: s.now, Function: function("cuMemAlloc_v2"), PID: 7, TID: tid, Address: place, Size: uint64(n), Device: -1, Took: over.Sub(at)})
	})
}

// gives is that one gives it back.
func (l *timeline) gives(s *scene, tid int, at, over time.Time, place uint64) {
	began := uint64(at.UnixNano())
	l.on(at, func() {
		s.Call(Call{Time: s.now, Function: function("cuMemFree_v2"), PID: 7, TID: tid, Address: place, Device: -1, Other: began})
	})
	l.on(over, func() { s.Lingered(7, began, s.now) })
}

// play lets it happen, each as so long before its time.
func (s *scene) play(l timeline, before time.Duration) {
	slices.SortStableFunc(l, func(a, b moment) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	for _, e := range l {
		s.now = e.at.Add(-before)
		e.do()
	}
}

func (s *scene) later(d time.Duration) { s.now = s.now.Add(d) }

// of is what a process asked for on a GPU, in a snapshot of now.
func (s *scene) of(gpu, pid int) *sampler.Process {
	s.t.Helper()
	snap := s.apply()
	for i := range snap.GPUs[gpu].Processes {
		if p := &snap.GPUs[gpu].Processes[i]; p.PID == pid {
			return p
		}
	}
	s.t.Fatalf("process %d is not on GPU %d: %+v", pid, gpu, snap.GPUs)
	return nil
}

func (s *scene) requests(gpu int) sampler.Requests {
	s.t.Helper()
	r := s.of(gpu, 7).Requests
	if r == nil {
		s.t.Fatal("no requests")
	}
	return *r
}
