package report

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// bins keep the least and most of a figure over any time in fixed room: when they are
// full, neighbors are put together and each becomes twice as wide.
type bins struct {
	width     float64 // seconds
	limit     int
	low, high []float64 // NaN: nothing
}

// finestBin is as wide as a reading of the memory poller.
const finestBin = 0.02

func newBins(limit int) *bins { return &bins{width: finestBin, limit: limit} }

// add notes a value at t seconds; t must not be negative.
func (b *bins) add(t, low, high float64) {
	if t < 0 || math.IsNaN(t) || math.IsNaN(low) || math.IsNaN(high) {
		return
	}
	for int(t/b.width) >= b.limit {
		b.halve()
	}
	i := int(t / b.width)
	for len(b.low) <= i {
		b.low, b.high = append(b.low, math.NaN()), append(b.high, math.NaN())
	}
	b.low[i], b.high[i] = lower(b.low[i], low), upper(b.high[i], high)
}

func (b *bins) halve() {
	n := (len(b.low) + 1) / 2
	for i := range n {
		low, high := b.low[2*i], b.high[2*i]
		if 2*i+1 < len(b.low) {
			low, high = lower(low, b.low[2*i+1]), upper(high, b.high[2*i+1])
		}
		b.low[i], b.high[i] = low, high
	}
	b.low, b.high = b.low[:n], b.high[:n]
	b.width *= 2
}

// points are the bins that hold something, with the last one held for at most hold
// seconds: a longer silence leaves a gap, told by a point of NaN.
func (b *bins) points(hold float64) []Point {
	var list []Point
	last := math.NaN()
	for i, v := range b.low {
		if math.IsNaN(v) {
			continue
		}
		t := float64(i) * b.width
		if t-last > hold+b.width {
			list = append(list, Point{last + b.width, math.NaN(), math.NaN()})
		}
		list = append(list, Point{t, v, b.high[i]})
		last = t
	}
	return list
}

func lower(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	if math.IsNaN(b) {
		return a
	}
	return min(a, b)
}

func upper(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	if math.IsNaN(b) {
		return a
	}
	return max(a, b)
}

// shares is a histogram of memory over time, for a median in fixed room. Each bar keeps
// the mean of what fell into it, so a flat line has exactly its own median.
type shares struct {
	weight, sum []float64
	limit       float64
}

const shareBars = 512

// add counts a value for some seconds. It is one of 0..limit, as far as that is known: above the limit of the first, the
// bars become twice as wide.
func (h *shares) add(v, limit, seconds float64) {
	if limit <= 0 || seconds <= 0 || math.IsNaN(v) {
		return
	}
	if h.weight == nil {
		h.weight, h.sum, h.limit = make([]float64, shareBars), make([]float64, shareBars), limit
	}
	for v > h.limit && h.limit < float64(sampler.MaxPlausible) {
		for i := range shareBars / 2 {
			h.weight[i], h.sum[i] = h.weight[2*i]+h.weight[2*i+1], h.sum[2*i]+h.sum[2*i+1]
		}
		clear(h.weight[shareBars/2:])
		clear(h.sum[shareBars/2:])
		h.limit *= 2
	}
	i := max(0, min(shareBars-1, int(v/h.limit*shareBars)))
	h.weight[i] += seconds
	h.sum[i] += v * seconds
}

// median is what was used half of the time; NaN without any.
func (h *shares) median() float64 {
	all := 0.0
	for _, w := range h.weight {
		all += w
	}
	seen := 0.0
	for i, w := range h.weight {
		if seen += w; seen >= all/2 {
			return h.sum[i] / w
		}
	}
	return math.NaN()
}

// average is a mean over time.
type average struct{ sum, weight float64 }

func (a *average) add(v, seconds float64) { a.sum, a.weight = a.sum+v*seconds, a.weight+seconds }

// mean is NaN of nothing.
func (a *average) mean() float64 { return a.sum / a.weight }

// seconds is a time on the timeline as a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
