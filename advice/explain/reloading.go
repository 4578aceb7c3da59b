package explain

import (
	"slices"

	"nvpeak/sampler"
)

// A program that loads a model in place of one it has holds both until the old one is gone, and a name that still has it keeps it.

// swapWords are parts of names of functions that put a new model in the place of one that serves until then.
var swapWords = []string{"swap", "rollover", "roll_over", "hot_load", "hot_reload", "load_new", "upgrade_model", "update_model"}

// swaps: it died while it brought a new model to the GPU beside the one that serves until the new one can: both are there by design, and if each new one
// is larger, so is each swap.
func (f *facts) swaps() bool {
	loads := f.context.Phase == sampler.PhaseLoading || slices.ContainsFunc(f.context.Code, bringsModel.Get().MatchString)
	return !f.onHost() && loads && f.inFunction(swapWords...) && !f.context.Epoch.Known() && f.allocated.Or(0) > f.total.Or(0)/2
}

// reloads: it died while it loaded a model anew, and what it held is more than that model has taken so far: the one before.
func (f *facts) reloads() bool {
	return !f.onHost() && f.phase() == sampler.PhaseLoading && f.inFunction("reload", "swap_model", "switch_model", "change_model", "refresh_model", "hot_swap", "hotswap") &&
		f.allocated.Or(0) > f.total.Or(0)/2
}

var causesReloading = []causeRow{
	{id: "reload", cause: CauseTooBig, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.reloads() || f.swaps() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.9) },
		evidence:   func(f *failure) string { return f.words.Say("why.reload", "allocated", gib(f.allocated.Or(0))) }},
}

var fixesReloading = []fixRow{
	{id: FixShardOrOffload, source: "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseDataSpike: 0.9, CauseLeak: 0.7, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.swaps() },
		reach:   always(1),
		variant: func(f *failure) string { return "swap" },
		do: func(f *failure) []string {
			return []string{`new = load_model(path, map_location="cpu")  ` + f.comment("do.swap_in_ram") + "\nold = None; gc.collect(); torch.cuda.empty_cache(); new.to(\"cuda\")  " + f.comment("do.swap_drop"), f.comment("do.swap_bits")}
		}},
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.95, CauseLeak: 0.9, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.reloads() && !f.swaps() },
		reach:   always(1),
		variant: func(f *failure) string { return "reload" },
		do: func(f *failure) []string {
			return []string{"self.model = None; gc.collect(); torch.cuda.empty_cache()  " + f.comment("do.before_load"),
				`self.model.load_state_dict(torch.load(path, map_location="cpu"))  ` + f.comment("do.same_model")}
		}},
}
