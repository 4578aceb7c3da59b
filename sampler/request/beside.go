package request

import (
	"math"
	"slices"
	"time"

	"nvpeak/sampler"
)

// What else moves the use of a GPU is no evidence for a seat whose calls it happens to follow: other calls that are known to be there account for
// their part of it, and while a context is made or ended, or memory of before anybody looked is given back, nothing that moves is, for how much that is no call tells.

// stir is a time in which memory of a GPU may move by what no call tells.
type stir struct{ from, at int64 }

// keptStirs: more contexts than are made between two snapshots, but for a moment.
const keptStirs = 32

// stirsAt notes that calls may move it so from a time until another.
func (g *gpu) stirsAt(from, until time.Time) {
	x := stir{nanos(from.Add(-cut)), nanos(until.Add(included))}
	if last := &g.stirs[(g.stirred+keptStirs-1)%keptStirs]; x.from <= last.at && x.at >= last.from {
		*last = stir{min(x.from, last.from), max(x.at, last.at)}
		return
	}
	g.stirs[g.stirred%keptStirs] = x
	g.stirred++
}

// stirs notes that a process makes or ends a context, on a GPU or, where it is not known which, on any.
func (t *Tracker) stirs(p *process, c *Call, device int) {
	if key := t.ordinals.Key(&p.who, device); t.gpus[key] != nil {
		t.gpus[key].stirsAt(c.Time.Add(-c.Took), c.Time)
		return
	}
	for _, g := range t.gpus {
		g.stirsAt(c.Time.Add(-c.Took), c.Time)
	}
}

// loses notes that a process gives back what it had before anybody looked: how much, and on which of its GPUs, no call tells.
func (t *Tracker) loses(p *process, from, until time.Time) {
	p.lost = later(p.lost, until)
	on := t.uses(p)
	for key, g := range t.gpus {
		if len(on) == 0 || slices.Contains(on, key) {
			g.stirsAt(from, until)
		}
	}
}

// sure says whether the move is known to be one of the GPU.
func (m *move) sure() bool { return m.by != nil && !m.by.guessed }

// beside is by how much the use of the GPU has moved between two readings by known calls of others than a seat, in MiB, and how much of that may
// be in the later one or not; known: there is nothing else that is known to have moved it.
func (g *gpu) beside(s *seat, last, next time.Time) (net, near float64, known bool) {
	from, until := nanos(last), nanos(next)
	if from <= g.placed || g.unsure(last) {
		return 0, 0, false
	}
	for i := range g.stirs {
		if x := &g.stirs[i]; x.at >= from && x.from <= until {
			return 0, 0, false
		}
	}
	begins, ended := nanos(next.Add(cut)), nanos(next.Add(-included))
	for i := range g.moves {
		m := &g.moves[i]
		if m.by == s || !m.sure() {
			continue
		}
		n := float64(m.bytes) / float64(sampler.MiB)
		if m.from <= begins && m.at > ended {
			near += math.Abs(n)
		}
		if m.at > from && m.at <= until {
			net += n
		}
	}
	return net, near, true
}
