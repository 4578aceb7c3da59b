package sampler

import "time"

// A screen keeps what a snapshot has until the next one, and figures grow a second older meanwhile. So where one gets older than
// freshFor between two snapshots, as while a driver call hangs, there is an early picture with what is known of the GPU by then.

// turnLate is the most that the turn of a figure may be late which a slow driver lets be read again only when it is as old as freshFor.
const turnLate = 200 * time.Millisecond

// fresh is how long what the slow poller has read stands for the present: until it is read again, where snapshots are seldom, and
// as late as its last turn has ended, the next one may.
func (d *device) fresh(turn time.Duration) time.Duration {
	return max(freshFor, d.every) + min(turn, turnLate)
}

// figuresTook notes how long the calls for the figures of a device have taken, which are due again every period; listTook the same of
// those for its processes.
func (c *collector) figuresTook(dev int, turn, every time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gpus[dev].took, c.gpus[dev].every = turn, every
}

func (c *collector) listTook(dev int, turn time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gpus[dev].listTook = turn
}

// lasts is until when all figures of a device that are shown at a time are of the present; zero: those that are will be for ever.
func (d *device) lasts(at time.Time, period time.Duration) (until time.Time) {
	slow := memoryFresh(d.every) // the next turn is not to the millisecond
	for _, figure := range [...]struct {
		read  time.Time
		fresh time.Duration
	}{{d.readAt, memoryFresh(period)}, {d.procAt, max(slow, d.fresh(d.listTook))}, {d.oldest, max(slow, d.fresh(d.took))}, {d.rateAt, freshFor}} {
		end := figure.read.Add(figure.fresh + time.Millisecond) // what is told is cut to one
		if end.After(at) && (until.IsZero() || end.Before(until)) {
			until = end
		}
	}
	return until
}

// agedAt is when the first figure of the last picture gets too old; zero: none does, or nobody wants early pictures.
func (c *collector) agedAt() (first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.early || c.lost != nil {
		return first
	}
	for _, d := range c.gpus {
		if !d.lastsTo.IsZero() && (first.IsZero() || d.lastsTo.Before(first)) {
			first = d.lastsTo
		}
	}
	return first
}

// aged is the early picture that shows, as it is now, each GPU of which a figure of the last picture is too old; nil: none is.
func (c *collector) aged(at time.Time) *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.lost != nil {
		return nil
	}
	s, old := c.renewal(), false
	for i, d := range c.gpus {
		if d.lastsTo.IsZero() || d.lastsTo.After(at) {
			continue
		}
		now := d.gpu(c.lost, at, c.opened, c.period(), c.asking)
		now.keep(&s.GPUs[i])
		s.GPUs[i], d.lastsTo, old = now, d.lasts(at, c.period()), true
	}
	if !old {
		return nil
	}
	s.splitGPUs()
	c.last = s
	return s
}

// keep takes from a picture of a GPU what only snapshots work out.
func (g *GPU) keep(was *GPU) {
	m := &was.Memory
	g.Memory.Window = nil
	if m.Window != nil {
		win := *m.Window // one of its own: see Renewed
		g.Memory.Window = &win
	}
	g.Memory.Peak, g.Memory.PeakPID, g.Memory.WorstFree = m.Peak, m.PeakPID, m.WorstFree
	for i := range g.Processes {
		p := &g.Processes[i]
		for j := range was.Processes {
			if old := &was.Processes[j]; old.Key(g.Key()) == p.Key(g.Key()) {
				p.Peak, p.Allocator, p.Requests = old.Peak, old.Allocator, old.Requests
			}
		}
	}
}

// showAged publishes an early picture where a figure of the last one is too old by now.
func (l *Loop) showAged() {
	if s := l.c.aged(l.now()); s != nil {
		l.queue.putEarly(s.WithAhead(l.ahead))
	}
}

// aging is when showAged is due, unless that is after the next snapshot.
func (l *Loop) aging(due time.Time) <-chan time.Time {
	if at := l.c.agedAt(); !at.IsZero() {
		if wait := at.Sub(l.opt.Clock.Now()); wait < time.Until(due) {
			return time.After(max(wait, time.Millisecond))
		}
	}
	return nil
}
