package request

import (
	"math"
	"slices"
	"sort"
	"time"

	"nvpeak/sampler"
)

// What a call moved whose GPU is not known any GPU may have that its process uses. So what the use of a GPU did is evidence for a seat only where no such
// calls of others explain it as well: of threads that do the same on several GPUs at about the same time, each explains what the others did.

// stray is what such a call moved, or several of a seat between two readings.
type stray struct {
	moving
	by *seat
}

// strays are those that a GPU may have, in the order in which they were answered.
type strays struct {
	list    []stray
	longest time.Duration // that a call took
	blind   time.Time     // some until then are forgotten
}

const (
	// straysMost: of more between two readings nearly anything is the sum of some.
	straysMost = 7
	// straysSlow is the same of slow calls, each of which moves the use somewhere within three readings, and straysAtOnce how many of those fall between the same
	// two, at most, as is reckoned with.
	straysSlow, straysAtOnce = 20, 3
	// straysKept is how long they are of interest: a snapshot is made each second at least.
	straysKept = 5 * time.Second
)

// astray are the calls that a GPU may have, as the seats were placed at the snapshot before.
func (t *Tracker) astray(key sampler.GPUKey) *strays {
	if x, ok := t.strays[key]; ok {
		return x
	}
	x, since := &strays{}, t.readUntil.Add(-straysKept)
	for _, p := range t.processes {
		if !slices.ContainsFunc(p.seats, (*seat).adrift) {
			continue
		}
		if on := t.uses(p); len(on) > 0 && !slices.Contains(on, key) {
			continue
		}
		for _, s := range p.seats {
			if !s.adrift() || s.at != (sampler.GPUKey{}) && s.at != key {
				continue
			}
			x.blind = later(x.blind, s.forgot)
			for _, m := range s.lately {
				if m.at.After(since) && math.Abs(m.mib) >= movesLeast {
					x.list = append(x.list, stray{m, s})
					x.longest = max(x.longest, m.at.Sub(m.from))
				}
			}
		}
	}
	slices.SortFunc(x.list, func(a, b stray) int { return a.at.Compare(b.at) })
	if t.strays == nil {
		t.strays = map[sampler.GPUKey]*strays{}
	}
	t.strays[key] = x
	return x
}

// adrift says whether it is not known for sure on which GPU a seat is.
func (s *seat) adrift() bool { return s.at == (sampler.GPUKey{}) || s.guessed }

// between are how much each of what is astray, in MiB, may have moved the use between two readings, but for what is left out; known: none is forgotten.
func (x *strays) between(last, next time.Time, but func(*stray) bool) (parts []float64, known bool) {
	var whole []*seat // a seat is on one GPU with all that it moved meanwhile: the first parts are theirs
	var open []float64
	first := sort.Search(len(x.list), func(i int) bool { return !x.list[i].at.Add(included).Before(last) })
	for i := first; i < len(x.list) && !x.list[i].at.After(next.Add(x.longest)); i++ {
		switch m := &x.list[i]; {
		case m.from.After(next) || but(m):
		case m.from.After(last) && m.at.Add(included).Before(next):
			k := slices.Index(whole, m.by)
			if k < 0 {
				k, whole, parts = len(whole), append(whole, m.by), append(parts, 0)
			}
			parts[k] += m.mib
		default: // it may be in this reading or in the one before or after it
			open = append(open, m.mib)
		}
	}
	return append(parts, open...), x.blind.Before(last)
}

// least is by how much what moved differs from the nearest sum of any parts.
func least(moved float64, parts []float64) float64 {
	if len(parts) == 0 {
		return math.Abs(moved)
	}
	return min(least(moved, parts[1:]), least(moved-parts[0], parts[1:]))
}
