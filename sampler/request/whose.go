package request

import (
	"time"

	"nvpeak/sampler"
)

// A context takes its memory with it as it ends, and no other's: a process may have several on a GPU, the primary one, which all of its libraries
// share, and those of its own. What is known by a handle, or is of a pool, is of no context.

// primary is what is known of the primary context of a device.
type primary struct {
	made    time.Time // zero: it is not there, or may not be
	retains int
	fewest  int // of those that there were since we came
	reset   bool
	since   int // of those, since it was reset; see mayEnd
}

// mayEnd says whether a primary context may have ended though it was retained more often than released: it was as often since it was reset. A reset ends what it
// has and does not release it, which those who have retained it should still do, says NVIDIA; whether it is there for them until then, it does not say.
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__PRIMARY__CTX.html
func (m *primary) mayEnd() bool { return m.reset && m.since == 0 }

// begins notes a context that was made, or a primary one that somebody holds: it is made for the first, and after a reset, though that releases it
// for nobody.
func (p *process) begins(c *Call, f *Function) {
	if f.Name != primaryRetain {
		p.own[c.Address] = c.Time
		p.makes(c.Device, c.Time, c.Took)
		return
	}
	delete(p.own, c.Address) // the end of that was missed
	m := p.primary[c.Device]
	if m.made.IsZero() {
		m.made = c.Time
		p.makes(c.Device, c.Time, c.Took)
	}
	m.retains++
	m.since++
	p.primary[c.Device] = m
}

// ending is a call that ends a context.
type ending struct {
	call  uint64 // its number
	began time.Time
}

// endsUntil takes that such a call was over as late as at a time: what was read meanwhile has all of the context, some, or nothing.
func (p *process) endsUntil(call uint64, at time.Time) {
	for _, x := range p.endings {
		if x.call != call || x.began.IsZero() {
			continue
		}
		p.lost = later(p.lost, at)
		for _, y := range p.tallies(anySeat) {
			y.above = max(y.above, y.exact.endsUntil(x.began, at))
			y.exact.blurs(x.began, at)
		}
	}
}

// ends notes that a context has ended: the primary one of a device by a reset, or as it was released as often as it was retained, which nobody knows of
// a process that was there before we came.
func (p *process) ends(c *Call) {
	p.endings[p.ended%len(p.endings)] = ending{c.Other, c.Time}
	p.ended++
	if c.Device < 0 {
		p.endsOwn(c)
		return
	}
	m, sure := p.primary[c.Device], true
	if Functions[c.Function].Name == primaryRelease {
		m.retains--
		m.since--
		p.primary[c.Device] = m
		if !m.mayEnd() && (!p.late && m.retains != 0 || p.late && m.retains > m.fewest) {
			return // others have it
		}
		m.fewest, sure = min(m.fewest, m.retains), !p.late && m.retains == 0
		m.reset = m.reset && m.retains != 0
	} else {
		m.reset, m.since = m.retains != 0, 0
	}
	made, late := m.made, p.late
	m.made = time.Time{}
	p.primary[c.Device] = m
	there := func(s *seat) bool { return s.key.device == c.Device || s.key.device < 0 }
	p.takesWith(c, func(s *seat) bool { return late && there(s) }, func(b *block) (its, certain bool) {
		if device, named := p.handles[b.context]; named {
			_, own := p.own[b.context]
			return device == c.Device && !own, sure
		}
		return there(b.seat), !late && len(p.own) == 0 && len(p.made) <= 1
	})
	if !made.IsZero() {
		p.unmakes(c.Device, made, c)
	}
}

// endsOwn notes the end of a context that is no primary one.
func (p *process) endsOwn(c *Call) {
	device, known := p.handles[c.Address]
	before := c.Address != 0 && !known && p.late
	p.takesWith(c, func(*seat) bool { return before }, func(b *block) (its, certain bool) {
		certain = c.Address != 0 && b.context == c.Address
		return certain || before && b.context == 0, certain
	})
	if before && (p.uncovered[c.TID] > 0 || len(p.uncovered) < maxSeats) {
		if p.uncovered == nil {
			p.uncovered = map[int]int{}
		}
		p.uncovered[c.TID]++
	}
	made := p.own[c.Address]
	delete(p.handles, c.Address)
	delete(p.own, c.Address)
	if known {
		p.unmakes(device, made, c)
	}
}

// takesWith takes the memory that ends with a context. Blocks that may be of that or of another one are forgotten: what is held from then on is at
// least what is known, as where the context may have had some of before we came, in seats that loses tells.
func (p *process) takesWith(c *Call, loses func(*seat) bool, whose func(*block) (its, certain bool)) {
	p.lost = later(p.lost, c.Time.Add(givingBack))
	forgotten := map[*tally]sampler.Bytes{}
	for _, s := range p.seats {
		if loses(s) {
			forgotten[s.tally] = 0
		}
	}
	for at, b := range p.blocks {
		if b.memory != Device {
			continue
		}
		switch its, certain := whose(b); {
		case its && certain:
			p.drop(c, at, b)
		case its:
			delete(p.blocks, at)
			forgotten[b.seat.tally] += b.bytes
		}
	}
	p.trimmed(c.Time, func(s *seat) bool { _, lost := forgotten[s.tally]; return lost })
	for t, n := range forgotten {
		t.context, p.late = c.Time, true
		t.forgets(c.Time, c.TID, n)
		p.step(t)
	}
}
