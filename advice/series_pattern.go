package advice

import "math"

// pattern is what the spikes of a series have in common.
type pattern struct {
	n               int     // spikes of the largest kind
	seen            int     // spikes of any kind, ever
	last            float64 // start of the newest
	period          float64 // seconds, median; 0: not known
	regular         bool    // the intervals agree, as far as one can tell
	low, high       float64 // MiB that the last three gave back
	mean, deviation float64 // of all that are kept; deviation also of their tops, if that is less
	width           float64 // seconds, median
	free            float64 // MiB settled free when the newest began; NaN: unknown
	trend           float64 // MiB by which each is larger than the one before, if steadily so
}

const (
	// spikesNeeded make a pattern.
	spikesNeeded = 2
	// alike: spikes of at least that share of the largest kept are of one kind.
	alike = 0.6
	// Intervals agree when the longest is at most three times the shortest.
	intervalSpread = 3.0
	// Spikes grow when each is larger than the one before by two fifths of the mean step at
	// least: four random ones are in order once in 24, but seldom so evenly.
	evenSteps = 0.4
	// staleSpikes: after that many periods without a spike the pattern has ended.
	staleSpikes = 2.5
	// staleSingle is the same for a single spike: an hour.
	staleSingle = 3600
)

// pattern of the spikes that may come again; ok is false when there are none.
func (s *series) pattern(now float64) (p pattern, ok bool) {
	n := min(s.count, maxSpikes)
	if n == 0 {
		return p, false
	}
	most := 0.0
	for i := range n {
		most = max(most, s.back(i).height())
	}
	var heights, tops, starts, widths [maxSpikes]float64
	for i := range n {
		if sp := s.back(i); sp.height() >= alike*most {
			if p.n == 0 {
				p.last, p.free = sp.start, sp.free
			}
			heights[p.n], tops[p.n], starts[p.n], widths[p.n] = sp.height(), sp.peak, sp.start, sp.width()
			p.n++
		}
	}
	p.heights(heights[:p.n])
	p.deviation = min(p.deviation, scatter(tops[:p.n]))
	p.seen = s.count
	p.intervals(starts[:p.n])
	p.width = median(widths[:p.n])
	stale := float64(staleSingle)
	if p.period > 0 {
		stale = staleSpikes * p.period
	}
	return p, now-p.last <= stale && p.last >= s.gap
}

// heights of the spikes, the newest first.
func (p *pattern) heights(h []float64) {
	p.low, p.high = math.Inf(1), 0
	for _, v := range h[:min(3, len(h))] {
		p.low, p.high = min(p.low, v), max(p.high, v)
	}
	p.mean, p.deviation = spread(h)
	if len(h) < 4 {
		return
	}
	least, n := math.Inf(1), min(len(h), 6)-1
	for i := range n {
		least = min(least, h[i]-h[i+1])
	}
	if mean := (h[0] - h[n]) / float64(n); least >= evenSteps*mean && mean > 0 {
		p.trend = mean
	}
}

// spread is the mean and the standard deviation; v must not be empty.
func spread(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(1, len(v)-1)))
}

// scatter estimates the standard deviation from the median distance to the median, which
// one odd value does not move; v, which must not be empty, is sorted.
func scatter(v []float64) float64 {
	middle := median(v)
	for i := range v {
		v[i] = math.Abs(v[i] - middle)
	}
	return 1.4826 * median(v)
}

// intervals between the starts of the spikes, the newest first.
func (p *pattern) intervals(starts []float64) {
	if len(starts) < 2 {
		return
	}
	var steps [maxSpikes]float64
	n := len(starts) - 1
	least, most := math.Inf(1), 0.0
	for i := range n {
		steps[i] = starts[i] - starts[i+1]
		least, most = min(least, steps[i]), max(most, steps[i])
	}
	p.period = median(steps[:n])
	p.regular = n < 2 || most <= intervalSpread*least
}

// due is when the next spike is expected, in seconds from now; it may be overdue (< 0).
func (p pattern) due(now float64) float64 { return p.last + p.period - now }
