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
	early *Snapshot // newer than items; nil: none
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
	q.items, q.early = append(q.items, s), nil
	if n := len(q.items); n > queueSize {
		q.items = q.items[n-queueSize:]
	}
	q.mu.Unlock()
	q.wake()
}

// putEarly puts an early picture in. The newest counts.
func (q *queue) putEarly(s *Snapshot) {
	q.mu.Lock()
	q.early = s
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take empties the queue.
func (q *queue) take() (items []*Snapshot, early *Snapshot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items, early = q.items, q.early
	q.items, q.early = nil, nil
	return items, early
}

// next waits for at least one snapshot and returns all there are, oldest first.
func (q *queue) next(ctx context.Context) (items []*Snapshot, err error) {
	for items == nil && err == nil {
		items, _, err = q.nextOrPeak(ctx)
	}
	return items, err
}

// nextOrPeak also waits for an early picture.
func (q *queue) nextOrPeak(ctx context.Context) ([]*Snapshot, *Snapshot, error) {
	for {
		if items, early := q.take(); items != nil || early != nil {
			return items, early, nil
		}
		select {
		case <-q.more:
		case <-q.done:
			if items, _ := q.take(); items != nil {
				return items, nil, nil
			}
			return nil, nil, q.err
		case <-ctx.Done():
			return nil, nil, ctx.Err()
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
