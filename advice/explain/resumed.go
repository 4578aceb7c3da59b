package explain

import (
	"strings"

	"nvpeak/sampler"
)

// resumesRun: the log or the command says that the training goes on from a checkpoint.
func (f *job) resumesRun() bool {
	if f.context.Resumed {
		return true
	}
	if a, found := f.command.Find("init_from"); found && a.Value == "resume" {
		return true // of nanoGPT and what is made from it
	}
	a, found := f.command.Find("resume", "resume_from", "resume_path")
	return found && (strings.ContainsAny(a.Value, "/.") || strings.Contains(a.Value, "ckpt") || strings.Contains(a.Value, "checkpoint"))
}

// diesResumed: a training that ran before dies soon after it was resumed: what it has more of than then is the checkpoint. Where it
// runs on another machine or with other versions that is not so.
func (f *failure) diesResumed() bool {
	if !f.resumesRun() || !f.inTraining() || !f.isPyTorch() || f.onHost() || f.crowded() || f.ranksLoad() || f.limited() || f.told(sampler.ToldMachines) || f.told(sampler.ToldUpdate) || f.changed() {
		return false
	}
	if f.footprint.known && f.footprint.states.high < f.allocated.Or(0)/3 {
		return false // a second copy of weights and optimizer is not what fills it
	}
	if f.history != nil {
		return f.startingUp()
	}
	return f.command.Known && f.numbers() && !f.context.Step.Known() && !f.context.Epoch.Known() && len(f.context.Functions) > 0 && !f.othersMatter()
}

var causesResumed = []causeRow{
	{id: "resumed", cause: CauseTooBig, form: "checkpoint", reason: "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
		when:       func(f *failure) bool { return f.diesResumed() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.9) },
		evidence:   func(f *failure) string { return f.words.Say("why.resumed") }},
}

var fixesResumed = []fixRow{
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
		kinds: training | undecided, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.95, CauseLeak: 0.95, CauseFragmentation: 0.85, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.diesResumed() },
		reach:   always(1),
		variant: func(f *failure) string { return "resumed" },
		do: func(f *failure) []string {
			return []string{`checkpoint = torch.load(path, map_location="cpu")  ` + f.comment("do.load_then_free"),
				`model.load_state_dict(checkpoint["model"]); optimizer.load_state_dict(checkpoint["optimizer"]); del checkpoint  ` + f.comment("do.free_checkpoint")}
		}},
}
