package request

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// Where calls are slow, and several threads make them, some call is under way at each reading, so that none shows what one of them has moved in a
// while. But most calls move memory between two readings between which no other does on that GPU: then its use jumps by as much, at some moment while
// the call was under way. That of another GPU does by chance only, and how likely that is its other jumps tell, and the strays that may have been at it.

const (
	// jumpsClearly is the logarithm of the odds from which on a GPU is taken for told, where those of each other GPU are as much against it: one of 8,000 is so by
	// chance. With 3 against the others two threads of 1,650 simulated processes were placed wrongly, with 9 none (TestJumps, 150 seeds).
	jumpsClearly = 9
	// jumpsLeast is the least odds that one call gives: the times of a call and of the readings may be wrong, and somebody of whom no call tells may have moved
	// the use.
	jumpsLeast = 0.1
	// jumpsOdd is how many of the changes of a GPU's use no call explains, at least.
	jumpsOdd = 0.02
	// jumpsBetween two readings there is one jump, as a rule. What more is between them may be many.
	jumpsBetween = 50 * time.Millisecond
	// jumpsThere is how likely it is that a call which may have moved the use between two readings did: it was under way for three of those, and asked this
	// GPU or another.
	jumpsThere = 0.15
)

// jumps takes how much more likely what the use of a GPU did while a call of a seat was under way is if that asked it than if not.
func (f *follower) jumps(s *seat, m moving, g *gpu, others *strays) {
	if g == nil || math.Abs(m.mib) < followsLeast || g.ago(0).at.IsZero() || g.ago(keptReadings-1).at.After(m.from) { // those of then are forgotten
		return
	}
	until := m.at.Add(included)
	of, alike := 0, 0
	for i := range keptReadings - 1 {
		r, before := g.ago(i), g.ago(i+1)
		if before.at.IsZero() {
			break
		}
		if of++; math.Abs(inMiB(r.used)-inMiB(before.used)-m.mib) <= grain {
			alike++
		}
	}
	odd := max(jumpsOdd, float64(alike+1)/float64(of+2))
	odds, all := 0.0, 0.0
	for i := range of {
		r, before := g.ago(i), g.ago(i+1)
		if r.at.Before(m.from) || before.at.After(until) {
			continue
		}
		part := float64(min(r.at.Sub(m.from), until.Sub(before.at), r.at.Sub(before.at), until.Sub(m.from)))
		n, either := g.likelier(s, m, before, r, others, odd)
		if either {
			f.tried++
			return
		}
		odds += part * n
		all += part
	}
	if f.tried++; all > 0 {
		f.jumped += math.Log(max(jumpsLeast, odds/all))
	}
}

// likelier is how much more likely the change from one reading to the next is where a call moved it, beside others that may have. either: as many others, and
// one in the place of the call, explain it as well, such as one that always does the same.
func (g *gpu) likelier(s *seat, m moving, before, r reading, others *strays, odd float64) (odds float64, either bool) {
	beside, near, known := g.beside(s, before.at, r.at)
	parts, all := others.between(before.at, r.at, s, &m)
	moved := inMiB(r.used) - inMiB(before.used)
	if !known || near > 0 || !all || len(parts) > straysSlow || moved != 0 && r.at.Sub(before.at) > jumpsBetween {
		return 1, false
	}
	moved -= beside
	with, without := matching(moved, m.mib, parts)
	odds = with.likelihood(len(parts), odd) / without.likelihood(len(parts), odd)
	return odds, odds > 1 && without.fewest() <= with.fewest()+1
}

// matches are how many sets of none, one and more parts explain what moved.
type matches [straysAtOnce + 1]int

// matching counts the sets that explain what moved with a call, and those that do without it.
func matching(moved, call float64, parts []float64) (with, without matches) {
	see := func(taken int, sum float64) {
		if left := moved - sum; math.Abs(left) <= grain {
			without[taken]++
		} else if math.Abs(left-call) <= grain {
			with[taken]++
		}
	}
	see(0, 0)
	for i, one := range parts {
		see(1, one)
		for j, two := range parts[i+1:] {
			see(2, one+two)
			for _, three := range parts[i+j+2:] {
				see(3, one+two+three)
			}
		}
	}
	return with, without
}

// fewest is of how many parts a set is that explains it, at least; more than straysAtOnce: none does.
func (n *matches) fewest() int {
	for k := range n {
		if n[k] > 0 {
			return k
		}
	}
	return len(n)
}

// likelihood is that of what moved where there are so many parts, of which each may be there.
func (n *matches) likelihood(parts int, odd float64) float64 {
	sum := odd
	for k := range n {
		sum += float64(n[k]) * math.Pow(jumpsThere, float64(k)) * math.Pow(1-jumpsThere, float64(parts-k))
	}
	return sum
}

// jumpsAt is the GPU whose use jumps with the calls of a seat, as that of no other does; the zero key: none clearly.
func (s *seat) jumpsAt() sampler.GPUKey {
	best, most := sampler.GPUKey{}, float64(jumpsClearly)
	for key, f := range s.follow {
		if f.jumped >= most {
			best, most = key, f.jumped
		}
	}
	for key, f := range s.follow {
		if key != best && (f.tried == 0 || f.jumped > -jumpsClearly) {
			return sampler.GPUKey{}
		}
	}
	return best
}
