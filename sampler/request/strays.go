package request

import (
	"cmp"
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
	from, at int64 // see nanos
	mib      float64
	by       *seat
}

// strays are those that a GPU may have, in the order in which they were answered.
type strays struct {
	list    []stray
	longest int64            // ns that a call took
	blind   int64            // some until then are forgotten
	meant   map[span][]stray // see between; nil: too many
}

// span is from one reading to another.
type span struct{ last, next int64 }

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
	x, since := &strays{blind: math.MinInt64}, t.readUntil.Add(-straysKept)
	for _, p := range t.processes {
		if !slices.ContainsFunc(p.seats, (*seat).adrift) {
			continue
		}
		if on := t.uses(p); len(on) > 0 && !slices.Contains(on, key) || len(on) == 0 && t.nowhere(p) {
			continue
		}
		for _, s := range p.seats {
			if !s.adrift() || s.at != (sampler.GPUKey{}) && s.at != key {
				continue
			}
			x.blind = max(x.blind, nanos(s.forgot))
			for _, m := range s.lately {
				if m.at.After(since) && math.Abs(m.mib) >= movesLeast {
					x.add(stray{nanos(m.from), nanos(m.at), m.mib, s})
				}
			}
		}
	}
	slices.SortFunc(x.list, func(a, b stray) int { return cmp.Compare(a.at, b.at) })
	if t.strays == nil {
		t.strays = map[sampler.GPUKey]*strays{}
	}
	t.strays[key] = x
	return x
}

// nowhere says whether a process that asks for memory is on none of the GPUs: their lists have others that do, and it has been there for longer than one takes to
// come.
func (t *Tracker) nowhere(p *process) bool {
	if t.last.Sub(p.first) < listsCome {
		return false
	}
	for pid := range t.processes {
		if len(t.listed[pid]) > 0 {
			return true
		}
	}
	return false
}

// adrift says whether it is not known for sure on which GPU a seat is.
func (s *seat) adrift() bool { return s.at == (sampler.GPUKey{}) || s.guessed }

func (x *strays) add(m stray) {
	x.list = append(x.list, m)
	x.longest = max(x.longest, m.at-m.from)
}

// between are how much each of what is astray, in MiB, may have moved the use between two readings, but for a seat or one call of it; known: none is forgotten, and there
// are not too many to say anything.
func (x *strays) between(last, next time.Time, but *seat, call *moving) (parts []float64, known bool) {
	at := span{nanos(last), nanos(next)}
	if x.blind >= at.last {
		return nil, false
	}
	found, ok := x.meant[at]
	if !ok {
		if x.meant == nil {
			x.meant = map[span][]stray{}
		}
		found = x.find(at)
		x.meant[at] = found
	}
	if found == nil {
		return nil, false
	}
	for i := range found {
		m := &found[i]
		switch {
		case m.by != but:
		case call == nil:
			continue
		case m.inside(at) && nanos(call.from) > at.last && nanos(call.at)+int64(included) < at.next: // it is one of those
			if m.mib == call.mib {
				continue
			}
			parts = append(parts, m.mib-call.mib)
			continue
		case m.at == nanos(call.at) && m.mib == call.mib:
			continue
		}
		parts = append(parts, m.mib)
	}
	return parts, true
}

// inside says whether something moved certainly between two readings.
func (m *stray) inside(at span) bool { return m.from > at.last && m.at+int64(included) < at.next }

// find are those between two readings: of a seat, which is on one GPU, all that it moved certainly between them as one. What is slow may be in the one
// reading or in the one before or after it. nil: they are too many.
func (x *strays) find(at span) []stray {
	found, whole := []stray{}, 0
	first := sort.Search(len(x.list), func(i int) bool { return x.list[i].at+int64(included) >= at.last })
	for i := first; i < len(x.list) && x.list[i].at <= at.next+x.longest; i++ {
		m := x.list[i]
		switch {
		case m.from > at.next:
		case m.inside(at):
			if k := slices.IndexFunc(found[:whole], func(w stray) bool { return w.by == m.by }); k >= 0 {
				found[k].mib += m.mib
				continue
			}
			found = slices.Insert(found, whole, m)
			whole++
		default:
			found = append(found, m)
		}
		if len(found) > straysSlow+1 {
			return nil
		}
	}
	return found
}

// least is by how much what moved differs from the nearest sum of any parts.
func least(moved float64, parts []float64) float64 {
	if len(parts) == 0 {
		return math.Abs(moved)
	}
	return min(least(moved, parts[1:]), least(moved-parts[0], parts[1:]))
}
