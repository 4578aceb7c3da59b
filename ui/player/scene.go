package player

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
)

// Scene is what comes next: the picture moves on, or jumps.
type Scene struct {
	Jump    *State           // go on from these folds; nil: from where we are
	History *history.History // with Jump
	Frames  []Frame
	Notice  string // for the viewer; may be empty
}

const (
	// maxBatch bounds the frames of one scene, so that keys are heard.
	maxBatch = 400
	// sceneTime is the least time between two scenes.
	sceneTime = 50 * time.Millisecond
	// longGap: over more than that, in which nothing was recorded, playing does not wait.
	longGap = 10 * time.Second
)

// Next waits for the next snapshots and returns them, oldest first: as a sampler.Stream,
// without what a seek brings along.
func (p *Player) Next(ctx context.Context) ([]*sampler.Snapshot, error) {
	for {
		s, err := p.Scene(ctx)
		if err != nil {
			return nil, err
		}
		var list []*sampler.Snapshot
		if s.Jump != nil {
			list = append(list, s.Jump.Snapshot)
		}
		for _, f := range s.Frames {
			list = append(list, f.Snapshot)
		}
		if len(list) > 0 {
			return list, nil
		}
	}
}

// Scene returns the next scene as soon as it is due.
func (p *Player) Scene(ctx context.Context) (scene *Scene, err error) {
	defer sampler.Guard(func(e error) { err = e })
	for ctx.Err() == nil {
		p.mu.Lock()
		to, steps, paused := p.seeking, p.steps, p.clock.paused
		p.steps = 0
		p.mu.Unlock()
		switch {
		case to != nil:
			scene, err = p.seekTo(ctx, *to)
		case steps > 0:
			scene = &Scene{Frames: p.playhead.take(func(*Frame) bool { return true }, steps)}
		case !p.playhead.reported && p.currentIndex().complete():
			p.playhead.reported = true
			scene = &Scene{Notice: strings.Join(p.currentIndex().notesNow(), "; ")}
		case p.playhead.peek() == nil && !paused:
			scene = p.stopAtEnd()
		case paused:
			p.sleep(ctx, time.Hour)
		default:
			scene = p.play(ctx)
		}
		if err != nil {
			return nil, err
		}
		if scene != nil {
			return p.complete(scene), nil
		}
	}
	return nil, ctx.Err()
}

// seekTo jumps, or waits a little for the index to come that far; the bar shows how far it is.
func (p *Player) seekTo(ctx context.Context, to time.Time) (*Scene, error) {
	scene, ok, err := p.jump(to)
	if ok || err != nil {
		return scene, err
	}
	if first := !p.playhead.waiting; first || time.Since(p.playhead.sent) > 4*sceneTime {
		p.playhead.waiting = true
		return &Scene{}, nil
	}
	p.sleep(ctx, sceneTime)
	return nil, nil
}

// jump goes to the last snapshot at or before a time, with the folds as they were then.
// ok is false while the index has not come that far.
func (p *Player) jump(to time.Time) (scene *Scene, ok bool, err error) {
	x := p.currentIndex()
	from, history, ok := x.before(to)
	if !ok {
		return nil, false, nil
	}
	h := &p.playhead
	if err := h.seek(from.time(p.start), x.options, from.marks); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	begin := from.Snapshot
	for again := begin != nil; ; {
		f := h.peek()
		if f == nil || f.Snapshot.Time.After(to) && from.Snapshot != nil {
			break
		}
		h.next = nil
		if again && !f.Snapshot.Time.After(begin.Time) {
			continue
		}
		again = false
		history.Add(f.Snapshot)
		from.fold(f)
	}
	if from.Snapshot == nil {
		return nil, false, ErrNoSnapshots
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seeking != nil && p.seeking.Equal(to) {
		p.seeking = nil
	}
	p.clock.set(from.Snapshot.Time, time.Now())
	p.atEnd = false
	return &Scene{Jump: &from, History: history}, true, nil
}

// play waits until something is due, and takes it.
func (p *Player) play(ctx context.Context) *Scene {
	if wait := max(p.untilDue(), sceneTime-time.Since(p.playhead.sent)); wait > 0 {
		p.sleep(ctx, wait)
		return nil
	}
	if frames := p.takeDue(); len(frames) > 0 {
		return &Scene{Frames: frames}
	}
	return nil
}

// untilDue is how long until the next frame. Over a long gap it does not wait.
func (p *Player) untilDue() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, next := time.Now(), p.playhead.next.Snapshot.Time
	if step := next.Sub(p.shown); step < 0 || step > max(3*p.interval, longGap) {
		p.clock.set(next, now)
	}
	return p.clock.until(next, now)
}

// takeDue takes the frames that are due. When the machine cannot keep up with the speed
// the clock waits for it.
func (p *Player) takeDue() []Frame {
	p.mu.Lock()
	at := p.clock.at(time.Now())
	p.mu.Unlock()
	list := p.playhead.take(func(f *Frame) bool { return !f.Snapshot.Time.After(at) }, maxBatch)
	if next := p.playhead.peek(); len(list) > 0 && next != nil && !next.Snapshot.Time.After(at) {
		p.mu.Lock()
		p.clock.set(list[len(list)-1].Snapshot.Time, time.Now())
		p.mu.Unlock()
	}
	return list
}

func (p *Player) stopAtEnd() *Scene {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock.pause(time.Now())
	p.clock.set(p.shown, time.Now())
	p.atEnd = true
	return &Scene{Notice: lang.For(p.options.Lang).Say("say.the_end")}
}

// sleep waits, at most d, for something to be asked; while the index is being made it
// looks in between how far it is.
func (p *Player) sleep(ctx context.Context, d time.Duration) {
	done := p.currentIndex().done
	if p.playhead.reported {
		done = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.wake:
	case <-done:
	case <-ctx.Done():
	}
}

// complete notes that a scene is handed over.
func (p *Player) complete(s *Scene) *Scene {
	p.playhead.sent = time.Now()
	p.mu.Lock()
	if n := len(s.Frames); n > 0 {
		p.shown = s.Frames[n-1].Snapshot.Time
	} else if s.Jump != nil {
		p.shown = s.Jump.Snapshot.Time
	}
	p.mu.Unlock()
	return s
}
