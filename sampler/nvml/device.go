package nvml

import (
	"fmt"
	"sync/atomic"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// device is one GPU or MIG instance of a connection. Each kind of call has its own part
// of it and never overlaps itself, so only what they share is atomic.
type device struct {
	place   int // in conn.devices
	info    sampler.Device
	handle  gonvml.Device
	pointer uintptr // handle, for lists.go
	parent  *device // of a MIG instance

	broken  error // why there is no handle, or nil
	retried atomic.Int64

	memory     memoryState
	metrics    metricsState
	throughput throughputState
	processes  processesState
}

func newDevice(c *conn, handle gonvml.Device) *device {
	d := &device{handle: handle, pointer: handleOf(handle)}
	d.metrics.rows = make([]rowState, len(c.rows))
	for i := range d.processes.lists {
		d.processes.lists[i].list.fn = c.lists[i]
	}
	d.processes.samples.fn = c.samples
	return d
}

// brokenDevice stands for a GPU that the driver counts but does not hand out. What was
// known of it when it worked is kept, so that it stays the same GPU on screen.
func (c *conn) brokenDevice(index int, err error) *device {
	c.source.mu.Lock()
	info, ok := c.source.seen[index]
	c.source.mu.Unlock()
	if !ok {
		info = sampler.Device{Index: index, Name: fmt.Sprintf("GPU %d", index)}
	}
	return &device{info: info, broken: err}
}

// retryEvery is how often a GPU without a handle is asked for again.
const retryEvery = 10 * time.Second

// retry is the answer of a GPU that has no handle: why, or ErrReconnect when the driver
// has one for it again.
func (d *device) retry(c *conn) error {
	now := c.source.now().UnixNano()
	last := d.retried.Load()
	if last == 0 || now-last >= int64(retryEvery) {
		if d.retried.CompareAndSwap(last, now) && last != 0 {
			if _, ret := c.lib.DeviceGetHandleByIndex(d.info.Index); ret == gonvml.SUCCESS {
				return fmt.Errorf("%w: GPU %d is back", sampler.ErrReconnect, d.info.Index)
			}
		}
	}
	return d.broken
}
