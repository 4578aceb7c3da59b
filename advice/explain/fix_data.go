package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

var fixesData = []fixRow{
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.02, // the program has a limit, and it is turned off
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseFragmentation: 0.85, CauseTooBig: 0.35, CauseImbalance: 0.3},
		when:    func(f *failure) bool { return f.mayBeLarger() && f.unlimited() != "" },
		reach:   always(1),
		variant: func(f *failure) string { return "unlimited" },
		pairs:   func(f *failure) []any { return []any{"option", f.unlimited()} },
		do: func(f *failure) []string {
			return []string{f.comment("do.set_limit", "option", f.unlimited()), f.comment("do.log_size")}
		}},
	{id: FixCapSampleSize, source: "https://huggingface.co/docs/trl/reducing_memory_usage",
		kinds: ownCode, cost: 0.03, // the same for a limit that is too high; all else only puts off what goes on growing
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseFragmentation: 0.85, CauseTooBig: 0.7},
		when:    func(f *failure) bool { return f.mayBeLarger() && f.looseLimit() != nil },
		reach:   always(1),
		variant: func(f *failure) string { return "limit" },
		do:      (*failure).looseLimit},
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.06, // the log shows that they grow, beside a batch that stays: half of it only puts that off
		lives: map[string]float64{CauseDataSpike: 0.98, CauseFragmentation: 0.85, CauseTooBig: 0.6, CauseImbalance: 0.3},
		when:  func(f *failure) bool { return f.mayBeLarger() && f.slower() && !f.batchRose() && f.recorded() },
		reach: always(1),
		pairs: func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do:    doCapSampleSize},
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode | imageTool, cost: 0.15,
		lives: map[string]float64{CauseDataSpike: 0.98, CauseFragmentation: 0.85, CauseTooBig: 0.35, CauseValidationSpike: 0.3, CauseImbalance: 0.3, CauseOtherProcess: 0.2},
		when:  (*failure).mayBeLarger,
		saves: func(f *failure) (span, bool) {
			return span{partOf(f.requested.Or(0), 0.3), partOf(f.requested.Or(0), 0.9) + partOf(f.footprint.activations.mid(), 0.5)}, f.bigRequest()
		},
		reach: func(f *failure) float64 {
			if f.batchRose() {
				return 0.5 // no sample is what was too large
			}
			return 0.97
		},
		variant: func(f *failure) string {
			switch {
			case !f.requested.Known():
				return "told"
			case f.servesItems():
				return "served"
			}
			return ""
		},
		pairs: func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do:    doCapSampleSize},
	{id: FixCapSampleSize, source: "https://huggingface.co/docs/trl/reducing_memory_usage",
		kinds: ownCode, cost: 0.1, // who speaks of it can set it
		lives: map[string]float64{CauseTooBig: 0.93, CauseDataSpike: 0.97, CauseUnknown: 0.62, CauseFragmentation: 0.85, CauseOversubscribed: 0.8},
		when: func(f *failure) bool {
			return f.told(sampler.ToldLengths) && !f.told(sampler.ToldTried+"length") && f.torchCode() && !f.program.is(running) && f.inTraining() && !f.told(sampler.ToldPixels) && f.program.name != "alphafold" && f.phase() != sampler.PhaseSaving && !f.onHost() && !f.refusedThoughFree() && !f.impossible()
		},
		reach: func(f *failure) float64 {
			if f.batch() > 1 {
				return 0.8 // a batch can be halved too
			}
			return 1
		},
		variant: func(f *failure) string {
			switch {
			case f.cutsSound():
				return "long"
			case !f.atHand() && !f.countsTokens(), f.ownLength() && !f.oneSample():
				return "length_plain"
			case f.oneSample():
				return "length_one"
			}
			return "length"
		},
		do: doShorterSequences},
	{id: FixCapSampleSize, source: "https://docs.nvidia.com/nemo-framework/user-guide/latest/nemotoolkit/asr/datasets.html",
		kinds: ownCode, cost: 0.06,
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseTooBig: 0.93, CauseUnknown: 0.62, CauseFragmentation: 0.85},
		when:    func(f *failure) bool { return f.longSamples() },
		reach:   always(1),
		variant: func(f *failure) string { return "long" },
		do: func(f *failure) []string {
			if f.oneSample() {
				return []string{f.sampleAlone(), f.comment("do.bucket")}
			}
			lines := []string{f.sampleAlone(), f.comment("do.or_batch")}
			for _, small := range f.smallGPU() {
				lines = withLine(lines, small)
			}
			return lines
		}},
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
		kinds: ownCode | imageTool | server, cost: 0.13,
		lives: map[string]float64{CauseTooBig: 0.97, CauseDataSpike: 0.97, CauseValidationSpike: 0.7, CauseUnknown: 0.5},
		when: func(f *failure) bool {
			return (f.impossible() && !f.asksForStep() || f.hugeAttention()) && f.phase() != sampler.PhaseLoading && !f.splats() && (!f.isServing() || f.program.reserves()) && (f.phase() != sampler.PhaseValidation || f.program.is(evaluation)) && f.program.name != "alphafold"
		},
		reach: always(1), // nothing that leaves the tensor as it is can help
		variant: func(f *failure) string {
			if f.hugeAttention() {
				return "attention"
			}
			return "impossible"
		},
		pairs: func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do:    doCapSampleSize},
	{id: FixCapSampleSize, source: "https://github.com/graphdeco-inria/gaussian-splatting/issues/587",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseUnknown: 0.8},
		when:  func(f *failure) bool { return f.absurd() || f.beyondRAM() },
		reach: always(1),
		variant: func(f *failure) string {
			if f.beyondRAM() {
				return "beyond_ram"
			}
			return "absurd"
		},
		do: func(f *failure) []string {
			if f.beyondRAM() {
				return []string{f.comment("do.check_files"), f.comment("do.log_size")}
			}
			return []string{f.comment("do.log_size"), "python -m torch.utils.collect_env  " + f.comment("do.same_cuda")}
		}},
	{id: FixCapSampleSize, source: "https://docs.monai.io/en/stable/transforms.html#ensuretype",
		kinds: training | evaluation | inference | undecided, cost: 0.02, // a copy for each volume
		lives:   map[string]float64{CauseValidationSpike: 0.97, CauseDataSpike: 0.97, CauseTooBig: 0.93, CauseFragmentation: 0.85},
		when:    func(f *failure) bool { return f.postProcesses() },
		reach:   always(1),
		variant: func(f *failure) string { return "whole" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do: func(f *failure) []string {
			return []string{`EnsureTyped(keys="pred", device="cpu")  ` + f.comment("do.first_postprocessing"), f.comment("do.whole_volume")}
		}},
	{id: FixCapSampleSize, source: "https://docs.rapids.ai/api/cudf/stable/user_guide/",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseDataSpike: 0.98},
		when:    func(f *failure) bool { return f.told(sampler.ToldTables) && !f.growsTrees() && !f.onHost() },
		reach:   always(1),
		variant: func(f *failure) string { return "tables" },
		do: func(f *failure) []string {
			return []string{"part[key].value_counts().head()  " + f.comment("do.frequent_keys"), f.comment("do.split_part"), "rmm.reinitialize(managed_memory=True)  " + f.comment("do.rmm_managed")}
		}},
	{id: FixCapSampleSize, source: "https://mmdetection.readthedocs.io/en/latest/notes/faq.html",
		kinds: training | evaluation | undecided, cost: 0.02,
		lives: map[string]float64{CauseValidationSpike: 0.95, CauseUnknown: 0.5, CauseDataSpike: 0.95},
		when: func(f *failure) bool {
			return f.triedGPU() && f.told(sampler.ToldOne) && f.phase() == sampler.PhaseValidation && slices.Contains([]string{"", sampler.DomainPictures, sampler.DomainPoints, sampler.DomainVideo}, f.domain()) && !f.generatesText()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "found" },
		do: func(f *failure) []string {
			return []string{f.comment("do.cap_found"), f.comment("do.found_pieces")}
		}},
	{id: FixCapSampleSize, source: "https://docs.pytorch.org/vision/stable/generated/torchvision.ops.nms.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseValidationSpike: 0.98, CauseTooBig: 0.97, CauseDataSpike: 0.97, CauseFragmentation: 0.85},
		when:    func(f *failure) bool { return f.suppresses() },
		reach:   always(1),
		variant: func(f *failure) string { return "boxes" },
		do: func(f *failure) []string {
			return []string{f.comment("do.cap_found"), f.comment("do.boxes_cpu")}
		}},
}

// mayBeLarger: what failed can have been a sample that is larger than the others, and there are lines in which that can be changed.
func (f *failure) mayBeLarger() bool {
	if f.toldSpikes() && f.ownLines() && !f.splats() && !f.noBatchHelps() {
		return true
	}
	return f.ownLines() && !f.decodesFirst() && !f.impossible() && !f.corrupt() && !f.noBatchHelps() && !f.splats() && !f.postProcesses() && f.phase() != sampler.PhaseSaving && f.phase() != sampler.PhaseLoading && (f.bigRequest() || f.lateTraining() && f.flat() || f.matchesBoxes() || f.slower() || f.larger() || f.saidLate() || f.toldLarger() || f.toldSame() || f.told(sampler.ToldGrowth) && f.differInLength())
}

// suppresses: boxes that overlap are left out, picture by picture, for which a bit is kept of each pair of them: 250,000 candidates take 7 GiB.
// https://github.com/pytorch/vision/blob/main/torchvision/csrc/ops/cuda/nms_kernel.cu
func (f *failure) suppresses() bool {
	names := f.context.Functions
	return !f.onHost() && f.bigRequest() && slices.ContainsFunc(names[max(0, len(names)-2):], func(name string) bool {
		return slices.Contains([]string{"nms", "batched_nms", "_batched_nms_vanilla", "_batched_nms_coordinate_trick", "non_max_suppression"}, name)
	})
}

// notOfSamples are parts of names of options that limit something else.
var notOfSamples = []string{"step", "epoch", "iter", "grad", "norm", "time", "hour", "keep", "save", "ckpt", "checkpoint", "retries", "restart", "worker", "job", "train_samples", "eval_samples", "lr"}

// unlimited is an option of the command that would limit what a sample has, and its value that limits nothing; empty: there is none.
func (f *failure) unlimited() string {
	for _, a := range f.command.Arguments() {
		if !strings.HasPrefix(a.Plain, "max_") || slices.ContainsFunc(notOfSamples, func(part string) bool { return strings.Contains(a.Plain, part) }) {
			continue
		}
		if slices.Contains([]string{"0", "-1", "none", "inf"}, strings.ToLower(a.Value)) {
			return a.Typed() + " " + a.Value
		}
	}
	return ""
}

// longestDocument is a length that most tasks of language models stay below, and that their long documents do not.
const longestDocument = "4096"

// shorterDocuments caps what lm-evaluation-harness reads of a document, in its own argument for that.
// https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md
func (f *failure) shorterDocuments() []string {
	set := "--model_args pretrained=…,max_length=" + longestDocument
	if a, found := f.command.Find("model_args"); found && !strings.Contains(a.Value, "max_length=") {
		set = f.command.Apply([]command.Edit{f.command.ReplaceValue(a, a.Value+",max_length="+longestDocument)})
	}
	return []string{set + "  " + f.comment("do.longest_cut"), f.comment("do.tasks_apart")}
}

// ownLines: what keeps the memory can be changed: a program of one's own, or the loop around a library that makes pictures.
func (f *failure) ownLines() bool {
	return !f.program.is(imageTool) || f.program.name == "diffusers" || f.program.name == "ldm"
}

// hugeAttention: a language model or a model that makes pictures asks in one piece for so much that it can only be the
// matrix of attention over all tokens (own thresholds: 8 GiB and two fifths of the GPU).
func (f *failure) hugeAttention() bool {
	if f.onHost() || !f.torchCode() || f.decodesPicture() || f.hearsSpeech() || f.told(sampler.ToldReadsPicture) {
		return false
	}
	large := f.impossible() || f.requested.Or(0) >= 8*sampler.GiB && f.total.Known() && f.requested.Or(0) > partOf(f.total.Or(0), 0.4)
	return large && (f.program.is(imageTool) && !f.convolves() && f.program.name != "upscaler" && f.requested.Or(0) > 2*f.total.Or(0) || f.generatesText() && len(f.context.Functions) == 0)
}

// sequenceOptions are options for the length of sequences.
var sequenceOptions = []string{"max_seq_length", "max_length", "max_seq_len", "cutoff_len", "model_max_length", "seq_length", "block_size",
	"max_completion_length"} // https://huggingface.co/docs/trl/grpo_trainer

// looseLimit is the command with the limit of a length near what the log prints in the end, where nothing comes near the limit that is set; nil: it does.
func (f *failure) looseLimit() []string {
	l := f.context.Larger
	if l == nil || l.Unit != "" || !strings.Contains(strings.ToLower(l.Name), "len") && !strings.Contains(strings.ToLower(l.Name), "token") {
		return nil
	}
	near := 64.0
	for near < l.To {
		near *= 2
	}
	lower := func(float64) float64 { return near }
	a, found := f.command.Find(sequenceOptions...)
	if v, err := strconv.ParseFloat(a.Value, 64); !found || err != nil || v/2 <= near {
		return nil
	}
	text, name, ok := f.command.WithLess(lower, sequenceOptions...)
	if !ok {
		return nil
	}
	return []string{text + "  " + f.comment("do.near_length", "name", name, "before", a.Value, "to", strconv.Itoa(int(l.To+0.5)))}
}

// ownLength: the known program has a setting of its own for it, which stands beside.
func (f *failure) ownLength() bool {
	return slices.ContainsFunc(f.ownLevers(FixCapSampleSize, 1), func(l tools.Lever) bool { return l.By == "length" })
}

// cutsSound: what is learned from are recordings. The options that cut texts to a number of tokens are none of a program that reads them.
func (f *failure) cutsSound() bool {
	return f.domain() == sampler.DomainAudio && !f.command.HasPlain(sequenceOptions...) && !f.ownLength()
}

func doShorterSequences(f *failure) []string {
	half := func(v float64) float64 { return max(128, float64(int(v/2/32)*32)) }
	if text, name, ok := f.command.WithLess(half, sequenceOptions...); ok {
		return []string{text + "  " + f.comment("do.size_option", "name", name)}
	}
	if f.cutsSound() {
		return []string{f.sampleAlone(), f.comment("do.or_batch")}
	}
	if f.ownLength() {
		return []string{f.comment("do.say.half_length")}
	}
	return []string{f.comment("do.half_length"), "--gradient_checkpointing True  " + f.comment("do.and_checkpoint")}
}

func doCapSampleSize(f *failure) []string {
	switch {
	case f.program.name == "lm_eval":
		return f.shorterDocuments()
	case f.hugeAttention() && f.program.name == "webui":
		return append([]string{"COMMANDLINE_ARGS=--xformers  " + f.comment("do.webui_args")}, doSmallerInput(f)...)
	case f.hugeAttention() && f.program.name == "comfyui":
		return append([]string{"python main.py --use-pytorch-cross-attention"}, doSmallerInput(f)...)
	case f.hugeAttention() && f.program.is(imageTool):
		return append([]string{"pip install -U xformers; pipe.enable_xformers_memory_efficient_attention()  " + f.comment("do.attention_broken")}, doSmallerInput(f)...)
	case f.hugeAttention() && !f.isServing():
		return []string{`from_pretrained(name, attn_implementation="flash_attention_2", torch_dtype=torch.bfloat16)  ` + f.comment("do.or_sdpa"),
			"torch.nn.functional.scaled_dot_product_attention(q, k, v)  " + f.comment("do.own_attention"), f.comment("do.shorter_samples")}
	case f.program.is(imageTool):
		return doSmallerInput(f)
	case f.isServing():
		return append([]string{"pip install flash-attn --no-build-isolation  " + f.comment("do.flash")}, f.turnKnobs(FixLimitRequests)...)
	}
	for _, names := range [][]string{sequenceOptions, {"imgsz", "img_size", "image_size", "crop_size", "resolution"}} {
		half := func(v float64) float64 {
			if v >= 64 {
				return float64(int(v/2/32) * 32)
			}
			return v
		}
		if text, name, ok := f.command.WithLess(half, names...); ok {
			return []string{text + "  " + f.comment("do.size_option", "name", name)}
		}
	}
	if f.impossible() {
		lines := []string{f.comment("do.smaller_at_once")}
		switch {
		case f.program.is(running|undecided) && f.words.Has("do.less."+f.domain()):
			lines = slices.Insert(lines, 0, f.lessInput()[0])
		case f.program.is(training) && f.eachSample() != "":
			lines = slices.Insert(lines, 0, f.sampleAlone())
		}
		if f.torchCode() {
			lines = append(lines, "torch.nn.functional.scaled_dot_product_attention(q, k, v)  "+f.comment("do.if_attention"))
		}
		if d := f.domain(); f.torchCode() && !f.attends() && !f.convolves() && (d == sampler.DomainAudio || d == sampler.DomainText) {
			lines = slices.Insert(lines, 1, f.comment("do.or_that", "what", f.words.Say("do.say.attention"))) // whose matrix is the square of the length
		}
		return lines
	}
	if f.servesItems() {
		less := f.lessInput()
		lines := []string{f.comment("do.largest_input"), less[len(less)-1]}
		if l := f.context.Larger; l != nil {
			lines[0] = f.comment("do.inputs_above", "name", l.Name, "to", plainNumber(l.To))
		}
		return lines
	}
	return []string{f.comment("do.log_size"), f.comment("do.bucket")}
}

// servesItems: a program that trains nothing had worked through many inputs, as the recording shows, and a larger one failed.
func (f *failure) servesItems() bool {
	return f.recorded() && (f.program.is(evaluation|inference|imageTool) || f.program.is(undecided) && (f.context.Larger != nil || f.phase() == "" && !f.context.Epoch.Known() && !f.context.Step.Known())) && f.late() && f.bigRequest()
}
