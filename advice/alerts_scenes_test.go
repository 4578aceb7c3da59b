package advice

import (
	"math"
	"math/rand/v2"
)

func init() {
	for name, make := range moreScenes {
		scenes[name] = make
	}
}

// moreScenes are runs with a habit of their own.
var moreScenes = map[string]func(r *rand.Rand) *scene{
	"ok validation kept in a cache": func(r *rand.Rand) *scene {
		s := newScene("ok validation kept in a cache", r)
		base := s.total * uniform(r, 0.15, 0.6)
		height := (s.total*0.965 - base) * uniform(r, 0.2, 1)
		period, seed := logUniform(r, 60, 1800), r.Uint64()
		job := spikes(training(r, base), uniform(r, 200, 400), period, period*0.2, func(k int64) float64 { return height * (1 - 0.1*noise(seed, k)) })
		top, done := 0.0, -1.0
		s.windows = false
		s.add(func(t float64) float64 {
			for done < t {
				done++
				top = max(top, job(done))
			}
			return top
		})
		return s
	},
	"ok notebook": func(r *rand.Rand) *scene {
		s := newScene("ok notebook", r)
		seed, every := r.Uint64(), logUniform(r, 60, 1200)
		most := s.total * uniform(r, 0.5, 0.97)
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
	"ok seldom read": func(r *rand.Rand) *scene {
		s := scenes[[]string{"ok training", "ok spikes", "ok saw-tooth", "ok prealloc"}[r.IntN(4)]](r)
		s.step = uniform(r, 10, 60)
		return s
	},
	"ok often read": func(r *rand.Rand) *scene {
		s := scenes[[]string{"ok training", "ok spikes", "ok variable batches", "ok prealloc"}[r.IntN(4)]](r)
		s.step, s.seconds, s.windows = 0.02, min(s.seconds, 900), false
		return s
	},
	"ok epochs": func(r *rand.Rand) *scene { // memory climbs through an epoch and is given back at its end
		s := newScene("ok epochs", r)
		base, top := s.total*uniform(r, 0.2, 0.5), s.total*uniform(r, 0.55, 0.8)
		period := uniform(r, 120, 480)
		job := training(r, base)
		s.add(func(t float64) float64 {
			_, part := math.Modf(t / period)
			return max(job(t), base) + (top-base)*part
		})
		return s
	},
	"ok ranks with spikes": func(r *rand.Rand) *scene {
		s := newScene("ok ranks with spikes", r)
		base := s.total * uniform(r, 0.2, 0.6)
		height := (s.total*0.96 - base) * uniform(r, 0.2, 0.95)
		period := logUniform(r, 60, 1200)
		for g := range 3 {
			job := training(r, base)
			if g == 0 {
				job = spikes(job, 300, period, period*0.1, func(int64) float64 { return height })
			}
			s.add(job).gpu = g
		}
		return s
	},
	"ok two trainings": func(r *rand.Rand) *scene {
		s := newScene("ok two trainings", r)
		for range 2 {
			base, height := s.total*uniform(r, 0.1, 0.3), s.total*uniform(r, 0.05, 0.17)
			period := logUniform(r, 60, 900)
			j := s.add(spikes(training(r, base), uniform(r, 200, 400), period, period*uniform(r, 0.02, 0.4), func(int64) float64 { return height }))
			j.start = uniform(r, 0, 300)
		}
		return s
	},
	"late leak": func(r *rand.Rand) *scene {
		s := scenes["leak"](r)
		wait := uniform(r, 3600, 3*3600)
		job := s.jobs[0].want
		start := s.after
		s.jobs[0].want = func(t float64) float64 {
			if t < start {
				return job(t)
			}
			return job(max(start, t-wait))
		}
		s.seconds += wait
		s.after += wait
		return s
	},
	"neighbour leaks": func(r *rand.Rand) *scene {
		s := newScene("neighbour leaks", r)
		s.seconds = max(s.seconds, 2400)
		base := s.total * uniform(r, 0.2, 0.5)
		s.add(training(r, base))
		job := training(r, s.total*uniform(r, 0.15, 0.3))
		lasts := s.seconds * uniform(r, 0.4, 0.7)
		rate := (s.total - base) * 0.85 / lasts
		j := s.add(func(t float64) float64 { return job(t) + rate*max(0, t-120) })
		j.start, j.user = s.seconds*uniform(r, 0.05, 0.2), "bob"
		s.after = j.start + 120
		return s
	},
	"rank 0 leaks": func(r *rand.Rand) *scene {
		s := newScene("rank 0 leaks", r)
		s.seconds = max(s.seconds, 2400)
		base := s.total * uniform(r, 0.3, 0.6)
		lasts := s.seconds * uniform(r, 0.5, 0.8)
		for g := range 4 {
			job := training(r, base)
			s.add(func(t float64) float64 {
				if g == 0 {
					return job(t) + (s.total-base)/lasts*max(0, t-150)
				}
				return job(t)
			}).gpu = g
		}
		s.after = 150
		return s
	},
	"cache flushes": func(r *rand.Rand) *scene { // creeps to the limit, holds there with flushes, then dies
		s := newScene("cache flushes", r)
		s.seconds, s.step = max(s.seconds, 2400), 1
		base := s.total * uniform(r, 0.6, 0.85)
		full := (s.total - s.reserved) * uniform(r, 0.985, 0.997)
		reach := s.seconds * uniform(r, 0.2, 0.5)
		n := uniform(r, 4, 20)
		end := s.seconds * uniform(r, 0.7, 0.9)
		every := (end - reach) / n
		dip := s.total * uniform(r, 0.03, 0.2)
		job := training(r, base)
		s.add(func(t float64) float64 {
			switch {
			case t < reach:
				return job(t) + (full-base)*math.Pow(t/reach, 0.3)*min(1, t/200)
			case t > end:
				return s.total * 1.01
			}
			_, part := math.Modf((t - reach) / every)
			if part < min(0.3, 4/every) && t-reach > every {
				return full - dip
			}
			return full
		})
		s.after = 200
		return s
	},
}
