package sampler

import (
	"context"
	"testing"
	"time"
)

// counting is a source that counts readings of PCIe throughput.
type counting struct {
	Source
	calls int
}

func (s *counting) Throughput(int) (rx, tx Opt[uint64], err error) {
	s.calls++
	return rx, tx, nil
}

// The traffic is there when every device was asked once: the first snapshot does not come before.
func TestTrafficIsReady(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	src := &counting{}
	p := newPoller(src, Options{Clock: NewSteady()})
	p.interval = time.Second
	p.c.adopt(devices("GPU-0", "GPU-1"))
	p.pick = []int{0, 1}
	asked := -1
	p.readTraffic(&worker{group: newGroup(ctx, nil, nil), dev: -1}, func() {
		if asked < 0 {
			asked = src.calls
		}
		cancel()
	})
	if asked != 2 {
		t.Errorf("ready after %d of 2 devices", asked)
	}
}
