package advicetest

import (
	"math"
	"math/rand/v2"
)

// healthyScenes are runs that nobody should be alarmed about.
var healthyScenes = map[string]func(r *rand.Rand) *Scene{
	"ok training": func(r *rand.Rand) *Scene {
		s := NewScene("ok training", r)
		s.add(training(r, s.Total*uniform(r, 0.3, 0.97)))
		return s
	},
	"ok prealloc": func(r *rand.Rand) *Scene {
		s := NewScene("ok prealloc", r)
		level, load, seed := s.Total*uniform(r, 0.74, 0.97), uniform(r, 1, 120), r.Uint64()
		jitter := uniform(r, 0, 0.002) * s.Total
		s.add(func(t float64) float64 { return level*min(1, 0.02+t/load) + jitter*noise(seed, int64(t)) })
		return s
	},
	"ok saw-tooth": func(r *rand.Rand) *Scene {
		s := NewScene("ok saw-tooth", r)
		low := s.Total * uniform(r, 0.1, 0.6)
		top := low + (s.Total*0.97-low)*uniform(r, 0.05, 1)
		period := logUniform(r, 0.7, 1800)
		ramp := r.IntN(2) == 0
		s.add(func(t float64) float64 {
			_, part := math.Modf(t / period)
			if ramp {
				return low + (top-low)*part
			}
			return low + (top-low)*(0.5+0.5*math.Sin(2*math.Pi*part))
		})
		return s
	},
	"ok variable batches": func(r *rand.Rand) *Scene {
		s := NewScene("ok variable batches", r)
		base, seed, sigma := s.Total*uniform(r, 0.1, 0.4), r.Uint64(), uniform(r, 0.1, 0.5)
		per := logUniform(r, 0.2, 3)
		room := s.Total*uniform(r, 0.5, 0.96) - base
		size := func(k int64) float64 { // at most room, log-normal below
			u := noise(seed, k) + noise(seed, k+1e6) + noise(seed, k+2e6) - 1.5
			return min(1, 0.45*math.Exp(sigma*2*u)) * room
		}
		if r.IntN(2) == 0 { // a cache keeps the largest
			top, done := 0.0, int64(-1)
			s.add(func(t float64) float64 {
				for k := done + 1; k <= int64(t/per); k++ {
					top, done = max(top, size(k)), k
				}
				return base + top
			})
			s.Windows = false
			return s
		}
		s.add(func(t float64) float64 { return base + size(int64(t/per)) })
		return s
	},
	"ok spikes": func(r *rand.Rand) *Scene {
		s := NewScene("ok spikes", r)
		base := s.Total * uniform(r, 0.15, 0.7)
		height := (s.Total*0.965 - base) * uniform(r, 0.2, 1)
		period := logUniform(r, 20, 1800)
		seed := r.Uint64()
		s.add(spikes(training(r, base), uniform(r, 200, 400), period, period*uniform(r, 0.02, 0.4),
			func(k int64) float64 { return height * (1 - 0.02*noise(seed, k)) }))
		return s
	},
	"ok neighbours": func(r *rand.Rand) *Scene {
		s := NewScene("ok neighbours", r)
		base := s.Total * uniform(r, 0.15, 0.4)
		s.add(training(r, base))
		at := 0.0
		for range 2 + r.IntN(5) {
			at += uniform(r, 60, s.Seconds/3)
			j := s.add(training(r, s.Total*uniform(r, 0.1, 0.5)))
			j.Start, j.End, j.user = at, at+uniform(r, 100, s.Seconds/4), "bob"
			at = j.End
		}
		return s
	},
	"ok spikes and neighbours": func(r *rand.Rand) *Scene {
		s := NewScene("ok spikes and neighbours", r)
		base := s.Total * uniform(r, 0.15, 0.4)
		height := s.Total * uniform(r, 0.1, 0.3)
		period := logUniform(r, 60, 900)
		s.add(spikes(training(r, base), uniform(r, 200, 400), period, period*uniform(r, 0.02, 0.4), func(int64) float64 { return height }))
		j := s.add(training(r, (s.Total*0.97-base-height)*uniform(r, 0.3, 0.97)))
		j.Start, j.user = uniform(r, 100, s.Seconds), "bob"
		return s
	},
	"ok sweep": func(r *rand.Rand) *Scene {
		s := NewScene("ok sweep", r)
		at := 0.0
		for at < s.Seconds {
			j := s.add(training(r, s.Total*uniform(r, 0.2, 0.95)))
			j.Start, j.End = at, at+logUniform(r, 30, 1200)
			at = j.End + uniform(r, 1, 60)
		}
		return s
	},
	"ok staged warm-up": func(r *rand.Rand) *Scene {
		s := NewScene("ok staged warm-up", r)
		type stage struct{ at, ramp, level float64 }
		var list []stage
		at, level := 0.0, s.Total*0.02
		for range 2 + r.IntN(4) {
			level += (s.Total*0.96 - level) * uniform(r, 0.2, 0.7)
			list = append(list, stage{at, logUniform(r, 1, 90), level})
			at += logUniform(r, 20, 600)
		}
		s.add(func(t float64) float64 {
			v := 500.0
			for _, st := range list {
				if t >= st.at {
					v += (st.level - v) * min(1, (t-st.at)/st.ramp)
				}
			}
			return v
		})
		return s
	},
	"ok saturating": func(r *rand.Rand) *Scene {
		s := NewScene("ok saturating", r)
		base := s.Total * uniform(r, 0.1, 0.5)
		top, tau := s.Total*uniform(r, 0.6, 0.95), logUniform(r, 30, 1200)
		s.add(func(t float64) float64 { return base + (top-base)*(1-math.Exp(-t/tau)) })
		return s
	},
	"ok ranks": func(r *rand.Rand) *Scene {
		s := NewScene("ok ranks", r)
		level := s.Total * uniform(r, 0.3, 0.9)
		for g := range 4 {
			extra := 0.0
			if g == 0 {
				extra = uniform(r, 0, 0.05) * s.Total
			}
			s.add(training(r, level+extra)).GPU = g
		}
		return s
	},
	"ok host": func(r *rand.Rand) *Scene {
		s := NewScene("ok host", r)
		s.add(training(r, s.Total*0.5))
		size := logUniform(r, 32768, 1048576)
		base, top, tau, seed := uniform(r, 0.1, 0.3), uniform(r, 0.4, 0.92), logUniform(r, 30, 1200), r.Uint64()
		s.Host = func(t float64) (float64, float64) {
			return size * (1 - base - (top-base)*(1-math.Exp(-t/tau)) - 0.01*noise(seed, int64(t))), size
		}
		return s
	},
	"ok validation kept in a cache": func(r *rand.Rand) *Scene {
		s := NewScene("ok validation kept in a cache", r)
		base := s.Total * uniform(r, 0.15, 0.6)
		height := (s.Total*0.965 - base) * uniform(r, 0.2, 1)
		period, seed := logUniform(r, 60, 1800), r.Uint64()
		job := spikes(training(r, base), uniform(r, 200, 400), period, period*0.2, func(k int64) float64 { return height * (1 - 0.1*noise(seed, k)) })
		top, done := 0.0, -1.0
		s.Windows = false
		s.add(func(t float64) float64 {
			for done < t {
				done++
				top = max(top, job(done))
			}
			return top
		})
		return s
	},
	"ok notebook": func(r *rand.Rand) *Scene {
		s := NewScene("ok notebook", r)
		seed, every := r.Uint64(), logUniform(r, 60, 1200)
		most := s.Total * uniform(r, 0.5, 0.97)
		s.add(func(t float64) float64 { // cells run now and then; the cache keeps the largest until the kernel restarts
			top := 500.0
			for k := int64(0); k <= int64(t/every); k++ {
				if noise(seed, k+5000) > 0.9 {
					top = 500
				}
				if noise(seed, k+9000) > 0.5 {
					top = max(top, most*noise(seed, k))
				}
			}
			return top
		})
		return s
	},
	"ok epochs": func(r *rand.Rand) *Scene { // memory climbs through an epoch and is given back at its end
		s := NewScene("ok epochs", r)
		base, top := s.Total*uniform(r, 0.2, 0.5), s.Total*uniform(r, 0.55, 0.8)
		period := uniform(r, 120, 480)
		job := training(r, base)
		s.add(func(t float64) float64 {
			_, part := math.Modf(t / period)
			return max(job(t), base) + (top-base)*part
		})
		return s
	},
	"ok ranks with spikes": func(r *rand.Rand) *Scene {
		s := NewScene("ok ranks with spikes", r)
		base := s.Total * uniform(r, 0.2, 0.6)
		height := (s.Total*0.96 - base) * uniform(r, 0.2, 0.95)
		period := logUniform(r, 60, 1200)
		for g := range 3 {
			job := training(r, base)
			if g == 0 {
				job = spikes(job, 300, period, period*0.1, func(int64) float64 { return height })
			}
			s.add(job).GPU = g
		}
		return s
	},
	"ok two trainings": func(r *rand.Rand) *Scene {
		s := NewScene("ok two trainings", r)
		for range 2 {
			base, height := s.Total*uniform(r, 0.1, 0.3), s.Total*uniform(r, 0.05, 0.17)
			period := logUniform(r, 60, 900)
			j := s.add(spikes(training(r, base), uniform(r, 200, 400), period, period*uniform(r, 0.02, 0.4), func(int64) float64 { return height }))
			j.Start = uniform(r, 0, 300)
		}
		return s
	},
}
