package player

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
)

// index is what is learned of a recording by reading it once, in the background: the marks
// of the timeline, the figures of every second, and every few minutes the state. A seek goes
// on from the last state before its time, so that alerts and peaks are those that the live
// monitor had, and know nothing of what came later.
type index struct {
	options Options
	cancel  context.CancelFunc
	done    chan struct{}
	sized   chan struct{} // closed when the end is known
	finder  finder        // of the goroutine alone

	mu      sync.Mutex
	archive *history.Archive
	states  states
	start   time.Time
	upto    time.Time // read so far
	end     time.Time // of the recording; until it is known, upto
	ready   bool
	notes   []string
	marks   []Mark
	peaks   map[sampler.ProcessKey]Mark // highest of each process, and of each GPU as process 0
	sorted  []Mark                      // both, by time; nil: to be made anew
}

func newIndex(ctx context.Context, open func() (Tape, error), o Options, start time.Time, interval time.Duration) *index {
	ctx, cancel := context.WithCancel(ctx)
	x := &index{options: o, cancel: cancel, done: make(chan struct{}), sized: make(chan struct{}), archive: history.NewArchive(interval),
		start: start, end: start, peaks: map[sampler.ProcessKey]Mark{}, states: states{every: stateEvery},
		finder: finder{words: lang.For(o.Lang), most: map[sampler.ProcessKey]sampler.Bytes{}}}
	go func() {
		defer close(x.done)
		defer cancel()
		err := x.read(ctx, open, newState(o))
		x.mu.Lock()
		defer x.mu.Unlock()
		x.ready, x.end = true, x.upto
		if err != nil && ctx.Err() == nil {
			x.notes = append(x.notes, sampler.Clean(err.Error()))
		}
	}()
	return x
}

func (x *index) stop() { x.cancel() }

// atLeast tells the index where the recording ends as far as is known.
func (x *index) atLeast(end time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ready && end.After(x.end) {
		x.end = end
	}
}

// read goes through the recording.
func (x *index) read(ctx context.Context, open func() (Tape, error), now State) (err error) {
	defer sampler.Guard(func(e error) { err = e })
	x.findEnd(open)
	close(x.sized)
	t, err := open()
	if err != nil {
		return err
	}
	defer t.Close() //nolint:errcheck // only read
	var f Frame
	batches, ended := entries(ctx, t)
	for batch := range batches {
		for _, e := range batch {
			if f.add(e, x.options, now.marks) {
				now.fold(&f)
				x.add(&f, &now)
				f = Frame{}
			}
		}
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notes = t.Notes()
	return nil
}

// entries reads ahead on a goroutine of its own: reading and folding take as long as each
// other. After the last batch there is one error, io.EOF at the end.
func entries(ctx context.Context, t Tape) (<-chan []Entry, <-chan error) {
	batches, ended := make(chan []Entry, 2), make(chan error, 1)
	go func() {
		var err error
		defer close(batches)
		defer func() { ended <- err }()
		defer sampler.Guard(func(e error) { err = e })
		for err == nil {
			batch, heavy := make([]Entry, 0, 128), 0
			for len(batch) < cap(batch) && heavy < maxHeavy && err == nil {
				var e Entry
				if e, err = t.Next(); err == nil {
					batch, heavy = append(batch, e), heavy+e.weight()
				}
			}
			select {
			case batches <- batch:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
	}()
	return batches, ended
}

// findEnd looks at the last snapshot, so that the bar has its length at once.
func (x *index) findEnd(open func() (Tape, error)) {
	t, err := open()
	if err != nil {
		return
	}
	defer t.Close() //nolint:errcheck // only read
	if t.Seek(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)) != nil {
		return
	}
	for {
		e, err := t.Next()
		if err != nil {
			return
		}
		if e.Snapshot != nil {
			x.atLeast(e.Time)
		}
	}
}

// add notes what a frame brought.
func (x *index) add(f *Frame, now *State) {
	s := f.Snapshot
	found := x.finder.news(f, now.Alerts)
	var kept State
	due := x.states.due()
	if due {
		kept = now.clone()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.archive.Add(s)
	if s.Time.After(x.upto) {
		x.upto = s.Time
	}
	if x.upto.After(x.end) {
		x.end = x.upto
	}
	if len(found) > 0 {
		x.marks, x.sorted = append(x.marks, found...), nil
	}
	x.finder.peaks(s, func(key sampler.ProcessKey, m Mark) { x.peaks[key], x.sorted = m, nil })
	if due {
		x.states.keep(kept)
	}
}

// before is the state to begin to fold from for a time, and the history until there. ok is
// false while the recording has not been read that far.
func (x *index) before(to time.Time) (s State, h *history.History, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ready && (x.upto.IsZero() || x.upto.Before(to)) {
		return State{}, nil, false
	}
	if s, ok = x.states.before(to); !ok {
		return newState(x.options), x.archive.At(time.Unix(0, 0)), true
	}
	return s, x.archive.At(s.Snapshot.Time), true
}

func (x *index) complete() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ready
}

func (x *index) notesNow() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.notes
}

// list is all marks by time; it is not changed any more.
func (x *index) list() []Mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sorted == nil {
		x.sorted = append(make([]Mark, 0, len(x.marks)+len(x.peaks)), x.marks...)
		for _, p := range x.peaks {
			x.sorted = append(x.sorted, p)
		}
		slices.SortFunc(x.sorted, Mark.compare)
	}
	return x.sorted
}

// bounds are the start, the end and the part that is read, 0 to 1.
func (x *index) bounds() (start, end time.Time, read float64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	read = 1
	if all := x.end.Sub(x.start); !x.ready && all > 0 {
		read = max(0, min(float64(x.upto.Sub(x.start))/float64(all), 1))
	}
	return x.start, x.end, read
}
