package explain

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nvpeak/sampler"
)

// fixRows is every fix there is, the cheap ones first: order breaks ties.
var fixRows = slices.Concat(
	fixesSharing, fixesCommunicators, fixesLanguage, fixesDevices, fixesOthers, fixesShare, fixesRollout, fixesVersion, fixesSituations, fixesAsked,
	fixesLarger, fixesAllocator, fixesArray, fixesValidatingGraph, fixesValidation, fixesWhole, fixesPairs, fixesComparing, fixesCapped, fixesPhotos,
	fixesMoved, fixesInference, fixesSaving, fixesGraph, fixesResumed, fixesGrowing, fixesAnswer, fixesBeyond, fixesInserting, fixesMATLAB, fixesModels,
	fixesResizing, fixesReloading, fixesAlike, fixesGraphPools, fixesTrials, fixesMerging, fixesExporting, fixesTools, fixesArrays, fixesData, fixesLeak,
	fixesBatch, fixesActivations, fixesCompiledStep, fixesLimit, fixesModel, fixesShard, fixesPinning, fixesLoaders, fixesHost, fixesHostLimit, fixesUnknown,
	fixesSnapshot, fixesWorks,
)

// scored is a fix with how much it promises.
type scored struct {
	row   fixRow
	score float64
	saves span
	known bool
}

// advise ranks the fixes by how likely the run survives with them: over the causes that are still
// possible, how likely each is, times how likely the fix helps under it, times the chance that the
// arithmetic of this failure gives it; less what it costs. What costs nothing and decides comes
// first, and nothing that is impossible in this kind of program comes at all.
func (f *failure) advise(causes []sampler.Cause) []sampler.Advice {
	weights := likelihoods(causes)
	wrong, little := f.corrupt() || f.beyondRAM(), f.ownIsLittle()
	var list []scored
	for _, row := range fixRows {
		if !f.program.is(row.kinds) || wrong && row.id != FixRecordRun && row.id != FixCapSampleSize || little && slices.Contains(followsOwn, row.id) || !f.possible(row) || !row.when(f) {
			continue
		}
		s := scored{row: row}
		if row.saves != nil {
			s.saves, s.known = row.saves(f)
		}
		survival := 0.0
		for _, c := range causes {
			if hostCause(c.ID) == f.onHost() || c.ID == CauseUnknown && f.beyondRAM() || f.hostPossible() && relievesHost(row.id) {
				survival += weights[c.ID] * f.livesUnder(row, c.ID)
			}
		}
		survival *= min(1, f.chance(s)) * f.untried(row.id) * f.leverShare(row.id) * f.curedShare(row.id)
		if f.program.is(undecided) && row.kinds&(training|inference) != training|inference {
			survival *= undecidedShare
		}
		if s.score = survival - row.cost*costWeight; survival > leastSurvival && (row.do == nil || !f.allInForce(row.do(f))) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	if len(list) == 0 {
		list = f.lastOf(causes)
	}
	list = f.saidOnce(f.othersSecond(onceEach(list)))
	out := []sampler.Advice{}
	for i, s := range list[:min(len(list), 7)] {
		if i > 0 && s.score < leastScore {
			break
		}
		if a := f.render(s, len(out)+1); !joinsLike(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// joinsLike: an advice is a form of the same measure as one before it, with the same command to be typed first. That takes what else is said of it.
func joinsLike(list []sampler.Advice, a sampler.Advice) bool {
	if len(a.Do) == 0 || !isCommand(a.Do[0]) {
		return false
	}
	i := slices.IndexFunc(list, func(before sampler.Advice) bool {
		return before.Measure() == a.Measure() && len(before.Do) > 0 && before.Do[0] == a.Do[0]
	})
	if i < 0 {
		return false
	}
	for _, line := range a.Do[1:] {
		if !slices.Contains(list[i].Do, line) {
			list[i].Do = append(list[i].Do, line)
		}
	}
	return true
}

// livesUnder is how likely a fix helps under a cause. A test of a model that is too big is cured as a validation is.
func (f *failure) livesUnder(row fixRow, cause string) float64 {
	if cause == CauseTooBig && f.testsOnly() {
		return max(row.lives[cause], row.lives[CauseValidationSpike])
	}
	return row.lives[cause]
}

// followsOwn are fixes that save a part of what the job itself holds.
var followsOwn = []string{FixHalveBatchAccumulate, FixGradientCheckpointing, FixAMPBF16, FixCapSampleSize, FixSmallerInput}

// othersSecond brings whoever holds more than was missing to the second place at least: to look is free, and would be enough. Where parts of the models wait
// in RAM already nothing else keeps the picture as it is, so that it comes first.
func (f *failure) othersSecond(list []scored) []scored {
	i := slices.IndexFunc(list, func(s scored) bool { return s.row.id == FixStopOtherProcess })
	m, known := f.shortfall()
	place := 1
	if f.program.is(imageTool) && f.told(sampler.ToldTried+"offload") {
		place = 0
	}
	if i <= place || !known || m == 0 || !f.othersMatter() || f.othersHold() < m {
		return list
	}
	row := list[i]
	return slices.Insert(slices.Delete(list, i, i+1), place, row)
}

// saidOnce leaves out a batch or an input below an advice that names both, where nothing but words tells of the failure.
func (f *failure) saidOnce(list []scored) []scored {
	if len(list) < 2 || f.numbers() || f.recorded() || f.tool != nil || f.batch() > 0 {
		return list
	}
	variant := func(s scored) string {
		if s.row.variant == nil {
			return ""
		}
		return s.row.variant(f)
	}
	again, id := []string{}, ""
	return slices.DeleteFunc(slices.Clone(list), func(s scored) bool {
		if s.row.id == id && !s.known && slices.Contains(again, variant(s)) {
			return true
		}
		switch s.row.id + " " + variant(s) {
		case FixSmallerInput + " batch":
			id, again = FixHalveBatchAccumulate, []string{"", "either", "inference", "sample"}
		case FixHalveBatchAccumulate + " either":
			id, again = FixSmallerInput, []string{"", "batch"}
		}
		return false
	})
}

// onceEach keeps the best of each fix: a fix with several rows is one piece of advice.
func onceEach(list []scored) []scored {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s scored) bool {
		again := seen[s.row.id]
		seen[s.row.id] = true
		return again
	})
}

const (
	// costWeight: a fix that costs much must be this much more likely to work to come first.
	costWeight = 1.0
	// undecidedShare: where nothing tells what kind of program failed, advice for one kind only is
	// possible in about half of the cases.
	undecidedShare = 0.55
	leastSurvival  = 0.04
	// widestSaving: a range wider than that helps nobody to choose, and is not said.
	widestSaving = 3
	// leastScore: what costs more than it promises is not said beside what helps.
	leastScore = -0.08
)

// likelihoods makes confidences, each said on its own, into shares of one whole. Their cubes: what
// is said with 0.9 beside 0.5 is meant as six to one.
func likelihoods(causes []sampler.Cause) map[string]float64 {
	shares, sum := map[string]float64{}, 0.0
	for _, c := range causes {
		p := c.Confidence * c.Confidence * c.Confidence
		shares[c.ID] += p
		sum += p
	}
	for id := range shares {
		shares[id] /= sum
	}
	return shares
}

// relievesHost: the fix is for host memory too where the message is of the GPU.
func relievesHost(id string) bool {
	return id == FixRaiseLimit || id == FixReduceDataLoaderWorkers || id == FixReducePinnedMemory || id == FixHalveBatchAccumulate
}

// hostCause: of host memory, which nothing on the GPU changes.
func hostCause(id string) bool { return id == CauseHostMemory || id == CauseSharedMemory }

// chance is how likely a fix is to be enough alone, as far as the numbers tell.
func (f *failure) chance(s scored) float64 {
	if s.row.reach != nil {
		return s.row.reach(f)
	}
	if !s.known {
		return 0.95
	}
	if _, known := f.shortfall(); !known {
		return 0.9
	}
	return s.saves.covers(f.needed())
}

// triedInVain are the fixes that a setting stands for of which somebody writes that changing it did not help.
var triedInVain = map[string][]string{
	"batch": {FixHalveBatchAccumulate}, "segments": {FixExpandableSegments}, "share": {FixCapPreallocation, FixRaiseLimit},
	"precision": {FixAMPBF16, FixHalfPrecision}, "checkpointing": {FixGradientCheckpointing}, "context": {FixShortenContext},
	"length": {FixShortenContext, FixCapSampleSize}, "model": {FixSmallerModel}, // of a size that was, the parts are left (lessInput)
	"workers": {FixReduceDataLoaderWorkers}, "inputs": {FixCapSampleSize}, "offload": {FixOffloadModel}, "item": {FixLeak}, "bits": {FixSmallerModel, FixHalfPrecision}, "bits8": {FixHalfPrecision}, "no_grad": {FixNoGradValidation, FixNoGradInference}, "shards": {FixSmallerModel},
}

// setLower are the fixes that make a value smaller of which it may be said that it runs when larger.
var setLower = []string{FixLimitRequests, FixShortenContext, FixHalveBatchAccumulate, FixCapSampleSize, FixSmallerInput}

// untried is 1, and less for what was tried in vain already.
func (f *failure) untried(id string) float64 {
	if id == FixStopOtherProcess && f.told(sampler.ToldAlone) && !f.numbers() {
		return 0.3 // whoever writes has looked
	}
	if f.entries() > 0 && (id == FixHalveBatchAccumulate || id == FixCapSampleSize) {
		return 0.6 // a row for each word is there whatever the batch is
	}
	if f.told(sampler.ToldLargerRuns) && slices.Contains(setLower, id) {
		return 0
	}
	if f.weightRefused() && slices.Contains(followsOwn, id) {
		return 0.4 // but for what the rest of the GPU holds
	}
	for setting, fixes := range triedInVain {
		if slices.Contains(fixes, id) && (f.told(sampler.ToldTried+setting) || setting == "bits" && f.shows(sampler.ShowsFourBits)) {
			if setting == "model" {
				return 0.2 // of a batch or a size there is mostly less, of models there are few
			}
			return 0.4
		}
	}
	return 1
}

// render writes a fix out.
func (f *failure) render(s scored, rank int) sampler.Advice {
	variant := ""
	if s.row.variant != nil {
		variant = s.row.variant(f)
	}
	var pairs []any
	if s.row.pairs != nil {
		pairs = s.row.pairs(f)
	}
	say := func(what string) string {
		id := "fix." + s.row.id + "." + what
		if variant != "" && f.words.Has(id+"."+variant) {
			id += "." + variant
		} else if f.expected && f.words.Has(id+".expected") {
			id += ".expected"
		}
		if f.triedSize() && f.words.Has(id+".parts") {
			return f.words.Say(id+".parts", pairs...)
		}
		less := "less." + f.domain()
		if f.triedParts() && f.tiled() {
			less = "less.tiled"
		}
		if f.words.Has(id+".less") && f.words.Has(less) && !f.triedSize() {
			return f.words.Say(id+".less", append(pairs, "less", f.words.Say(less))...)
		}
		return f.words.Say(id, pairs...)
	}
	a := sampler.Advice{ID: s.row.id, Rank: rank, Title: say("title"), Why: say("why"), Cost: say("cost"), Source: f.source(s.row), Do: []string{}}
	if big := f.toStop(); s.row.id == FixStopOtherProcess && big.PID > 0 && !f.workersShare() && f.copies() == nil {
		a.PID = sampler.Some(big.PID)
	}
	switch {
	case variant == "mining": // which names a larger GPU itself
	case rank > 1 && f.program.is(undecided) && slices.Contains(onlyTraining, s.row.id):
		a.Title = f.words.Say("title.if_trains", "title", lowered(a.Title))
	case s.row.id == FixSmallerInput && f.smallForRunning():
		a.Title = f.words.Say("title.or_cpu", "title", a.Title)
	case rank == 1 && f.smallest() && !f.takesSomeModels() && slices.Contains(followsOwn, s.row.id) && !strings.Contains(a.Title, f.words.Say("title.larger")):
		a.Title = f.words.Say("title.gpu_first", "title", lowered(f.firstHalf(a.Title)))
	case rank == 1 && (f.smallAnyway() || f.asksGPU()) && !f.takesSomeModels() && !(f.impossible() && !f.total.Known()) && // more than any GPU has
		slices.Contains(followsOwn, s.row.id) && !strings.Contains(a.Title, f.words.Say("title.larger")):
		a.Title = f.words.Say("title.or_gpu", "title", f.firstHalf(a.Title))
	}
	if s.known && s.saves.high > 0 && s.saves.high <= widestSaving*s.saves.low && s.saves.high <= f.total.Or(s.saves.high) { // nobody has more than the GPU to save
		a.Saves = sampler.Some(sampler.Range{Low: s.saves.low, High: s.saves.high})
	}
	if s.row.do != nil {
		a.Do = append(a.Do, f.existing(f.ofSystem(f.ofVendor(s.row.do(f))))...)
	}
	if variant != "back" { // which names the value
		f.withLevers(&a)
	}
	return a
}

// onlyTraining are fixes that a program has which trains, and no other. Of one that is not known they say so.
var onlyTraining = []string{FixGradientCheckpointing, FixAMPBF16, FixSmallerOptimizer}

// firstHalf is what a title says first, so that another way can stand beside it.
func (f *failure) firstHalf(title string) string {
	half, _, _ := strings.Cut(title, f.words.Say("title.half"))
	return half
}

// lowered is a title that goes on a sentence. Only English has letters of two cases here.
func lowered(title string) string {
	if r, size := utf8.DecodeRuneInString(title); unicode.IsUpper(r) {
		return string(unicode.ToLower(r)) + title[size:]
	}
	return title
}

// source is where a fix is described: that of the server or framework, where the fix is its option.
func (f *failure) source(row fixRow) string {
	switch {
	case row.id == FixSmallerInput && f.splats() && f.tool == nil:
		return sourceSplats
	case f.event.Kind == sampler.KindXPU && strings.HasPrefix(row.source, "https://docs.pytorch.org/docs/stable/") && strings.Contains(row.source, "cuda"):
		return "https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html"
	case f.hasKnob(row.id) && !f.onHost():
		return f.knob(row.id).source
	case row.id != FixRaiseLimit && row.id != FixCapPreallocation || f.onHost():
	case f.server() == "vllm":
		return "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html"
	case f.server() == "sglang":
		return "https://docs.sglang.ai/advanced_features/hyperparameter_tuning.html"
	case f.program.reserves() && f.hasKnob(FixLimitRequests):
		return f.knob(FixLimitRequests).source
	case f.event.Kind == sampler.KindXLA:
		return sourceJAX
	case f.event.Kind == sampler.KindMPS:
		return "https://docs.pytorch.org/docs/stable/mps_environment_variables.html"
	}
	return row.source
}
