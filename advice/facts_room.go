package advice

import "math"

// worstSeconds is the window of the worst free memory.
const worstSeconds = 60

// foldGrowth judges the series of which buckets have closed.
func (c *card) foldGrowth(now float64) {
	settled := math.NaN()
	judge := func(g *growing, s *series) {
		if !g.due(s) {
			return
		}
		if math.IsNaN(settled) {
			settled = c.settledFree(now)
		}
		g.judge(s, now, c.room(s, now, settled), c.total)
	}
	for _, p := range c.procs {
		if p.tick == c.tick {
			judge(&p.growing, &p.series)
		}
	}
	judge(&c.growing, &c.rest)
}

// room is what the growth of a series has left: the least that was free of late, and
// beneath the next of its spikes when it has any.
func (c *card) room(s *series, now, settled float64) float64 {
	room := min(settled, c.worst.last(now, worstSeconds))
	if s.count >= spikesNeeded {
		if pt, ok := s.pattern(now); ok && pt.n >= spikesNeeded {
			room = min(room, settled-pt.low)
		}
	}
	return max(0, room)
}
