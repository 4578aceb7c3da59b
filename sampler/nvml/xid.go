package nvml

import (
	"fmt"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

const (
	// xidSlice is the longest wait in one driver call. Close does not wait it out: it
	// says goodbye to the driver when the call returns. Each return from a blocking call
	// keeps the Go runtime's monitor thread polling for 10 ms, so it is not shorter.
	xidSlice = time.Second

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
}

// WaitXID waits up to timeout for an Xid error. An error is returned after timeout, too:
// a driver that always fails must not be asked in a circle.
func (s *Source) WaitXID(timeout time.Duration) (dev int, xid uint64, err error) {
	c, err := s.connected()
	if err != nil {
		return -1, 0, err
	}
	defer c.leave()
	if !c.xid.tried {
		c.xid.tried = true
		c.xid.set, c.xid.err = c.watch()
	}
	if c.xid.set == nil {
		return -1, 0, c.xid.err
	}
	end := time.Now().Add(timeout)
	for {
		event, ret := c.lib.EventSetWait(c.xid.set, milliseconds(time.Until(end)))
		if ret == gonvml.SUCCESS {
			if dev, xid, ok := c.event(event); ok {
				return dev, xid, nil
			}
		} else if ret != gonvml.ERROR_TIMEOUT {
			c.rest(time.Until(end))
			return -1, 0, failure("waiting for Xid", ret)
		}
		select {
		case <-c.closed:
			return -1, 0, errClosed
		default:
		}
		if !time.Now().Before(end) {
			return -1, 0, nil
		}
	}
}

// milliseconds is the wait of the next driver call; at least one, so that a rest of
// microseconds is not a circle of empty waits.
func milliseconds(d time.Duration) uint32 {
	return uint32(max(min(d, xidSlice).Milliseconds(), 1))
}

// rest sleeps until the connection is closed, at most d.
func (c *conn) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.closed:
	case <-t.C:
	}
}

// watch makes the event set and registers every card that has events.
func (c *conn) watch() (gonvml.EventSet, error) {
	if !c.symbols.has(symEventCreate, symEventWait, symEventFree, symEventTypes, symEventRegister) {
		return nil, fmt.Errorf("%w: Xid events", sampler.ErrNotSupported)
	}
	set, ret := c.lib.EventSetCreate()
	if ret != gonvml.SUCCESS {
		// Whatever the reason, it will not get better before the next Open.
		return nil, fmt.Errorf("%w: Xid events (%s)", sampler.ErrNotSupported, react(ret).name)
	}
	registered := 0
	for _, d := range c.devices {
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
		c.lib.EventSetFree(set) //nolint:errcheck // there is nothing left to do about it
		return nil, fmt.Errorf("%w: no GPU has Xid events", sampler.ErrNotSupported)
	}
	return set, nil
}

// free gives the event set back. No call is in flight then.
func (w *xidWatch) free(c *conn) {
	if w.set != nil {
		c.lib.EventSetFree(w.set) //nolint:errcheck // there is nothing left to do about it
		w.set = nil
	}
}

// event says which device an event is of and which Xid it means.
func (c *conn) event(e gonvml.EventData) (dev int, xid uint64, ok bool) {
	switch e.EventType {
	case gonvml.EventTypeXidCriticalError:
		xid = e.EventData
	case gonvml.EventTypeDoubleBitEccError:
		xid = xidDoubleBitECC
	default:
		return -1, 0, false
	}
	card := c.card(e.Device)
	if card == nil {
		return -1, xid, true
	}
	for _, d := range c.devices {
		if d.parent == card && e.GpuInstanceId != noInstance && d.info.MIG.GPUInstance == int(e.GpuInstanceId) &&
			(e.ComputeInstanceId == noInstance || d.info.MIG.ComputeInstance == int(e.ComputeInstanceId)) {
			return d.place, xid, true
		}
	}
	return card.place, xid, true
}

// card finds the card of a handle, or of its UUID: drivers may hand out a handle of their own.
func (c *conn) card(handle gonvml.Device) *device {
	p := handleOf(handle)
	if p == 0 {
		return nil
	}
	for _, d := range c.devices {
		if d.pointer == p {
			return d
		}
	}
	if !c.symbols.has(symUUID) {
		return nil
	}
	uuid, ret := handle.GetUUID()
	if ret != gonvml.SUCCESS {
		return nil
	}
	for _, d := range c.devices {
		if d.info.UUID == uuid {
			return d
		}
	}
	return nil
}
