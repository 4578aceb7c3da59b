package sampler

import (
	"context"
	"fmt"
	"time"
)

// soon is the pause before the first try to open the source again: a GPU that is back, or split otherwise, needs no other. A driver
// that is loaded anew does.
const soon = 100 * time.Millisecond

// reconnect opens the source again, with growing pauses; snapshots go on and say why
// they are empty.
func (l *Loop) reconnect(ctx context.Context, reason error) error {
	pause := soon
	for {
		l.lose(reason)
		again := make(chan error, 1)
		go func() {
			defer Guard(func(err error) { again <- err })
			select {
			case <-ctx.Done():
				again <- ctx.Err()
			case <-time.After(pause):
				again <- l.Connect(ctx)
			}
		}()
		err := l.publishUntil(ctx, again, pause)
		if err == nil {
			l.lose(nil) // which may have been said again as it came back
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		reason = fmt.Errorf("%w: %w", ErrReconnect, err)
		pause = min(max(2*pause, time.Second), 30*time.Second)
	}
}

// lose says in the snapshots to come why the whole driver is away.
func (l *Loop) lose(reason error) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.c.lost = reason
}

// publishUntil makes snapshots, which say what is lost, until again has an answer, which is asked for after the pause: a
// driver that comes back may take long to open. One that does not answer is told as that, not as what it was before.
func (l *Loop) publishUntil(ctx context.Context, again <-chan error, pause time.Duration) error {
	asked := time.Now().Add(pause)
	for {
		if silent := time.Since(asked); silent > slowLimit {
			l.lose(fmt.Errorf("%w: %w for %.0f s", ErrReconnect, ErrNotAnswering, silent.Seconds()))
		}
		l.publish()
		select {
		case err := <-again:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(l.currentInterval()):
		}
	}
}
