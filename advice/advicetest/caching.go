package advicetest

import (
	"math"
	"math/rand/v2"
)

// cachingScenes are what a caching allocator makes of its jobs: memory that falls below
// the level of training when the cache is emptied, leaks that climb by whole segments,
// flushes that last milliseconds, holes that cannot be given back.
var cachingScenes = map[string]func(r *rand.Rand) *Scene{
	"staircase": func(r *rand.Rand) *Scene {
		s := NewScene("staircase", r)
		s.Seconds = max(s.Seconds, 1800)
		base := s.Total * uniform(r, 0.4, 0.7)
		n := uniform(r, 5, 25)
		every, size := s.Seconds*0.8/n, (s.Total-base)/n
		job := training(r, base)
		s.add(func(t float64) float64 { return job(t) + size*math.Floor(max(0, t-200)/every) })
		s.After = 200 + 2*every
		return s
	},
	"schedule": func(r *rand.Rand) *Scene { // larger inputs at each stage
		s := NewScene("schedule", r)
		s.Seconds = max(s.Seconds, 2400)
		base := s.Total * uniform(r, 0.3, 0.5)
		n := math.Floor(uniform(r, 4, 8))
		every, size := s.Seconds*0.8/n, (s.Total-base)/(n-uniform(r, 0.1, 0.9))
		job := training(r, base)
		s.add(func(t float64) float64 { return job(t) + size*math.Floor(max(0, t-100)/every) })
		s.After = 100 + 3*every
		return s
	},
	"flushed in milliseconds": func(r *rand.Rand) *Scene { // each large batch just fits, but for the last
		s := flushing(r, "flushed in milliseconds")
		base, top := s.Total*uniform(r, 0.3, 0.8), (s.Total-s.reserved)*uniform(r, 0.955, 0.995)
		every, n := uniform(r, 150, 600), math.Floor(uniform(r, 2, 6))
		job := training(r, base)
		s.add(func(t float64) float64 {
			k := math.Floor(t / every)
			switch into := t - k*every; {
			case k < 1:
				return job(t)
			case k > n:
				return s.Total * 1.01
			case into < 0.1: // the retry comes as soon as the cache is given back
				return base * 0.6
			default:
				return top
			}
		})
		s.Seconds, s.After = (n+2)*every, every
		return s
	},
	"holes": func(r *rand.Rand) *Scene { // a flush brings next to nothing
		s := flushing(r, "holes")
		top := (s.Total - s.reserved) * uniform(r, 0.985, 0.998)
		every, n, part := uniform(r, 150, 500), math.Floor(uniform(r, 2, 5)), s.Total*uniform(r, 0.012, 0.02)
		job := training(r, s.Total*0.6)
		s.add(func(t float64) float64 {
			k := math.Floor(t / every)
			switch into := t - k*every; {
			case k < 1:
				return job(t)
			case k > n:
				return s.Total * 1.01
			case into < every/2:
				return top - part
			default:
				return top
			}
		})
		s.Seconds, s.After = (n+2)*every, every*2
		return s
	},
	"one validation": func(r *rand.Rand) *Scene { // a copy of the best weights is kept afterwards
		s := NewScene("one validation", r)
		base, width := s.Total*uniform(r, 0.3, 0.6), uniform(r, 8, 30)
		first, period := uniform(r, 350, 500), uniform(r, 250, 900)
		height := (s.Total - s.reserved - base) * uniform(r, 0.7, 0.95)
		kept := (s.Total-s.reserved-base-height)*1.2 + 0.01*s.Total
		job := spikes(training(r, base), first, period, width, func(int64) float64 { return height })
		s.Step = min(s.Step, 2)
		s.add(func(t float64) float64 {
			if t > first+width+60 {
				return job(t) + kept
			}
			return job(t)
		})
		s.Seconds, s.After = first+3*period, first+width+60
		return s
	},
	"ok dips": func(r *rand.Rand) *Scene { // the cache is emptied after each validation and fills again
		s := NewScene("ok dips", r)
		base := s.Total * uniform(r, 0.3, 0.7)
		height := (s.Total*0.965 - base) * uniform(r, 0.3, 1)
		period, dip := logUniform(r, 60, 900), uniform(r, 1, 4)
		width := period * uniform(r, 0.02, 0.2)
		job := spikes(training(r, base), 300, period, width, func(int64) float64 { return height })
		s.add(func(t float64) float64 {
			if k := math.Mod(t-300, period); t > 300 && k >= width && k < width+dip {
				return 600
			}
			return job(t)
		})
		return s
	},
	"ok empties its cache": func(r *rand.Rand) *Scene {
		s := flushing(r, "ok empties its cache")
		low, top, every, seed := s.Total*uniform(r, 0.1, 0.5), s.Total*0.95, uniform(r, 4, 12), r.Uint64()
		s.add(func(t float64) float64 {
			k := math.Floor(t / every)
			if t-k*every < 0.4 {
				return low
			}
			return low + (top-low)*math.Sqrt(noise(seed, int64(k)))
		})
		return s
	},
	"ok gives back by option": func(r *rand.Rand) *Scene {
		s := flushing(r, "ok gives back by option")
		low, top, every := s.Total*uniform(r, 0.5, 0.9), s.Total*uniform(r, 0.955, 0.97), uniform(r, 30, 300)
		j := s.add(func(t float64) float64 {
			if math.Mod(t, every) < 0.4 {
				return low
			}
			return top
		})
		j.env = map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.8"}
		return s
	},
	"ok schedule": func(r *rand.Rand) *Scene { // ends well below the limit
		s := NewScene("ok schedule", r)
		base, n := s.Total*uniform(r, 0.2, 0.4), 3+r.IntN(2)
		size := (s.Total*uniform(r, 0.5, 0.75) - base) / float64(n)
		every := s.Seconds / float64(n+2)
		job := training(r, base)
		s.add(func(t float64) float64 { return job(t) + size*min(float64(n), math.Floor(t/every)) })
		return s
	},
}

// flushing is a scene whose falls are seen.
func flushing(r *rand.Rand, class string) *Scene {
	s := NewScene(class, r)
	s.Step, s.Windows, s.flushes, s.Hidden = 1, true, true, false
	s.Seconds = min(s.Seconds, 3600)
	return s
}
