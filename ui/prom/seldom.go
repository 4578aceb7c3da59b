package prom

import (
	"fmt"
	"sync"
	"time"
)

// Seldom passes lines on, one a minute at most: what goes wrong with each scrape or connection would fill a log, and who asks
// from outside could have it filled. It is safe for several goroutines.
type Seldom struct {
	say   func(string)
	clock func() time.Time
	mu    sync.Mutex
	next  time.Time
	left  int // out since the last line
}

// seldomEvery is the time between two lines.
const seldomEvery = time.Minute

// NewSeldom makes one; say may be nil.
func NewSeldom(say func(string)) *Seldom { return &Seldom{say: say, clock: time.Now} }

// Say says it, or counts it when it is too early. The next line tells how many were left out.
func (s *Seldom) Say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	if s.say == nil || now.Before(s.next) {
		s.left++
		return
	}
	if s.left > 0 {
		text += fmt.Sprintf(" (and %d times since the last such line)", s.left)
	}
	s.next, s.left = now.Add(seldomEvery), 0
	s.say(text)
}
