package explain

import (
	"slices"

	"nvpeak/sampler"
)

var (
	// keepingGraph is an argument by which a gradient keeps the graph behind it, or is a graph itself.
	keepingGraph = sampler.Pattern{Source: `\b(?:create|retain)_graph\s*=\s*True\b`}
	// secondDerivative is that of them which makes the gradient a part of the graph.
	secondDerivative = sampler.Pattern{Source: `\bcreate_graph\s*=\s*True\b`}
)

// keepsGraph: the line that failed takes a gradient and keeps the graph of its step.
func (f *facts) keepsGraph() bool {
	return !f.onHost() && f.isPyTorch() && slices.ContainsFunc(f.context.Code, func(line string) bool { return keepingGraph.Get().MatchString(line) })
}

// climbs: from the start on it took about as much more in each stretch, in four at least. What loads and then works levels off.
func (f *facts) climbs() bool {
	if f.history == nil || len(f.history.Peaks) < 5 {
		return false
	}
	g := riseOfLevels(f.history.Peaks)
	return g.steps == g.levels-1 && g.most <= 2*g.least && g.last.Less(g.first) > partOf(f.total.Or(0), 0.3)
}

// graphsPile is how sure it is that graphs of earlier steps fill the GPU: the first one of them takes what it takes.
func (f *failure) graphsPile() float64 {
	step, counted := f.context.Step.Value()
	switch {
	case !f.keepsGraph() || f.context.FirstStep || counted && step <= 1:
		return 0
	case f.climbs():
		return 0.94
	case f.recorded() && f.flat():
		return 0.3 // that of one step at a time
	case f.late() || counted || f.context.Epoch.Known():
		return 0.85
	case f.differentiates():
		return 0.4
	case f.recorded() && f.inTraining() && !f.bigRequest() && f.allocated.Or(0) > partOf(f.total.Or(0), 0.7):
		return f.unlessOthers(0.72)
	}
	return f.unlessOthers(0.66)
}

// differentiates: an equation is learned from whose derivatives are taken again, so that each gradient has to stay in the graph.
func (f *failure) differentiates() bool {
	w, known := f.work()
	return known && w.name == sampler.WorkResiduals && f.createsGraph()
}

// causesGraph: a graph is kept in words that the traceback shows.
var causesGraph = []causeRow{
	{id: "graph", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html",
		when:       func(f *failure) bool { return f.graphsPile() > 0 },
		confidence: func(f *failure) float64 { return f.graphsPile() },
		evidence:   func(f *failure) string { return f.words.Say("why.keeps_graph") }},
}

var fixesGraph = []fixRow{
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/generated/torch.autograd.backward.html",
		kinds: ownCode, cost: 0.01,
		lives: map[string]float64{CauseLeak: 0.98, CauseTooBig: 0.5, CauseFragmentation: 0.5, CauseUnknown: 0.6},
		when:  func(f *failure) bool { return f.graphsPile() > 0 },
		reach: always(1),
		variant: func(f *failure) string {
			if f.createsGraph() {
				return "create_graph"
			}
			return "retain_graph"
		},
		do: func(f *failure) []string {
			if f.createsGraph() {
				return []string{"grads = torch.autograd.grad(loss, params)  " + f.comment("do.create_graph"), "result = result.detach()  " + f.comment("do.detach_result"),
					"optimizer.zero_grad(set_to_none=True)  " + f.comment("do.grad_cycle")}
			}
			return []string{"(loss_a + loss_b).backward()  " + f.comment("do.retain_graph"), "hidden = hidden.detach()  " + f.comment("do.detach_state")}
		}},
}

// graphGoesOn: a graph is kept, as is said, and it takes more than one step until that fills the GPU.
func (f *failure) graphGoesOn() bool {
	return f.told(sampler.ToldGraph) && f.told(sampler.ToldLate) && !f.numbers() && !f.onHost() && f.torchCode() && !f.program.is(running)
}

// createsGraph: it is for second derivatives.
func (f *facts) createsGraph() bool {
	return slices.ContainsFunc(f.context.Code, func(line string) bool { return secondDerivative.Get().MatchString(line) })
}
