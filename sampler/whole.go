package sampler

import (
	"context"
	"time"
)

// wholeLook is how often it is looked whether all GPUs have answered, before the first snapshot.
const wholeLook = 5 * time.Millisecond

// whole says whether of every GPU the memory was read and the processes were listed since the
// connection stands, or it is known why not.
func (c *collector) whole() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.gpus {
		if !d.heard || d.answers() && !d.told {
			return false
		}
	}
	return true
}

// awaitWhole waits for that, or so long: a busy machine and a slow driver take longer than a
// screen would wait, and who judges by half an answer says what is not so.
func (l *Loop) awaitWhole(ctx context.Context, most time.Duration) error {
	limit, look := time.NewTimer(most), time.NewTicker(wholeLook)
	defer limit.Stop()
	defer look.Stop()
	for !l.c.whole() {
		select {
		case <-look.C:
		case <-limit.C:
			return nil
		case err := <-l.trips:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
