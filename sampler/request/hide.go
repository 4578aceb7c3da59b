package request

import "time"

// nodeAllocates is the type of a node that gives memory as its graph runs, CU_GRAPH_NODE_TYPE_MEM_ALLOC:
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html
const nodeAllocates = 10

// hide notes that the process asks for memory, and not how much: such as that of an array, which the driver lays out as it likes. On which
// GPU is not asked.
func (p *process) hide() {
	if p.hides {
		return
	}
	p.hides = true
	for _, s := range p.seats {
		s.tally.hide()
	}
}

// trims notes that a pool, or what a device keeps for graphs, is given back as far as nobody uses it: how much that is no call says.
func (p *process) trims(c *Call) {
	device, known := c.Device, c.Device >= 0
	if !known {
		device, known = p.handles[c.Address]
	}
	p.trimmed(c.Time, func(s *seat) bool { return !known || s.key.device < 0 || s.key.device == device })
}

// trimmed notes on some of its seats that memory was given back, and that it was since they were refused some.
func (p *process) trimmed(at time.Time, there func(*seat) bool) {
	for _, s := range p.seats {
		if there(s) {
			s.tally.gaveUntold = at
		}
		for r := s.tally.refusal; r != nil && there(s); r = r.other {
			r.trimmed = true
			r.gives(at, 0)
		}
	}
}
