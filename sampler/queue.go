package sampler

import (
	"context"
	"sync"
)

// queueSize bounds how many snapshots wait for a reader that stalls (a terminal under
// Ctrl-S): at one a second 17 minutes. Then the oldest are dropped; peaks are not lost,
// for later snapshots carry them.
const queueSize = 1024

// queue hands snapshots from the loop to one reader and never blocks the loop.
type queue struct {
	mu    sync.Mutex
	items []*Snapshot
	more  chan struct{}
	done  chan struct{}
	once  sync.Once
	err   error // why it ended; read after done is closed
}

func newQueue() *queue {
	return &queue{more: make(chan struct{}, 1), done: make(chan struct{})}
}

func (q *queue) put(s *Snapshot) {
	q.mu.Lock()
	q.items = append(q.items, s)
	if n := len(q.items); n > queueSize {
		q.items = q.items[n-queueSize:]
	}
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (q *queue) take() []*Snapshot {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = nil
	return items
}

// next waits for at least one snapshot and returns all there are, oldest first.
func (q *queue) next(ctx context.Context) ([]*Snapshot, error) {
	for {
		if s := q.take(); s != nil {
			return s, nil
		}
		select {
		case <-q.more:
		case <-q.done:
			if s := q.take(); s != nil {
				return s, nil
			}
			return nil, q.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// end lets next return err once the queue is empty.
func (q *queue) end(err error) {
	if err == nil {
		err = context.Canceled
	}
	q.once.Do(func() {
		q.err = err
		close(q.done)
	})
}
