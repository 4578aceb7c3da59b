package explain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// fewTrained of a model's parameters leave nothing to speak of for their gradients and the optimizer.
const fewTrained = 0.1

// usesLoRA: what is trained are adapters, or another small part of the model.
func (f *job) usesLoRA() bool {
	if all, trained := f.context.Parameters.Or(0), f.context.Trained.Or(0); trained > 0 && float64(trained) <= fewTrained*float64(all) {
		return true
	}
	if f.inTraining() && (f.context.Precision == "nf4" || f.context.Precision == "int8") {
		return true // quantized weights are not trained themselves
	}
	return slices.ContainsFunc(f.command.Arguments(), func(a command.Argument) bool {
		n := a.Plain
		return strings.HasPrefix(n, "lora") || n == "network_module" && strings.Contains(strings.ToLower(a.Value), "lora") || n == "use_peft" || n == "use_lora" || n == "peft" || n == "qlora" ||
			strings.HasSuffix(strings.ToLower(a.Value), "lora") && slices.Contains([]string{"finetuning_type", "train_type", "sft_type", "tuner_type"}, n)
	})
}

// optimizer is the optimizer as far as the command, the log or the traceback tells: sgd, adam, adam8bit,
// adafactor or "".
func (f *job) optimizer() string {
	a, _ := f.command.Find("optim", "optimizer", "opt", "optimizer_type")
	name := strings.ToLower(cmp.Or(a.Value, f.context.Optimizer))
	for _, row := range []struct{ part, name string }{
		{"8bit", "adam8bit"}, {"8_bit", "adam8bit"}, {"adafactor", "adafactor"}, {"lion", "adafactor"}, {"adam", "adam"}, {"sgd", "sgd"},
	} {
		if strings.Contains(name, row.part) {
			return row.name
		}
	}
	if f.inFunction("adam") || f.inCode("Adam") {
		return "adam"
	}
	return ""
}

// checkpointing is in force already.
func (f *job) checkpointing() bool {
	on, known := f.command.SwitchedOn("gradient_checkpointing", "activation_checkpointing", "use_checkpoint", "checkpoint_activations",
		"use_gradient_checkpointing", "recompute_activations", "recompute_granularity", "enable_gradient_checkpointing", "grad_checkpoint", "grad_checkpointing", "checkpointing")
	of := slices.ContainsFunc(f.command.Arguments(), func(a command.Argument) bool { return strings.HasSuffix(a.Plain, "_gradient_checkpointing") }) // of one of several models
	return known && on || of || f.inFunction("checkpoint_wrapper", "checkpointfunction", "_checkpoint_without_reentrant", "unpack_hook") ||
		f.inCode("checkpoint(", "checkpoint.checkpoint", "gradient_checkpointing=True") || f.told(sampler.ToldInForce+"--gradient_checkpointing")
}

// ampTurnedOff is the option of the command without which it would train in mixed precision.
func (f *job) ampTurnedOff() string {
	for _, w := range f.command.Words() {
		switch w {
		case "--noamp", "--no-amp", "--no_amp", "--disable-amp", "--disable_amp", "--no-fp16", "--no_fp16", "--no-bf16", "--no_bf16", "--no-mixed-precision", "--no_mixed_precision":
			return w
		}
	}
	return ""
}

// halfPrecision is in force already, or fewer bits are: from the log, the command, the traceback or what is said.
func (f *job) halfPrecision() bool {
	switch f.context.Precision {
	case "bf16", "fp16", "int8", "nf4":
		return true
	}
	if f.shows(sampler.ShowsFewBits) {
		return true
	}
	if on, known := f.command.SwitchedOn("bf16", "fp16", "amp", "use_amp", "use_bf16", "use_fp16", "half", "pure_bf16", "bf16_full_eval"); known && on {
		return true
	}
	a, _ := f.command.Find("precision", "mixed_precision", "dtype", "torch_dtype", "param_dtype")
	if slices.ContainsFunc([]string{"16", "bf16", "fp16", "half", "bfloat16", "float16", "amp"}, func(p string) bool { return indexOf(a.Value, p) >= 0 }) {
		return true
	}
	if args, found := f.command.Find("model_args"); found && (strings.Contains(args.Value, "dtype=bfloat16") || strings.Contains(args.Value, "dtype=float16")) {
		return true // of lm-evaluation-harness
	}
	if amp, known := f.command.SwitchedOn("amp"); f.isUltralytics() && (!known || amp) {
		return true // on by default there
	}
	return f.inCode("autocast", "bfloat16", ".half()", "float16") || f.inFunction("autocast") || f.inFile("amp/_initialize.py", "amp/autocast_mode.py", "apex/amp/")
}

// workerNames are the options that set the number of data loader processes.
var workerNames = []string{"dataloader_num_workers", "num_workers", "workers", "n_workers", "num_data_workers", "nworkers", "data_workers", "dataloader_workers"}

// workers is the number of data loader processes, of the command or the least that the text tells; -1 when not known.
func (f *job) workers() int {
	a, found := f.command.Find(workerNames...)
	if n, err := strconv.Atoi(a.Value); found && err == nil {
		return n
	}
	if told := f.numbersInForce("num_workers"); len(told) > 0 {
		return int(slices.Min(told))
	}
	return -1
}

// sharded: the states are already divided over ranks.
func (f *job) sharded() bool {
	return f.command.HasPlain("fsdp", "deepspeed", "deepspeed_config", "zero_stage", "use_fsdp", "strategy") || f.command.Runs("deepspeed") ||
		f.inFunction("fsdp", "fully_shard", "zero_optim", "deepspeedengine") || f.inFile("fully_sharded_data_parallel", "distributed/fsdp/", "runtime/zero/") || f.event.Framework == "deepspeed"
}

// preallocator guesses which program took the GPU in advance, by what it takes: JAX 75 % of
// the GPU, vLLM 90 or 92 %; or by its name. "" when nothing points to one.
func (f *job) preallocator() string {
	if f.besideTensorFlow() {
		return "tensorflow"
	}
	if f.isServing() {
		return f.server()
	}
	big := f.biggestOther()
	taken, known := Preallocates(sampler.Process{Name: big.Name, Command: big.Command})
	if known && slices.Contains([]string{"vllm", "sglang", "jax", "tensorflow"}, taken.ID) { // there is a fix for these
		return taken.ID
	}
	if f.outsidePool() {
		return "jax"
	}
	switch {
	case f.jaxShare(max(big.Bytes, f.outside.Or(0))):
		return "jax"
	case f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] != "" || f.environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] != "":
		return "jax"
	case f.outside.Or(0) > partOf(f.total.Or(0), 0.5):
		return "tensorflow"
	}
	return ""
}

// leastDefault is less than any of the programs that take memory before they need it takes where nothing is set (own threshold).
const leastDefault = 0.7

// takenByDefault is the program of which the largest other process holds what it takes by default; "" for none. What is known of the program that
// failed says so only of another of which nothing is known, and that holds so much.
func (f *job) takenByDefault() string {
	big := f.biggestOther()
	if big.Command == "" && (!f.isServing() || big.Bytes >= partOf(f.total.Or(sampler.MaxPlausible), leastDefault)) {
		return f.preallocator()
	}
	if taken, known := Preallocates(sampler.Process{Name: big.Name, Command: big.Command}); known {
		return taken.ID
	}
	if f.jaxShare(big.Bytes) {
		return "jax"
	}
	return ""
}

// jaxShare: it is three quarters of the GPU, as JAX takes at its start.
func (f *job) jaxShare(held sampler.Bytes) bool {
	part := float64(held) / float64(max(1, f.total.Or(1)))
	return part > 0.735 && part < 0.775
}

// graphOff: the traceback or the trainer shows that no graph is kept in validation.
func (f *job) graphOff() bool {
	if f.tool != nil && f.phase() == sampler.PhaseValidation && !f.onlyItsModel() {
		return true // many run it, and would have seen that
	}
	if f.typesKnown() && f.program.is(running) {
		return true // and here, too
	}
	return f.isUltralytics() || f.answersOthers() || f.program.name == "whisper" || f.program.name == "demucs" || f.program.name == "lm_eval" || f.told(sampler.ToldText) && f.program.is(running) || f.command.Style() == command.StyleTrainer || f.command.Style() == command.StyleLightning ||
		f.inFunction("decorate_context", "no_grad", "inference_mode", "prediction_step", "evaluation_loop", "_run_evaluate", "_no_grad_context") ||
		f.inCode("no_grad", "inference_mode") || f.told(sampler.ToldGraphOff) || f.inFile("pipeline_", "pipelines/", "generation/utils.py")
}

// onlyItsModel: of a known program the traceback has the innermost file alone, and somebody else's script calls it: a model in a loop of his own.
func (f *job) onlyItsModel() bool {
	n := len(f.context.Files)
	return n >= 2 && f.command.Known && tools.In(tools.WithoutEnvironments(strings.Join(slices.Concat([]string{f.command.Text}, f.context.Files[:n-1]), " "))) != f.tool
}

// hostPossible: the message is of the GPU, and host memory may be the reason all the same.
func (f *job) hostPossible() bool {
	return f.refusedThoughFree() || f.maybePinned() || f.pageFileShort()
}

var autoBatchNames = []string{"batch_size", "per_device_eval_batch_size"}

// maybePinned: under WSL2 only little host memory can be pinned, and what fails to pin it is called a CUDA
// error without numbers, whatever is free on the GPU. People call it CUDA out of memory; then pinned memory must be spoken of, Windows, where
// the same runs, or room that is left on the GPU.
func (f *job) maybePinned() bool {
	_, wsl := f.environment["WSL_DISTRO_NAME"]
	if !wsl || f.onHost() {
		return false
	}
	return f.class.class == classNoNumbers && f.event.Kind == sampler.KindCUDAError || !f.numbers() && f.history == nil && (f.told(sampler.ToldPinned) || f.told(sampler.ToldOnWindows) || f.told(sampler.ToldEmpty))
}

// noBatchFits: each batch that accelerate tried, down to one, ran out of memory. It says so alone, and keeps the failures to itself.
// https://huggingface.co/docs/accelerate/usage_guides/memory
func (f *job) noBatchFits() bool { return strings.Contains(f.event.Text, "No executable batch size") }

// batchIsAuto: the batch was searched for, as the largest that just fits.
func (f *job) batchIsAuto() bool {
	a, found := f.command.Find(autoBatchNames...)
	return found && strings.HasPrefix(a.Value, "auto")
}

// ownPoolHoldsIt: a handle or a kernel of a CUDA library, small and outside the pool of TensorFlow or JAX,
// found no memory. These take nearly the whole GPU at start unless told otherwise, so mostly it is theirs.
// https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
func (f *job) ownPoolHoldsIt() bool {
	if f.onHost() || f.class.class != classNoNumbers || f.library() == "" {
		return false
	}
	return f.environment["TF_FORCE_GPU_ALLOW_GROWTH"] != "true" && f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] != "false"
}

// masked: XLA could not start cuDNN, and says no word of memory. It is a common way for that to fail where the rest of the GPU is taken in
// advance, and not the only one. https://docs.jax.dev/en/latest/gpu_memory_allocation.html
func (f *facts) masked() bool {
	return f.event.Kind == sampler.KindCuDNNNoAlgorithm && f.event.Framework == "jax"
}

// poolGrows: the pool of TensorFlow or JAX takes memory as it needs it, as it was told to.
func (f *job) poolGrows() bool {
	return f.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true" || f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
}

// takesEach: JAX asks the driver for each array, so that there is neither a share of the GPU nor a pool with holes.
// https://docs.jax.dev/en/latest/gpu_memory_allocation.html
func (f *job) takesEach() bool { return f.environment["XLA_PYTHON_CLIENT_ALLOCATOR"] == "platform" }

// shareRefused: all that is said is that the driver refused TensorFlow's pool, which it asks for at start in
// one piece. In a run the pool itself would say next which operation found nothing.
func (f *facts) shareRefused() bool {
	_, rounded := f.event.Extra["rounded_bytes"]
	_, shape := f.event.Extra["shape"]
	return f.event.Kind == sampler.KindTensorFlow && !f.onHost() && !f.told(sampler.ToldPooled) && !(f.tool != nil && f.tool.Takes) && indexOf(f.event.Text, "from device") >= 0 && !rounded && !shape && !f.context.Epoch.Known() && !f.context.Step.Known()
}

// wholeShare: what TensorFlow asked for at start is nearly all that the GPU has. It asks for a part of what it found
// free, so nobody else held much: the driver keeps some for itself and for screens.
func (f *facts) wholeShare() bool {
	total := f.startTotal()
	return f.shareRefused() && (total > 0 && f.requested.Or(0) > partOf(total, 0.9) || f.foundFree() > 0)
}

// foundFree is what TensorFlow says it found free, where that is nearly all that it asks for (own threshold: nine tenths); else 0.
func (f *facts) foundFree() sampler.Bytes {
	if free := f.extra("gpu_free_bytes").Or(0); f.shareRefused() && free > 0 && free < f.requested.Or(0) && free > partOf(f.requested.Or(0), 0.9) && free > sampler.GiB {
		return free
	}
	return 0
}

// startTotal is what the GPU has as TensorFlow says at start, or by its name; 0: not known.
func (f *facts) startTotal() sampler.Bytes { return f.extra("gpu_total_bytes").Or(f.namedTotal()) }

// library is the framework that failed, if it is one that takes the GPU in advance.
func (f *facts) library() string {
	switch f.event.Framework {
	case "tensorflow":
		return "TensorFlow"
	case "jax":
		return "JAX"
	}
	return ""
}

// isUltralytics: the run uses the Ultralytics trainer.
func (f *job) isUltralytics() bool {
	return f.command.Style() == command.StyleUltralytics || f.inCode("ultralytics") || f.inFunction("ultralytics")
}

// batch is the training batch per device, from the command or else from the log; 0 when not known.
func (f *job) batch() int {
	if f.noBatchFits() {
		return 1
	}
	if _, n, ok := f.command.BatchArgument(); ok {
		return max(1, n/f.command.SharedBy())
	}
	if f.onePicture() || f.splats() || f.oneBag() || f.told(sampler.ToldOne) && f.told(sampler.ToldTried+"batch") {
		return 1
	}
	if global, known := f.context.GlobalBatch.Value(); known && !f.context.BatchSize.Known() && global > 0 && global <= f.context.Replicas.Else(f.context.WorldSize).Or(0) {
		return 1 // each GPU has one
	}
	known := max(0, f.context.BatchSize.Or(0))
	if tried := f.triedBatch(); tried > 0 && tried < known {
		return tried
	}
	if known == 0 && f.tool != nil && f.tool.One && f.inTraining() && f.recorded() {
		return 1
	}
	return known
}

// triedBatch is the smallest batch with which it fails as is said; 0: none is told.
func (f *facts) triedBatch() int {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldDown+"batch "); is {
			size, _ := strconv.Atoi(n)
			return size
		}
	}
	return 0
}

// oneBag: a bag of instances with one label is what is learned from at once, in multiple instance learning (pieces of a slide in pathology). Bags have as many
// instances as they have, so that two are no batch.
func (f *job) oneBag() bool {
	return f.inCode("(bag)", "(bag.", "(bag,", "model(bags") || f.inFile("transmil", "clam/", "abmil", "dsmil", "_mil.py")
}

// splats: gaussians are fitted to pictures. Each step renders one of them, so there is no batch.
func (f *job) splats() bool {
	return f.told(sampler.ToldSplats) || f.inFile("gaussian_renderer", "scene/cameras.py", "camera_utils.py", "gsplat", "diff_gaussian_rasterization") || f.inFunction("rasterize_gaussians")
}

// weightRefused: the tensor of TensorFlow that was refused is the kernel of a convolution, of whose four sides the first two are a few pixels and
// the others channels, or a table of embeddings, or what an optimizer keeps for one, whose first side are its rows: no batch has so many (own
// thresholds). It is as large with any batch.
func (f *facts) weightRefused() bool {
	shape, _ := f.event.Extra["shape"].([]int)
	kernel := len(shape) == 4 && shape[0] == shape[1] && shape[0] <= largestKernel && shape[2] >= 256 && shape[3] >= 256
	table := len(shape) == 2 && shape[0] >= 5e6 && shape[1] >= 8 && shape[1] <= 1024
	return f.event.Kind == sampler.KindTensorFlow && (kernel || table)
}

// onePicture: the tensor that was refused is of a single large picture of TensorFlow (own threshold: a million pixels), or
// the features of a single sample. A kernel has its small sides first.
func (f *job) onePicture() bool {
	shape, _ := f.event.Extra["shape"].([]int)
	if f.event.Kind == sampler.KindTensorFlow && len(shape) >= 4 && shape[0] == 1 && shape[1] > 1 {
		large := 0
		for _, side := range shape[1:] {
			if side >= 64 {
				large++
			}
		}
		if large >= 2 && f.requested.Or(0) >= sampler.GiB/4 {
			return true
		}
	}
	if f.event.Kind != sampler.KindTensorFlow || len(shape) != 4 || shape[0] != 1 || shape[1] <= 0 {
		return false
	}
	if shape[3] <= 4 {
		return shape[2] >= 1e6/shape[1]
	}
	return min(shape[1], shape[2], shape[3]) > largestKernel // features of one, in either order
}

// largestKernel is more than a side of a kernel has (own threshold), which TensorFlow names before the channels.
const largestKernel = 11
