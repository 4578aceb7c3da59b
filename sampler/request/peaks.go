package request

import (
	"time"

	"nvpeak/sampler"
)

// based says whether what the driver's figure has besides what calls gave still is a part of what the process holds: where it has given back something of
// before since, as much as all of that may be gone. What becomes known only as it ends, or again after a refusal, must not look like a last grant.
func (p *process) based(y *tally, now time.Time) bool {
	switch {
	case y.exact.contexts.gone && !p.missed:
		return false
	case y.based:
		return true
	}
	return !p.gone && (p.lost.IsZero() || !y.waits(now))
}

// peakOf is the most that a process has held on the GPU of a tally, as its calls tell.
func (t *Tracker) peakOf(p *process, y *tally, now time.Time) (peak sampler.Peak, ok bool) {
	n, at, source := y.mostHeld()
	switch giving := y.exact.giving(now); {
	case source == sampler.PeakCalls && (p.strays(y) || max(y.above, giving) > y.peak || y.exact.exceeds(giving)),
		(source == sampler.PeakCalls || source == sampler.PeakAtLeast) && p.guesses(y): // what was on another GPU may be in it
		source = sampler.PeakOverlapping
	}
	missed := p.late && !t.older[p.pid]                         // first calls, and a list may be from amid them
	unheard := p.asking > 0 && y.exact.exceeds(y.live+p.asking) // it has ended with calls that were not answered
	if source == sampler.PeakCalls && (missed || unheard) {
		source = sampler.PeakAtLeast
	}
	return sampler.Peak{Bytes: n, Time: milli(at), Source: source}, n > 0 && n <= y.most()
}

// ofBoth is the peak of a process on a GPU with what it held there as another program. That may have been more than is known, and then so may this.
func (p *process) ofBoth(key sampler.GPUKey, now *sampler.Peak) *sampler.Peak {
	before, ok := p.before[key]
	switch {
	case ok && (now == nil || before.Bytes > now.Bytes):
		return &before
	case ok && now.Source == sampler.PeakCalls:
		now.Source = before.Source
	}
	return now
}

// tells notes the peak that the calls tell of a process on a GPU.
func (p *process) tells(row *sampler.Process, key sampler.GPUKey) {
	row.Peak = p.ofBoth(key, row.Peak)
	if row.Peak != nil && row.Peak.OfCalls() {
		p.peaks[key] = *row.Peak
	}
}
