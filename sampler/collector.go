package sampler

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// collector is where the pollers meet. It holds the latest answers per device and makes
// snapshots of them. It starts nothing and reads no clock.
type collector struct {
	mu       sync.Mutex
	inv      Inventory
	gpus     []*device
	byKey    map[GPUKey]*device // by UUID, so that a reconnect finds its own
	marks    *Watermarks
	opened   time.Time // when the connection was; zero: not known
	lost     error     // the whole driver is away
	sampling Sampling
	lists    listBudget
	asking   Asking // nil: nobody sees requests
	inside   Inside // nil: nobody hears from allocators

	early  bool          // somebody wants early pictures
	rising bool          // a reading is news for one
	peaked chan struct{} // there is news for one
	last   *Snapshot     // that it renews
}

func newCollector() *collector {
	return &collector{byKey: map[GPUKey]*device{}, marks: NewWatermarks(), peaked: make(chan struct{}, 1)}
}

// adopt takes the devices of a new connection. What is known of a UUID stays. One that another device has, too (cloned virtual
// machines), tells nothing.
func (c *collector) adopt(inv Inventory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inv, c.lost, c.gpus, c.last = inv, nil, nil, nil
	c.inv.Driver, c.inv.CUDA = Clean(inv.Driver), Clean(inv.CUDA)
	taken := map[string]bool{}
	for _, d := range inv.Devices {
		d.Name, d.UUID, d.PCI = Clean(d.Name), Clean(d.UUID), Clean(d.PCI)
		if d.MIG != nil {
			m := *d.MIG
			m.Profile, m.ParentUUID = Clean(m.Profile), Clean(m.ParentUUID)
			d.MIG = &m
		}
		if taken[d.UUID] {
			d.UUID = ""
		}
		taken[d.UUID] = true
		known := c.byKey[d.Key()]
		if known == nil {
			known = &device{}
			c.byKey[d.Key()] = known
		}
		known.dev, known.memErr, known.passing, known.slowErr, known.listErr, known.rateErr, known.retryAt = d, nil, nil, nil, nil, nil, time.Time{}
		known.heard, known.told, known.overdue, known.slowLate = false, false, false, false
		c.gpus = append(c.gpus, known)
	}
}

// openedAt notes since when the devices can be asked.
func (c *collector) openedAt(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = at
}

// reading notes an answer of the memory poller and returns the used memory as snapshots
// have it. stale: it has risen since the last process list, which should be read at once.
func (c *collector) reading(dev int, at time.Time, r Reading, err error) (used Opt[Bytes], stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.gpus[dev]
	d.overdue = false
	if err != nil {
		if errors.Is(err, ErrTransient) {
			d.passing = err
		} else {
			d.memErr, d.rises, d.heard = err, riser{}, true
			d.retryAt = at.Add(d.retryAfter(err))
		}
		return used, false
	}
	before, mem := d.mem, r.memory(d.dev.SharedWithHost)
	now, ok := mem.Used.Value()
	if !ok { // the one before stands in for it, as for one that failed
		d.memErr, d.passing, d.heard = nil, fmt.Errorf("%w: memory (%d bytes used of %d)", ErrImplausible, r.Used, r.Total), true
		if d.readAt.IsZero() {
			d.mem = mem
		}
		return used, false
	}
	stood := d.readAt
	d.mem, d.memErr, d.passing, d.readAt, d.heard = mem, nil, nil, at, true
	d.counted = r.Used.Less(now)
	d.moved = d.moved || mem.Used != before.Used || mem.Free != before.Free
	if d.listedAs(at, now) {
		d.procUsed, d.low = d.mem.Used, now
	}
	d.low = min(d.low, now)
	if c.asking != nil && d.mem.Used != before.Used {
		if was, ok := before.Used.Value(); ok && stood.After(d.toldAt) {
			c.asking.Reading(d.dev.Key(), stood, was)
		}
		c.asking.Reading(d.dev.Key(), at, now)
		d.toldAt = at
	}
	w := &d.win
	if w.Readings == 0 || now > w.Max {
		w.Max, w.MaxTime = now, at
	}
	if w.Readings == 0 || now < w.Min {
		w.Min = now
	}
	w.Readings++
	d.falls.Count(w, at, now, d.mem.Usable())
	d.rises.reading(at, now)
	d.floor = min(d.floor, now)
	c.rising = c.early && d.height.see(now) || c.rising
	stale = d.procsOK && !d.asked && now > d.floor+staleBytes && at.Sub(d.listedAt) >= staleAfter && now > d.floor+c.worthList(d, at)
	d.asked = d.asked || stale
	return d.mem.Used, stale
}

// stood notes that the memory was read at a time and had not moved since the last answer that was passed on.
func (c *collector) stood(dev int, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.gpus[dev]; at.After(d.readAt) && !d.readAt.IsZero() {
		d.readAt = at
	}
}

// readUntil passes on that there are no more readings of before.
func (c *collector) readUntil(at time.Time) {
	if c.asking != nil {
		c.asking.ReadUntil(at)
	}
}

// tellRisen asks for an early picture if there was news since the last time: once for all that was read in one go.
func (c *collector) tellRisen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rising {
		c.rising = false
		c.risen()
	}
}

// counted notes readings that were as the ones before, and readings that were given up.
func (c *collector) counted(devs, counts []int, missed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, dev := range devs {
		if w := &c.gpus[dev].win; w.Readings > 0 {
			w.Readings += max(counts[i], 0)
		}
		c.gpus[dev].win.Missed += missed
	}
}

// watchAbove fills in above how much memory a sweep must return at once: for a process list,
// corrected when a list was read and by the sweep when memory falls by more than the step, and for the screen.
func (c *collector) watchAbove(devs []int, above, news []uint64, at time.Time) (step uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, dev := range devs {
		d := c.gpus[dev]
		d.above, d.worth = &above[i], c.worthList(d, at)
		step = max(step, uint64(d.worth))
		if d.procsOK && !d.asked {
			above[i] = d.risen()
		}
		d.news = &news[i]
		c.rearm(d)
	}
	return step
}

// worthList is how far memory must rise above its least to be worth a list now. One that takes longer than the rises of which it is to tell
// holds up those of the other GPUs, and takes what all may cost.
func (c *collector) worthList(d *device, at time.Time) Bytes {
	if d.listTook > 2*listTakes {
		return MaxPlausible
	}
	switch big, small := c.lists.left(at); {
	case small:
		return staleBytes
	case big:
		return max(d.mem.Total.Or(0)/bigRise, staleBytes)
	}
	return MaxPlausible
}

// risen is the driver's figure above which a new list is wanted.
func (d *device) risen() uint64 { return uint64(d.floor + d.worth + d.counted) }

// missed notes readings that were given up because the poller was late.
func (c *collector) missed(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.gpus {
		d.win.Missed += n
	}
}

// due says whether the device should be asked now.
func (c *collector) due(dev int, at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gpus[dev].memErr == nil || !at.Before(c.gpus[dev].retryAt)
}

// failed notes that the device does not answer to the calls of one kind. What the
// others bring goes on.
func (c *collector) failed(dev int, kind string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dev < 0 || dev >= len(c.gpus) {
		return
	}
	switch d := c.gpus[dev]; kind {
	case callMemory:
		d.memErr, d.heard, d.overdue = err, true, false
	case callTraffic:
		d.rateErr, d.metrics.PCIe.RX, d.metrics.PCIe.TX = err, Opt[uint64]{}, Opt[uint64]{}
	default:
		rates := PCIe{RX: d.metrics.PCIe.RX, TX: d.metrics.PCIe.TX}
		d.slowErr, d.metrics, d.procs, d.procsOK, d.told, d.slowLate = err, Metrics{PCIe: rates}, nil, false, true, false
	}
}

// overdue notes that a memory call has lasted long. It may hang.
func (c *collector) overdue(dev int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gpus[dev].overdue = true
}

// slowOverdue notes the same of the slow calls for a device.
func (c *collector) slowOverdue(dev int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gpus[dev].slowLate = true
}

// undecided says whether there is a call of which it is not known yet whether it hangs.
func (c *collector) undecided() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.gpus, func(d *device) bool { return d.overdue || d.slowLate })
}

func (c *collector) sawXID(dev int, xid uint64, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dev < 0 || dev >= len(c.gpus) {
		return
	}
	d := c.gpus[dev]
	d.xid, d.xidTime = Some(xid), at
	if len(d.xids) < maxXIDs {
		d.xids = append(d.xids, XID{xid, Some(at)})
	}
}

// snapshot makes the snapshot of this time and begins new windows.
func (c *collector) snapshot(at time.Time, host string, hm Opt[HostMemory]) *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = at.Round(0) // one of a script may have a monotonic part, which does not count a suspend
	s := &Snapshot{Type: "snapshot", Schema: Schema, Time: at, Host: host,
		Driver: c.inv.Driver, CUDA: c.inv.CUDA, HostMemory: hm, Alerts: []Alert{},
		GPUs: make([]GPU, 0, len(c.gpus))}
	if c.sampling.AskedSeconds > 0 {
		s.Sampling = Some(c.sampling)
	}
	c.dropRates(at)
	for _, d := range c.gpus {
		d.rises.tell(&d.win, d.asked)
		g := d.gpu(c.lost, at, c.opened, c.period(), c.asking)
		g.XIDs, d.xids = d.xids, nil
		if g.Memory.Window == nil { // what it saw before the error
			c.marks.window(g.Key(), &d.mem, &d.win)
		}
		s.GPUs = append(s.GPUs, g)
		d.height.begin(max(d.win.Max, d.mem.Used.Or(0)), d.mem.Total)
		c.rearm(d)
		d.win, d.lastsTo = Window{}, d.lasts(at, c.period())
	}
	s.splitGPUs()
	if c.asking != nil {
		c.asking.Apply(s)
	}
	if c.inside != nil {
		c.inside.Apply(s)
	}
	c.marks.Apply(s)
	c.last = s
	return s
}

// period is how often the memory was asked to be read.
func (c *collector) period() time.Duration {
	return time.Duration(c.sampling.AskedSeconds * float64(time.Second))
}

// splitGPUs leaves the processes of a GPU that is split by MIG to its instances, where
// they are listed too.
func (s *Snapshot) splitGPUs() {
	for i := range s.GPUs {
		if whole := &s.GPUs[i]; s.Split(whole) {
			whole.Processes, whole.Memory.Unattributed = []Process{}, Opt[Bytes]{}
		}
	}
}

// risen asks for an early picture.
func (c *collector) risen() {
	select {
	case c.peaked <- struct{}{}:
	default:
	}
}

// rearm tells the sweep in progress above what it must return at once, by the driver's figure.
func (c *collector) rearm(d *device) {
	if d.news == nil || !c.early {
		return
	}
	above := d.height.above()
	if above < math.MaxUint64 {
		above += uint64(d.counted)
	}
	atomic.StoreUint64(d.news, above)
}
