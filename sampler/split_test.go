package sampler

import (
	"testing"
	"time"
)

// A list that came before the first reading of the memory says nothing about what has
// moved since: the process keeps what the driver said, and the rest is nobody's.
func TestListBeforeFirstReading(t *testing.T) {
	c := newCollector()
	c.adopt(Inventory{Devices: []Device{{UUID: "a"}}})
	at := time.Unix(1000, 0)
	c.slow(0, at, Metrics{}, nil, []Process{{PID: 7, Memory: Some(15 * GiB)}}, nil)
	c.reading(0, at, Reading{Total: 48 * GiB, Used: 24 * GiB, Free: 24 * GiB}, nil)
	g := c.snapshot(at, "", Opt[HostMemory]{}).GPUs[0]
	if got := g.Processes[0].Memory.Or(0); got != 15*GiB {
		t.Errorf("the process has %s, the driver said 15.0 GiB", got)
	}
	if got := g.Memory.Unattributed.Or(0); got != 9*GiB {
		t.Errorf("unattributed is %s, want 9.0 GiB", got)
	}
}

// The processes of a GPU split by MIG are listed once, at their instance.
func TestSplitGPU(t *testing.T) {
	c := newCollector()
	c.adopt(Inventory{Devices: []Device{{UUID: "card"}, {UUID: "part", MIG: &MIG{ParentUUID: "card"}}, {UUID: "whole"}}})
	at := time.Unix(1000, 0)
	for dev := range 3 {
		c.reading(dev, at, Reading{Total: 48 * GiB, Used: 4 * GiB, Free: 44 * GiB}, nil)
		c.slow(dev, at, Metrics{}, nil, []Process{{PID: 7, Memory: Some(4 * GiB)}}, nil)
	}
	s := c.snapshot(at, "", Opt[HostMemory]{})
	if n := len(s.GPUs[0].Processes); n != 0 {
		t.Errorf("the GPU lists %d processes, its instance does already", n)
	}
	if n := len(s.GPUs[1].Processes); n != 1 {
		t.Errorf("the instance lists %d processes, want 1", n)
	}
	if n := len(s.GPUs[2].Processes); n != 1 {
		t.Errorf("a GPU that is not split lists %d processes, want 1", n)
	}
}
