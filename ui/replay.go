package ui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
)

// Tape is a recording that is read as a stream. It is used by one goroutine at a time.
type Tape interface {
	// Next returns the next snapshot or failure, or io.EOF.
	Next() (Entry, error)
	// Seek makes Next continue with the last snapshot at or before t, or the first one.
	Seek(t time.Time) error
	// Notes says in whole sentences what was wrong with the file, after io.EOF.
	Notes() []string
	Close() error
}

// Entry is a snapshot, or a failure that a log told of.
type Entry struct {
	Time     time.Time
	Snapshot *sampler.Snapshot
	Failure  *sampler.OOMEvent
}

// ErrNoSnapshots is the error of a recording in which there is nothing to show.
var ErrNoSnapshots = errors.New("the recording holds no snapshot")

// Replay feeds the monitor from a recording, at any speed and from any moment. The keys
// ask; wait, which the program calls over and over, does.
//
//	keys ─► asked ─► wait ─► scene ─► Model
//	                  │ ▲
//	            tape ─┘ └─ index: marks, and folds to go on from after a seek
type Replay struct {
	ctx      context.Context
	open     func() (Tape, error)
	need     sampler.Opt[sampler.Bytes]
	start    time.Time
	interval time.Duration
	wake     chan struct{}

	mu      sync.Mutex
	clock   pacing
	index   *index
	seeking *time.Time // asked for and not yet done
	steps   int        // single snapshots asked for
	shown   time.Time  // of the newest snapshot handed over
	atEnd   bool

	head head // of wait alone
}

// NewReplay opens a recording twice: to play it, and to learn what is in it. Its errors
// are those of open, or ErrNoSnapshots. The context ends it.
func NewReplay(ctx context.Context, open func() (Tape, error), need sampler.Opt[sampler.Bytes]) (*Replay, error) {
	t, err := open()
	if err != nil {
		return nil, err
	}
	r := &Replay{ctx: ctx, open: open, need: need, wake: make(chan struct{}, 1)}
	if err := r.begin(t); err != nil {
		t.Close() //nolint:errcheck // only read
		return nil, err
	}
	r.head = head{tape: t, marks: sampler.NewWatermarks(), usual: r.interval}
	r.clock = pacing{speed: 1}
	r.index = newIndex(ctx, open, need, r.start, r.interval)
	start := r.start
	r.seeking = &start
	return r, nil
}

// begin reads the first snapshots, for the start and the usual step.
func (r *Replay) begin(t Tape) error {
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
			r.start = e.Time
		} else if d := e.Time.Sub(last); d > 0 {
			steps = append(steps, d)
		}
		last = e.Time
	}
	if last.IsZero() {
		return ErrNoSnapshots
	}
	r.interval = time.Second
	if len(steps) > 0 {
		slices.Sort(steps)
		r.interval = max(steps[len(steps)/2], 100*time.Millisecond)
	}
	return nil
}

// Interval is the usual time between two snapshots.
func (r *Replay) Interval() time.Duration { return r.interval }

// Next is not used: a replay hands over scenes.
func (r *Replay) Next(ctx context.Context) ([]*sampler.Snapshot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// ResetPeaks does nothing: the peaks are those of the recording.
func (r *Replay) ResetPeaks() {}

// SetInterval does nothing: the steps are those of the recording.
func (r *Replay) SetInterval(time.Duration) {}

// sceneArrived: the picture moves on, or jumps.
type sceneArrived struct {
	jump     *point // go on from these folds; nil: from where we are
	history  *history.History
	moments  []moment
	timeline *timeline
	notice   string
}

// batchMost bounds the snapshots of one scene, so that keys are heard.
const batchMost = 400

// frameTime is the least time between two scenes.
const frameTime = 50 * time.Millisecond

// wait returns the next scene as soon as it is due.
func (r *Replay) wait(ctx context.Context) (msg tea.Msg) {
	defer sampler.Guard(func(err error) { msg = feedEnded{err} })
	for ctx.Err() == nil {
		r.mu.Lock()
		to, steps, paused := r.seeking, r.steps, r.clock.paused
		r.steps = 0
		r.mu.Unlock()
		var scene *sceneArrived
		var err error
		switch {
		case to != nil:
			scene, err = r.seekTo(ctx, *to)
		case steps > 0:
			scene = &sceneArrived{moments: r.due(func(*moment) bool { return true }, steps)}
		case r.untold():
			scene = r.tell()
		case r.peek() == nil && !paused:
			scene = r.stopAtEnd()
		case paused:
			r.sleep(ctx, time.Hour)
		default:
			scene = r.play(ctx)
		}
		if err != nil {
			return feedEnded{err}
		}
		if scene != nil {
			return r.complete(scene)
		}
	}
	return feedEnded{ctx.Err()}
}

// seekTo jumps, or waits a little for the index to come that far; the bar shows how far it is.
func (r *Replay) seekTo(ctx context.Context, to time.Time) (*sceneArrived, error) {
	scene, ok, err := r.jump(to)
	if ok || err != nil {
		return scene, err
	}
	if first := !r.head.waiting; first || time.Since(r.head.sent) > 4*frameTime {
		r.head.waiting = true
		return &sceneArrived{}, nil
	}
	r.sleep(ctx, frameTime)
	return nil, nil
}

// play waits until something is due, and takes it.
func (r *Replay) play(ctx context.Context) *sceneArrived {
	if pause := max(r.untilDue(), frameTime-time.Since(r.head.sent)); pause > 0 {
		r.sleep(ctx, pause)
		return nil
	}
	if moments := r.playDue(); len(moments) > 0 {
		return &sceneArrived{moments: moments}
	}
	return nil
}

// sleep waits, at most d, for something to be asked; while the index is being made it
// looks in between how far it is.
func (r *Replay) sleep(ctx context.Context, d time.Duration) {
	done := r.currentIndex().done
	if r.head.told {
		done = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.wake:
	case <-done:
	case <-ctx.Done():
	}
}

// complete adds to a scene what every scene has.
func (r *Replay) complete(s *sceneArrived) *sceneArrived {
	r.head.sent = time.Now()
	r.mu.Lock()
	if n := len(s.moments); n > 0 {
		r.shown = s.moments[n-1].snap.Time
	} else if s.jump != nil {
		r.shown = s.jump.snap.Time
	}
	r.mu.Unlock()
	s.timeline = r.timeline()
	return s
}

// untold says whether the index is complete and its notes were not told yet.
func (r *Replay) untold() bool { return !r.head.told && r.currentIndex().complete() }

func (r *Replay) tell() *sceneArrived {
	r.head.told = true
	return &sceneArrived{notice: strings.Join(r.currentIndex().notesNow(), "; ")}
}

func (r *Replay) currentIndex() *index {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index
}

// play shows a scene.
func (m *Model) play(s *sceneArrived) tea.Cmd {
	if s.jump != nil {
		m.history, m.view.history, m.watch = s.history, s.history, s.jump.watch
		m.newest, m.view.alerts = s.jump.snap, s.jump.alerts
	}
	for _, moment := range s.moments {
		for _, e := range moment.failures {
			m.watch.Event(*e.Failure, e.Time)
		}
		m.history.Add(moment.snap)
		m.view.alerts = m.watch.Add(*moment.snap)
		m.newest = moment.snap
	}
	m.view.timeline, m.view.paused = s.timeline, s.timeline.paused
	m.show(m.newest)
	if s.notice == "" {
		return m.waitForSnapshots
	}
	return tea.Batch(m.waitForSnapshots, m.noteFor(sampler.Clean(s.notice), longNoticeTime))
}

// setNeed changes the need: what was learnt of the alerts is learnt anew with it.
func (r *Replay) setNeed(need sampler.Opt[sampler.Bytes]) {
	r.mu.Lock()
	r.index.stop()
	_, end, _ := r.index.bounds()
	r.need = need
	r.index = newIndex(r.ctx, r.open, need, r.start, r.interval)
	r.index.atLeast(end)
	if r.seeking == nil {
		to := r.shown
		r.seeking = &to
	}
	r.mu.Unlock()
	r.nudge()
}

func (r *Replay) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Close ends the replay.
func (r *Replay) Close() error {
	x := r.currentIndex()
	x.stop()
	<-x.done
	return r.head.tape.Close()
}
