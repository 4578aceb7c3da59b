package sampler

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// A screen that waits for the next snapshot shows a spike up to a second after it happened,
// and one of 50 ms when it is long over. So between two snapshots there may be early pictures:
// the last snapshot with the peaks of those GPUs whose memory has risen since, and of their
// processes. What is in use stays as it was: a spike that is drawn and taken back would cost
// a slow line twice. No window ends with a picture, and only who asks for them gets them: not
// a recording, not stream, not the advice.
const (
	earlyEvery  = 100 * time.Millisecond // at most that often
	earlyList   = 30 * time.Millisecond  // how long one waits for the process list that its peak asked for
	earlyShare  = 100                    // a rise of one part in so many of the memory can be seen in a bar
	earlyMemory = 10                     // windows after which a height that did not come again is news again
)

// height judges whether the memory of a GPU has risen so far that it is worth an early
// picture. What moves up and down within the heights of late is not.
type height struct {
	most Bytes // of late
	old  int   // windows since that was reached
	step Bytes // how much more is worth it; 0: there is no window before
	news bool  // it has, and was not shown yet
}

// begin begins a window after one with that most.
func (h *height) begin(most Bytes, total Opt[Bytes]) {
	step := total.Or(0) / earlyShare
	if h.old++; most+step >= h.most || h.old > earlyMemory {
		h.most, h.old = most, 0
	}
	h.step, h.news = step, false
}

// see takes a reading and says whether it is news.
func (h *height) see(used Bytes) bool {
	if h.news || h.step == 0 || used <= h.most+h.step {
		return false
	}
	h.news = true
	return true
}

// shown notes that the memory was shown.
func (h *height) shown(most Bytes) { *h = height{most: most, step: h.step} }

// above is more than which is news.
func (h *height) above() uint64 {
	if h.news || h.step == 0 {
		return math.MaxUint64
	}
	return uint64(h.most + h.step)
}

// risen asks for an early picture.
func (c *collector) risen() {
	select {
	case c.peaked <- struct{}{}:
	default:
	}
}

// wantPeaks turns early pictures on.
func (c *collector) wantPeaks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early = true
}

// listing says whether a process list is on its way that belongs to an early picture.
func (c *collector) listing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.gpus, func(d *device) bool { return d.height.news && d.asked })
}

// picture is the early picture of now; nil: there is no news.
func (c *collector) picture() *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.lost != nil {
		return nil
	}
	s, renewed := *c.last, false
	s.GPUs = slices.Clone(s.GPUs)
	for i, d := range c.gpus {
		if !d.height.news {
			continue
		}
		d.height.shown(d.win.Max)
		c.rearm(d)
		if g := &s.GPUs[i]; g.Memory.Used.Known() {
			d.renew(g, c.marks)
			renewed = true
		}
	}
	if !renewed {
		return nil
	}
	return &s
}

// renew gives a GPU of a snapshot the peaks of now.
func (d *device) renew(g *GPU, marks *Watermarks) {
	key, win := g.Key(), d.win
	marks.window(key, &d.mem, &win)
	m := *marks.mark(key)
	g.Memory.Window, g.Memory.Peak, g.Memory.PeakPID, g.Memory.WorstFree = &win, &m.peak, m.pid, m.worstFree
	g.Processes = slices.Clone(g.Processes)
	for i := range g.Processes {
		if m := marks.procs[g.Processes[i].Key(key)]; m != nil {
			peak := m.peak
			g.Processes[i].Peak = &peak
		}
	}
}

// rearm tells the sweep in progress above what it must return at once, by the driver's figure.
func (c *collector) rearm(d *device) {
	if d.news == nil || !c.early {
		return
	}
	above := d.height.above()
	if above < math.MaxUint64 {
		above += uint64(d.counted)
	}
	atomic.StoreUint64(d.news, above)
}

// NextOrPeak is Next, but also returns when the memory of a GPU has reached a new height,
// with an early picture of that; nil: there is none. It is newer than the snapshots.
func (l *Loop) NextOrPeak(ctx context.Context) (snaps []*Snapshot, early *Snapshot, err error) {
	l.c.wantPeaks()
	return l.queue.nextOrPeak(ctx)
}

// between waits until the next snapshot is due, and makes early pictures meanwhile. It also
// returns when the snapshot is due at another time.
func (l *Loop) between(ctx context.Context, next <-chan time.Time) error {
	early := time.NewTimer(time.Hour)
	defer early.Stop()
	var since time.Time // the news that wait
	for {
		select {
		case <-next:
			l.publish()
			return nil
		case <-l.c.peaked:
			now := time.Now()
			if since.IsZero() {
				since = now
			}
			wait := earlyEvery - now.Sub(l.shown)
			if l.c.listing() {
				wait = max(wait, earlyList-now.Sub(since))
			}
			early.Reset(wait)
		case <-early.C:
			since = time.Time{}
			if s := l.c.picture(); s != nil {
				l.shown = time.Now()
				l.queue.putEarly(s)
			}
		case <-l.intervalChanged:
			return nil
		case err := <-l.trips:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
