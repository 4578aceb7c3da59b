package explain

import (
	"slices"

	"nvpeak/sampler"
)

// causeRows is every rule there is. Order breaks ties between causes of one confidence.
var causeRows = slices.Concat(
	causesHost, causesPinning, causesLanguage, causesDevices, causesElsewhere, causesSharing, causesLimit, causesRollout, causesCommunicators,
	causesExperts, causesSpread, causesFragmentation, causesPhase, causesValidatingGraph, causesArray, causesPairs, causesGraph, causesResumed, causesGrowing,
	causesBeyond, causesInserting, causesResizing, causesModels, causesTrials, causesMerging, causesExporting, causesReloading, causesAlike,
	causesGraphPools, causesCapacity, causesTold, causesCured, causesPhotos, causesUnknown, causesSnapshot,
)

// causes weighs what the message, the recording and the alerts say, surest cause first.
func (f *failure) causes() []sampler.Cause {
	list := withAlerts(f.applyRows(), f.alertCauses())
	f.weigh(list)
	f.byCure(list)
	f.bySnapshot(list)
	surestFirst(list)
	return list
}

const (
	// expectedWeight: an unusual batch is a surprise; what was alerted before was none.
	expectedWeight = 0.6
	// reusableWeight: growth that is mostly reserved but unallocated is fragmentation, whatever
	// it looks like from outside.
	reusableWeight  = 0.5
	disprovedWeight = 0.4
	levelledWeight  = 0.6
	// demandFirst: in validation more is asked for than in training, so that it would fit packed is
	// not why it died, whatever was alerted.
	demandFirst = 0.5
	// withinSure is how surely a leak is what grows within one validation, and goes with its end.
	withinSure = 0.6
	// slowerWeight: a step that takes longer and longer, or is said to be larger, works on more and more; what leaks costs no time.
	slowerWeight = 0.5
	// announcedWeight: what the log announces is neither an odd batch nor a leak.
	announcedWeight = 0.5
)

// weigh lets the message and the recording correct each other. From outside a leak and
// fragmentation look the same; the message tells them apart. From the message a spike looks
// like an unusual batch; the recording tells whether it was.
func (f *failure) weigh(list []sampler.Cause) {
	if f.history == nil && !f.heldMore() && !f.changed() && !f.slower() && !f.larger() && f.beyond() == nil {
		return
	}
	_, _, steady := f.growth()
	for i := range list {
		switch c := &list[i]; {
		case c.ID == CauseLeak && f.beyond() != nil:
			c.Confidence *= slowerWeight // one piece of work is larger than all before, and what they took was given back
		case c.ID == CauseLeak && f.tablesGrow():
			c.Confidence = min(c.Confidence, withinSure) // what all ranks run would leak on all of them
		case c.ID == CauseLeak && f.unevenExperts() > 0:
			c.Confidence *= slowerWeight // the router gives this GPU more and more; what leaks does so on all
		case (c.ID == CauseLeak || c.ID == CauseDataSpike) && f.heldMore() && f.fitsAfterReuse():
			c.Confidence *= disprovedWeight
		case c.ID == CauseLeak && f.full() != nil && f.fitsAfterReuse() && f.unallocatedShare() >= 0.05:
			c.Confidence *= disprovedWeight // what it keeps has a limit, and was there long before
		case c.ID == CauseLeak && f.printsAllocated() && !f.tensorsGrew():
			c.Confidence *= disprovedWeight // the log shows that tensors did not grow
		case c.ID == CauseLeak && f.peaksAlone():
			c.Confidence *= disprovedWeight // what stayed when the cache was emptied did not
		case c.ID == CauseLeak && (f.swaps() || f.converses()):
			c.Confidence = min(c.Confidence, demandFirst) // each new model, or each turn of a conversation, comes to what is there by design
		case c.ID == CauseLeak && f.asksAgain(): // it has asked for as much before, and kept it
		case c.ID == CauseLeak && f.climbsWithin():
			c.Confidence = min(c.Confidence, withinSure)
		case c.ID == CauseLeak && f.grewUnallocated():
			c.Confidence *= reusableWeight
		case c.ID == CauseLeak && (f.encodesToGPU() || f.joinsAll()): // a cache that gives way hides what is kept
		case c.ID == CauseLeak && f.demandsMuch() && (f.phase() == sampler.PhaseValidation || !f.tensorsGrew() && !f.joinsOnto()) && !f.joinsKept() && !f.gathersOutputs():
			c.Confidence = min(c.Confidence, demandFirst) // what is kept is in small pieces, and this one is not
		case c.ID == CauseLeak && f.asksAsMuch() && !f.joinsKept() && !f.joinsOnto() && f.phase() != sampler.PhaseValidation:
			c.Confidence = min(c.Confidence, demandFirst)
		case c.ID == CauseLeak && f.levelledOff() && !steady && !f.grewUntilFull() && !f.poolDoubled() && !f.climbsStairs() && !f.risesLate() && !f.groupsPile() && f.trialsPile() < 0.9: // trials add in few steps, and a pool in fewer
			c.Confidence *= levelledWeight
		case c.ID == CauseFragmentation && f.phase() == sampler.PhaseValidation && !f.mostlyHoles():
			c.Confidence = min(c.Confidence, demandFirst)
		}
	}
	expected := slices.ContainsFunc(list, func(c sampler.Cause) bool {
		return c.Confidence >= 0.6 && (c.ID == CauseValidationSpike || c.ID == CauseLeak || c.ID == CauseOtherProcess || c.ID == CauseImbalance && f.toldOfImbalance() && !f.bigRequest()) // an ordinary request, which the other ranks had room for
	})
	for i := range list {
		c := &list[i]
		if c.ID == CauseDataSpike && expected && !f.slower() && !f.larger() && f.beyond() == nil {
			c.Confidence *= expectedWeight
		}
		if c.ID == CauseLeak && (f.slower() || f.larger()) && !(f.tensorsGrew() && f.printsAllocated()) {
			c.Confidence *= slowerWeight
		}
		if (c.ID == CauseDataSpike || c.ID == CauseLeak && !f.tensorsGrew()) && f.changed() {
			c.Confidence *= announcedWeight
		}
	}
}

// withoutModels are what simulates, refines or reads tables.
var withoutModels = []string{"relion", "rmm", "amrex", "cupy", "thrust", "colmap", "opencl", "physx", "alpaka"}

// alertCauses are those of the alerts before the failure. What came back again and again in
// training, in a program that only runs a model, or in one that has none was no validation: larger batches.
func (f *failure) alertCauses() []sampler.Cause {
	list := AlertCauses(f.alerts)
	for i := range list {
		if list[i].ID == CauseValidationSpike && (f.phase() == sampler.PhaseTraining || f.program.is(inference|server|imageTool) || !f.has(validation) || slices.Contains(withoutModels, f.event.Framework)) {
			list[i].ID = CauseDataSpike
			if f.toldOfImbalance() {
				list[i].Confidence *= expectedWeight // the same would fit on the other GPUs of the job
			}
		}
		if list[i].ID == CauseLeak && f.unevenDomains() {
			list[i].Confidence *= expectedWeight // what has gathered there was elsewhere before
		}
		if list[i].ID == CauseLeak && f.beyond() != nil {
			list[i].ID = CauseDataSpike // it rose within that piece
		}
		if list[i].ID == CauseLeak && (f.growsByDesign() || f.joinsTokens() || f.writesLong()) {
			list[i].ID = CauseTooBig
		}
	}
	return list
}

// applyRows are the causes that the message and the recording give.
func (f *failure) applyRows() []sampler.Cause {
	var list []sampler.Cause
	for _, rule := range causeRows {
		if f.unrefused() && rule.id != "snapshot" || !rule.when(f) {
			continue
		}
		p := rule.confidence(f)
		if p <= 0 {
			continue
		}
		i := slices.IndexFunc(list, func(c sampler.Cause) bool { return c.ID == rule.cause })
		if i < 0 {
			i = len(list)
			list = append(list, sampler.Cause{ID: rule.cause, Evidence: []string{}, Numbers: f.numbersFor(rule.cause)})
		}
		if p > list[i].Confidence {
			list[i].Confidence, list[i].Form = p, rule.form
		}
		if text := rule.evidence(f); !slices.Contains(list[i].Evidence, text) { // rules may say the same
			list[i].Evidence = append(list[i].Evidence, text)
		}
	}
	if len(list) == 0 {
		list = append(list, sampler.Cause{ID: CauseUnknown, Confidence: 0.3, Evidence: []string{f.words.Say("why.unknown")}, Numbers: f.numbersFor(CauseUnknown)})
	}
	surestFirst(list)
	return list
}

// numbersFor is the arithmetic behind a cause, in bytes unless the key says otherwise.
func (f *failure) numbersFor(cause string) map[string]float64 {
	n := map[string]float64{}
	put := func(key string, v amount) {
		if b, known := v.Value(); known {
			n[key] = float64(b)
		}
	}
	if f.onHost() {
		put("requested_bytes", f.requested)
		return n
	}
	put("requested_bytes", f.requested)
	put("total_bytes", f.total)
	put("free_bytes", f.free)
	put("allocated_bytes", f.allocated)
	put("holes_bytes", f.unallocated)
	put("outside_bytes", f.outside)
	put("elsewhere_bytes", f.elsewhere)
	if m, ok := f.shortfall(); ok {
		n["missing_bytes"] = float64(m)
		if f.unallocated.Known() {
			s, _ := f.shortfallAfterReuse()
			n["short_bytes"] = float64(s)
		}
	}
	if f.footprint.known && (cause == CauseTooBig || cause == CauseValidationSpike || cause == CauseDataSpike || cause == CauseLeak) {
		n["parameters"] = float64(f.footprint.parameters)
		n["states_bytes"] = float64(f.footprint.states.low)
		n["activations_bytes"] = float64(f.footprint.activations.mid())
		if allocated := f.allocated.Or(0); allocated > 0 {
			n["activations_percent"] = 100 * float64(f.footprint.activations.mid()) / float64(allocated)
		}
	}
	if first, last, steady := f.growth(); steady && cause == CauseLeak {
		n["first_peak_bytes"], n["last_peak_bytes"] = first, last
	}
	return n
}

// TopCause is the id of the surest cause.
func TopCause(causes []sampler.Cause) string {
	if len(causes) == 0 {
		return CauseUnknown
	}
	return causes[0].ID
}
