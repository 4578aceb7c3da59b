package request

import (
	"time"

	"nvpeak/sampler"
)

// Ended takes the end of a process that has called, with its status as the kernel keeps it, and for how much it was asking then, all told: of that nobody
// will tell whether it was given.
func (t *Tracker) Ended(pid int, at time.Time, status int, asking sampler.Bytes) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.processes[pid]
	if p == nil {
		return
	}
	p.last, p.exited, p.asking = at, milli(at), asking
	code, signal := status>>8&0xff, status&0x7f
	if signal != 0 {
		code = 128 + signal
	}
	p.exit, p.underWay = sampler.Some(code), nil
}

// Execed takes that a process runs another program. What the one before held is gone, and what it was refused is no matter.
func (t *Tracker) Execed(pid int, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.processes[pid]
	if p == nil {
		return
	}
	p.last, p.over, p.exit, p.underWay = at, true, sampler.Some(0), nil
	for place, b := range p.blocks {
		p.drop(&Call{Time: at}, place, b)
	}
	for _, s := range p.seats {
		if r := s.tally.refusal; r != nil && r.Outcome == sampler.RefusalOpen {
			r.Outcome = sampler.RefusalLeft
		}
	}
}
