package advicetest

import (
	"math"
	"math/rand/v2"
)

func uniform(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// logUniform is for times and sizes of which one does not know the order of magnitude.
func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, r.Float64())
}

// noise is the same number for the same moment: jobs are functions of time.
func noise(seed uint64, k int64) float64 {
	x := seed*0x9e3779b97f4a7c15 + uint64(k)*0xbf58476d1ce4e5b9
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// training is a job that loads, warms up in steps that get rarer, and stays.
func training(r *rand.Rand, level float64) func(float64) float64 {
	load, warm := uniform(r, 3, 60), logUniform(r, 5, 300)
	context := uniform(r, 400, 900)
	share := uniform(r, 0.3, 0.95) // of the level that loading brings
	seed := r.Uint64()
	wait := uniform(r, 0, 40)
	return func(t float64) float64 {
		if t < wait {
			return context
		}
		t -= wait
		if t < load {
			return context + (level*share-context)*t/load
		}
		// Steps at doubling times, each smaller.
		left := level * (1 - share)
		done := 0.0
		at := load + warm*0.1
		for k := int64(0); at <= t && k < 12; k++ {
			part := (1 - done) * (0.3 + 0.4*noise(seed, k))
			done += part
			at += warm * 0.2 * math.Pow(1.6, float64(k)) * (0.5 + noise(seed, k+100))
		}
		return level*share + left*done
	}
}

// spikes adds spikes of a height to a job, from its first validation on.
func spikes(base func(float64) float64, first, period, width float64, height func(k int64) float64) func(float64) float64 {
	return func(t float64) float64 {
		v := base(t)
		if t < first {
			return v
		}
		k := int64((t - first) / period)
		into := t - first - float64(k)*period
		if into < width {
			rise := min(1, into/min(3, width/2)+0.2)
			return v + height(k)*rise
		}
		return v
	}
}

// NewScene is a scene of a class on a GPU and with a step of chance, without jobs.
func NewScene(class string, r *rand.Rand) *Scene {
	totals := []float64{8192, 16384, 24115, 48640, 81920}
	s := &Scene{Class: class, r: r, Total: totals[r.IntN(len(totals))], Seconds: logUniform(r, 600, 6*3600),
		Step: []float64{0.5, 1, 1, 1, 2, 5}[r.IntN(6)], Hidden: r.IntN(3) == 0, Windows: r.IntN(2) == 0, Possible: true}
	if r.IntN(2) == 0 {
		s.reserved = s.Total * 0.007
	}
	return s
}

func (s *Scene) add(want func(float64) float64) *Job {
	j := &Job{PID: 4000 + len(s.Jobs), End: math.Inf(1), command: "python train.py", user: "ann", Want: want}
	s.Jobs = append(s.Jobs, j)
	return j
}
