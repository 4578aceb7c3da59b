package explain

import (
	"slices"

	"nvpeak/sampler"
)

// sourceJAXCheckpoint says what computes activations again in JAX.
const sourceJAXCheckpoint = "https://docs.jax.dev/en/latest/gradient-checkpointing.html"

// trainingCall is the call of a step of a training that JAX has compiled, as evaluationCall is that of an evaluation.
var trainingCall = sampler.Pattern{Source: `(?i)(?:^|[^a-z0-9])(?:p_|jit_|pjit_|jitted_|parallel_|compiled_)?(?:train|training|update|grad|sgd)_(?:step|batch|fn|state)\(`}

// asksForStep: XLA asks for the temporaries of a compiled step in one piece, before any of it runs. Such a request is of no one tensor: all that the step has
// at its peak is in it.
func (f *facts) asksForStep() bool {
	return f.event.Kind == sampler.KindXLA && !f.onHost() && !f.evaluatesCompiled() && slices.ContainsFunc(f.context.Code, trainingCall.Get().MatchString)
}

// autotunes: kernels are tried on copies of what they are to compute, when a shape is compiled. What the process grows by then is neither kept nor a batch. Each
// launch of a compiled kernel goes through the files of Triton, so that these tell of a trial by the function alone.
// https://github.com/pytorch/pytorch/blob/main/torch/_inductor/select_algorithm.py, https://github.com/triton-lang/triton/blob/main/python/triton/runtime/autotuner.py
func (f *facts) autotunes() bool {
	return f.inFile("_inductor/select_algorithm.py", "_inductor/autotune_process.py") ||
		f.inFile("_inductor/runtime/triton_heuristics.py", "triton/runtime/autotuner.py", "triton/testing.py") && f.inFunction("autotune_to_one_config", "benchmark_all_configs", "_bench", "do_bench")
}

// fixesCompiledStep make that less.
var fixesCompiledStep = []fixRow{
	{id: FixGradientCheckpointing, source: sourceJAXCheckpoint,
		kinds: training | undecided, cost: 0.25,
		lives: map[string]float64{CauseTooBig: 0.8, CauseDataSpike: 0.8, CausePreallocation: 0.3},
		when:  func(f *failure) bool { return f.asksForStep() && !f.checkpointing() },
		reach: always(0.8),
		do: func(f *failure) []string {
			return []string{"grads = jax.grad(jax.checkpoint(loss_fn))(params, batch)  " + f.comment("do.each_block")}
		}},
	{id: FixCuDNNBenchmark, source: "https://docs.pytorch.org/docs/stable/generated/torch.compile.html",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseTooBig: 0.75, CauseFragmentation: 0.75, CauseDataSpike: 0.7, CauseUnknown: 0.75}, // what it computes may be too much as well
		when:    func(f *failure) bool { return f.autotunes() },
		reach:   always(1),
		variant: func(*failure) string { return "autotune" },
		do: func(f *failure) []string {
			return []string{"torch.compile(model)  " + f.comment("do.no_autotune")}
		}},
}
