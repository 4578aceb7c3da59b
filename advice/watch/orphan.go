package watch

import (
	"math"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// orphan is memory that stayed when the process that held it had ended.
type orphan struct {
	pid   int
	name  string
	bytes float64 // MiB the process held
	rest  float64 // MiB nobody accounted for before
	since float64
	open  bool
}

const (
	// More than 1 GiB and 5 % of the card held by somebody else is the first thing to look
	// at after a failure, so that much is worth a word before one.
	orphanLeast = 1024
	orphanShare = 0.05
)

// ended notes the end of a process. Its list entry went a moment ago, so the rest has
// already grown if it left memory behind; what was there before is in the rest's bucket.
func (o *orphan) ended(c *card, p *proc, now float64) {
	held := p.series.Value
	if held < max(orphanLeast, orphanShare*c.total) || p.series.Samples < series.MinSamples {
		return
	}
	if o.open && o.bytes >= held && c.left() > 0 {
		return
	}
	*o = orphan{pid: p.pid, name: p.process.Name, bytes: held, since: now, open: true,
		rest: c.rest.Before(p.seen)}
}

// left is how much of an ended process' memory is still in use, as far as one can tell.
func (c *card) left() float64 {
	o := &c.orphan
	if !o.open || math.IsNaN(o.rest) {
		return 0
	}
	if !c.gpu.Memory.Unattributed.Known() && !c.listed {
		return 0 // no process is listed at all: the list may just be unreadable
	}
	more := c.rest.Settled(math.Inf(1)) - o.rest
	if more < max(orphanLeast, orphanShare*c.total) {
		return 0
	}
	return min(more, o.bytes)
}

// nobody is the unattributed memory of the card, when it is known.
func (c *card) nobody() (float64, bool) {
	u, ok := c.gpu.PlausibleUnattributed()
	return series.MiB(u), ok
}

// own is the need of a card's holder, if it is known whose it is.
func own(n sampler.Opt[Need]) sampler.Opt[int] {
	if v, ok := n.Value(); ok {
		return v.PID
	}
	return sampler.Opt[int]{}
}
