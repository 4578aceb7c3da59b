package sampler

import (
	"errors"
	"sync/atomic"
	"time"
)

// slow notes the answers of the slow poller.
func (c *collector) slow(dev int, at time.Time, m Metrics, merr error, procs []Process, perr error) {
	c.figures(dev, at, m, merr)
	c.listInTurn(dev, at, procs, perr)
}

// figures notes those of a device. A value that could not be read is absent: the
// old one is not shown in its place.
func (c *collector) figures(dev int, at time.Time, m Metrics, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.gpus[dev]
	d.slowErr, d.slowLate = nil, false
	m.PCIe.RX, m.PCIe.TX = d.metrics.PCIe.RX, d.metrics.PCIe.TX
	if err == nil || !errors.Is(err, ErrTransient) {
		d.metrics, d.slowAt, d.oldest = m, at, m.Oldest
		if d.metrics.Oldest = (time.Time{}); d.oldest.IsZero() {
			d.oldest = at
		}
	}
}

// listInTurn notes a process list.
func (c *collector) listInTurn(dev int, at time.Time, procs []Process, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.gpus[dev]
	d.slowErr, d.slowLate = nil, false
	c.listed(d, at, procs, err)
}

// list notes a process list that was read out of turn.
func (c *collector) list(dev int, at time.Time, procs []Process, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gpus[dev].listedAt = at
	c.listed(c.gpus[dev], at, procs, err)
	if c.gpus[dev].height.news {
		c.risen()
	}
}

// spent notes how long a list out of turn has taken.
func (c *collector) spent(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.spend(d)
}

// setSampling notes how the memory is read.
func (c *collector) setSampling(s Sampling) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sampling = s
}

func (c *collector) answers(dev int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gpus[dev].answers()
}

// answers says whether slow calls to the device make sense.
func (d *device) answers() bool { return d.memErr == nil || refused(d.memErr) }

func (c *collector) listed(d *device, at time.Time, procs []Process, err error) {
	d.asked = false
	d.told = d.told || !errors.Is(err, ErrTransient)
	switch {
	case err == nil:
		if d.procsOK {
			d.nobodys = d.procUsed.Or(0).Less(sumOf(d.procs))
		}
		d.procs, d.procsOK, d.listErr = possible(procs, d.mem.Total), true, nil
		d.procUsed, d.procAt, d.atEdge = d.mem.Used, at, true
		d.floor, d.low = d.procUsed.Or(0), d.procUsed.Or(0)
		d.rises.listed(at, procs, d.procUsed)
		if c.asking != nil {
			c.asking.Listed(d.dev.Key(), at, d.listTook, d.procs)
		}
		if d.above != nil {
			atomic.StoreUint64(d.above, d.risen())
		}
		for i := range procs {
			if used, ok := procs[i].Memory.Value(); ok {
				c.marks.Process(procs[i].Key(d.dev.Key()), used, at)
			}
		}
	case errors.Is(err, ErrNotSupported), errors.Is(err, ErrNoPermission): // some may be named all the same
		d.procs, d.procsOK, d.listErr = possible(procs, d.mem.Total), false, nil
		if !d.procAt.IsZero() { // there are GPUs that never could
			d.listErr = err
		}
	case !errors.Is(err, ErrTransient), at.Sub(d.procAt) > freshFor: // the last one stands in no longer
		d.procs, d.procsOK, d.listErr = nil, false, err
	}
}

func (c *collector) traffic(dev int, at time.Time, rx, tx Opt[uint64]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.gpus[dev]
	d.rateErr, d.rateAt, d.metrics.PCIe.RX, d.metrics.PCIe.TX = nil, at, rx, tx
}

// dropRates forgets traffic that was read too long ago: where its calls are slow, they are made seldom. Who asks for a
// snapshot every minute has traffic that old.
func (c *collector) dropRates(at time.Time) {
	since := at.Add(-freshFor)
	if c.last != nil && c.last.Time.Before(since) {
		since = c.last.Time
	}
	for _, d := range c.gpus {
		if d.rateAt.Before(since) {
			d.metrics.PCIe.RX, d.metrics.PCIe.TX = Opt[uint64]{}, Opt[uint64]{}
		}
	}
}
