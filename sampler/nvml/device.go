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
	place  int // in conn.devices
	info   sampler.Device
	handle handle
	parent *device // of a MIG instance

	shape shapeState

	broken     error        // why there is no handle, or nil
	describing *description // that it did not give in time; nil: it did
	retried    atomic.Int64

	memory     memoryState
	metrics    metricsState
	throughput throughputState
	processes  processesState
}

func newDevice(h handle, f *functions) *device {
	d := &device{handle: h}
	d.metrics.rows = make([]rowState, len(f.rows))
	for i := range d.processes.lists {
		d.processes.lists[i].list.fn = f.lists[i]
	}
	d.processes.sm.samples.fn = f.samples
	return d
}

// most is the largest amount that a process can have of a GPU.
func (d *device) most() sampler.Bytes {
	total := sampler.Bytes(d.memory.total.Load())
	if total == 0 || total > sampler.MaxPlausible || d.info.SharedWithHost {
		return sampler.MaxPlausible
	}
	return total
}

// retryEvery is how often a GPU without a handle is asked for again: each second, and those of whoever asks are not exact.
const retryEvery = 900 * time.Millisecond

// retry is the answer of a GPU that has no handle: why, or ErrReconnect when the driver
// has one for it again.
func (d *device) retry(lib gonvml.Interface, at time.Time) error {
	if d.describing != nil && !d.describing.isDone() {
		return d.broken // whatever else it would answer, its description still hangs
	}
	now := at.UnixNano()
	last := d.retried.Load()
	if last == 0 || now-last >= int64(retryEvery) {
		if d.retried.CompareAndSwap(last, now) && last != 0 {
			if _, ret := lib.DeviceGetHandleByIndex(d.info.Index); ret == gonvml.SUCCESS {
				return fmt.Errorf("%w: GPU %d is back", sampler.ErrReconnect, d.info.Index)
			}
		}
	}
	return d.broken
}
