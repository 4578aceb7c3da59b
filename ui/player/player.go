package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"nvpeak/sampler"
)

// Player plays a recording. One goroutine calls Scene or Next; the controls may be called
// from any other.
type Player struct {
	ctx      context.Context
	open     func() (Tape, error)
	start    time.Time
	interval time.Duration
	wake     chan struct{}
	playhead playhead // of Scene alone

	mu      sync.Mutex
	options Options
	clock   clock
	index   *index
	seeking *time.Time // asked for and not yet done
	steps   int        // single snapshots asked for
	shown   time.Time  // of the newest snapshot handed over
	atEnd   bool
}

// Open opens a recording twice: to play it, and to learn what is in it. Its errors are
// those of open, or ErrNoSnapshots. The context ends it.
func Open(ctx context.Context, open func() (Tape, error), o Options) (*Player, error) {
	t, err := open()
	if err != nil {
		return nil, err
	}
	p := &Player{ctx: ctx, open: open, options: o, wake: make(chan struct{}, 1), clock: clock{speed: 1}}
	if err := p.begin(t); err != nil {
		t.Close() //nolint:errcheck // only read
		return nil, err
	}
	p.playhead = playhead{tape: t, options: o, marks: sampler.NewWatermarks()}
	p.index = newIndex(ctx, open, o, p.start, p.interval)
	start := p.start
	p.seeking = &start
	return p, nil
}

// begin reads the first snapshots, for the start and the usual step.
func (p *Player) begin(t Tape) error {
	var steps []time.Duration
	var last time.Time
	for len(steps) < 9 {
		e, err := t.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return err
			}
			break
		}
		if e.Snapshot == nil {
			continue
		}
		if last.IsZero() {
			p.start = e.Time
		} else if d := e.Time.Sub(last); d > 0 {
			steps = append(steps, d)
		}
		last = e.Time
	}
	if last.IsZero() {
		if notes := t.Notes(); len(notes) > 0 {
			return fmt.Errorf("%w: %s", ErrNoSnapshots, strings.Join(notes, "; "))
		}
		return ErrNoSnapshots
	}
	p.interval = time.Second
	if len(steps) > 0 {
		slices.Sort(steps)
		p.interval = max(steps[len(steps)/2], 100*time.Millisecond)
	}
	return nil
}

// Interval is the usual time between two snapshots.
func (p *Player) Interval() time.Duration { return p.interval }

func (p *Player) currentIndex() *index {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.index
}

// nudge makes Scene look at what was asked.
func (p *Player) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close ends the player.
func (p *Player) Close() error {
	x := p.currentIndex()
	x.stop()
	<-x.done
	return p.playhead.tape.Close()
}
