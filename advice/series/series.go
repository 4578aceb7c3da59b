package series

import "math"

// Series is the memory of one holder over time: a process on a GPU, a GPU's memory
// that no process accounts for, or the host. It has a fixed size and keeps
//
//   - the last 16 s of minima: the settled level, which spikes do not move,
//   - minima and maxima of 32 buckets at each of nine widths, 4 s to 17 min: trends
//     from two minutes to nine hours,
//   - open excursions above the settled level and the last 16 that came back: spikes.
//
// Values are MiB, times are seconds of the Watch's clock.
type Series struct {
	born, Last float64 // first and newest sample
	Value      float64 // newest
	top        float64 // most since the sample before
	Samples    int     // saturates at minSamples

	bucket         int64 // number of the open bucket: floor(time/bucketSeconds)
	low, high      float64
	recent         [recentBuckets]float64 // minima of the buckets before, NaN for none
	fallen         float64                // the last level that was less than half of the one before, however brief,
	fallenAt       float64                // and when
	flushedAt      float64                // when it last gave back much of what had come to the limit
	Floor          float64                // least of recent and low
	deep           float64                // least for as long as a spike is wide; NaN without spikes
	gap            float64                // end of the last gap: spikes before it tell nothing of the next
	Blind          float64                // until then the settled level may be that of a spike: a gap was before
	started        bool                   // it was running before watching began: no start-up to wait for
	closed         int                    // scales that have a new bucket since somebody looked
	lows, highs    rings
	plateau        int64   // first bucket after the first plateau; -1: none yet
	Base           float64 // level of the first plateau
	jitter         float64 // usual range within one bucket
	Peak, PeakTime float64
	Rose           float64 // when it first held more than a context; NaN: not yet
	Stairs         Stairs
	Records        Records
	Rises          Rises
	Pieces         Pieces
	// Working: its GPU has been busy for a minute or so. It computes, and loads no more.
	Working bool
	worked  int // buckets in a row before the first plateau

	excursions
}

const (
	// BucketSeconds is the width of the finest buckets. A saw-tooth of one training
	// step fits in; a trend needs dozens of them.
	BucketSeconds = 4
	// recentBuckets and the open one are the memory of the settled level: 16 to 20 s,
	// longer than one training step or data-loading hiccup.
	recentBuckets = 4
	ringBuckets   = 32
	ringScales    = 9 // 4 s to 1024 s
	// NoBucket is the number of no bucket at all.
	NoBucket = int64(math.MinInt64)
)

// rings hold 32 closed buckets at each of nine doubling widths; NaN is a gap.
type rings struct {
	heads  [ringScales]int64   // newest closed bucket
	parts  [ringScales]float64 // of the bucket being collected, NaN for nothing yet
	values [ringScales][ringBuckets]float32
}

func (r *rings) reset() {
	for i := range r.heads {
		r.heads[i] = NoBucket
		r.parts[i] = math.NaN()
	}
}

// put files the value of one finest bucket. next is the finest bucket that follows:
// coarser buckets close when it lies outside of them. It returns how many scales
// closed a bucket, at least one.
func (r *rings) put(bucket, next int64, v float64, merge func(a, b float64) float64) int {
	for s := range ringScales {
		v = merge(r.parts[s], v)
		if bucket>>s == next>>s {
			r.parts[s] = v
			return s
		}
		r.parts[s] = math.NaN()
		r.advance(s, bucket>>s)
		r.values[s][(bucket>>s)&(ringBuckets-1)] = float32(v)
	}
	return ringScales
}

// advance makes j the newest bucket of a scale; buckets skipped are gaps.
func (r *rings) advance(scale int, j int64) {
	for k := max(r.heads[scale], j-ringBuckets) + 1; k < j; k++ {
		r.values[scale][k&(ringBuckets-1)] = float32(math.NaN())
	}
	r.heads[scale] = j
}

// at returns a closed bucket of a scale, NaN when it is a gap or has left the ring.
func (r *rings) at(scale int, j int64) float64 {
	head := r.heads[scale]
	if head == NoBucket || j > head || j <= head-ringBuckets {
		return math.NaN()
	}
	return float64(r.values[scale][j&(ringBuckets-1)])
}

// Start makes s the empty series of a holder first seen at time t.
func (s *Series) Start(t float64, established bool) {
	*s = Series{excursions: excursions{Apart: s.Apart}, born: t, Last: t, bucket: NoBucket, plateau: -1, low: math.NaN(), high: math.NaN(), Floor: math.NaN(), deep: math.NaN()}
	s.lows.reset()
	s.highs.reset()
	s.ForgetRecent()
	s.Blind, s.gap = 0, 0
	s.started = established
	s.Rose = math.NaN()
	if established {
		s.Rose = math.Inf(-1)
	}
	s.Stairs = Stairs{level: math.NaN()}
}

// ForgetRecent drops what must not be carried over a gap: the settled level and open
// excursions. Trends live on; a gap in them stays a gap.
func (s *Series) ForgetRecent() {
	for i := range s.recent {
		s.recent[i] = math.NaN()
	}
	s.Floor, s.deep = math.NaN(), math.NaN()
	s.open = 0
	s.settling = -1
	s.Blind = math.Inf(1)
}

// MinSamples is how many samples make a series: fewer are an artifact.
const MinSamples = 3

// Add takes one sample: the value at time t and the least and most since the sample
// before. limit is the size of the GPU, to which the size of a step is compared.
func (s *Series) Add(t, value, low, high, limit float64) {
	if s.Samples < MinSamples {
		s.Samples++
	}
	if math.IsInf(s.Blind, 1) {
		s.gap = t
		s.Blind = t + max(BucketSeconds*recentBuckets, 1.5*s.widest())
	}
	b := int64(math.Floor(t / BucketSeconds))
	if b != s.bucket {
		if s.bucket != NoBucket {
			s.closeBucket(b, limit)
		}
		s.bucket, s.low, s.high = b, low, high
	} else {
		s.low, s.high = min(s.low, low), max(s.high, high)
	}
	s.Fall(t, low)
	if s.Value >= limit*atLimit && low < s.Value-limit*dipShare {
		s.flushedAt = t
	}
	s.excursion(t, value, high, limit)
	if s.plateau >= 0 {
		s.Pieces.add(value - s.Value)
	}
	s.Value, s.Last, s.top = value, t, high
	s.Floor = lesser(s.Floor, low)
	s.Records.add(t, high, limit, s.started)
	s.Rises.add(t, high, low, limit)
	if high > s.Peak {
		s.Peak, s.PeakTime = high, t
	}
	if math.IsNaN(s.Rose) && value >= max(limit*PlateauLevel, PlateauLeast) {
		s.Rose = t
	}
	if s.plateau >= 0 {
		s.Stairs.add(t, value, limit)
	}
}

// closeBucket files the open bucket; next is the number of the one that follows.
func (s *Series) closeBucket(next int64, limit float64) {
	s.lows.put(s.bucket, next, s.low, lesser)
	s.closed = s.highs.put(s.bucket, next, s.high, larger)
	copy(s.recent[:], s.recent[1:])
	s.recent[recentBuckets-1] = s.low
	s.Floor = math.NaN()
	for _, v := range s.recent {
		s.Floor = lesser(s.Floor, v)
	}
	s.deep = s.deepFloor()
	s.learnJitter(s.high-s.low, limit)
	if s.plateau < 0 {
		s.findPlateau(next, limit)
	}
}

// lesser of two values; NaN is none.
func lesser(a, b float64) float64 { return known(a, b, min(a, b)) }

// larger of two values; NaN is none.
func larger(a, b float64) float64 { return known(a, b, max(a, b)) }

func known(a, b, both float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return both
}

// learnJitter follows the median range of a bucket in small steps, so that a spike in
// one bucket of many does not count as usual.
func (s *Series) learnJitter(r, limit float64) {
	if s.plateau < 0 {
		return
	}
	step := max(s.jitter*0.1, limit*0.001)
	s.jitter = max(0, s.jitter+max(-step, min(step, r-s.jitter)))
}

const (
	// A first plateau is 20 s during which the peaks rise by no more than 1.5 % of the
	// GPU: loading a model is faster than that, a leak is slower.
	plateauBuckets = 5
	plateauRise    = 0.015
	// workedBuckets: who has computed for a minute has begun, though it has stood still at no time, as a fast leak never does. What goes up
	// and down is yet to find its level, see swings.
	workedBuckets = 15
	// PlateauLevel leaves out the wait between creating the CUDA context (0.3 to 1.8 GiB,
	// https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md)
	// and loading the model.
	PlateauLevel = 0.05
	// PlateauLeast is the same in MiB, for small GPUs.
	PlateauLeast = 1024
)

// findPlateau looks whether the start is over.
func (s *Series) findPlateau(next int64, limit float64) {
	if s.started {
		s.plateau, s.Base = s.bucket, s.low
		return
	}
	low, high, n := math.Inf(1), 0.0, 0
	for j := s.bucket; j > s.bucket-ringBuckets; j-- {
		v := s.highs.at(0, j)
		if math.IsNaN(v) {
			continue
		}
		low, high, n = min(low, v), max(high, v), n+1
		if n >= 3 && s.bucket-j+1 >= plateauBuckets {
			break
		}
	}
	if n < 3 || float64(s.bucket+1)*BucketSeconds-s.born < plateauBuckets*BucketSeconds {
		return
	}
	large := low >= max(limit*PlateauLevel, PlateauLeast)
	if s.worked++; !s.Working || !large || s.low < s.lows.at(0, s.bucket-1) {
		s.worked = 0
	}
	switch {
	case !large:
	case high-low <= limit*plateauRise:
		s.plateau, s.Base = next, s.Floor
		s.jitter = s.high - s.low
	case s.worked >= workedBuckets && s.low-s.lows.at(0, next-workedBuckets) > limit*plateauRise:
		s.plateau, s.Base = next-workedBuckets, s.lows.at(0, next-workedBuckets)
	case s.Working:
		if base, ok := s.swings(limit); ok {
			s.plateau, s.Base = next, base
			s.jitter = s.high - s.low
		}
	}
}

// swings says whether it has gone up and down for two minutes, and in the second one no higher than in the first: so does who empties its
// cache in each step. least is the least of both.
func (s *Series) swings(limit float64) (least float64, ok bool) {
	const half = ringBuckets / 2
	var high [2]float64
	least = math.Inf(1)
	for i := range 2 * half {
		j := s.bucket - int64(i)
		low := s.lows.at(0, j)
		if math.IsNaN(low) {
			return 0, false
		}
		least = min(least, low)
		high[i/half] = max(high[i/half], s.highs.at(0, j))
	}
	return least, high[0] <= high[1]+limit*plateauRise && least >= max(limit*PlateauLevel, PlateauLeast)
}

// Settled is the level the holder keeps: its floor, or, during an excursion that may
// still come back, the level from which that started.
func (s *Series) Settled(t float64) float64 {
	if s.plateau < 0 {
		return s.low // still starting: what it has taken it keeps, so far as one can tell
	}
	if e, yes := s.inExcursion(t); yes {
		return e.base
	}
	if math.IsNaN(s.Floor) {
		return s.Value
	}
	return lesser(s.deep, s.Floor)
}

// deepFloor is the least for a little longer than the known spikes are wide: below it
// lies what stays when a spike that never opened an excursion of its own is over.
func (s *Series) deepFloor() float64 {
	widest := s.widest()
	if widest == 0 {
		return math.NaN()
	}
	least := math.NaN()
	scale, back := 0, int64(widest*1.2/BucketSeconds)+recentBuckets
	for back >= ringBuckets && scale < ringScales-1 {
		scale, back = scale+1, back/2
	}
	head := s.lows.heads[scale]
	for j := head - back; j <= head; j++ {
		least = lesser(least, s.lows.at(scale, j))
	}
	return least
}

// High is the most between the newest two samples.
func (s *Series) High() float64 { return s.top }

// Born is when the holder was seen first, in seconds of the Watch's clock; long before that where it was there already.
func (s *Series) Born() float64 {
	if s.started {
		return math.Inf(-1)
	}
	return s.born
}
