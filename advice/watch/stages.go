package watch

import (
	"slices"

	"nvpeak/sampler"
)

// stages are the parts of a run of which a training log says how many there are: "level 5/16", "cache 120/300". What grows with
// them ends with the last.
type stages struct {
	counters []stageCounter // the newest last
}

// stageCounter is one that goes up.
type stageCounter struct {
	label  string
	of     int
	seen   []stagePoint // the newest last; never empty
	rounds bool         // it has begun again: what grows does not end with it
}

type stagePoint struct {
	at float64
	n  int
}

const (
	maxCounters = 4
	// maxStagePoints of a counter are kept, twice as many as a log is asked for.
	maxStagePoints = 128
	// stagesNeeded changes in the time of a rise say that it goes with them.
	stagesNeeded = 3
	// stagesGrow: the rises to come may be larger than those before.
	stagesGrow = 1.5
)

// add takes what the log says at a time.
func (s *stages) add(now float64, m sampler.LogMark) {
	n := m.N.Or(0)
	i := slices.IndexFunc(s.counters, func(c stageCounter) bool { return c.label == m.Label && c.of == m.Of })
	if i < 0 {
		if len(s.counters) == maxCounters {
			s.counters = slices.Delete(s.counters, 0, 1)
		}
		s.counters = append(s.counters, stageCounter{label: m.Label, of: m.Of, seen: []stagePoint{{now, n}}})
		return
	}
	switch c := &s.counters[i]; {
	case n == c.n():
	case n > c.n():
		if len(c.seen) == maxStagePoints {
			c.seen = slices.Delete(c.seen, 1, 2)
		}
		c.seen = append(c.seen, stagePoint{now, n})
	default: // another round, or a counter of something else
		c.seen, c.rounds = append(c.seen[:0], stagePoint{now, n}), true
	}
}

func (c *stageCounter) n() int { return c.seen[len(c.seen)-1].n }

// since is how far it had come before a time, and how often it has changed since.
func (c *stageCounter) since(at float64) (n, changes int) {
	i := max(1, slices.IndexFunc(c.seen, func(p stagePoint) bool { return p.at >= at }))
	if c.seen[len(c.seen)-1].at < at {
		i = len(c.seen)
	}
	return c.seen[i-1].n, len(c.seen) - i
}

// rest is how much a rise since a time, by so many steps or evenly (0), may still come to, where it goes with stages; known is false
// where it does not. A stage may take its memory before the log has its line.
func (s *stages) rest(since, rise float64, steps int) (more float64, known bool) {
	for i := range s.counters {
		c := &s.counters[i]
		n, changes := c.since(since)
		done, left := c.n()-n, c.of-c.n()
		if steps >= stagesNeeded && changes == steps-1 && done == changes {
			done, left, changes = steps, max(0, left-1), steps
		}
		over := left == 0 && changes > 0 && changes >= steps-1 && steps > 0 && len(c.seen) > stagesNeeded // fewer steps than stages
		if changes < stagesNeeded && !over {
			continue
		}
		if r := stagesGrow * rise / float64(done) * float64(left); !known || r > more {
			more, known = r, true
		}
	}
	return more, known
}

// lastBegins is when the last of the stages begins at the pace that they have had since a time, in seconds of the Watch's clock; known is false where
// none goes on, and of those that have begun again.
func (s *stages) lastBegins(since float64) (at float64, known bool) {
	for i := range s.counters {
		c := &s.counters[i]
		n, changes := c.since(since)
		if c.rounds || changes < stagesNeeded {
			continue
		}
		first, last := c.seen[len(c.seen)-changes-1], c.seen[len(c.seen)-1]
		at, known = max(at, last.at+(last.at-first.at)/float64(c.n()-n)*float64(c.of-c.n())), true
	}
	return at, known
}
