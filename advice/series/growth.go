package series

// Growth is the verdict on the growth of one series, renewed when buckets close.
type Growth struct {
	Trend Trend
	Found bool
	scale int
	until float64 // when it must be looked at again
}

const (
	// regrowSeconds is how often a growth that was found is looked at again.
	regrowSeconds = 16
	// reachMargin: what is yet to come of a decaying growth must be that much more than
	// the room, since the decay is known only roughly.
	reachMargin = 1.15
)

// Due says whether there is anything new to judge.
func (g *Growth) Due(s *Series) bool { return s.closed > 0 || g.Found }

// Judge looks for the longest growth that will use up the room. It looks ahead by that share
// of the time for which the growth has been watched.
func (g *Growth) Judge(s *Series, now, room, limit, ahead float64) {
	closed := s.closed
	s.closed = 0
	if g.Found && s.returned(&g.Trend) {
		g.Found = false
	}
	if g.Found && now >= g.until {
		closed = ringScales
	}
	if closed == 0 {
		return
	}
	least := max(trendLeast, limit*trendLevel, room*0.4)
	found := false
	for scale := range closed {
		if _, ok := s.forecast(scale, least, room, ahead); ok {
			found = true
			break
		}
	}
	if !found {
		if g.Found && closed > g.scale {
			g.Found = false
		}
		return
	}
	for scale := ringScales - 1; scale >= 0; scale-- {
		if tr, ok := s.forecast(scale, least, room, ahead); ok {
			*g = Growth{Trend: tr, Found: true, scale: scale, until: now + regrowSeconds}
			return
		}
	}
}

// Steady is the longest steady growth that goes on now, whether it will use anything up or
// not; ok is false when there is none. limit is the size of the GPU.
func (s *Series) Steady(limit float64) (tr Trend, ok bool) {
	for scale := ringScales - 1; scale >= 0; scale-- {
		for _, peaks := range [...]bool{false, true} {
			if tr, ok = s.growthAt(scale, peaks, max(trendLeast, limit*trendLevel)); ok {
				return tr, true
			}
		}
	}
	return tr, false
}

// forecast is the growth at one scale if it will use up the room within the time ahead:
// first of the level beneath the peaks, then of the peaks, then of what fills up again, then of a climb after a fall.
func (s *Series) forecast(scale int, least, room, ahead float64) (Trend, bool) {
	reaches := func(tr Trend, ok bool) bool {
		if !ok || !tr.Reaches(room) {
			return false
		}
		_, likely, _ := tr.ETA(room)
		return likely <= ahead*(tr.Until-tr.Since)
	}
	for _, peaks := range [...]bool{false, true} {
		if tr, ok := s.growthAt(scale, peaks, least); reaches(tr, ok) {
			return tr, true
		}
	}
	if tr, ok := s.refill(scale, least); reaches(tr, ok) {
		return tr, true
	}
	if scale == 0 {
		if tr, ok := s.climb(least); reaches(tr, ok) {
			return tr, true
		}
	}
	return Trend{}, false
}
