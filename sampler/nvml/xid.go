package nvml

import (
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// xidSlice is the longest wait in one driver call. Close does not wait it out: the
// driver is shut down when the call returns. Each return from a blocking call
// keeps the Go runtime's monitor thread polling for 10 ms, so it is not shorter.
const xidSlice = time.Second

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
		c.xid.set, c.xid.err = registerEvents(c.lib, c.symbols, c.devices)
	}
	if c.xid.set == nil {
		return -1, 0, c.xid.err
	}
	end := time.Now().Add(timeout)
	for {
		if d := min(c.xid.rest(), time.Until(end)); d > 0 {
			c.rest(d)
		}
		select {
		case <-c.closed:
			return -1, 0, errClosed
		default:
		}
		began := time.Now()
		event, ret := c.lib.EventSetWait(c.xid.set, milliseconds(time.Until(end)))
		c.xid.waited(time.Since(began))
		if ret == gonvml.SUCCESS {
			if dev, xid, ok := xidOf(event, c.devices, c.symbols); ok {
				return dev, xid, nil
			}
		} else if ret != gonvml.ERROR_TIMEOUT {
			c.rest(time.Until(end))
			return -1, 0, failure("waiting for Xid", ret)
		}
		if !time.Now().Before(end) {
			return -1, 0, nil
		}
	}
}

// milliseconds is the wait of the next driver call, to the next whole second at most: then the
// snapshot is made, and awake together with everybody else costs less. It is at least one, so
// that a rest of microseconds is not a circle of empty waits.
func milliseconds(d time.Duration) uint32 {
	now := time.Now()
	d = min(d, now.Truncate(xidSlice).Add(xidSlice).Sub(now)+time.Millisecond)
	return uint32(max(d.Milliseconds(), 1))
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
