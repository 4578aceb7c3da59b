package explain

import "nvpeak/sampler"

const (
	// severalTrials of a search were over: of the first ones each may be the largest so far.
	severalTrials = 3
	// trialsRise is how much more a process held in the end than in its first quarter where the models of its trials stay (own threshold).
	trialsRise = 1.25
)

// searches: a search for settings trained several models, one after another, in this process.
func (f *facts) searches() bool {
	return f.context.Trials.Or(0) >= severalTrials && !f.onHost() && f.class.class != classServing
}

// trialsPile is how sure it is that models of earlier trials fill the GPU.
func (f *failure) trialsPile() float64 {
	if !f.searches() {
		return 0
	}
	peaks := f.stretches()
	n := len(peaks)
	switch {
	case f.told(sampler.ToldModelsKept):
		return f.unlessOthers(0.9)
	case n < 4:
		return f.unlessOthers(0.66)
	case float64(peaks[n-1]) >= trialsRise*float64(peaks[n/4]):
		return f.unlessOthers(0.9)
	}
	return 0.3 // the trials before it left nothing
}

// foldsPile is how sure it is that models of earlier folds of a cross-validation fill the GPU: each of them is like the others.
func (f *failure) foldsPile() float64 {
	peaks := f.stretches()
	n := len(peaks)
	if f.context.Fold.Or(0) < severalTrials || n < 4 || f.onHost() || f.searches() || !f.program.is(ownCode) || f.bigRequest() || float64(peaks[n-1]) < trialsRise*float64(peaks[n/4]) {
		return 0
	}
	return f.unlessOthers(0.9)
}

var causesTrials = []causeRow{
	{id: "folds", cause: CauseLeak, reason: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		when:       func(f *failure) bool { return f.foldsPile() > 0 },
		confidence: func(f *failure) float64 { return f.foldsPile() },
		evidence:   func(f *failure) string { return f.words.Say("why.folds", "count", f.context.Fold.Or(0)) }},
	{id: "trials", cause: CauseLeak, reason: "https://optuna.readthedocs.io/en/stable/faq.html#how-do-i-avoid-running-out-of-memory-oom-when-optimizing-studies",
		when:       func(f *failure) bool { return f.searches() },
		confidence: func(f *failure) float64 { return f.trialsPile() },
		evidence:   func(f *failure) string { return f.words.Say("why.trials", "count", f.context.Trials.Or(0)) }},
}

var fixesTrials = []fixRow{
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.01,
		lives:   map[string]float64{CauseLeak: 0.98, CauseFragmentation: 0.6, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.foldsPile() > 0 },
		reach:   always(1),
		variant: func(f *failure) string { return "folds" },
		do: func(f *failure) []string {
			if f.torchCode() {
				return []string{"del model, optimizer; gc.collect(); torch.cuda.empty_cache()  " + f.comment("do.end_of_fold"), f.comment("do.process_each_fold")}
			}
			return []string{f.comment("do.process_each_fold")}
		}},
	{id: FixLeak, source: "https://optuna.readthedocs.io/en/stable/faq.html#how-do-i-avoid-running-out-of-memory-oom-when-optimizing-studies",
		kinds: ownCode, cost: 0.01,
		lives:   map[string]float64{CauseLeak: 0.98, CauseFragmentation: 0.6, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.searches() },
		reach:   always(1),
		variant: func(f *failure) string { return "trials" },
		do: func(f *failure) []string {
			switch {
			case f.event.Framework == "tensorflow":
				return []string{"tf.keras.backend.clear_session(); gc.collect()  " + f.comment("do.each_trial"), f.comment("do.process_each_trial")}
			case f.torchCode():
				return []string{"del model, optimizer; gc.collect(); torch.cuda.empty_cache()  " + f.comment("do.end_of_trial"), f.comment("do.process_each_trial")}
			}
			return []string{f.comment("do.process_each_trial")}
		}},
	{id: FixCapSampleSize, source: "https://optuna.readthedocs.io/en/stable/tutorial/10_key_features/002_configurations.html",
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CauseDataSpike: 0.97, CauseTooBig: 0.85, CauseLeak: 0.5, CauseUnknown: 0.5}, // of smaller ones more fit
		when:    func(f *failure) bool { return f.searches() && f.inTraining() },
		reach:   always(1),
		variant: func(f *failure) string { return "search" },
		do:      func(f *failure) []string { return []string{f.comment("do.cap_search"), f.comment("do.prune_oom")} }},
}
