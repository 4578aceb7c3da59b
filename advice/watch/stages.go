package watch

import (
	"slices"

	"nvpeak/sampler"
)

// stages are the parts of a run of which a training log says how many there are: "level 5/16". What grows by
// one rise in each of them ends with the last.
type stages struct {
	counters []stageCounter // the newest last
}

// stageCounter is one that went up one by one.
type stageCounter struct {
	label   string
	n, of   int
	changes []float64 // when, the newest last
}

const (
	maxCounters = 4
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
		s.counters = append(s.counters, stageCounter{label: m.Label, n: n, of: m.Of})
		return
	}
	switch c := &s.counters[i]; n {
	case c.n:
	case c.n + 1:
		c.n, c.changes = n, append(c.changes, now)
	default: // another round, or a counter of something else
		c.n, c.changes = n, nil
	}
}

// rest is how much a rise since a time, by so many steps or evenly (0), may still come to, where it goes with stages; known is false
// where it does not. A stage may take its memory before the log has its line.
func (s *stages) rest(since, rise float64, steps int) (more float64, known bool) {
	for _, c := range s.counters {
		done := 0
		for _, t := range c.changes {
			if t >= since {
				done++
			}
		}
		left := c.of - c.n
		if steps >= stagesNeeded && done == steps-1 {
			done, left = steps, max(0, left-1)
		}
		if done < stagesNeeded {
			continue
		}
		if r := stagesGrow * rise / float64(done) * float64(left); !known || r > more {
			more, known = r, true
		}
	}
	return more, known
}
