package advicetest

import (
	"maps"
	"math/rand/v2"
)

// Scenes is every class of runs. Those named "ok" are healthy.
var Scenes = map[string]func(r *rand.Rand) *Scene{}

func init() {
	for _, classes := range []map[string]func(r *rand.Rand) *Scene{healthyScenes, dyingScenes, cachingScenes, derivedScenes} {
		maps.Copy(Scenes, classes)
	}
}

// derivedScenes are made from others.
var derivedScenes = map[string]func(r *rand.Rand) *Scene{
	"ok seldom read": func(r *rand.Rand) *Scene {
		s := healthyScenes[[]string{"ok training", "ok spikes", "ok saw-tooth", "ok prealloc"}[r.IntN(4)]](r)
		s.Step = uniform(r, 10, 60)
		return s
	},
	"ok often read": func(r *rand.Rand) *Scene {
		s := healthyScenes[[]string{"ok training", "ok spikes", "ok variable batches", "ok prealloc"}[r.IntN(4)]](r)
		s.Step, s.Seconds, s.Windows = 0.02, min(s.Seconds, 900), false
		return s
	},
	"late leak": func(r *rand.Rand) *Scene {
		s := dyingScenes["leak"](r)
		wait := uniform(r, 3600, 3*3600)
		job := s.Jobs[0].Want
		start := s.After
		s.Jobs[0].Want = func(t float64) float64 {
			if t < start {
				return job(t)
			}
			return job(max(start, t-wait))
		}
		s.Seconds += wait
		s.After += wait
		return s
	},
}
