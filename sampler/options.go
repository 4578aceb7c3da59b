package sampler

import "time"

// Options of a Loop. Zero values mean the defaults.
type Options struct {
	Interval     time.Duration // between snapshots: 1 s; at least 100 ms
	PeakInterval time.Duration // between readings of the memory: 20 ms; 1 ms to 10 s
	Host         Host
	Clock        Clock
	Asking       Asking        // who sees what processes ask the driver for; nil: nobody
	Inside       Inside        // who hears from the allocators inside processes; nil: nobody
	Settle       time.Duration // if set, the first snapshot comes that late and has all figures, for who takes only one
	Whole        time.Duration // if set, the first snapshot waits, at most so long, for the memory and the processes of every GPU
	Select       []string      // GPUs to watch: index, UUID or PCI bus id; empty: all
	Missing      func(error)   // if set, is told of each selector that fits no GPU, which then does not count; nil: Connect fails

	// Readings, if set, gets each reading of the memory that differs from the one before: the
	// place of the GPU in the snapshots, the time and the used memory. The memory poller
	// calls it: it must not wait for anything.
	Readings func(dev int, at time.Time, used Bytes)
}

const minInterval = 100 * time.Millisecond

// defaults fills in what is not set.
func (o Options) defaults() Options {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.PeakInterval == 0 {
		o.PeakInterval = 20 * time.Millisecond
	}
	if o.Clock == nil {
		o.Clock = NewSteady()
	}
	return o
}
