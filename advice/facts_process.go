package advice

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// proc is what is known of one process on one card.
type proc struct {
	pid     int
	start   sampler.Opt[time.Time]
	process *sampler.Process // newest snapshot, never changed
	first   float64          // when it was first listed
	seen    float64          // when it was last listed
	series  series
	tick    uint64 // of the card, when it was last listed
	growing growing

	retries   int     // of its allocator, newest
	retried   float64 // when they last rose; NaN: never
	retryRun  int     // retries since the first rise that is still recent
	refusals  int     // OOMs its allocator counted
	refused   float64 // when they last rose; NaN: never
	hostFirst float64 // MiB of host memory when first known; NaN: unknown
}

// is says whether p is the process q. A pid alone is not enough: pids are used again.
func (p *proc) is(q *sampler.Process) bool {
	if p.pid != q.PID {
		return false
	}
	old, ok := p.start.Value()
	now, known := q.StartTime.Value()
	if ok && known {
		return old.Equal(now)
	}
	return p.process.Command == q.Command && p.process.Name == q.Name
}

// establishedSeconds: a process that ran that long before it was first seen has its
// start-up behind it.
const establishedSeconds = 300

func newProc(q *sampler.Process, now float64, at time.Time) *proc {
	p := &proc{pid: q.PID, start: q.StartTime, process: q, first: now, seen: now,
		retried: math.NaN(), refused: math.NaN(), hostFirst: math.NaN()}
	began, ok := q.StartTime.Value()
	p.series.start(now, ok && at.Sub(began).Seconds() >= establishedSeconds)
	if a := q.Allocator; a != nil {
		p.retries, p.refusals = a.Retries, a.OOMs
	}
	return p
}

// foldProcesses takes the processes of a snapshot. above and below are how far the fast
// readings went beyond the newest one: they are given to whoever holds most of the
// card, since a process list is read once a second only.
func (c *card) foldProcesses(now, above, below float64) {
	c.matchProcesses(c.gpu.Processes, now)
	sum, most, largest := 0.0, c.used/2, (*proc)(nil)
	c.listed = false
	for _, p := range c.procs {
		m, ok := sane(p.process.Memory)
		if p.tick != c.tick || !ok {
			continue
		}
		c.listed = true
		sum += mib(m)
		if mib(m) >= most {
			most, largest = mib(m), p
		}
	}
	for _, p := range c.procs {
		m, ok := sane(p.process.Memory)
		if p.tick != c.tick || !ok {
			continue
		}
		up, down := 0.0, 0.0
		if p == largest {
			up, down = above, below
		}
		p.series.add(now, mib(m), max(0, mib(m)-down), mib(m)+up, c.total)
		p.foldAllocator(now)
	}
	if largest != nil {
		above, below = 0, 0
	}
	rest := max(0, c.used-sum)
	c.emptied(rest, now)
	c.rest.add(now, rest, max(0, rest-below), rest+above, c.total)
}

// emptied begins anew with what no process accounts for when it is gone: without a
// process list that is the end of one job, and the next one is not a spike of it.
func (c *card) emptied(rest, now float64) {
	if c.rest.plateau >= 0 && rest < c.total*plateauLevel/2 && c.rest.floor >= rest && c.rest.value < c.total*plateauLevel/2 {
		c.rest.start(now, false)
		c.growing = growing{}
	}
}

// matchProcesses brings c.procs into the order of the list: those listed first, then
// those missing for a moment.
func (c *card) matchProcesses(list []sampler.Process, now float64) {
	if c.inOrder(list) {
		for i := range list {
			c.procs[i].process, c.procs[i].seen, c.procs[i].tick = &list[i], now, c.tick
		}
	} else {
		c.reorder(list, now)
	}
	n := len(c.procs)
	for n > 0 && now-c.procs[n-1].seen > c.gone {
		n--
		c.orphan.ended(c, c.procs[n], now)
	}
	clear(c.procs[n:])
	c.procs = c.procs[:n]
}

// inOrder is the usual case: the same processes as in the snapshot before.
func (c *card) inOrder(list []sampler.Process) bool {
	if len(list) > len(c.procs) {
		return false
	}
	for i := range list {
		if !c.procs[i].is(&list[i]) {
			return false
		}
	}
	return true
}

func (c *card) reorder(list []sampler.Process, now float64) {
	order := c.spare[:0]
	for i := range list[:min(len(list), maxProcesses)] {
		p := c.find(&list[i])
		if p == nil {
			p = newProc(&list[i], now, c.at)
		} else if p.tick == c.tick {
			continue // listed twice
		}
		p.process, p.seen, p.tick = &list[i], now, c.tick
		order = append(order, p)
	}
	for _, p := range c.procs {
		if p.tick != c.tick && len(order) < 2*maxProcesses {
			order = append(order, p)
		}
	}
	clear(c.procs)
	c.spare, c.procs = c.procs[:0], order
}

func (c *card) find(q *sampler.Process) *proc {
	for _, p := range c.procs {
		if p.is(q) {
			return p
		}
	}
	return nil
}

// foldAllocator takes the counters that the allocator inside the process reports.
func (p *proc) foldAllocator(now float64) {
	if h, ok := sane(p.process.HostMemory); ok && math.IsNaN(p.hostFirst) {
		p.hostFirst = mib(h)
	}
	a := p.process.Allocator
	if a == nil {
		return
	}
	if a.Retries > p.retries {
		if !(now-p.retried < flushSpan) {
			p.retryRun = 0
		}
		p.retryRun += a.Retries - p.retries
		p.retried = now
	}
	if a.OOMs > p.refusals {
		p.refused = now
	}
	p.retries, p.refusals = a.Retries, a.OOMs
}
