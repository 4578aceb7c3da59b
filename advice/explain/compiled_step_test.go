package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
)

// XLA asks for all temporaries of a compiled step in one piece: nothing to be cut from one sample, and half a batch is half of it. What is asked for
// elsewhere may be one array.
func TestAskedForCompiledStep(t *testing.T) {
	const log = `I05-01 01:30:35 train_gencast.py:141] params: 64,912,113
I05-01 01:30:38 train_gencast.py:168] compiling train_step ...
E external/xla/xla/service/rendezvous.cc:120] Allocator (GPU_0_bfc) ran out of memory trying to allocate 37.94GiB (rounded to 40740428288)requested by op 
Traceback (most recent call last):
  File "/data/proj/train_gencast.py", line 177, in main
    CALL
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 40740428185 bytes.
`
	for call, want := range map[string]string{
		"params, opt_state, loss = train_step(params, opt_state, batch)": FixHalveBatchAccumulate,
		"state = p_update_step(state, batch)":                            FixHalveBatchAccumulate,
		"scores = jnp.einsum('id,jd->ij', a, b)":                         FixCapSampleSize,
	} {
		events, err := oomlog.Scan(strings.NewReader(strings.Replace(log, "CALL", call, 1)))
		if err != nil {
			t.Fatal(err)
		}
		h := &History{Total: gibs(31.84), Free: gibs(7.2), Process: gibs(24.1)}
		got := Explain(Incident{Events: events, Histories: []*History{h}, Command: "python train_gencast.py --batch 4"})
		step := want == FixHalveBatchAccumulate
		if len(events) != 1 || got.Causes[0].ID != CauseTooBig || got.Advice[0].ID != want || strings.Contains(got.Causes[0].Evidence[0], "compiled step") != step {
			t.Errorf("%s: %+v, %s", call, got.Causes, got.Advice[0].ID)
		}
		if percent := got.Causes[0].Numbers["activations_percent"]; percent != 0 {
			t.Errorf("%s: %v %% of nobody knows what", call, percent)
		}
		checkpointing := false
		for _, a := range got.Advice {
			checkpointing = checkpointing || a.ID == FixGradientCheckpointing && strings.Contains(a.Do[0], "jax.checkpoint")
		}
		if checkpointing != step {
			t.Errorf("%s: activations computed again: %v", call, checkpointing)
		}
	}
}
