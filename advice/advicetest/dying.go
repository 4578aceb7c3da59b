package advicetest

import (
	"math"
	"math/rand/v2"
)

// dyingScenes are runs that end out of memory.
var dyingScenes = map[string]func(r *rand.Rand) *Scene{
	"leak": func(r *rand.Rand) *Scene {
		s := NewScene("leak", r)
		base := s.Total * uniform(r, 0.3, 0.7)
		start := uniform(r, 60, 120) + s.Seconds*uniform(r, 0, 0.3)
		lasts := max(420, (s.Seconds-start)*uniform(r, 0.5, 0.9))
		s.Seconds = start + lasts*1.3
		rate := (s.Total - base) / lasts
		every := 0.0
		if r.IntN(2) == 0 {
			every = lasts / uniform(r, 8, 60)
		}
		tooth, seed := 0.0, r.Uint64()
		if r.IntN(3) == 0 {
			tooth = uniform(r, 0, 0.05) * s.Total
		}
		job := training(r, base)
		s.add(func(t float64) float64 {
			grown := max(0, t-start)
			if every > 0 {
				grown = math.Floor(grown/every) * every
			}
			return job(t) + grown*rate + tooth*noise(seed, int64(t*2))
		})
		s.After = start
		return s
	},
	"leak under spikes": func(r *rand.Rand) *Scene {
		s := NewScene("leak under spikes", r)
		s.Seconds = max(s.Seconds, 3600)
		base, height := s.Total*uniform(r, 0.2, 0.4), s.Total*uniform(r, 0.1, 0.3)
		period := uniform(r, 120, s.Seconds/10)
		rate := (s.Total - base - height) / s.Seconds * 1.3
		job := training(r, base)
		s.add(spikes(func(t float64) float64 { return job(t) + rate*t }, 300, period, period*uniform(r, 0.05, 0.3),
			func(int64) float64 { return height }))
		return s
	},
	"neighbour between spikes": func(r *rand.Rand) *Scene {
		s := NewScene("neighbour between spikes", r)
		s.Seconds = max(s.Seconds, 3600)
		base, height := s.Total*uniform(r, 0.2, 0.5), s.Total*uniform(r, 0.15, 0.4)
		period := uniform(r, 180, s.Seconds/6)
		width := period * uniform(r, 0.02, 0.3)
		s.add(spikes(training(r, base), 300, period, width, func(int64) float64 { return height }))
		free := s.Total - s.reserved - base
		take := uniform(r, free-height+0.03*s.Total, free-0.02*s.Total)
		j := s.add(training(r, take))
		k := float64(2 + r.IntN(3))
		j.Start, j.user = 300+k*period+width+uniform(r, 0.05, 0.3)*(period-width), "bob"
		s.After = j.Start
		s.Possible = period-width-(j.Start-300-k*period-width) > 150
		return s
	},
	"growing spikes": func(r *rand.Rand) *Scene {
		s := NewScene("growing spikes", r)
		s.Seconds = max(s.Seconds, 3600)
		base := s.Total * uniform(r, 0.2, 0.5)
		period := uniform(r, 60, s.Seconds/14)
		n := uniform(r, 7, 12)
		first := (s.Total - base) * uniform(r, 0.4, 0.7)
		per := (s.Total - base - first) / n
		s.add(spikes(training(r, base), 300, period, period*uniform(r, 0.05, 0.3), func(k int64) float64 { return first + per*float64(k) }))
		return s
	},
	"fragmentation": func(r *rand.Rand) *Scene {
		s := NewScene("fragmentation", r)
		s.Seconds = max(s.Seconds, 1800)
		base := s.Total * uniform(r, 0.4, 0.7)
		seed := r.Uint64()
		n := uniform(r, 20, 120)
		every := s.Seconds * 0.8 / n
		bend := uniform(r, 0.6, 1)
		job := training(r, base)
		s.add(func(t float64) float64 {
			v := 0.0
			k := max(0, t-120) / every
			grown := math.Pow(k/n, bend) * (s.Total - base)
			v = job(t) + math.Floor(grown/(0.004*s.Total)*(1+0.05*noise(seed, int64(k))))*0.004*s.Total
			return v
		})
		return s
	},
	"host leak": func(r *rand.Rand) *Scene {
		s := NewScene("host leak", r)
		s.Seconds = max(s.Seconds, 1200)
		s.add(training(r, s.Total*0.5))
		size := logUniform(r, 32768, 524288)
		base, seed := uniform(r, 0.2, 0.5), r.Uint64()
		rate := (1 - base) / s.Seconds * 1.3
		s.Host = func(t float64) (float64, float64) {
			return size * (1 - base - rate*t - 0.01*noise(seed, int64(t))), size
		}
		return s
	},
	"neighbour leaks": func(r *rand.Rand) *Scene {
		s := NewScene("neighbour leaks", r)
		s.Seconds = max(s.Seconds, 2400)
		base := s.Total * uniform(r, 0.2, 0.5)
		s.add(training(r, base))
		job := training(r, s.Total*uniform(r, 0.15, 0.3))
		lasts := s.Seconds * uniform(r, 0.4, 0.7)
		rate := (s.Total - base) * 0.85 / lasts
		j := s.add(func(t float64) float64 { return job(t) + rate*max(0, t-120) })
		j.Start, j.user = s.Seconds*uniform(r, 0.05, 0.2), "bob"
		s.After = j.Start + 120
		return s
	},
	"rank 0 leaks": func(r *rand.Rand) *Scene {
		s := NewScene("rank 0 leaks", r)
		s.Seconds = max(s.Seconds, 2400)
		base := s.Total * uniform(r, 0.3, 0.6)
		lasts := s.Seconds * uniform(r, 0.5, 0.8)
		for g := range 4 {
			job := training(r, base)
			s.add(func(t float64) float64 {
				if g == 0 {
					return job(t) + (s.Total-base)/lasts*max(0, t-150)
				}
				return job(t)
			}).GPU = g
		}
		s.After = 150
		return s
	},
	"cache flushes": func(r *rand.Rand) *Scene { // creeps to the limit, holds there with flushes, then dies
		s := NewScene("cache flushes", r)
		s.Seconds, s.Step = max(s.Seconds, 2400), 1
		base := s.Total * uniform(r, 0.6, 0.85)
		full := (s.Total - s.reserved) * uniform(r, 0.985, 0.997)
		reach := s.Seconds * uniform(r, 0.2, 0.5)
		n := uniform(r, 4, 20)
		end := s.Seconds * uniform(r, 0.7, 0.9)
		every := (end - reach) / n
		dip := s.Total * uniform(r, 0.03, 0.2)
		job := training(r, base)
		s.add(func(t float64) float64 {
			switch {
			case t < reach:
				return job(t) + (full-base)*math.Pow(t/reach, 0.3)*min(1, t/200)
			case t > end:
				return s.Total * 1.01
			}
			_, part := math.Modf((t - reach) / every)
			if part < min(0.3, 4/every) && t-reach > every {
				return full - dip
			}
			return full
		})
		s.After = 200
		return s
	},
}
