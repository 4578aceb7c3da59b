package request

// What is known by a handle is held as long as anything holds it: its handles, of which the process may ask for more, and what is mapped.

// release ends one of what holds a block.
func (p *process) release(c *Call, at where) *taken {
	x := &p.taken[p.takings%len(p.taken)]
	p.takings++
	*x = taken{call: c.Other, began: c.Time, at: at, block: p.blocks[at]}
	if b := x.block; b != nil {
		if b.refs--; b.refs == 0 {
			p.drop(c, at, b)
		}
	}
	return x
}

// isMapped says whether a call takes what was made of a piece within the library.
func (p *process) isMapped(c *Call) bool {
	_, mapped := p.mapped[c.Address]
	return mapped && key(c).memory == Device && p.blocks[key(c)] == nil
}

// retain is another hold on a piece, by a handle of its own.
func (p *process) retain(c *Call) {
	if b := p.blocks[key(c)]; b != nil && c.Answer == success {
		b.refs++
	}
}

// maps: a piece that is mapped is held until that ends too, though its handle is released before.
func (p *process) maps(c *Call) {
	if b := p.blocks[where{Piece, c.Other}]; b != nil && c.Answer == success && len(p.mapped) < maxBlocks {
		b.refs++
		p.mapped[c.Address] = mapping{c.Other, c.Size}
	}
}

// unmaps ends the mappings of a range; known: there are such. A piece of before we came may end with that: its handle may have been released.
func (p *process) unmaps(c *Call) (known bool) {
	if m, ok := p.mapped[c.Address]; ok && m.size >= c.Size { // one piece, as nearly always
		p.unmap(c, c.Address, m)
		return true
	}
	for at, m := range p.mapped {
		if at >= c.Address && at-c.Address < c.Size {
			p.unmap(c, at, m)
			known = true
		}
	}
	if !known && p.late {
		p.loses(c.Time)
		return false
	}
	return true
}

func (p *process) unmap(c *Call, at uint64, m mapping) {
	delete(p.mapped, at)
	x := p.release(c, where{Piece, m.piece})
	x.address, x.mapping = at, m
}
