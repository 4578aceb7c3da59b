package request

import "time"

// What gives memory back is told as it begins, for the address may be given to another thread before the call returns. The driver may say then that
// it gave nothing back, or does so late: it waits until nobody uses the memory any more.

// taken is what a call took: a block, or one of what holds it.
type taken struct {
	call    uint64 // its number
	began   time.Time
	at      where
	block   *block // nil: not known
	unsure  bool   // what it gave back is not known, or whether it did
	address uint64 // where it was mapped
	mapping mapping
}

// Failed takes that a call gave nothing back, which was told as it began: Call.Other is its number.
func (t *Tracker) Failed(pid int, call uint64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.processes[pid]; p != nil && !p.over {
		p.last = at
		p.untake(call, at)
	}
}

// Lingered takes that a call which was told as it began has given memory back by now, after a while: what was read meanwhile may still have that.
func (t *Tracker) Lingered(pid int, call uint64, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.processes[pid]
	if p == nil || p.over {
		return
	}
	p.endsUntil(call, at)
	for i := range p.taken {
		if x := &p.taken[i]; x.call == call {
			t.slow(p, at.Sub(x.began))
		}
	}
	for i := range p.taken {
		switch x := &p.taken[i]; {
		case x.call != call:
		case x.block != nil && x.block.seat == nil: // it is another process's, as what it has imported is
		case x.block != nil:
			x.block.seat.tally.lingers(x.block.seat, x.began, at)
			p.gaveUntil(x, at)
		case (p.late || x.unsure) && physical(x.at.memory):
			t.loses(p, x.began, at)
			for _, s := range p.seats {
				s.tally.exact.blurs(x.began, at)
			}
		}
	}
}

// untake makes good what a call has taken that failed.
func (p *process) untake(call uint64, now time.Time) {
	for i := range p.taken {
		x := p.taken[i]
		if x.call != call || x.block == nil {
			continue
		}
		p.taken[i] = taken{}
		if other := p.blocks[x.at]; other != nil && other != x.block {
			p.late = true // somebody was given its place all the same
			continue
		}
		if x.mapping.size > 0 {
			p.mapped[x.address] = x.mapping
		}
		if x.block.refs++; x.block.refs == 1 {
			p.restore(x.at, x.block, now)
		}
	}
}

// restore is the reverse of drop.
func (p *process) restore(at where, b *block, now time.Time) {
	c := &Call{Time: now}
	p.blocks[at] = b
	if b.seat == nil {
		p.imported++
		return
	}
	b.seat.tally.retake(c, b.bytes)
	p.step(b.seat.tally)
	if physical(b.memory) {
		p.moves(c, b.seat, int64(b.bytes)) //nolint:gosec // below MaxPlausible
	}
}
