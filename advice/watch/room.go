package watch

import (
	"math"

	"nvpeak/advice/series"
)

// worstSeconds is the window of the worst free memory.
const worstSeconds = 60

// foldGrowth judges the series of which buckets have closed.
func (c *card) foldGrowth(now float64) {
	settled := math.NaN()
	judge := func(g *series.Growth, s *series.Series) {
		if !g.Due(s) {
			return
		}
		if math.IsNaN(settled) {
			settled = c.settledFree(now)
		}
		g.Judge(s, now, c.room(s, now, settled), c.total)
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
func (c *card) room(s *series.Series, now, settled float64) float64 {
	room := min(settled, c.worst.last(now, worstSeconds))
	if s.Count >= series.SpikesNeeded {
		if pt, ok := s.Pattern(now); ok && pt.Count >= series.SpikesNeeded {
			room = min(room, settled-pt.Low)
		}
	}
	return max(0, room)
}
