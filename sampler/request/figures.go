package request

import "time"

// keptFigures: as many lists, one a second, as a call is at work that takes very long.
const keptFigures = 8

// figures are the newest that were taken of the driver, each with the peak that was known before it.
type figures struct {
	ring [keptFigures]based
	n    int
}

type based struct {
	at    time.Time
	stood peak
}

func (f *figures) add(at time.Time, stood peak) {
	f.ring[f.n%keptFigures] = based{at, stood}
	f.n++
}

// before is the peak that was known before all figures since a time; now: where there are none.
func (f *figures) before(began time.Time, now peak) peak {
	for i := f.n - 1; i >= max(f.n-keptFigures, 0); i-- {
		g := &f.ring[i%keptFigures]
		if !g.at.Add(whole).After(began) {
			break
		}
		now = g.stood
	}
	return now
}
