package report

import (
	"math"

	"nvpeak/sampler"
)

// processFold is one process on one GPU.
type processFold struct {
	Process
	mean  average
	bins  *bins
	value float64
	seen  float64
	left  bool // its end is among the exits
}

func newProcessFold(c *gpuFold, pid int, now float64) *processFold {
	q := &processFold{bins: newBins(512), value: math.NaN()}
	q.GPU, q.Label, q.PID, q.First, q.gpuKey = c.gpu.Index, c.gpu.Label(), pid, now, c.key
	return q
}

// ended says whether it was gone before the recording was over, or is listed a last time with how it ended.
func (q *processFold) ended(c *gpuFold) bool {
	return c != nil && q.seen < c.listed || q.Requests != nil && q.Requests.ExitStatus.Known()
}

// fold takes the process of one snapshot.
func (q *processFold) fold(l *timeline, p *sampler.Process) {
	now := l.clock.Now
	if p.Requests != nil {
		q.Requests = p.Requests
	}
	q.Start, q.User, q.Name, q.Command, q.Type = p.StartTime, p.User, p.Name, p.Command, p.Type
	if dt := now - q.seen; !math.IsNaN(q.value) && dt > 0 && dt <= l.hold() {
		q.mean.add(q.value, dt)
	}
	q.Last, q.seen = now, now
	q.value = math.NaN()
	if m, ok := sampler.Plausible(p.Memory); ok {
		q.value = float64(m)
		q.bins.add(now, q.value, q.value)
		q.AtExit = sampler.Some(m)
		if q.Peak == nil || m > q.Peak.Bytes {
			q.Peak = &Peak{sampler.Peak{Bytes: m, Time: l.at, Source: sampler.PeakSampled}, now}
		}
	}
	// A recorded peak is better where it comes from the driver, the allocator or the calls, of
	// which alone one of some milliseconds has its own, or lies between two readings of the process list of this recording.
	if k := p.Peak; k != nil && k.Bytes > peakBytes(q.Peak) && k.Bytes < sampler.MaxPlausible && (k.Source != sampler.PeakSampled || !k.Time.Before(l.start)) {
		q.Peak = &Peak{*k, max(0, l.seconds(k.Time))}
	}
}
