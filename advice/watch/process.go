package watch

import (
	"math"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// proc is what is known of one process on one card.
type proc struct {
	pid     int
	start   sampler.Opt[time.Time]
	process *sampler.Process // newest snapshot, never changed
	first   float64          // when it was first listed
	seen    float64          // when it was last listed
	series  series.Series
	tick    uint64 // of the card, when it was last listed
	growing series.Growth

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
	p.series.Start(now, ok && at.Sub(began).Seconds() >= establishedSeconds)
	if a := q.Allocator; a != nil {
		p.retries, p.refusals = a.Retries, a.OOMs
	}
	return p
}

// foldProcesses takes the processes of a snapshot. above and below are how far the fast
// readings of the card went beyond the newest one. A process list is read once a second
// only, so what was above is given to whoever holds most of the card, less what the
// others gave back meanwhile.
func (c *card) foldProcesses(now, above, below float64) {
	changed := c.matchProcesses(c.gpu.Processes, now)
	sum, given, most, largest := 0.0, 0.0, c.used/2, (*proc)(nil)
	c.listed = false
	for _, p := range c.procs {
		m, ok := sampler.Plausible(p.process.Memory)
		if p.tick != c.tick || !ok {
			sum += p.series.Value // missing for a moment: it still has what it had
			continue
		}
		c.listed = true
		sum += series.MiB(m)
		given += max(0, p.series.Value-series.MiB(m))
		if series.MiB(m) >= most {
			most, largest = series.MiB(m), p
		}
	}
	if largest != nil {
		given -= max(0, largest.series.Value-most)
		below = 0
	}
	if changed {
		above = 0
	}
	for _, p := range c.procs {
		m, ok := sampler.Plausible(p.process.Memory)
		if p.tick != c.tick || !ok {
			continue
		}
		up := 0.0
		if p == largest {
			up = max(0, above-given)
		}
		p.series.Add(now, series.MiB(m), series.MiB(m), series.MiB(m)+up, c.total)
		p.foldAllocator(now)
	}
	if largest != nil {
		above = 0
	}
	rest := max(0, c.used-sum)
	c.emptied(rest, now)
	c.rest.Add(now, rest, max(0, rest-below), rest+above, c.total)
}

// emptied begins anew with what no process accounts for when it is gone: without a
// process list that is the end of one job, and the next one is not a spike of it.
func (c *card) emptied(rest, now float64) {
	empty := max(c.total*series.PlateauLevel, series.PlateauLeast) * 0.75
	if c.rest.Levelled() && max(rest, c.rest.Value) < empty && c.rest.Floor >= rest {
		c.rest.Start(now, false)
		c.growing = series.Growth{}
		c.flush.reset()
	}
}

// matchProcesses brings c.procs into the order of the list: those listed first, then
// those missing for a moment. changed: some came or went.
func (c *card) matchProcesses(list []sampler.Process, now float64) (changed bool) {
	if c.inOrder(list) {
		for i := range list {
			c.procs[i].process, c.procs[i].seen, c.procs[i].tick = &list[i], now, c.tick
		}
	} else {
		changed = true
		c.reorder(list, now)
	}
	n := len(c.procs)
	for n > 0 && now-c.procs[n-1].seen > c.gone {
		n--
		c.orphan.ended(c, c.procs[n], now)
		c.noteEnd(c.procs[n])
		c.flush.reset()
	}
	clear(c.procs[n:])
	c.procs = c.procs[:n]
	return changed || n > len(list)
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
	if h, ok := sampler.Plausible(p.process.HostMemory); ok && math.IsNaN(p.hostFirst) {
		p.hostFirst = series.MiB(h)
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
