package ui

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
)

// index is what is learnt of a recording by reading it once, in the background: the marks
// of the timeline, the figures of every second, and every few minutes the folds as they
// were then. A seek goes on from the last of these before its moment, so that alerts and
// peaks are those that the live monitor had, and know nothing of what came later.
type index struct {
	cancel context.CancelFunc
	done   chan struct{}
	sized  chan struct{} // closed when the end is known
	need   sampler.Opt[sampler.Bytes]

	mu      sync.Mutex
	archive *history.Archive
	points  []point
	start   time.Time
	upto    time.Time // read so far
	end     time.Time // of the recording; until it is known, upto
	ready   bool
	notes   []string
	marks   []mark
	peaks   map[sampler.ProcessKey]mark // highest of each process, and of each GPU as process 0
	sorted  []mark                      // both, by time; nil: to be made anew

	// Of the goroutine alone.
	alerts  map[string]bool
	running map[sampler.ProcessKey]bool
	pending []mark // failures, until the snapshot after them
	most    map[sampler.ProcessKey]sampler.Bytes
	spacing int
	since   int // snapshots since the last point
	counts  [len(markKinds)]int
}

// point is the folds after a snapshot.
type point struct {
	snap   *sampler.Snapshot
	alerts []sampler.Alert
	watch  *watch.Watch
	marks  *sampler.Watermarks
}

func (p *point) fold(m moment) {
	for _, e := range m.failures {
		p.watch.Event(*e.Failure, e.Time)
	}
	p.alerts = p.watch.Add(*m.snap)
	p.snap = m.snap
}

func (p *point) clone() point {
	return point{p.snap, p.alerts, p.watch.Clone(), p.marks.Clone()}
}

// time is where to read on from.
func (p *point) time(start time.Time) time.Time {
	if p.snap == nil {
		return start
	}
	return p.snap.Time
}

const (
	// pointEvery is the number of snapshots between two points: what a seek folds again
	// at most. 300 take 20 ms with 8 GPUs.
	pointEvery = 300
	// pointsMost bounds the memory of points: a day of seconds has 288. Beyond it every
	// second one is dropped.
	pointsMost = 600
	// pointWeight is the memory of one series of a Watch, and pointsRoom that of all.
	pointWeight = 5 << 10
	pointsRoom  = 64 << 20
	// marksMost bounds the marks of each kind.
	marksMost = 5000
	// smallPeak: a process that never held more is not worth a mark.
	smallPeak = sampler.GiB
)

func newIndex(ctx context.Context, open func() (Tape, error), need sampler.Opt[sampler.Bytes], start time.Time, interval time.Duration) *index {
	ctx, cancel := context.WithCancel(ctx)
	x := &index{cancel: cancel, done: make(chan struct{}), sized: make(chan struct{}), archive: history.NewArchive(interval), start: start, end: start,
		need:  need,
		peaks: map[sampler.ProcessKey]mark{}, alerts: map[string]bool{}, most: map[sampler.ProcessKey]sampler.Bytes{}, spacing: pointEvery}
	go func() {
		defer close(x.done)
		defer cancel()
		err := x.read(ctx, open, point{watch: watch.New(watch.Options{Need: need}), marks: sampler.NewWatermarks()})
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
func (x *index) read(ctx context.Context, open func() (Tape, error), now point) (err error) {
	defer sampler.Guard(func(e error) { err = e })
	x.findEnd(open)
	close(x.sized)
	t, err := open()
	if err != nil {
		return err
	}
	defer t.Close() //nolint:errcheck // only read
	var m moment
	batches, ended := entries(ctx, t)
	for batch := range batches {
		for _, e := range batch {
			if e.Failure != nil {
				m.failures = append(m.failures, e)
				x.pending = append(x.pending, mark{kind: markOOM, text: failureText(e.Failure)})
			}
			if e.Snapshot == nil {
				continue
			}
			m.snap = prepare(e.Snapshot, now.marks)
			now.fold(m)
			x.add(&now)
			m = moment{}
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
	batches, ended := make(chan []Entry, 4), make(chan error, 1)
	go func() {
		var err error
		defer close(batches)
		defer func() { ended <- err }()
		defer sampler.Guard(func(e error) { err = e })
		for err == nil {
			batch := make([]Entry, 0, 128)
			for len(batch) < cap(batch) && err == nil {
				var e Entry
				if e, err = t.Next(); err == nil {
					batch = append(batch, e)
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

// add notes what a snapshot brought.
func (x *index) add(now *point) {
	s := now.snap
	found := x.news(now)
	var kept *point
	if x.since++; x.since >= x.spacing {
		x.since = 0
		p := now.clone()
		kept = &p
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
	x.peaksOf(s)
	if kept != nil {
		x.keep(*kept)
	}
}

// keep adds a point. Points are in the order of time: while the clock of the recording is
// set back there are none.
func (x *index) keep(p point) {
	if n := len(x.points); n > 0 && !p.snap.Time.After(x.points[n-1].snap.Time) {
		return
	}
	x.points = append(x.points, p)
	series := 2
	for i := range p.snap.GPUs {
		series += 1 + len(p.snap.GPUs[i].Processes)
	}
	if len(x.points) > max(8, min(pointsMost, pointsRoom/(series*pointWeight))) {
		for i := range len(x.points) / 2 {
			x.points[i] = x.points[2*i+1]
		}
		clear(x.points[len(x.points)/2:])
		x.points = x.points[:len(x.points)/2]
		x.spacing *= 2
	}
}

// before is where to begin to fold for a moment, and the history until there. ok is
// false while the recording has not been read that far.
func (x *index) before(to time.Time) (p point, h *history.History, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ready && (x.upto.IsZero() || x.upto.Before(to)) {
		return point{}, nil, false
	}
	i, _ := slices.BinarySearchFunc(x.points, to, func(p point, to time.Time) int {
		if p.snap.Time.After(to) {
			return 1
		}
		return -1
	})
	if i == 0 {
		return point{watch: watch.New(watch.Options{Need: x.need}), marks: sampler.NewWatermarks()}, x.archive.At(time.Unix(0, 0)), true
	}
	p = x.points[i-1].clone()
	return p, x.archive.At(p.snap.Time), true
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
func (x *index) list() []mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sorted == nil {
		x.sorted = append(make([]mark, 0, len(x.marks)+len(x.peaks)), x.marks...)
		for _, p := range x.peaks {
			x.sorted = append(x.sorted, p)
		}
		slices.SortFunc(x.sorted, mark.compare)
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
