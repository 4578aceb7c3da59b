package request

import (
	"time"

	"nvpeak/sampler"
)

// Ended takes the end of a process that has called, with its status as the kernel keeps it, and the calls that were under way then: nobody will tell what
// they did.
func (t *Tracker) Ended(pid int, at time.Time, status int, underWay []UnderWay) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.processes[pid]
	if p == nil {
		return
	}
	p.last, p.exited = at, milli(at)
	for _, u := range underWay {
		if u.moves() && !Functions[u.Function].takesBack() { // what is given back is told as it begins
			p.asking = min(p.asking+u.most(), sampler.MaxPlausible)
			for _, y := range p.tallies(anySeat) {
				y.interrupted(u.Began, at, u.most())
			}
		}
	}
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
	for _, s := range p.seats {
		if peak, ok := t.peakOf(p, s.tally, at); ok && s.at != (sampler.GPUKey{}) && peak.Bytes >= p.peaks[s.at].Bytes {
			p.peaks[s.at] = *p.ofBoth(s.at, &peak)
		}
	}
	for place, b := range p.blocks {
		p.drop(&Call{Time: at}, place, b)
	}
	for _, s := range p.seats {
		if r := s.tally.refusal; r != nil && r.Outcome == sampler.RefusalOpen {
			r.Outcome = sampler.RefusalLeft
		}
	}
}
