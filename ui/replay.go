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

// ErrNoSnapshots: there is nothing to show in a recording.
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

// head is the place where the tape is read.
type head struct {
	tape    Tape
	marks   *sampler.Watermarks
	next    *moment // read and not yet due
	ended   bool
	sent    time.Time // real time of the last scene
	usual   time.Duration
	told    bool // the notes
	waiting bool // something was asked that the index cannot give yet
}

// moment is a snapshot and the failures told of before it.
type moment struct {
	failures []Entry
	snap     *sampler.Snapshot
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
		t.Close()
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
	history  *sampler.History
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
		to, steps := r.seeking, r.steps
		r.steps = 0
		clock := r.clock
		r.mu.Unlock()
		switch {
		case to != nil:
			scene, ok, err := r.jump(*to)
			if err != nil {
				return feedEnded{err}
			}
			if ok {
				return r.scene(scene)
			}
			if !r.head.waiting {
				r.head.waiting = true
				return r.scene(&sceneArrived{}) // the bar shows how far the index is
			}
			r.sleep(ctx, frameTime)
			if time.Since(r.head.sent) > 4*frameTime {
				return r.scene(&sceneArrived{})
			}
			continue
		case steps > 0:
			return r.scene(&sceneArrived{moments: r.due(func(int, *moment) bool { return false }, steps)})
		}
		if scene := r.news(); scene != nil {
			return r.scene(scene)
		}
		if r.peek() == nil {
			if !clock.paused {
				return r.scene(r.stopAtEnd())
			}
			r.sleep(ctx, time.Hour)
			continue
		}
		if clock.paused {
			r.sleep(ctx, time.Hour)
			continue
		}
		pause := r.untilDue()
		if since := time.Since(r.head.sent); pause < frameTime-since {
			pause = frameTime - since
		}
		if pause > 0 {
			r.sleep(ctx, pause)
			continue
		}
		if moments := r.playDue(); len(moments) > 0 {
			return r.scene(&sceneArrived{moments: moments})
		}
	}
	return feedEnded{ctx.Err()}
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

// scene completes a scene.
func (r *Replay) scene(s *sceneArrived) *sceneArrived {
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

// news is what the index has to say once it is complete.
func (r *Replay) news() *sceneArrived {
	x := r.currentIndex()
	if r.head.told || !x.complete() {
		return nil
	}
	r.head.told = true
	return &sceneArrived{notice: strings.Join(x.notesNow(), "; ")}
}

// peek reads the next moment, nil at the end.
func (r *Replay) peek() *moment {
	h := &r.head
	if h.next != nil || h.ended {
		return h.next
	}
	m := &moment{}
	for {
		e, err := h.tape.Next()
		if err != nil {
			h.ended = true
			return nil
		}
		if e.Failure != nil {
			m.failures = append(m.failures, e)
		}
		if e.Snapshot != nil {
			m.snap = prepare(e.Snapshot, h.marks)
			h.next = m
			return m
		}
	}
}

// due takes up to n moments while more wants them, the first one always.
func (r *Replay) due(more func(int, *moment) bool, n int) (list []moment) {
	for len(list) < n {
		m := r.peek()
		if m == nil || len(list) > 0 && n > 1 && !more(len(list), m) {
			break
		}
		list = append(list, *m)
		r.head.next = nil
	}
	return list
}

// untilDue is how long until the next moment. Over a gap, in which nothing was recorded,
// it does not wait.
func (r *Replay) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, next := time.Now(), r.head.next.snap.Time
	if step := next.Sub(r.shown); step < 0 || step > max(3*r.head.usual, 10*time.Second) {
		r.clock.set(next, now)
	}
	return r.clock.until(next, now)
}

// playDue takes the moments that are due. When the machine cannot keep up with the speed
// the clock waits for it.
func (r *Replay) playDue() []moment {
	r.mu.Lock()
	at := r.clock.at(time.Now())
	r.mu.Unlock()
	list := r.due(func(_ int, m *moment) bool { return !m.snap.Time.After(at) }, batchMost)
	if len(list) == batchMost {
		r.mu.Lock()
		r.clock.set(list[len(list)-1].snap.Time, time.Now())
		r.mu.Unlock()
	}
	return list
}

func (r *Replay) stopAtEnd() *sceneArrived {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.pause(time.Now())
	r.clock.set(r.shown, time.Now())
	r.atEnd = true
	return &sceneArrived{notice: "the end of the recording"}
}

// jump goes to the last snapshot at or before a moment, with the folds as they were then.
// ok is false while the index has not come that far.
func (r *Replay) jump(to time.Time) (scene *sceneArrived, ok bool, err error) {
	x := r.currentIndex()
	from, history, ok := x.before(to)
	if !ok {
		return nil, false, nil
	}
	h := &r.head
	h.waiting, h.next, h.ended = false, nil, false
	if err := h.tape.Seek(from.time(r.start)); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	h.marks = from.marks
	jump := &from
	for skip := from.snap != nil; ; {
		m := r.peek()
		if m == nil || m.snap.Time.After(to) && jump.snap != nil {
			break
		}
		h.next = nil
		if skip && !m.snap.Time.After(from.snap.Time) {
			continue
		}
		skip = false
		history.Add(m.snap)
		jump.fold(*m)
	}
	if jump.snap == nil {
		return nil, false, ErrNoSnapshots
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeking != nil && r.seeking.Equal(to) {
		r.seeking = nil
	}
	r.clock.set(jump.snap.Time, time.Now())
	r.atEnd = false
	return &sceneArrived{jump: jump, history: history}, true, nil
}

func (r *Replay) currentIndex() *index {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index
}

// prepare gives a snapshot of a file what the live one has: local time, and the peaks
// where the file has none. The snapshot itself may be the base of the next and stays.
func prepare(s *sampler.Snapshot, marks *sampler.Watermarks) *sampler.Snapshot {
	c := *s
	c.Time = s.Time.Local()
	if !hasPeaks(s) {
		c.GPUs = slices.Clone(s.GPUs)
		for i := range c.GPUs {
			c.GPUs[i].Processes = slices.Clone(s.GPUs[i].Processes)
		}
		marks.Apply(&c)
	}
	return &c
}

// hasPeaks says whether all that is used has a peak, as in recordings of nvpeak.
func hasPeaks(s *sampler.Snapshot) bool {
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if g.Memory.Used.Known() && g.Memory.Peak == nil {
			return false
		}
		for n := range g.Processes {
			if g.Processes[n].Memory.Known() && g.Processes[n].Peak == nil {
				return false
			}
		}
	}
	return true
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
