package watch

import (
	"slices"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// WaitOptions say what to wait for.
type WaitOptions struct {
	Need sampler.Bytes
	GPUs int           // how many GPUs must have it free; less than 1 counts as 1
	Hold time.Duration // for how long without a break
}

// Waiter folds snapshots until enough GPUs have had the need free for long enough.
type Waiter struct {
	options WaitOptions
	clock   series.Clock
	gpus    []waiting
}

// waiting is one GPU that is being waited for.
type waiting struct {
	key   sampler.GPUKey
	fit   Fit
	since float64 // when it began to fit, on the clock; meaningless while it does not
	fits  bool
	seen  float64
}

// Waited is how far one GPU is.
type Waited struct {
	Fit
	Free bool          // it has the need free now
	For  time.Duration // for how long without a break
}

// NewWaiter begins to wait with the first snapshot that is added.
func NewWaiter(o WaitOptions) *Waiter {
	o.GPUs = max(1, o.GPUs)
	return &Waiter{options: o}
}

// Add takes one snapshot. done: enough GPUs qualify; they come by index, chosen by the
// most free memory.
func (w *Waiter) Add(s sampler.Snapshot) (ready []Fit, done bool) {
	gap := w.clock.Next(s.Time)
	now := w.clock.Now
	for _, g := range s.Assignable() {
		if e := w.entry(g.Key()); e != nil {
			e.add(Fits(*g, w.options.Need), now, gap)
		}
	}
	for i := range w.gpus {
		if w.gpus[i].seen != now {
			w.gpus[i].fits = false // not listed: not free
		}
	}
	return w.ready()
}

func (w *Waiter) entry(k sampler.GPUKey) *waiting {
	for i := range w.gpus {
		if w.gpus[i].key == k {
			return &w.gpus[i]
		}
	}
	if len(w.gpus) >= MaxGPUs {
		return nil
	}
	w.gpus = append(w.gpus, waiting{key: k})
	return &w.gpus[len(w.gpus)-1]
}

// add notes whether the GPU has the need free; a gap breaks what was held.
func (e *waiting) add(f Fit, now float64, gap bool) {
	fits, known := f.Fits()
	if !e.fits || gap {
		e.since = now
	}
	e.fit, e.fits, e.seen = f, fits && known, now
}

func (w *Waiter) ready() (ready []Fit, done bool) {
	for _, g := range w.gpus {
		if g.fits && w.clock.Now-g.since >= w.options.Hold.Seconds() {
			ready = append(ready, g.fit)
		}
	}
	slices.SortStableFunc(ready, mostFree)
	ready = chosen(ready, w.options.GPUs)
	return ready, ready != nil
}

// Status is how far each GPU is, for a progress line, in the order they were listed.
func (w *Waiter) Status() []Waited {
	list := make([]Waited, len(w.gpus))
	for i, g := range w.gpus {
		list[i] = Waited{Fit: g.fit, Free: g.fits}
		if g.fits {
			list[i].For = time.Duration((w.clock.Now - g.since) * float64(time.Second))
		}
	}
	return list
}
