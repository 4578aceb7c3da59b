package prom

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nvpeak/sampler"
)

// state is what a snapshot knows of a GPU.
type state int

const (
	gone   state = iota // it is not in the snapshot
	read                // it gives figures
	lost                // the driver answers that the GPU is lost
	silent              // nobody can tell: the driver is away, or does not answer
)

func stateOf(g *sampler.GPU) state {
	switch {
	case !g.Silent():
		return read
	case strings.Contains(g.Error.Or(""), sampler.ErrLost.Error()):
		return lost
	}
	return silent
}

// observed is the newest snapshot.
type observed struct {
	*sampler.Snapshot
	figures time.Time // of the newest snapshot in which a GPU gave figures; zero: there was none
	driver  bool      // it answers, be it that a GPU is lost
	states  map[sampler.GPUKey]state
}

func observe(s *sampler.Snapshot, before *observed) *observed {
	o := &observed{Snapshot: s, states: make(map[sampler.GPUKey]state, len(s.GPUs))}
	if before != nil {
		o.figures = before.figures
	}
	for i := range s.GPUs {
		what := stateOf(&s.GPUs[i])
		o.states[s.GPUs[i].Key()] = what
		o.driver = o.driver || what != silent
		if what == read {
			o.figures = s.Time
		}
	}
	return o
}

// maxWhy bounds what a driver says of itself, in bytes.
const maxWhy = 300

// Health is nil while at least one GPU gives figures, those of the newest snapshot no older than within. Else it is one
// line that says why there are none.
func (e *Exporter) Health(within time.Duration) error {
	o := e.newest.Load()
	if o == nil {
		return errors.New("the GPUs have not been read yet")
	}
	if age := e.clock().Sub(o.Time); age > within {
		return fmt.Errorf("the GPUs have not been read for %s", age.Round(time.Second))
	}
	if o.figures.Equal(o.Time) {
		return nil
	}
	for i := range o.GPUs {
		if why, ok := o.GPUs[i].Error.Value(); ok {
			return fmt.Errorf("no GPU can be read: %s", bounded(why, maxWhy))
		}
	}
	return errors.New("there is no GPU")
}
