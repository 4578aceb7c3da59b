package series

import (
	"math"
)

// Trend is steady growth of a series.
type Trend struct {
	Since, Until float64 // seconds
	From, To     float64 // MiB
	Slope        float64 // MiB/s, Theil-Sen over all buckets
	Early, Late  float64 // MiB/s of the two halves
	points       int
	Peaks        bool // of the sequence of maxima; else of the level beneath them
}

const (
	// A trend needs a dozen buckets and more than three minutes: a climb of seconds is
	// recorded, not forecast, and a start-up can have several stages.
	trendPoints  = 12
	trendSeconds = 200
	// A climb may be a slow load from disk or network, or the first ramp of a slow saw-tooth,
	// and needs eight minutes, unless the holder stood still for a minute after its first
	// plateau, or has computed for as long; a quarter of an hour when it has become three times as large and does not compute.
	loadingSeconds = 480
	stoodSeconds   = 60
	// Who stood still for five minutes, and five times as long as it climbs now, does
	// something new: two thirds of a minute of it are enough.
	stoodLong     = 300
	stoodTimes    = 5
	climbSeconds  = 40
	manifold      = 3.0
	manifoldAfter = 900
	// Each quarter of the time must bring two fifths of its fair share and no more than
	// twice that share: one step, however large, is not growth.
	quarterLeast, quarterMost = 0.4, 2.0
	// Both halves must agree: a rate that has doubled is a new phase, one that has
	// fallen below a third is the end of a warm-up.
	fasterMost, slowerMost = 1.7, 0.35
	// The growth must be new: that much of it above everything seen before. A saw-tooth
	// rises too, but not above its last tooth.
	newShare = 0.7
	// So much of a climb after a fall is new: it began below what had been held before, as after a cache was emptied.
	newAfterFall = 0.3
	// A cache that fills up again after that does it in minutes, and ever slower; what goes on for a quarter of an hour at one rate does not.
	refillSeconds = 900
	refillEven    = 0.1
	// atLimit, of the GPU: with more in use an allocator gives back what it can before a request fails.
	atLimit = 0.95
	// No single step brings more than a third of the growth: a program that takes more
	// now and then, as a notebook does, has few steps and uneven ones.
	leapMost = 0.34
	// The median slope and the mean of both halves are within that factor.
	slopesAgree = 1.4
	// Half of the points are within a quarter of the growth from the line.
	residualShare = 0.25
	// A trend is at least 128 MiB and half a percent of the GPU.
	trendLeast = 128
	trendLevel = 0.005
)

// growthAt judges the series at one scale; ok is false when there is no steady growth of
// at least that much.
func (s *Series) growthAt(scale int, peaks bool, least float64) (tr Trend, ok bool) {
	r := &s.lows
	if peaks {
		r = &s.highs
	}
	return s.growthFrom(r, scale, s.oldest(scale), least, newShare)
}

// climb judges what the series does since it held less than half, however briefly, as a program does that empties its cache and begins
// something else.
func (s *Series) climb(least float64) (tr Trend, ok bool) {
	if s.fallenAt <= s.born {
		return tr, false
	}
	return s.growthFrom(&s.lows, 0, max(s.oldest(0), int64(s.fallenAt/BucketSeconds)+1), least, newAfterFall)
}

// refill judges what a series does since it came to the limit and its allocator gave back what it could: what had been held before that
// is then no more than the limit, and says nothing of how far it will come.
func (s *Series) refill(scale int, least float64) (tr Trend, ok bool) {
	if s.flushedAt <= s.born || s.fallenAt == s.flushedAt {
		return tr, false
	}
	width := float64(int64(BucketSeconds) << scale)
	tr, ok = s.growthFrom(&s.lows, scale, max(s.oldest(scale), int64(s.flushedAt/width)+1), least, math.Inf(-1))
	return tr, ok && tr.Until-tr.Since >= refillSeconds && math.Abs(tr.Early-tr.Late) <= refillEven*tr.Slope
}

// growthFrom judges the buckets from one on; so much of the growth must be above all before.
func (s *Series) growthFrom(r *rings, scale int, from int64, least, share float64) (tr Trend, ok bool) {
	head := r.heads[scale]
	if head == NoBucket {
		return tr, false
	}
	if quick := r.at(scale, head) - s.firstOf(r, scale, from); !(quick >= least) {
		return tr, false
	}
	var p points
	s.window(r, scale, from, &p)
	if p.n < trendPoints {
		return tr, false
	}
	tr = Trend{Since: p.t[0], Until: p.t[p.n-1], From: p.v[0], To: p.v[p.n-1], points: p.n, Peaks: r == &s.highs}
	if !s.longEnough(tr) {
		return tr, false
	}
	if !p.steady(&tr) {
		return tr, false
	}
	if s.returned(&tr) {
		return tr, false
	}
	before := s.ceiling(r, scale, p.first)
	return tr, tr.To-max(before, tr.From) >= share*(tr.To-tr.From)
}

// returned says whether the holder has given back what a trend is said to have risen by.
func (s *Series) returned(tr *Trend) bool { return s.gaveBack(tr.Since, tr.Slope, tr.To-tr.From) }

// GaveBack says the same of steps.
func (s *Series) GaveBack(f Flight) bool {
	return s.gaveBack(f.Since, f.Size/f.Interval, math.Inf(1))
}

// gaveBack says whether the holder once held less than a rise at that slope since a time, of no more than most, had brought by then.
func (s *Series) gaveBack(since, slope, most float64) bool {
	return s.fallenAt > since && s.fallen < min(most, slope*(s.fallenAt-since))
}

// Fall takes the least that a holder had since the sample before, however briefly: only what is kept through that has grown.
func (s *Series) Fall(t, low float64) {
	if low < s.Value/2 {
		s.fallen, s.fallenAt = low, t
	}
}

// FellSince says whether the holder has given back more than half of what it had since a time, however briefly.
func (s *Series) FellSince(t float64) bool { return s.fallenAt > max(s.born, t) }

// steady says whether the points rise steadily, and completes the trend.
func (p *points) steady(tr *Trend) bool {
	q, ok := p.quarters(*tr)
	if !ok {
		return false
	}
	last, middle := q[3], q[1]
	tr.Early, tr.Late = (middle.v-tr.From)/(middle.t-tr.Since), (last.v-middle.v)/(last.t-middle.t)
	if tr.Late > fasterMost*tr.Early || tr.Late < slowerMost*tr.Early || p.leap() > leapMost*(last.v-tr.From) {
		return false
	}
	tr.To = last.v
	tr.Slope = p.theilSen()
	return p.straight(*tr)
}

// longEnough holds back what may still be loading.
func (s *Series) longEnough(tr Trend) bool {
	rate := (tr.To - tr.From) / (tr.Until - tr.Since)
	stood := tr.Since - float64(s.plateau)*BucketSeconds - max(0, tr.From-s.Base)/rate
	need := float64(loadingSeconds)
	switch {
	case tr.To > manifold*max(tr.From, s.Base) && !s.Working:
		need = manifoldAfter
	case s.plateau >= 0 && stood >= max(stoodLong, stoodTimes*(tr.Until-tr.Since)):
		need = climbSeconds
	case s.plateau >= 0 && (s.Working || stood >= stoodSeconds):
		need = trendSeconds
	}
	if tr.Peaks { // rarer and less sure than the level beneath them
		need *= 2
	}
	return tr.Until-tr.Since >= need
}

// points are the buckets of one window.
type points struct {
	t, v  [ringBuckets]float64
	n     int
	first int64 // number of the first bucket
}

// oldest is the first bucket of a scale that counts: after the start-up of the holder.
func (s *Series) oldest(scale int) int64 {
	if s.plateau < 0 {
		return int64(math.Ceil(s.born/BucketSeconds)) >> scale
	}
	size := int64(1) << scale
	return (s.plateau + size - 1) >> scale
}

// firstOf is the value of the oldest bucket of a window that begins with one, NaN for none.
func (s *Series) firstOf(r *rings, scale int, from int64) float64 {
	head := r.heads[scale]
	for j := max(head-ringBuckets+1, from); j < head; j++ {
		if v := r.at(scale, j); !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// window collects the closed buckets of a scale into p, from one on.
func (s *Series) window(r *rings, scale int, from int64, p *points) {
	width := float64(int64(BucketSeconds) << scale)
	head := r.heads[scale]
	for j := max(head-ringBuckets+1, from); j <= head; j++ {
		v := r.at(scale, j)
		if math.IsNaN(v) {
			continue
		}
		if p.n == 0 {
			p.first = j
		}
		p.t[p.n], p.v[p.n] = (float64(j)+0.5)*width, v
		p.n++
	}
}

// leap is the largest rise from one point to the next, above all before.
func (p *points) leap() float64 {
	most, top := 0.0, p.v[0]
	for _, v := range p.v[1:p.n] {
		most, top = max(most, v-top), max(top, v)
	}
	return most
}

// quarter is the end of a quarter of a window: its last time, and the most up to then.
type quarter struct{ t, v float64 }

// quarters are the four quarters of the time; ok when each brought its share.
func (p *points) quarters(tr Trend) (q [4]quarter, ok bool) {
	span := tr.Until - tr.Since
	for i := range q {
		q[i].v = math.Inf(-1)
	}
	for i := range p.n {
		k := min(3, int(4*(p.t[i]-tr.Since)/span))
		q[k] = quarter{p.t[i], max(q[k].v, p.v[i])}
	}
	rise := q[3].v - tr.From
	last := quarter{tr.Since, tr.From}
	for _, end := range q {
		fair := rise * (end.t - last.t) / span
		if got := end.v - last.v; !(got >= quarterLeast*fair && got <= quarterMost*fair) || fair <= 0 {
			return q, false
		}
		last = end
	}
	return q, true
}

// ceiling is the most that was seen before a window.
func (s *Series) ceiling(r *rings, scale int, first int64) float64 {
	most := math.Inf(-1)
	for c := scale; c < ringScales; c++ {
		end := first >> (c - scale) // buckets below lie before the window
		for j := max(r.heads[c]-ringBuckets+1, s.oldest(c)); j < end; j++ {
			most = larger(most, r.at(c, j))
		}
	}
	return most
}

func (p *points) theilSen() float64 {
	var room [ringBuckets * (ringBuckets - 1) / 2]float64
	return TheilSen(p.t[:p.n], p.v[:p.n], room[:0])
}

// TheilSen is the median of the slopes between all pairs of points, 0 for fewer than two;
// x rises. The slopes are appended to room[:0], which may be nil.
func TheilSen(x, y, room []float64) float64 {
	slopes := room[:0]
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	return Median(slopes)
}

// straight says whether the points lie along the line and both halves agree with it.
func (p *points) straight(tr Trend) bool {
	if !(tr.Slope > 0) {
		return false
	}
	mean := (tr.Early + tr.Late) / 2
	if tr.Slope < mean/slopesAgree || tr.Slope > mean*slopesAgree {
		return false
	}
	var rest [ringBuckets]float64
	for i := range p.n {
		rest[i] = p.v[i] - tr.Slope*p.t[i]
	}
	middle := Median(rest[:p.n])
	for i := range p.n {
		rest[i] = math.Abs(p.v[i] - tr.Slope*p.t[i] - middle)
	}
	return Median(rest[:p.n]) <= residualShare*(tr.To-tr.From)
}

// decay is how much slower the second half of a trend was: 1 for a steady one.
func (tr Trend) decay() float64 { return tr.Late / tr.Early }

// Reaches says whether the growth will take that much more, going on as it decays:
// what is yet to come of a decaying growth is a geometric series.
func (tr Trend) Reaches(room float64) bool {
	room *= reachMargin
	rho := tr.decay()
	if rho >= 1 {
		return true
	}
	half := (tr.Until - tr.Since) / 2
	return room <= tr.Late*half*rho/(1-rho)
}

// ETA is how long the growth takes for that much more: the likely value and a range,
// in seconds. The range spans both halves and the whole.
func (tr Trend) ETA(room float64) (low, likely, high float64) {
	fast := max(tr.Early, tr.Late, tr.Slope)
	slow := min(tr.Early, tr.Late, tr.Slope)
	likely = room / tr.Slope
	if rho := tr.decay(); rho < 0.8 || rho > 1.25 {
		likely = room / tr.Late
	}
	low, high = room/fast, room/slow
	const spread = 0.1 // no forecast is better than that
	return min(low, likely*(1-spread)), likely, max(high, likely*(1+spread))
}
