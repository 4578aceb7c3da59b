package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A line that keeps the graph of its step fills the GPU with graphs, unless it is the first one, or what is held stays the same.
func TestGraphKept(t *testing.T) {
	climb, level := amounts(400, 2300, 4900, 6700, 8600, 10500), amounts(11100, 11100, 11110, 11100, 11100, 11100, 11100, 11100)
	hvp := []string{"hv = curvature(net, loss, v)", "grads = torch.autograd.grad(loss, params, create_graph=True)", "return Variable._execution_engine.run_backward("}
	for what, row := range map[string]struct {
		context    sampler.LogContext
		peaks      []sampler.Bytes
		age        float64
		cause, fix string
		do         string
	}{
		"a climb from the start":     {sampler.LogContext{Code: hvp}, climb, 36, CauseLeak, FixLeak, "without create_graph=True"},
		"late, and nothing recorded": {sampler.LogContext{Code: hvp, Step: sampler.Some(300)}, nil, 0, CauseLeak, FixLeak, "without create_graph=True"},
		"the first step":             {sampler.LogContext{Code: hvp, Phase: sampler.PhaseTraining, FirstStep: true, Step: sampler.Some(0)}, nil, 0, CauseTooBig, FixHalveBatchAccumulate, ""},
		"always as much":             {sampler.LogContext{Code: hvp, Step: sampler.Some(3000)}, level, 3600, CauseFragmentation, FixHalveBatchAccumulate, ""},
		"a graph for two losses":     {sampler.LogContext{Code: []string{"loss_d.backward(retain_graph=True)"}, Step: sampler.Some(400)}, nil, 0, CauseLeak, FixLeak, "without retain_graph=True"},
		"it is let go":               {sampler.LogContext{Code: []string{"loss_d.backward(retain_graph=False)"}, Step: sampler.Some(3000)}, level, 3600, CauseFragmentation, FixHalveBatchAccumulate, ""},
	} {
		e := pytorch(mibs(24), gibs(10.92), mibs(0))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(8.74), gibs(1.99), gibs(10.9)
		row.context.FrameworkVersion = "1.12.1"
		row.context.Functions = []string{"<module>", "main", "grad"}
		e.Context = &row.context
		in := Incident{Events: []sampler.OOMEvent{e}, Command: "python second.py --bs 64"}
		if row.peaks != nil {
			in.Histories = []*History{{Age: sampler.Some(row.age), Process: gibs(10.9), Peaks: row.peaks}}
		}
		got := Explain(in)
		if got.Causes[0].ID != row.cause || got.Advice[0].ID != row.fix || !strings.Contains(strings.Join(got.Advice[0].Do, "\n"), row.do) {
			t.Errorf("%s: %+v, %s %q", what, got.Causes, got.Advice[0].ID, got.Advice[0].Do)
		}
	}
}

// An equation is learned from the derivatives of derivatives, so that they stay in the graph: that the first step is too large is no leak.
func TestDerivativesAreNoLeak(t *testing.T) {
	e := pytorch(mibs(974), gibs(31.74), mibs(906))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(30.2), mibs(58), gibs(30.8)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Functions: []string{"closure", "residual", "grad"}, Told: []string{sampler.ToldWork + sampler.WorkResiduals},
		Code: []string{"u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]"}}
	h := &History{Age: sampler.Some(13.0), Process: e.ProcessInUse}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "python kdv_pinn.py --points 200000"})
	if got.Causes[0].ID != CauseTooBig || got.Advice[0].ID == FixLeak {
		t.Errorf("%+v, %+v", got.Causes, got.Advice[0])
	}
}
