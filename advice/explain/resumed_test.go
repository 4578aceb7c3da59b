package explain

import (
	"testing"

	"nvpeak/sampler"
)

// A training that dies in its first step after it was resumed, and not elsewhere, has the checkpoint in memory beside the model.
func TestResumed(t *testing.T) {
	young := History{Age: sampler.Some(21.0), Peaks: amounts(1100, 12000)}
	for what, row := range map[string]struct {
		command string
		context sampler.LogContext
		history *History
		freed   bool
	}{
		"the log says so":              {"python train.py --batch_size=8", sampler.LogContext{Resumed: true}, &young, true},
		"the command says so":          {"python train.py --init_from=resume --batch_size=8", sampler.LogContext{}, &young, true},
		"with a path, nothing watched": {"python train.py --resume out/last.ckpt --batch_size=8", sampler.LogContext{}, nil, true},
		"from the start":               {"python train.py --init_from=scratch --batch_size=8", sampler.LogContext{}, &young, false},
		"on another machine":           {"python train.py --batch_size=8", sampler.LogContext{Resumed: true, Told: []string{sampler.ToldMachines}}, &young, false},
		"a small model":                {"python train.py --batch_size=32", sampler.LogContext{Resumed: true, Parameters: sampler.Some(uint64(180e6))}, &young, false},
		"hours later":                  {"python train.py --batch_size=8", sampler.LogContext{Resumed: true, Step: sampler.Some(9000)}, &History{Age: sampler.Some(9000.0), Peaks: amounts(15400, 15500, 15500, 15500, 15500)}, false},
	} {
		e := pytorch(mibs(760), gibs(15.74), mibs(595))
		row.context.Phase, row.context.Functions = sampler.PhaseTraining, []string{"main", "train_one_epoch", "cross_entropy"}
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Context = "CUDA out of memory.", gibs(13.72), gibs(1.2), gibs(15.16), &row.context
		in := Incident{Events: []sampler.OOMEvent{e}, Command: row.command}
		if row.history != nil {
			h := *row.history
			h.Process = gibs(15.16)
			in.Histories = []*History{&h}
		}
		got := Explain(in)
		if freed := got.Advice[0].ID == FixLeak; freed != row.freed || freed && got.Causes[0].ID != CauseTooBig {
			t.Errorf("%s: %+v, %s", what, got.Causes, got.Advice[0].ID)
		}
	}
}
