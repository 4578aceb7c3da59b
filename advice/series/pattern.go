package series

import "math"

// Pattern is what the spikes of a series have in common.
type Pattern struct {
	Count           int     // spikes of the largest kind
	Seen            int     // spikes of any kind, ever
	Last            float64 // start of the newest
	Period          float64 // seconds, median; 0: not known
	Regular         bool    // the intervals agree, as far as one can tell
	Low, High       float64 // MiB that the last three gave back
	Mean, Deviation float64 // of all that are kept; deviation also of their tops, if that is less
	Width           float64 // seconds, median
	Free            float64 // MiB settled free when the newest began; NaN: unknown
	Trend           float64 // MiB by which each is larger than the one before, if steadily so
}

const (
	// SpikesNeeded make a pattern.
	SpikesNeeded = 2
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

// Pattern of the spikes that may come again; ok is false when there are none.
func (s *Series) Pattern(now float64) (p Pattern, ok bool) {
	n := min(s.Count, MaxSpikes)
	if n == 0 {
		return p, false
	}
	most := 0.0
	for i := range n {
		most = max(most, s.back(i).Height())
	}
	var heights, tops, starts, widths [MaxSpikes]float64
	for i := range n {
		if sp := s.back(i); sp.Height() >= alike*most {
			if p.Count == 0 {
				p.Last, p.Free = sp.Start, sp.free
			}
			heights[p.Count], tops[p.Count], starts[p.Count], widths[p.Count] = sp.Height(), sp.Peak, sp.Start, sp.Width()
			p.Count++
		}
	}
	p.heights(heights[:p.Count])
	p.Deviation = min(p.Deviation, scatter(tops[:p.Count]))
	p.Seen = s.Count
	p.intervals(starts[:p.Count])
	p.Width = Median(widths[:p.Count])
	stale := float64(staleSingle)
	if p.Period > 0 {
		stale = staleSpikes * p.Period
	}
	return p, now-p.Last <= stale && p.Last >= s.gap
}

// heights of the spikes, the newest first.
func (p *Pattern) heights(h []float64) {
	p.Low, p.High = math.Inf(1), 0
	for _, v := range h[:min(3, len(h))] {
		p.Low, p.High = min(p.Low, v), max(p.High, v)
	}
	p.Mean, p.Deviation = spread(h)
	if len(h) < 4 {
		return
	}
	least, n := math.Inf(1), min(len(h), 6)-1
	for i := range n {
		least = min(least, h[i]-h[i+1])
	}
	if mean := (h[0] - h[n]) / float64(n); least >= evenSteps*mean && mean > 0 {
		p.Trend = mean
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
	middle := Median(v)
	for i := range v {
		v[i] = math.Abs(v[i] - middle)
	}
	return 1.4826 * Median(v)
}

// intervals between the starts of the spikes, the newest first.
func (p *Pattern) intervals(starts []float64) {
	if len(starts) < 2 {
		return
	}
	var steps [MaxSpikes]float64
	n := len(starts) - 1
	least, most := math.Inf(1), 0.0
	for i := range n {
		steps[i] = starts[i] - starts[i+1]
		least, most = min(least, steps[i]), max(most, steps[i])
	}
	p.Period = Median(steps[:n])
	p.Regular = n < 2 || most <= intervalSpread*least
}

// Due is when the next spike is expected, in seconds from now; it may be overdue (< 0).
func (p Pattern) Due(now float64) float64 { return p.Last + p.Period - now }
