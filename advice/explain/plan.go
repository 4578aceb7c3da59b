package explain

import (
	"strings"

	"nvpeak/sampler"
)

// planStep is one measure of a combination: what it leaves of activations and of states.
type planStep struct {
	id                                   string
	actLow, actHigh, stateLow, stateHigh float64
	open                                 func(*failure) bool // still possible
}

// planSteps are the measures that combinations are made of.
var planSteps = map[string]planStep{
	"checkpoint": {"gradient_checkpointing", checkpointKeepsLow, checkpointKeepsHigh, 1, 1, func(f *failure) bool { return !f.checkpointing() }},
	"amp":        {"amp_bf16", ampKeepsLow, ampKeepsHigh, 1, 1, func(f *failure) bool { return !f.halfPrecision() }},
	"half":       {"halve_batch_accumulate", 0.5, 0.5, 1, 1, func(f *failure) bool { return f.batch() != 1 }},
	"quarter":    {"halve_batch_accumulate", 0.25, 0.25, 1, 1, func(f *failure) bool { b := f.batch(); return b == 0 || b >= 4 }},
	"optimizer":  {"smaller_optimizer", 1, 1, 10.0 / 16, 12.0 / 16, func(f *failure) bool { return f.optimizer() == "adam" && !f.usesLoRA() }},
}

// planRecipes are the combinations, from the most saved to the least changed.
var planRecipes = [][]string{
	{"checkpoint", "amp", "half"},
	{"checkpoint", "amp"},
	{"checkpoint", "half"},
	{"amp", "half"},
	{"half", "optimizer"},
	{"quarter"},
}

// plans are up to three combinations with their arithmetic, for runs that train and are too big.
func (f *failure) plans(causes []sampler.Cause) []Plan {
	list := []Plan{}
	top := TopCause(causes)
	if f.stateDominated() || !f.numbers() || !f.allocated.Known() || !f.inTraining() || !f.isPyTorch() || top != "too_big" && top != "data_spike" && top != "oversubscribed" {
		return list
	}
	seen := map[string]bool{}
	for _, recipe := range planRecipes {
		steps := f.openSteps(recipe)
		key := strings.Join(stepNames(steps), "+")
		if len(steps) == 0 || seen[key] || len(list) == 3 || len(steps) == 1 && recipe[0] != "quarter" {
			continue
		}
		seen[key] = true
		list = append(list, f.plan(string(rune('A'+len(list))), steps))
	}
	return list
}

func (f *failure) openSteps(recipe []string) []planStep {
	var steps []planStep
	for _, name := range recipe {
		if s := planSteps[name]; s.open(f) {
			steps = append(steps, s)
		}
	}
	return steps
}

// stepNames tells "half" and "quarter" apart, which share an advice id.
func stepNames(steps []planStep) []string {
	var names []string
	for _, s := range steps {
		name := s.id
		if s.actLow == 0.25 {
			name += "_quarter"
		}
		names = append(names, name)
	}
	return names
}

// plan works out the peak: states stay, activations shrink by the product of the steps.
func (f *failure) plan(name string, steps []planStep) Plan {
	before := f.allocated.Or(0) + f.requested.Or(0) + f.needed().Less(f.missingOr0())
	states := f.footprint.states
	activations := span{before.Less(states.high), before.Less(states.low)}
	low, high, stateLow, stateHigh := 1.0, 1.0, 1.0, 1.0
	p := Plan{Name: name, Room: f.roomForProcess(), Enough: "no"}
	var titles []string
	for _, s := range steps {
		low, high = low*s.actLow, high*s.actHigh
		stateLow, stateHigh = stateLow*s.stateLow, stateHigh*s.stateHigh
		p.Steps = append(p.Steps, s.id)
	}
	for _, n := range stepNames(steps) {
		titles = append(titles, f.words.Say("plan."+n, "precision", f.precisionName()))
	}
	p.Title = strings.Join(titles, " + ")
	after := states.times(stateLow, stateHigh)
	// More states mean fewer activations in the same total, so the bounds cross.
	a := after.low + partOf(activations.high, low)
	b := after.high + partOf(activations.low, low)
	c := after.low + partOf(activations.high, high)
	d := after.high + partOf(activations.low, high)
	p.Peak = sampler.Range{Low: min(a, b), High: max(c, d)}
	switch {
	case p.Peak.High <= partOf(p.Room, 0.97):
		p.Enough = "yes"
	case p.Peak.Low/2+p.Peak.High/2 <= p.Room:
		p.Enough = "likely"
	}
	p.Arithmetic = f.words.Say("plan.sum", "states", rangeText(states), "activations", rangeText(activations), "left", factor(low, high),
		"peak", rangeText(span{p.Peak.Low, p.Peak.High}), "room", rough(p.Room))
	return p
}

// factor writes a share or a range of shares: "50 %", "15–42 %".
func factor(low, high float64) string {
	if a, b := plainNumber(float64(int(100*low+0.5))), plainNumber(float64(int(100*high+0.5))); a != b {
		return a + "–" + b + " %"
	}
	return plainNumber(float64(int(100*high+0.5))) + " %"
}

// precisionName is bf16, or fp16 on cards without it.
func (f *failure) precisionName() string {
	if yes, known := f.gpu.bf16(); known && !yes {
		return "fp16"
	}
	return "bf16"
}
