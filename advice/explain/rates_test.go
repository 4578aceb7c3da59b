package explain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// simScenario makes runs of one true cause: the run dies as made, and lives when repaired.
type simScenario struct {
	cause          string
	also           []string // other ids that are as right
	break_, repair func(*simRun, *rand.Rand)
}

// healthy is a run that fits its card with room to spare.
func healthy(rng *rand.Rand) simRun {
	r := simRun{seed: rng.Uint64(), total: []float64{11.7, 15.8, 23.6, 39.4, 47.4, 79.2}[rng.IntN(6)], epochs: 8, layers: 8 + rng.IntN(60),
		backwardExtra: 0.03 + 0.1*rng.Float64(), outside: 0.3 + 0.4*rng.Float64(), holes: 0.01 + 0.03*rng.Float64(), holeSize: 0.05,
		context: 0.35 + 0.4*rng.Float64(), checkpointKeeps: 0.3 + 0.4*rng.Float64(), ampKeeps: 0.55 + 0.3*rng.Float64()}
	room := r.total - r.outside
	statesShare := 0.08 + 0.4*rng.Float64()
	load := 0.6 + 0.2*rng.Float64()
	r.batch = 4 << rng.IntN(5)
	r.states = room * load * statesShare
	r.parameters = uint64(r.states * (1 << 30) / 16)
	r.perSample = room * load * (1 - statesShare) / float64(r.batch) / (1 + r.backwardExtra)
	r.valBatch = r.batch
	r.valPerSample = 0.5 * r.perSample
	return r
}

var simScenarios = []simScenario{
	{cause: "too_big",
		break_: func(r *simRun, rng *rand.Rand) { r.perSample *= 1.4 + 1.2*rng.Float64() },
		repair: func(r *simRun, rng *rand.Rand) { r.perSample /= 4 }},
	{cause: "too_big", // by its weights and optimizer: no batch size helps
		break_: func(r *simRun, rng *rand.Rand) {
			r.states = r.total * (1.02 + 0.6*rng.Float64())
			r.parameters = uint64(r.states * (1 << 30) / 16)
			r.perSample /= 4
		},
		repair: func(r *simRun, rng *rand.Rand) { r.states /= 4 }},
	{cause: "validation_spike",
		break_: func(r *simRun, rng *rand.Rand) {
			r.valPerSample = (r.total*(0.9+0.5*rng.Float64()) - r.states) / float64(r.valBatch)
		},
		repair: func(r *simRun, rng *rand.Rand) { r.valPerSample = 0 }},
	{cause: "validation_spike",
		break_: func(r *simRun, rng *rand.Rand) {
			r.valKeepsGraph, r.valPerSample = true, (r.total-r.states)/4.5/float64(r.valBatch)
		},
		repair: func(r *simRun, rng *rand.Rand) { r.valKeepsGraph = false }},
	{cause: "fragmentation",
		break_: func(r *simRun, rng *rand.Rand) {
			r.holes, r.layers, r.holeSize = 0.2+0.35*rng.Float64(), 8+rng.IntN(10), 0.02
			r.perSample *= 1.05
		},
		repair: func(r *simRun, rng *rand.Rand) { r.holes = 0.01 }},
	{cause: "leak",
		break_: func(r *simRun, rng *rand.Rand) {
			r.leak = r.total * (0.04 + 0.1*rng.Float64())
			r.valPerSample *= 0.3
		},
		repair: func(r *simRun, rng *rand.Rand) { r.leak = 0 }},
	{cause: "other_process", also: []string{"unattributed"},
		break_: func(r *simRun, rng *rand.Rand) {
			r.others, r.othersFrom = r.total*(0.25+0.4*rng.Float64()), rng.IntN(6)
		},
		repair: func(r *simRun, rng *rand.Rand) { r.others = 0 }},
	{cause: "data_spike",
		break_: func(r *simRun, rng *rand.Rand) {
			r.spikeEpoch, r.spike = 3+rng.IntN(5), float64(r.batch)*(0.7+rng.Float64())
		},
		repair: func(r *simRun, rng *rand.Rand) { r.spike = 0 }},
	{cause: "imbalance",
		break_: func(r *simRun, rng *rand.Rand) {
			r.contexts, r.perSample = 7, r.perSample*1.12
			r.context = max(r.context, r.total*0.25/7)
			r.context = min(r.context, 1.8)
		},
		repair: func(r *simRun, rng *rand.Rand) { r.contexts = 0 }},
	{cause: "memory_limit",
		break_: func(r *simRun, rng *rand.Rand) { r.limit = r.total * (0.35 + 0.15*rng.Float64()) },
		repair: func(r *simRun, rng *rand.Rand) { r.limit = 0 }},
}

// runs makes n runs of a scenario that die as broken and live as repaired.
func (s simScenario) runs(n int, rng *rand.Rand) []simRun {
	var list []simRun
	for try := 0; len(list) < n && try < 400*n; try++ {
		r := healthy(rng)
		if r.play() != nil {
			continue
		}
		s.break_(&r, rng)
		fixed := r
		s.repair(&fixed, rng)
		if r.play() != nil && fixed.play() == nil {
			list = append(list, r)
		}
	}
	return list
}

// TestExplainRates measures how often the first cause is the true one, and how often the run
// survives when the first advice alone is followed.
func TestExplainRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 26))
	all, right, saved := 0, 0, 0
	for _, s := range simScenarios {
		runs := s.runs(70, rng)
		if len(runs) < 40 {
			t.Errorf("%s: only %d runs could be made", s.cause, len(runs))
		}
		ok, live := 0, 0
		wrong := map[string]int{}
		for _, r := range runs {
			death := r.play()
			got := Explain(r.incident(death, rng))
			cause := got.Causes[0].ID
			if cause == s.cause || slices.Contains(s.also, cause) {
				ok++
			} else {
				wrong["cause "+cause]++
			}
			if len(got.Advice) > 0 && r.apply(got.Advice[0]).play() == nil {
				live++
			} else if len(got.Advice) > 0 {
				wrong["died with "+got.Advice[0].ID+" in "+death.phase]++
			}
		}
		t.Logf("%-17s %3d runs: first cause right %3.0f %%, first advice saves %3.0f %%  %v", s.cause, len(runs),
			100*float64(ok)/float64(len(runs)), 100*float64(live)/float64(len(runs)), wrong)
		all, right, saved = all+len(runs), right+ok, saved+live
	}
	rates := fmt.Sprintf("%d runs: first cause right %.1f %%, first advice saves %.1f %%", all, 100*float64(right)/float64(all), 100*float64(saved)/float64(all))
	t.Log(rates)
	if float64(right) < 0.90*float64(all) || float64(saved) < 0.85*float64(all) {
		t.Error("below 90 and 85 %: " + rates)
	}
}
