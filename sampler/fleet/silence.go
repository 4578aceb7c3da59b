package fleet

import (
	"sync/atomic"
	"time"
)

// silence is how long nothing was heard while this program ran. It is counted in parts, for a program that was stopped, or whose machine slept, has
// heard nothing either, and what came meanwhile is still to be read.
type silence struct {
	part  time.Duration
	parts atomic.Int32
	timer *time.Timer
}

const silenceParts = 8

// newSilence calls give up when the silence has lasted for that long.
func newSilence(most time.Duration, giveUp func()) *silence {
	s := &silence{part: most / silenceParts}
	s.timer = time.AfterFunc(time.Hour, func() {
		if s.parts.Add(1) == silenceParts {
			giveUp()
			return
		}
		s.timer.Reset(s.part)
	})
	s.timer.Reset(s.part)
	return s
}

// over says that something was heard.
func (s *silence) over() { s.parts.Store(0) }

func (s *silence) end() { s.timer.Stop() }
