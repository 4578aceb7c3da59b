package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// growsByDesign: the program adds to what it fits as it goes on, as gaussians are split, so that growth is no leak.
func (f *job) growsByDesign() bool {
	return f.tool != nil && f.tool.Grows || f.splats() || f.unfreezes() || f.counted() != nil || f.fillsIndex()
}

// unfreezes: the command says that layers are trained one after another.
func (f *job) unfreezes() bool {
	return slices.ContainsFunc(f.command.Arguments(), func(a command.Argument) bool { return strings.Contains(a.Plain, "unfreez") })
}

// causesGrowing: growth that is meant.
var causesGrowing = []causeRow{
	{id: "growth", cause: CauseTooBig, reason: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		when: func(f *failure) bool {
			_, _, steady := f.growth()
			return !f.onHost() && (steady || f.counted() != nil && (f.toldOfGrowth() || !f.recorded())) && f.growsByDesign()
		},
		confidence: func(f *failure) float64 {
			if !f.recorded() {
				return f.unlessOthers(0.66) // that memory rose with what is counted is not seen
			}
			return f.unlessOthers(0.88)
		},
		evidence: func(f *failure) string {
			first, last, _ := f.growth()
			if f.counted() != nil {
				return f.countedText(first, last)
			}
			if f.fillsIndex() {
				return f.words.Say("why.grows_index", "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)))
			}
			return f.words.Say("why.grows_by_design", "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)))
		}},
	{id: "unfrozen", cause: CauseTooBig, reason: "https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.callbacks.BackboneFinetuning.html",
		when:       func(f *failure) bool { return f.unfreezes() && f.leapt() && !f.onHost() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.88) },
		evidence: func(f *failure) string {
			return f.words.Say("why.unfrozen", "before", gib(slices.Max(f.history.Peaks)), "held", gib(f.process.Or(0)))
		}},
	{id: "cache", cause: CauseDataSpike, reason: "https://huggingface.co/docs/transformers/kv_cache",
		when:       func(f *failure) bool { return f.joinsTokens() && f.leapt() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.85) },
		evidence: func(f *failure) string {
			return f.words.Say("why.cache_leapt", "before", gib(slices.Max(f.history.Peaks)), "held", gib(f.process.Or(0)))
		}},
	{id: "cache", cause: CauseTooBig, reason: "https://huggingface.co/docs/transformers/kv_cache",
		when: func(f *failure) bool {
			return f.writesLong() || f.joinsTokens() && !f.leapt() && !f.servesItems() && f.beyond() == nil
		},
		confidence: func(f *failure) float64 {
			if f.writesLong() {
				return f.unlessOthers(0.85)
			}
			if f.stoodNearTop() && f.fitsAfterReuse() && f.unallocatedShare() >= 0.1 {
				return f.unlessOthers(0.6)
			}
			return f.unlessOthers(0.72)
		},
		evidence: func(f *failure) string { return f.words.Say("why.cache_grows") }},
}

// stoodNearTop: for a third of the time that was watched, and not in its end alone, the process held nearly as much as it ever did (own thresholds).
func (f *failure) stoodNearTop() bool {
	peaks := f.stretches()
	n := len(peaks)
	if n < 8 {
		return false
	}
	near, most := 0, slices.Max(peaks)
	for _, p := range peaks[:n-2] {
		if p >= partOf(most, 0.9) {
			near++
		}
	}
	return near >= n/3
}

// joinsTokens: the keys and values of one more token were joined to those so far. The next token asks for a little more, and each layer does: that one of
// these requests fits packed helps for some tokens. On an H100 8 GiB lay in holes between 70 GiB of keys and values that would have become 160
// (testdata/h100, 23).
func (f *failure) joinsTokens() bool {
	return !f.onHost() && f.inFile("transformers/cache_utils.py") && f.inFunction("update") && f.generatesText() && f.phase() != sampler.PhaseTraining
}

// keptCache is a call that is given the keys and values of what was said before, which its caller keeps from answer to answer.
var keptCache = sampler.Pattern{Source: `\bpast_key_values\s*=\s*(?:self\.|\w*(?:cache|past|kv|memory|state))`}

// converses: an agent or a chat goes on with the keys and values of all that was said before. There is one sequence, which each turn makes longer.
func (f *facts) converses() bool {
	return !f.onHost() && f.joinsKeys() && slices.ContainsFunc(f.context.Code, keptCache.Get().MatchString) && !f.inBackward() && !f.inFunction("train")
}

// fixesGrowing keep in RAM what need not lie beside that, or keep less of what becomes more.
var fixesGrowing = []fixRow{
	{id: FixCapSampleSize, source: "https://huggingface.co/docs/transformers/kv_cache",
		kinds: evaluation | inference | undecided, cost: 0.03,
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseTooBig: 0.97, CauseFragmentation: 0.85, CauseLeak: 0.7, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.converses() },
		reach:   always(1),
		variant: func(f *failure) string { return "turns" },
		do:      func(f *failure) []string { return []string{f.comment("do.cap_context"), f.comment("do.cap_turns")} }},
	{id: FixSmallerOptimizer, source: sourceLBFGS,
		kinds: training | undecided, cost: 0.02, work: true, // whatever it solves, its history is the optimizer's
		lives:   map[string]float64{CauseTooBig: 0.98, CauseFragmentation: 0.85, CauseLeak: 0.7, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.keepsHistory() },
		reach:   always(1),
		variant: func(f *failure) string { return "history" },
		pairs:   (*failure).countedPairs,
		do: func(f *failure) []string {
			if text := f.cappedCount(); text != "" {
				return []string{text}
			}
			return []string{"torch.optim.LBFGS(params, history_size=" + strconv.Itoa(f.fewerCounted()) + ")"}
		}},
	{id: FixCapSampleSize, source: sourceAnatomy,
		kinds: ownCode | running, cost: 0.02, work: true,
		lives: map[string]float64{CauseTooBig: 0.97, CauseFragmentation: 0.85, CauseDataSpike: 0.85, CauseLeak: 0.5, CauseUnknown: 0.6},
		when: func(f *failure) bool {
			return f.counted() != nil && !f.keepsHistory() && !f.fillsIndex() && f.phase() != sampler.PhaseSaving // there the copy is what is too much
		},
		reach:   always(1),
		variant: func(f *failure) string { return "counted" },
		pairs:   (*failure).countedPairs,
		do: func(f *failure) []string {
			if text := f.cappedCount(); text != "" {
				return []string{text, f.comment("do.free_counted")}
			}
			return []string{f.comment("do.cap_counted"), f.comment("do.free_counted")}
		}},
	{id: FixCapSampleSize, source: "https://huggingface.co/docs/transformers/kv_cache",
		kinds: evaluation | inference | undecided, cost: 0.05,
		lives:   map[string]float64{CauseDataSpike: 0.97},
		when:    func(f *failure) bool { return f.joinsTokens() && f.leapt() },
		reach:   always(1),
		variant: func(f *failure) string { return "request" },
		do:      func(f *failure) []string { return []string{f.comment("do.cap_request")} }},
	{id: FixShardOrOffload, source: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		kinds: training | undecided, cost: 0, // a copy in each step
		lives:   map[string]float64{CauseTooBig: 0.98, CauseFragmentation: 0.9, CauseDataSpike: 0.8, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.fitsPictures() },
		reach:   always(1),
		variant: func(f *failure) string { return "pictures" },
		do: func(f *failure) []string {
			return []string{f.offloadLine() + "  " + f.comment("do.pictures_in_ram"), f.comment("do.fewer_gaussians")}
		}},
}

// fitsPictures: it grew by design beside pictures that could wait in RAM.
func (f *failure) fitsPictures() bool {
	_, _, steady := f.growth()
	return steady && f.growsByDesign() && f.offloadLever() != "" && !f.onHost()
}

// offloadLever is the option by which the program leaves in RAM what need not lie on the GPU; "" where it has none, or has it set.
func (f *failure) offloadLever() string {
	if f.tool == nil {
		return ""
	}
	for _, l := range f.tool.Levers {
		option, value, _ := strings.Cut(l.Type, " ")
		if l.Of != tools.Offload || !strings.HasPrefix(option, "--") {
			continue
		}
		if text, ok := f.command.WithOption(option, value); !ok && f.command.Known || text == f.command.Text {
			return ""
		}
		return l.Type
	}
	return ""
}

// offloadLine is the command with that option, or the option alone.
func (f *failure) offloadLine() string {
	option, value, _ := strings.Cut(f.offloadLever(), " ")
	if text, ok := f.command.WithOption(option, value); ok {
		return text
	}
	return f.offloadLever()
}
