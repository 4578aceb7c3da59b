package series

import (
	"math"
	"slices"
)

// Pattern is what the spikes of a series have in common.
type Pattern struct {
	Count           int     // spikes of the largest kind
	Seen            int     // spikes of any kind, ever
	Last            float64 // start of the newest
	began           float64 // start of one that is not over
	Period          float64 // seconds, median; 0: not known
	Regular         bool    // the intervals agree, as far as one can tell
	Low, High       float64 // MiB that the last three gave back
	Newest          float64 // MiB, the top of the newest
	Top, Most       float64 // MiB, the least and the largest top of the last three
	Mean, Deviation float64 // of the tops of all that are kept
	Limit           bool    // several ended where the highest did, so that it is the most they need and no chance
	Level           float64 // MiB, the most of the minute before the newest, or its least afterwards; NaN: unknown
	Even            bool    // all began at about the same level
	Alike           bool    // they did not, and ended at about the same, as ramps of a saw-tooth do wherever one begins to look
	Width           float64 // seconds, median
	Free            float64 // MiB settled free when the newest began; NaN: unknown
	Rise            float64 // MiB by which each top is above the one before, if steadily so
	Before          float64 // the same of those before the newest, which is above them by more than that
	Equal           bool    // those rises are equal
	Record          float64 // MiB by which the newest top is above all before; 0 for the first
	Left            float64 // MiB that the newest left free
	Sinks           float64 // MiB by which each left less than the one before, if steadily so: others grow, too
}

const (
	// SpikesNeeded make a pattern.
	SpikesNeeded = 2
	// alike: spikes of at least that share of the largest kept are of one kind.
	alike = 0.6
	// Intervals agree when the longest is at most three times the shortest.
	intervalSpread = 3.0
	// evenShare, of the GPU: levels are about the same.
	evenShare = 0.02
	// Spikes grow when three, or four of more, stand above one another by 0.2 % of the GPU
	// at least, and no step is less than a fifth of another, or three fifths where there are
	// only two: what levels off ends. Older ones are not higher than the first of these by more
	// than a step: random ones are in order once in 24, but seldom at the end of their range.
	riseShare = 0.002
	evenSteps = 0.2
	evenFew   = 0.6
	// tiedShare, of the GPU: tops that near to each other are the same. Of five to ten that chance makes the two highest are so near in 5 to 15 of 100
	// cases, where they deviate by 2 to 5 % of the GPU (40,000 draws of a normal distribution each).
	tiedShare = 0.002
	// alikeTops are within that share of how far apart the levels are from which they came.
	alikeTops = 0.25
	// equalSteps come from something that is made once more each time.
	equalSteps = 0.85
	// spikeShare of the time at most is a spike; what lasts longer is a phase.
	spikeShare = 0.6
	// staleSpikes: after that many periods without a spike the pattern has ended.
	staleSpikes = 2.5
	// staleSingle is the same for a single spike: an hour.
	staleSingle = 3600
)

// Pattern of the spikes that may come again; ok is false when there are none.
func (s *Series) Pattern(now, limit float64) (p Pattern, ok bool) {
	n := min(s.Count, MaxSpikes)
	if n == 0 {
		return p, false
	}
	most := 0.0
	for i := range n {
		most = max(most, s.back(i).Height())
	}
	var heights, tops, starts, widths, full [MaxSpikes]float64
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i := range n {
		if sp := s.back(i); sp.Height() >= alike*most {
			if p.Count == 0 {
				p.Last, p.Free, p.Level = sp.Start, sp.free, max(sp.level, sp.after)
			}
			heights[p.Count], tops[p.Count], starts[p.Count], widths[p.Count] = sp.Height(), sp.Peak, sp.Start, sp.Width()
			full[p.Count] = sp.Peak - sp.base - sp.free
			lowest, highest = min(lowest, sp.level), max(highest, sp.level)
			p.Count++
		}
	}
	p.Low, p.High = extremes(heights[:min(3, p.Count)])
	if p.Sinks, _ = climbing(full[:p.Count], limit); p.Sinks > 0 {
		p.Left = -full[0]
	}
	p.tops(tops[:p.Count], limit)
	p.Seen = s.Count
	p.Even = highest-lowest <= limit*evenShare
	least, top := extremes(tops[:p.Count])
	p.Alike = !p.Even && top-least <= alikeTops*(highest-lowest)
	p.intervals(starts[:p.Count])
	p.Width = Median(widths[:p.Count])
	for _, e := range s.edges[:s.open] {
		if e.start > p.Last+p.Period/2 && (e.peak-e.base >= alike*most || e.peak >= p.Top) { // a small rise is not yet the next
			p.began = e.start
		}
	}
	stale := float64(staleSingle)
	if p.Period > 0 {
		stale = staleSpikes * p.Period
	}
	return p, now-p.Last <= stale && p.Last >= s.gap
}

func extremes(v []float64) (low, high float64) {
	low = math.Inf(1)
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	return low, high
}

// RiseOfTwo is by how much the top after next will be above the newest: rises that have become less go on to.
func (p *Pattern) RiseOfTwo() float64 {
	if p.Shrinks() {
		return p.Rise * (1 + p.Rise/p.Record)
	}
	return 2 * p.Rise
}

// clearlyLess: more than tops that are equal differ by chance.
const clearlyLess = 0.9

// Shrinks says whether each top is clearly less above the one before than that was, so that they may end below any limit.
func (p *Pattern) Shrinks() bool { return p.Record > 0 && p.Rise < clearlyLess*p.Record }

// tops of the spikes, the newest first. Heights are no measure: what a spike stands on is
// another level each time, for a cache may just have been emptied. Where it ends is what
// must fit.
func (p *Pattern) tops(top []float64, limit float64) {
	p.Newest = top[0]
	p.Top, p.Most = extremes(top[:min(3, len(top))])
	p.Mean, p.Deviation = spread(top)
	if len(top) > 1 {
		p.Record = max(0, top[0]-slices.Max(top[1:]))
	}
	p.Rise, p.Equal = climbing(top, limit)
	if before, _ := climbing(top[1:], limit); p.Rise == 0 && p.Record > before {
		p.Before = before
	}
	p.Limit = tied(top, limit)
	p.Deviation = min(p.Deviation, scatter(top))
}

// tied says whether the highest was reached more than once.
func tied(top []float64, limit float64) bool {
	highest, times := slices.Max(top), 0
	for _, t := range top {
		if highest-t <= limit*tiedShare {
			times++
		}
	}
	return times > 1
}

// climbing is by how much each value, the newest first, is above the one before, if steadily so; equal says
// whether the steps are.
func climbing(top []float64, limit float64) (rise float64, equal bool) {
	if len(top) < 3 {
		return 0, false
	}
	least, most, n := math.Inf(1), 0.0, min(len(top), 4)-1
	for i := range n {
		least, most = min(least, top[i]-top[i+1]), max(most, top[i]-top[i+1])
	}
	even := evenSteps
	if n < 3 {
		even = evenFew
	}
	older := math.Inf(-1)
	for _, t := range top[n+1:] {
		older = max(older, t)
	}
	if !(least >= limit*riseShare && least >= even*most && older <= top[n]+most) {
		return 0, false
	}
	rise = (top[0] - top[n]) / float64(n)
	if last := top[0] - top[1]; last < top[1]-top[2] { // they get smaller
		rise = min(rise, last*last/(top[1]-top[2]))
	}
	return rise, least >= equalSteps*most
}

// spread is the mean and the standard deviation; v must not be empty.
func spread(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		off := x - mean
		deviation += off * off
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

// Brief says whether these are spikes and not phases of a program.
func (p Pattern) Brief() bool { return p.Width <= spikeShare*p.Period }

// Phase says whether the only spike is none, but a phase of a holder that took memory then: long beside what was before
// it. A cache that has grown for minutes and is given back once looks like that.
func (p Pattern) Phase(rose float64) bool { return p.Count == 1 && p.Width > spikeShare*(p.Last-rose) }

// Due is when the next spike is expected, in seconds from now; it may be overdue (< 0).
func (p Pattern) Due(now float64) float64 { return max(p.Last, p.began) + p.Period - now }

// Begun is for how long the next spike has been under way, where it is.
func (p Pattern) Begun(now float64) (seconds float64, ok bool) { return now - p.began, p.began > 0 }

// Outgrown is how far an open excursion has come above the tops of the spikes before it, and above all that was ever held, for a spike is judged by
// where it ends; 0 when there is none, and when it may be the new level.
func (s *Series) Outgrown(t float64, p Pattern) float64 {
	if s.open == 0 {
		return 0
	}
	e := s.edges[s.open-1]
	if t-e.start > max(baselineSeconds, baselineWidths*s.widest()) || p.Width > spikeShare*max(p.Period, e.start-p.Last) {
		return 0
	}
	return max(0, min(e.peak-p.Most-max(0, e.base-p.Level), e.peak-s.Records.Before(e.start)))
}
