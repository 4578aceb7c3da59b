package explain

import (
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// A cause is called by what it is here, where that has a name in the language.
func TestTitle(t *testing.T) {
	words := lang.For("en")
	plain := Title(words, sampler.Cause{ID: CauseTooBig})
	if got := Title(words, sampler.Cause{ID: CauseTooBig, Form: "checkpoint"}); got == plain || got == "" {
		t.Errorf("a checkpoint is %q", got)
	}
	if got := Title(words, sampler.Cause{ID: CauseTooBig, Form: "unheard of"}); got != plain {
		t.Errorf("a form without a name is %q, not %q", got, plain)
	}
}

// Who resumes a training that had fitted is told of the checkpoint, with figures and without.
func TestCheckpointStays(t *testing.T) {
	for what, e := range map[string]sampler.OOMEvent{
		"figures": {Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.02), GPUTotal: gibs(8), GPUFree: gibs(0), Allocated: gibs(7.2)},
		"none":    {Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU},
	} {
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Told: []string{sampler.ToldCheckpoint, sampler.ToldTraining}}
		x := Explain(Incident{Events: []sampler.OOMEvent{e}})
		if c := x.Causes[0]; c.ID != CauseTooBig || c.Form != "checkpoint" {
			t.Errorf("%s: %+v", what, c)
		}
	}
}
