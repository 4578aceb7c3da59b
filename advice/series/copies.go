package series

// Copy is an array that has become too small and is copied into a larger one, as a vector, an index or a hash table does: the new one is there beside
// the old one, which is given back then. It doubles each time, and what fills it at an even rate needs twice as long.
type Copy struct {
	Ask    float64 // MiB that the next will take beside what is held
	Factor float64 // each is so many times as large as the one before
	Due    float64 // when it is expected, in seconds of the Watch's clock
	Newest float64 // MiB, the ask of the newest
}

const (
	copiesNeeded = 3
	// copiesLeast: what hardly grows is a spike that varies.
	copiesLeast = 1.3
	// copiesKept of the larger array stays: what comes back whole is a spike.
	copiesKept = 0.3
)

// Copying says whether the newest spikes are such copies, and were not given back since.
func (s *Series) Copying(now float64) (c Copy, ok bool) {
	if min(s.Count, MaxSpikes) < copiesNeeded {
		return c, false
	}
	var asks [copiesNeeded]float64
	for i := range asks {
		sp := s.back(i)
		asks[i] = sp.Peak - sp.base
		if sp.after-sp.base < copiesKept*asks[i] {
			return c, false
		}
	}
	last := s.back(0)
	newest, before := asks[0]/asks[1], asks[1]/asks[2]
	wait, waited := last.Start-s.back(1).Start, s.back(1).Start-s.back(2).Start
	c = Copy{Factor: min(newest, before), Newest: asks[0]}
	most := max(newest, before)
	slower := wait / waited
	switch {
	case c.Factor < copiesLeast || most > swellsMost || most > swellsAlike*c.Factor,
		slower < 1/swellsAlike || slower > swellsAlike*most,
		s.Value < last.after-copiesKept*asks[0] || now-last.Start > recordsStale*wait*max(1, slower) || last.Start < s.gap:
		return Copy{}, false
	}
	c.Ask, c.Due = asks[0]*c.Factor, last.Start+wait*max(1, slower)
	return c, true
}
