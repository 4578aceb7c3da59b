package request

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// Where calls are slow, and several threads make them, some call is under way at each reading, so that none shows what one of them has moved in a
// while. But most calls move memory between two readings between which no other does on that GPU: then its use jumps by as much, at some moment while
// the call was under way. That of another GPU does by chance only, and how likely that is its other jumps tell.

const (
	// jumpsLikely is how many of the calls the use jumps by as much at, at least, as is reckoned with; where two threads of calls of 20 to 90 ms ask a GPU
	// that is read each 20 ms it is half of them.
	jumpsLikely = 0.25
	// jumpsClearly is the logarithm of the odds from which on a GPU is taken for told: one of 8,000 is so by chance.
	jumpsClearly = 9
	// jumpsAgainst is the same against each other GPU: where threads do the same on two of them at about the same time, both jump. With 1, two of 360
	// simulated processes of such threads were placed wrongly, with 3 none.
	jumpsAgainst = 3
	// jumpsBetween two readings there is one jump, as a rule. What more is between them may be many.
	jumpsBetween = 50 * time.Millisecond
)

// jumps takes whether the use of a GPU has jumped by as much as a call of a seat moved, while that was under way.
func (f *follower) jumps(m moving, g *gpu) {
	if g == nil || math.Abs(m.mib) < followsLeast || g.ago(0).at.IsZero() || g.ago(keptReadings-1).at.After(m.from) { // those of then are forgotten
		return
	}
	until := m.at.Add(included)
	all, alike, meanwhile, jumped, seldom := 0, 0, 0, false, false
	for i := range keptReadings - 1 {
		r, before := g.ago(i), g.ago(i+1)
		if before.at.IsZero() {
			break
		}
		is := math.Abs(inMiB(r.used)-inMiB(before.used)-m.mib) <= grain
		if all++; is {
			alike++
		}
		if !r.at.Before(m.from) && !before.at.After(until) {
			meanwhile++
			jumped, seldom = jumped || is, seldom || r.at.Sub(before.at) > jumpsBetween
		}
	}
	if seldom { // a GPU that is hardly read follows nothing, and that says nothing of it
		return
	}
	chance := min(0.99, 1-math.Pow(1-float64(alike+1)/float64(all+2), float64(meanwhile)))
	f.tried++
	if jumped {
		f.jumped += math.Log(max(jumpsLikely, chance) / chance)
	} else {
		f.jumped += math.Log((1 - max(jumpsLikely, chance)) / (1 - chance))
	}
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
		if key != best && (f.tried == 0 || f.jumped > -jumpsAgainst) {
			return sampler.GPUKey{}
		}
	}
	return best
}
