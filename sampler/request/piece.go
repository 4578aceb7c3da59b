package request

import "nvpeak/sampler"

// What is known by a handle is held as long as anything holds it: its handles, of which the process may ask for more, what is mapped, and what was imported.

// release ends one of what holds a block.
func (p *process) release(c *Call, at where) *taken {
	x := &p.taken[p.takings%len(p.taken)]
	p.takings++
	*x = taken{call: c.Other, began: c.Time, at: at, block: p.blocks[at]}
	b := x.block
	if b == nil {
		return x
	}
	switch b.refs--; {
	case b.refs > 0:
	case b.seat == nil || b.memory == Piece && p.imported > 0 && !b.since.After(p.importAt): // it may be held once more
		x.block, x.unsure = nil, true
		p.forget(c, at, b)
	default:
		p.drop(c, at, b)
	}
	return x
}

// forget is the end of a block that may have given memory back or not.
func (p *process) forget(c *Call, at where, b *block) {
	delete(p.blocks, at)
	if b.seat == nil {
		p.imported--
		p.loses(c.Time)
		return
	}
	p.trimmed(c.Time, func(s *seat) bool { return s.tally == b.seat.tally })
	b.seat.tally.forgets(c.Time, 0, b.bytes)
	p.step(b.seat.tally)
}

// isMapped says whether a call takes what was made of a piece within the library.
func (p *process) isMapped(c *Call) bool {
	_, mapped := p.mapped[c.Address]
	return mapped && key(c).memory == Device && p.blocks[key(c)] == nil
}

// retain is another hold on a piece, by its handle or, once that was released, by another one, of which nobody knows what it holds.
func (p *process) retain(c *Call) {
	switch b := p.blocks[key(c)]; {
	case c.Answer != success:
	case b != nil:
		b.refs++
	default:
		p.shares(c)
	}
}

// shares notes a handle of a piece that is another process's, or one of its own that it has a handle of already.
func (p *process) shares(c *Call) {
	if at := key(c); at.memory == Piece && at.at != 0 && p.blocks[at] == nil && len(p.blocks) < maxBlocks {
		p.blocks[at] = &block{memory: Piece, refs: 1}
		p.importAt = c.Time
		p.imported++
	}
}

// maps: a piece that is mapped is held until that ends too, though its handle is released before.
func (p *process) maps(c *Call) {
	if b := p.blocks[where{Piece, c.Other}]; b != nil && c.Answer == success && len(p.mapped) < maxBlocks {
		b.refs++
		p.mapped[c.Address] = mapping{c.Other, c.Size}
	}
}

// unmaps ends the mappings of a range; true: it is known how much that gives back. A piece of before we came may end with that: its handle may have been released.
func (p *process) unmaps(c *Call) bool {
	if m, ok := p.mapped[c.Address]; ok && m.size >= c.Size { // one piece, as nearly always
		return p.unmap(c, c.Address, m)
	}
	known, found := true, false
	for at, m := range p.mapped {
		if at >= c.Address && at-c.Address < c.Size {
			known, found = p.unmap(c, at, m) && known, true
		}
	}
	if !found && p.late {
		p.loses(c.Time)
		return false
	}
	return known
}

func (p *process) unmap(c *Call, at uint64, m mapping) (known bool) {
	delete(p.mapped, at)
	x := p.release(c, where{Piece, m.piece})
	x.address, x.mapping = at, m
	return !x.unsure
}

// imports notes memory that another process was given, and shares, or, by a handle, the process itself. Who was refused a context has gone on with that elsewhere.
func (p *process) imports(c *Call) {
	p.shares(c)
	for _, s := range p.seats {
		if r := s.tally.refusal; r != nil && r.Bytes == 0 {
			s.tally.other(c, sampler.MaxPlausible) // how much it is, is not told
		}
	}
}
