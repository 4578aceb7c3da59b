package request

import (
	"math"
	"slices"
	"time"

	"nvpeak/sampler"
)

// Which GPU each of several threads asks the use of the GPUs tells late where their calls are slow, for every reading falls on one, or never, where
// others use them as much. What the driver says that a process has is its own: from one list of a GPU to the next it moves by as much as those of
// its threads did that are there. Few sets of threads fit by chance once, and hardly any do twice.

// listing is what the driver said that a process has of a GPU, in MiB.
type listing struct {
	from, until time.Time // at some moment meanwhile
	mib         float64
}

// showing is which sets of the process's seats may be on a GPU by all lists that were compared.
type showing struct {
	last  listing
	next  []listing // that are not compared yet: not all calls until then have been told
	fits  []bool    // by set, a bit for each seat; nil: none was compared
	slips []float64 // how likely it is that a set fitted by chance each time
}

const (
	// shownSeats, and their sets, are few enough to try them all.
	shownSeats = 8
	// shownSums are as many as what a set moved may be, by the calls that were under way as the lists were made.
	shownSums = 1024
	// shownOdds: of all sets so few fit by chance, on the average, where they are taken for told.
	shownOdds = 1e-3
	// shownWithin is how long after a list all calls until then have been told, but for those that take longer.
	shownWithin = 250 * time.Millisecond
	// shownSmall calls of less than a grain, which the driver may have met from memory that the process had, make what moved uncertain by as many; of more
	// nothing is concluded.
	shownSmall = 8
)

// lists takes what the driver says of a process on a GPU, where calls alone do not tell where its threads are.
func (p *process) lists(key sampler.GPUKey, at time.Time, took time.Duration, n sampler.Bytes) {
	w := p.showing(key)
	w.next = append(w.next, listing{at.Add(-took - included), at.Add(included), inMiB(n)})
	if more := len(w.next) - maxListings; more > 0 { // nobody has looked at them since
		w.next = slices.Delete(w.next, 0, more)
	}
}

// maxListings are those of some seconds.
const maxListings = 16

func (p *process) showing(key sampler.GPUKey) *showing {
	if p.shown == nil {
		p.shown = map[sampler.GPUKey]*showing{}
	}
	if p.shown[key] == nil {
		p.shown[key] = &showing{}
	}
	return p.shown[key]
}

// unplacedSeats are those of which calls do not say on which device they are.
func (p *process) unplacedSeats() (list []*seat) {
	for _, s := range p.seats {
		if s.key.device < 0 {
			list = append(list, s)
		}
	}
	return list
}

// show compares the lists that have come with the calls, and places the seats that they tell of.
func (t *Tracker) show(p *process, now time.Time) {
	seats := p.unplacedSeats()
	if len(seats) == 0 || len(seats) > shownSeats || p.missed || slices.ContainsFunc(p.seats, func(s *seat) bool { return s.tally.pool }) {
		p.shown, p.showed = nil, nil
		for _, s := range p.seats {
			if s.adrift() {
				s.forgetMoves(now.Add(-straysKept))
			} else {
				s.lately = s.lately[:0]
			}
		}
		return
	}
	if !slices.Equal(seats, p.showed) { // sets are of others
		p.showed = seats
		for _, w := range p.shown {
			w.fits, w.slips = nil, nil
		}
	}
	within := shownWithin
	for _, s := range p.seats {
		within = max(within, 2*s.tally.exact.longest)
	}
	oldest := now
	for key, w := range p.shown {
		for len(w.next) > 0 && now.Sub(w.next[0].until) >= within {
			if !w.last.until.IsZero() {
				p.compareLists(w, key, w.next[0])
			}
			w.last, w.next = w.next[0], w.next[1:]
		}
		first := w.last
		if first.from.IsZero() && len(w.next) > 0 {
			first = w.next[0]
		}
		if !first.from.IsZero() && first.from.Before(oldest) {
			oldest = first.from
		}
	}
	for _, s := range p.seats {
		s.forgetMoves(now.Add(-max(straysKept, now.Sub(oldest)+within))) // what is being given back is of its begin until that is over
	}
	for key, w := range p.shown {
		w.place(seats, key)
	}
}

// compareLists takes which sets moved as the driver's figure did from one list to the next, with the seats that are there for sure.
func (p *process) compareLists(w *showing, key sampler.GPUKey, next listing) {
	if p.contextSince(w.last.from) || p.lost.After(w.last.from) {
		return
	}
	sure, parts := []parts{}, make([]parts, len(p.showed))
	for _, s := range p.seats {
		if s.forgot.After(w.last.from) {
			return
		}
		if s.key.device >= 0 && s.at == key {
			sure = append(sure, s.between(w.last, next))
		}
	}
	for i, s := range p.showed {
		parts[i] = s.between(w.last, next)
	}
	n := 1 << len(parts)
	if w.fits == nil {
		w.fits, w.slips = make([]bool, n), make([]float64, n)
		for set := range n {
			w.fits[set], w.slips[set] = true, 1
		}
	}
	for set := range n {
		if !w.fits[set] {
			continue
		}
		there := slices.Clone(sure)
		for i := range parts {
			if set>>i&1 == 1 {
				there = append(there, parts[i])
			}
		}
		fits, slip := fit(next.mib-w.last.mib, there)
		w.fits[set] = fits
		w.slips[set] *= slip
	}
	if !slices.Contains(w.fits, true) { // it has memory of which no call tells
		w.fits, w.slips = nil, nil
	}
}

// parts is what moved at a seat from one list to another, in MiB, as it was asked for and as the driver may round it.
type parts struct {
	net     [2]float64
	perhaps [2][]float64 // of calls that were under way as one of them was made: it may be in that or not
	most    float64      // up and down
	small   int          // calls of less than a grain
}

func (s *seat) between(last, next listing) (x parts) {
	for _, m := range s.lately {
		if m.at.Before(last.from) || m.from.After(next.until) {
			continue
		}
		for i, n := range [2]float64{m.mib, math.Copysign(math.Ceil(math.Abs(m.mib)/grain)*grain, m.mib)} {
			if m.from.After(last.until) && m.at.Before(next.from) {
				x.net[i] += n
			} else {
				x.perhaps[i] = append(x.perhaps[i], n)
			}
		}
		if x.most += math.Abs(m.mib); math.Abs(m.mib) < grain {
			x.small++
		}
	}
	return x
}

// fit says whether so much may have moved where those seats are all there are, and how likely it is that it did by chance, which where nothing moved
// says nothing.
func fit(moved float64, there []parts) (fits bool, slip float64) {
	most, near := 0.0, 1.0
	for i := range there {
		most += there[i].most
		near += grain * float64(there[i].small)
	}
	if near > 1+grain*shownSmall {
		return true, 1
	}
	for how := range 2 {
		sums := []float64{0}
		for i := range there {
			for k := range sums {
				sums[k] += there[i].net[how]
			}
			for _, n := range there[i].perhaps[how] {
				if len(sums) > shownSums {
					return true, 1
				}
				for _, sum := range sums {
					sums = append(sums, sum+n)
				}
			}
		}
		fits = fits || slices.ContainsFunc(sums, func(sum float64) bool { return math.Abs(sum-moved) <= near })
		slip += float64(len(sums)) * 2 * near / max(most, 4*followsLeast)
	}
	if most < followsLeast {
		slip = 1
	}
	return fits, min(1, slip)
}

// contextSince says whether the process has made a context since a time, which takes memory, too.
func (p *process) contextSince(at time.Time) bool {
	for _, m := range p.made {
		if m.newest.After(at) {
			return true
		}
	}
	return slices.ContainsFunc(p.seats, func(s *seat) bool { return s.tally.context.After(at) })
}

// place takes the seats that are in each set that still fits for those of the GPU.
func (w *showing) place(seats []*seat, key sampler.GPUKey) {
	in, slip := 1<<len(seats)-1, 0.0
	for set, fits := range w.fits {
		for i, s := range seats { // another GPU has shown to be that of some
			if is := set>>i&1 == 1; fits && s.told != (sampler.GPUKey{}) && is != (s.told == key) {
				fits = false
			}
		}
		if fits {
			in, slip = in&set, max(slip, w.slips[set])
		}
	}
	if slip == 0 || slip*float64(len(w.fits)) > shownOdds {
		return
	}
	if w.contradicted(seats, in, key) {
		w.fits, w.slips = nil, nil
		return
	}
	for i, s := range seats {
		if in>>i&1 == 1 {
			s.told, s.elected = key, key
		}
	}
}

// contradicted says whether readings had told of another GPU for one of a set of seats. Which of the two is wrong nobody knows: both begin anew.
func (w *showing) contradicted(seats []*seat, set int, key sampler.GPUKey) (is bool) {
	for i, s := range seats {
		if set>>i&1 == 1 && s.told != key && s.elected != (sampler.GPUKey{}) && s.elected != key {
			s.elected, s.follow, is = sampler.GPUKey{}, nil, true
		}
	}
	return is
}

// forgetMoves forgets what moved before a time, which nothing is compared with any more.
func (s *seat) forgetMoves(before time.Time) {
	s.lately = slices.DeleteFunc(s.lately, func(m moving) bool { return m.at.Before(before) })
}
