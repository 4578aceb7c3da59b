package fleet

import (
	"context"
	"sync"
	"time"
)

// census learns what the machines behind pages call themselves, before any of them is called so: several may say the same name, and which of them
// answers first must not decide who has it. Then none has.
type census struct {
	mu    sync.Mutex
	away  int // pages that have not answered yet
	told  map[string]int
	over  chan struct{} // closed
	ended bool
}

// censusTime is how long those that have answered wait for the others, once all were asked.
const censusTime = 500 * time.Millisecond

func newCensus(pages int) *census {
	c := &census{away: pages, told: map[string]int{}, over: make(chan struct{})}
	time.AfterFunc(censusTime+time.Duration(pages)*stagger, c.end)
	return c
}

// tell takes the first answer of a page: its name, or none.
func (c *census) tell(name string) {
	c.mu.Lock()
	if name != "" {
		c.told[name]++
	}
	c.away--
	last := c.away == 0
	c.mu.Unlock()
	if last {
		c.end()
	}
}

func (c *census) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.ended = true
		close(c.over)
	}
}

// only says, when the others have had their time, whether one alone calls itself so.
func (c *census) only(ctx context.Context, name string) bool {
	select {
	case <-c.over:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told[name] == 1
}
