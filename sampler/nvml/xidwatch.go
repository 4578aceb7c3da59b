package nvml

import (
	"fmt"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

const (
	// xidDoubleBitECC is the Xid of a double-bit ECC error, which is also an event of its own
	// (https://docs.nvidia.com/deploy/xid-errors/index.html).
	xidDoubleBitECC = 48

	wantedEvents = gonvml.EventTypeXidCriticalError | gonvml.EventTypeDoubleBitEccError

	noInstance = 0xFFFFFFFF
)

// xidWatch is the set of events of one connection. WaitXID makes it at its first call,
// so that a driver that is slow at it delays nothing else.
type xidWatch struct {
	tried bool
	set   gonvml.EventSet // nil: there is none
	err   error           // why there is none
	hasty int             // waits in a row that were none
}

// A wait shorter than hastyWait is none. Events may come in a burst; after hastyMost such waits
// in a row there is a rest before each, from hastyRest on twice as long each time, up to
// xidSlice: drivers that always return at once would take a core.
const (
	hastyWait = 5 * time.Millisecond
	hastyMost = 16
	hastyRest = 10 * time.Millisecond
)

// waited counts a wait.
func (w *xidWatch) waited(d time.Duration) {
	if w.hasty++; d >= hastyWait {
		w.hasty = 0
	}
}

// rest is how long to leave the driver alone before the next wait.
func (w *xidWatch) rest() time.Duration {
	if w.hasty < hastyMost {
		return 0
	}
	return min(hastyRest<<min(w.hasty-hastyMost, 10), xidSlice)
}

// registerEvents makes the event set and registers every GPU that has events.
func registerEvents(lib gonvml.Interface, symbols symbolSet, devices []*device) (gonvml.EventSet, error) {
	if !symbols.has(symEventCreate, symEventWait, symEventFree, symEventTypes, symEventRegister) {
		return nil, fmt.Errorf("%w: Xid events", sampler.ErrNotSupported)
	}
	set, ret := lib.EventSetCreate()
	if ret != gonvml.SUCCESS {
		// Whatever the reason, it will not get better before the next Open.
		return nil, fmt.Errorf("%w: Xid events (%s)", sampler.ErrNotSupported, react(ret).name)
	}
	registered := 0
	for _, d := range devices {
		if d.broken != nil || d.parent != nil {
			continue
		}
		types, ret := d.handle.GetSupportedEventTypes()
		if types &= wantedEvents; ret != gonvml.SUCCESS || types == 0 {
			continue
		}
		if d.handle.RegisterEvents(types, set) == gonvml.SUCCESS {
			registered++
		}
	}
	if registered == 0 {
		lib.EventSetFree(set) //nolint:errcheck // there is nothing left to do about it
		return nil, fmt.Errorf("%w: no GPU has Xid events", sampler.ErrNotSupported)
	}
	return set, nil
}

// free gives the event set back. No call is in flight then.
func (w *xidWatch) free(lib gonvml.Interface) {
	if w.set != nil {
		lib.EventSetFree(w.set) //nolint:errcheck // there is nothing left to do about it
		w.set = nil
	}
}

// xidOf says which device an event is of and which Xid it means.
func xidOf(e gonvml.EventData, devices []*device, symbols symbolSet) (dev int, xid uint64, ok bool) {
	switch e.EventType {
	case gonvml.EventTypeXidCriticalError:
		xid = e.EventData
	case gonvml.EventTypeDoubleBitEccError:
		xid = xidDoubleBitECC
	default:
		return -1, 0, false
	}
	whole := find(newHandle(e.Device, symbols), devices)
	if whole == nil {
		return -1, xid, true
	}
	for _, d := range devices {
		if d.parent == whole && e.GpuInstanceId != noInstance && d.info.MIG.GPUInstance == int(e.GpuInstanceId) &&
			(e.ComputeInstanceId == noInstance || d.info.MIG.ComputeInstance == int(e.ComputeInstanceId)) {
			return d.place, xid, true
		}
	}
	return whole.place, xid, true
}

// find is the GPU of a handle, or of its UUID: drivers may hand out a handle of their own.
func find(h handle, devices []*device) *device {
	if h.pointer == 0 {
		return nil
	}
	for _, d := range devices {
		if d.handle.pointer == h.pointer {
			return d
		}
	}
	uuid := h.uuid()
	if uuid == "" {
		return nil
	}
	for _, d := range devices {
		if d.info.UUID == uuid {
			return d
		}
	}
	return nil
}
