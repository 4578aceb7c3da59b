package sampler

import (
	"context"
	"time"
)

// Source answers single questions about devices. The Loop decides when to ask.
//
// Devices are numbered by their place in Inventory.Devices. Calls for different
// devices and of different kinds may come from different goroutines at the same time;
// one kind of call for one device never overlaps itself. A call may hang: the Loop
// abandons it and does not ask that device again before the call returns.
//
// Errors wrap those of errors.go. ErrReconnect voids everything: the Loop calls Close
// and then Open, and matches devices by UUID.
type Source interface {
	// Open connects and lists the devices. It is called again after ErrReconnect.
	Open(ctx context.Context) (Inventory, error)
	// Memory reads the memory of one device. It is the call that is made most often: nothing else belongs into it.
	Memory(dev int) (Reading, error)
	// Metrics reads what changes within seconds. PCIe.RX and TX are left to Throughput.
	Metrics(dev int) (Metrics, error)
	// Throughput reads the PCIe traffic in bytes per second; drivers take 20 ms a direction for it.
	Throughput(dev int) (rx, tx Opt[uint64], err error)
	// Processes lists the processes of one device, merged by pid, as far as the driver knows
	// them: PID, Type, Memory, SM and a driver Peak. With ErrNotSupported or ErrNoPermission it has those that could be
	// named all the same.
	Processes(dev int) ([]Process, error)
	// WaitXID waits up to timeout for an Xid error of any device. dev is -1 when none came.
	// ErrNotSupported: there will never be one.
	WaitXID(timeout time.Duration) (dev int, xid uint64, err error)
	// Close ends the connection. Nothing is called between Close and Open.
	Close()
}

// Inventory is what Open found.
type Inventory struct {
	Driver  string // "580.159.03"
	CUDA    string // highest CUDA version the driver serves, "13.0"
	Devices []Device
}

// Device is what never changes of a GPU or MIG instance.
type Device struct {
	Index             int
	UUID              string
	PCI               string
	Name              string
	MIG               *MIG
	Unsplit           bool // in MIG mode without instances: no program can run on it
	ComputeCapability Opt[string]
	SharedWithHost    bool // host memory serves as GPU memory
}

// Reading is one answer about the memory, as the driver gave it. Values that cannot be
// (2^64-1, more used than total) are sorted out by Memory.
type Reading struct {
	Total, Used, Free Bytes
	Reserved          Opt[Bytes] // absent with the driver's older call, whose Used includes it
}

// Host says who the processes are and how much memory the machine has.
type Host interface {
	Name() string
	// Identify fills in what the driver does not know: user, name, command, start time,
	// host memory, CPU, container, environment, framework, Visible.
	Identify([]Process)
	Memory() Opt[HostMemory]
}

// Clock is time as the Loop sees it, so that a script can run faster than life. It is never set; one
// that also has a method Wall knows the time of day, which is.
type Clock interface {
	Now() time.Time
}
