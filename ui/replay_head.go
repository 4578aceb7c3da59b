package ui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
)

// head is the place where the tape is read. It belongs to wait alone.
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
func (r *Replay) due(more func(*moment) bool, n int) (list []moment) {
	for len(list) < n {
		m := r.peek()
		if m == nil || len(list) > 0 && !more(m) {
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
	list := r.due(func(m *moment) bool { return !m.snap.Time.After(at) }, batchMost)
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

// Frame is the screen of that size at the moment that was asked for last, as text without
// colours. It must not be called while the replay is shown.
func (r *Replay) Frame(ctx context.Context, w, h int) (string, error) {
	m := New(ctx, r, Options{Need: r.need, Label: "REPLAY", Replay: r, Interval: r.interval})
	m.w, m.h = w, h
	for {
		switch msg := r.wait(ctx).(type) {
		case feedEnded:
			return "", msg.err
		case *sceneArrived:
			m.play(msg)
			if msg.jump != nil {
				return strings.Join(m.draw().lines(), "\n") + "\n", nil
			}
		}
	}
}
