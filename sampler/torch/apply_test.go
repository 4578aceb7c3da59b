package torch

import (
	"fmt"
	"testing"
	"time"

	"nvpeak/sampler"
)

// people is a host whose processes are named in a test.
type people map[int]sampler.Process

func (people) Name() string                                { return "box" }
func (people) Memory() (m sampler.Opt[sampler.HostMemory]) { return m }
func (h people) Identify(list []sampler.Process) {
	for i := range list {
		if p, ok := h[list[i].PID]; ok {
			p.PID, p.Visible = list[i].PID, true
			list[i] = p
		}
	}
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func snapshotOf(gpus int, at time.Time) *sampler.Snapshot {
	s := &sampler.Snapshot{Time: at}
	for i := range gpus {
		s.GPUs = append(s.GPUs, sampler.GPU{Index: i, UUID: uuid(i), PCI: fmt.Sprintf("00000000:0%d:00.0", i+1), Name: "A", Memory: sampler.Memory{Total: sampler.Some(80 * gib)}})
	}
	return s
}

// alone is a receiver whose clock a test sets.
func alone(host people) (*Receiver, *clock) {
	c := &clock{noon}
	return newReceiver(Options{Host: host, Clock: c}), c
}

// where are the GPUs on which a process has an allocator, and what it has reserved there.
func where(s *sampler.Snapshot, pid int) (found string) {
	for _, g := range s.GPUs {
		for _, p := range g.Processes {
			if p.PID == pid && p.Allocator != nil {
				found += fmt.Sprintf("%d:%d ", g.Index, p.Allocator.Reserved/gib)
			}
		}
	}
	return found
}

// line is one of a device that has reserved so many GiB.
func line(device, gibs int, more string) []byte {
	return fmt.Appendf(nil, `{"v":1,"device":%d,"next_ms":1000,"allocated":0,"reserved":%d%s}`, device, sampler.Bytes(gibs)*gib, more)
}

// Which GPU a report is of: what torch calls it, then its number, then where the driver lists the process.
func TestPlaces(t *testing.T) {
	named := func(n int) string { return `,"uuid":"` + uuid(n)[len("GPU-"):] + `"` }
	for name, row := range map[string]struct {
		env    map[string]string
		listed []int
		lines  []string // of devices 0, 1, …
		want   string
	}{
		"by number":                           {map[string]string{}, nil, []string{"", ""}, "0:1 1:2 "},
		"as the program sees it":              {map[string]string{}, nil, []string{`,"visible":"3,1"`, `,"visible":"3,1"`}, "1:2 3:1 "},
		"which may be otherwise than at exec": {map[string]string{"CUDA_VISIBLE_DEVICES": "2"}, nil, []string{""}, "0:1 "},
		"by UUID":                             {map[string]string{}, nil, []string{named(2), named(0)}, "0:2 2:1 "},
		"by UUID, as the driver writes it":    {map[string]string{}, nil, []string{`,"uuid":"` + uuid(3) + `"`}, "3:1 "},
		"of a GPU that is not watched":        {map[string]string{}, []int{0}, []string{named(7)}, ""},
		"a name that is none":                 {map[string]string{}, nil, []string{`,"uuid":"what"`}, "0:1 "},
		"a name of zeros":                     {map[string]string{}, nil, []string{`,"uuid":"00000000-0000-0000-0000-000000000000"`}, "0:1 "},
		"by bus":                              {map[string]string{}, nil, []string{`,"pci":"00000000:04:00.0"`}, "3:1 "},
		"twice the same":                      {map[string]string{}, nil, []string{named(1), named(1)}, "1:1 "},
		"elsewhere than it is listed":         {map[string]string{}, []int{2}, []string{""}, "2:1 "},
		"nothing is known":                    {map[string]string{}, nil, []string{`,"visible":"-1"`}, ""},
		"none is visible":                     {map[string]string{}, nil, []string{`,"visible":""`}, ""},
	} {
		r, _ := alone(people{7: {Environment: row.env}})
		for n, more := range row.lines {
			r.take(7, line(n, n+1, more))
		}
		s := snapshotOf(4, noon)
		for _, i := range row.listed {
			s.GPUs[i].Processes = []sampler.Process{{PID: 7, Visible: true, Environment: row.env}}
		}
		r.Apply(s)
		if got := where(s, 7); got != row.want {
			t.Errorf("%s: on %q, want %q", name, got, row.want)
		}
	}
}

// A reading is told while it is fresh, by the interval of its reporter.
func TestFresh(t *testing.T) {
	for _, row := range []struct {
		next string
		age  time.Duration
		want bool
	}{
		{`,"next_ms":1000`, 4 * time.Second, true}, {`,"next_ms":1000`, 4001 * time.Millisecond, false}, {`,"next_ms":5000`, 8 * time.Second, true}, {`,"next_ms":20000`, 13 * time.Second, true}, {`,"next_ms":20000`, 14 * time.Second, false},
		{`,"next_ms":-1`, 3 * time.Second, true}, {`,"next_ms":99999999999`, 14 * time.Second, false},
	} {
		r, c := alone(people{7: {}})
		r.take(7, line(0, 1, row.next))
		c.now = noon.Add(row.age)
		s := snapshotOf(1, c.now)
		r.Apply(s)
		if got := where(s, 7) != ""; got != row.want {
			t.Errorf("%s after %v: %v", row.next, row.age, got)
		}
	}
}

// A pid that is used again, one of another pid namespace, a process that is gone, and more than a GPU has.
func TestNotTold(t *testing.T) {
	born := func(n int) sampler.Process {
		return sampler.Process{PID: 7, Visible: true, StartTime: sampler.Some(noon.Add(time.Duration(n) * time.Second))}
	}
	r, _ := alone(people{7: born(1)})
	r.take(7, line(0, 1, ""))
	r.host = people{7: born(2)}
	s := snapshotOf(1, noon)
	s.GPUs[0].Processes = []sampler.Process{born(2)}
	if r.Apply(s); s.GPUs[0].Processes[0].Allocator != nil {
		t.Error("the report of one process is told of another")
	}
	if r.take(7, line(0, 2, "")); len(r.processes) != 1 {
		t.Error("the new process is not taken")
	}
	s = snapshotOf(1, noon)
	s.GPUs[0].Processes = []sampler.Process{{PID: 7, Name: "of another namespace"}}
	if r.Apply(s); s.GPUs[0].Processes[0].Allocator != nil || where(s, 7) != "0:2 " {
		t.Errorf("rows %+v", s.GPUs[0].Processes)
	}
	r.host = people{}
	s = snapshotOf(1, noon)
	if r.Apply(s); len(s.GPUs[0].Processes) > 0 {
		t.Error("a process that is gone is told")
	}
	r, _ = alone(people{7: {}})
	r.take(7, line(0, 81, ""))
	s = snapshotOf(1, noon)
	if r.Apply(s); len(s.GPUs[0].Processes) > 0 {
		t.Error("more than there is")
	}
}

// The peak is the allocator's where it is higher than what was seen, and stays when the program resets its own.
func TestPeak(t *testing.T) {
	r, c := alone(people{7: {}})
	r.take(7, line(0, 1, fmt.Sprintf(`,"peak_reserved":%d`, 9*gib)))
	c.now = noon.Add(time.Second)
	r.take(7, line(0, 1, ""))
	for sampled, want := range map[sampler.Bytes]string{2 * gib: "allocator", 10 * gib: "sampled"} {
		s := snapshotOf(1, c.now)
		s.GPUs[0].Processes = []sampler.Process{{PID: 7, Visible: true, Peak: &sampler.Peak{Bytes: sampled, Source: sampler.PeakSampled}}}
		r.Apply(s)
		if p := s.GPUs[0].Processes[0].Peak; p.Source != want || want == "allocator" && (!p.Time.Equal(noon) || p.Bytes != 9*gib) {
			t.Errorf("%v was sampled: %+v", sampled, p)
		}
	}
}

// Processes that say nothing any more are forgotten, and there is an end to how many are known.
func TestForgotten(t *testing.T) {
	host := people{}
	for pid := range 2 * maxProcesses {
		host[pid+1] = sampler.Process{}
	}
	r, c := alone(host)
	for pid := range 2 * maxProcesses {
		r.take(pid+1, line(0, 1, ""))
	}
	if len(r.processes) != maxProcesses {
		t.Errorf("%d processes are known", len(r.processes))
	}
	c.now = noon.Add(silent + time.Second)
	if r.Apply(snapshotOf(1, c.now)); len(r.processes) != 0 {
		t.Errorf("%d processes are still known", len(r.processes))
	}
}
