package explain

import "nvpeak/sampler"

const sourceSnapshot = "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html"

// causesSnapshot read a memory snapshot of PyTorch, which names the line.
var causesSnapshot = []causeRow{
	{id: "snapshot", cause: CauseValidationSpike, reason: sourceSnapshot,
		when: func(f *failure) bool { _, _, ok := f.validationHolds(); return ok },
		confidence: func(f *failure) float64 {
			if sum, _, _ := f.validationHolds(); 2*sum > f.live() || f.refusedSite().Validation != "" {
				return 0.93
			}
			return 0.7
		},
		evidence: func(f *failure) string {
			sum, h, _ := f.validationHolds()
			if sum == 0 {
				return f.words.Say("torch.validation_refused", "line", f.lineText(h.TorchSite), "where", h.Validation)
			}
			return f.words.Say("torch.validation", "line", f.lineText(h.TorchSite), "size", gib(h.Bytes), "blocks", h.Blocks, "where", h.Validation, "all", gib(sum))
		}},
	{id: "snapshot", cause: CauseValidationSpike, reason: sourceSnapshot,
		when: func(f *failure) bool {
			_, _, named := f.validationHolds()
			_, besides := f.besides()
			return besides && !named
		},
		confidence: func(f *failure) float64 {
			if l, _ := f.besides(); l.Cycles > 0 && l.Blocks < keptBlocks {
				return 0.7 // another part of the training, with larger inputs, looks like that as well
			}
			return 0.86
		},
		evidence: func(f *failure) string {
			l, _ := f.besides()
			if l.Cycles == 0 {
				return f.words.Say("torch.new_line", "line", f.lineText(l.TorchSite), "size", gib(l.Rise), "blocks", l.Blocks, "count", f.snapshot.Trace.Steps)
			}
			return f.words.Say("torch.besides", "line", f.lineText(l.TorchSite), "size", gib(l.Rise), "usual", gib(l.Usual), "count", l.Cycles, "where", l.Caller)
		}},
	{id: "piles", cause: CauseLeak, reason: sourceSnapshot,
		when:       func(f *failure) bool { _, ok := f.piles(); return ok },
		confidence: always(0.9),
		evidence: func(f *failure) string {
			h, _ := f.piles()
			return f.words.Say("torch.piles", "line", f.lineText(h.TorchSite), "size", gib(h.Bytes), "blocks", h.Blocks, "percent", percentOf(h.Bytes, f.live()))
		}},
	{id: "snapshot", cause: CauseLeak, reason: sourceSnapshot,
		when: func(f *failure) bool { _, ok := f.leaking(); return ok },
		confidence: func(f *failure) float64 {
			l, _ := f.leaking()
			size, _ := f.kept(l)
			switch {
			case f.leakSteps() == 0:
				return 0.65
			case f.inHoles() && f.heldBy(l).Bytes < f.unallocated.Or(0)/2 && !f.fitsWithout(l):
				return 0.6 // there is more between what was kept than in it
			case f.largerThan(l):
				return 0.7
			case size*10 > f.live(), f.requested.Known() && size >= f.shortfallOr0():
				return 0.92 // without it the request had fitted
			}
			return 0.7
		},
		evidence: func(f *failure) string { return f.leakText() }},
	{id: "snapshot", cause: CauseDataSpike, reason: sourceSnapshot,
		when: func(f *failure) bool { _, ok := f.spiking(); return ok },
		confidence: func(f *failure) float64 {
			l, _ := f.spiking()
			if _, besides := f.besides(); besides || l.Rise*10 <= f.live() && f.fitsAfterReuse() {
				return 0.6
			}
			return 0.89
		},
		evidence: func(f *failure) string {
			l, _ := f.spiking()
			if t := f.snapshot.Trace; t.StepUsual > 0 {
				id := "torch.spike_step"
				if l.Live == 0 {
					id = "torch.spike_refused"
				}
				return f.words.Say(id, "line", f.lineText(l.TorchSite), "size", gib(l.Rise), "rise", gib(t.StepRise), "usual", gib(t.StepUsual), "need", printed(f.requested.Or(0)))
			}
			if float64(l.Rise) > spikeRise*float64(l.Usual) {
				return f.words.Say("torch.spike", "line", f.lineText(l.TorchSite), "size", gib(l.Rise), "usual", gib(l.Usual), "count", l.Cycles)
			}
			oom := f.snapshot.Trace.OOM
			return f.words.Say("torch.spike_request", "line", f.lineText(l.TorchSite), "need", printed(oom.Requested), "usual", printed(oom.Usual), "count", oom.Requests)
		}},
	{id: "snapshot", cause: CauseFragmentation, reason: sourceNotes,
		when: func(f *failure) bool {
			return f.inHoles() && !f.notFragmented()
		},
		confidence: func(f *failure) float64 {
			l, leak := f.leaking()
			switch {
			case f.expandable(), f.asksForMore() && !f.roomForTwo():
				return 0.3
			case f.asksForMore():
				return 0.5 // that it fits into the holes does not make them the reason: what comes next would not
			case leak && f.heldBy(l).Bytes >= f.unallocated.Or(0)/2:
				return 0.6 // what is kept keeps its segments too
			}
			return 0.9
		},
		evidence: func(f *failure) string {
			text := f.words.Say("torch.holes", "split", gib(f.unallocated.Or(0)), "largest", gib(f.snapshot.LargestFree), "need", printed(f.requested.Or(0)),
				"line", f.lineText(f.refusedSite()))
			if len(f.snapshot.Pins) > 0 {
				pin := f.snapshot.Pins[0]
				text += f.words.Say("detail.space") + f.words.Say("torch.pins", "line", f.lineText(pin.TorchSite), "size", gib(pin.Bytes), "blocks", pin.Blocks)
			}
			return text
		}},
	{id: "snapshot", cause: CauseTooBig, reason: sourceAnatomy,
		when: func(f *failure) bool { _, _, ok := f.optimizerHolds(); return ok && !f.unrefused() },
		confidence: func(f *failure) float64 {
			switch {
			case f.refusedSite().Optimizer:
				return 0.91
			case f.otherFinding():
				return 0.38
			}
			return 0.85
		},
		evidence: func(f *failure) string {
			sum, h, _ := f.optimizerHolds()
			if sum == 0 {
				return f.words.Say("torch.optimizer_refused", "line", f.lineText(h.TorchSite))
			}
			return f.words.Say("torch.optimizer", "line", f.lineText(h.TorchSite), "size", gib(sum), "blocks", h.Blocks, "percent", percentOf(sum, f.live()))
		}},
	{id: "snapshot", cause: CauseTooBig, reason: sourceSnapshot,
		when: func(f *failure) bool {
			_, _, optimizer := f.optimizerHolds()
			return f.snapshot != nil && !optimizer && !f.unrefused() && len(f.holders()) > 0
		},
		confidence: func(f *failure) float64 {
			switch {
			case f.otherFinding():
				return 0.3
			case f.mostNamed() == nil:
				return 0.4
			case f.mostNamed().Generation:
				return 0.85
			}
			return 0.62
		},
		evidence: func(f *failure) string { return f.largestText() }},
	{id: "snapshot", cause: CauseUnknown, reason: sourceSnapshot,
		when: func(f *failure) bool {
			_, leak := f.leaking()
			return f.unrefused() && !leak
		},
		confidence: always(0.3),
		evidence:   func(f *failure) string { return f.quietText() }},
}

// otherFinding: the snapshot shows something that comes before the size of the job.
func (f *failure) otherFinding() bool {
	_, leak := f.leaking()
	return leak || f.asksForMore() || f.fitsAfterReuse() && !f.unusable() && f.helpsOn()
}

// leakText is a leak in figures: in steps where the history shows them.
func (f *failure) leakText() string {
	l, _ := f.leaking()
	h := f.heldBy(l)
	pairs := []any{"line", f.lineText(l.TorchSite), "size", gib(h.Bytes), "grown", gib(l.Grown), "blocks", h.Blocks}
	size, steps := f.kept(l)
	if f.leakSteps() == 0 {
		return f.words.Say("torch.leak_blocks", pairs...)
	}
	text := f.words.Say("torch.leak", append(pairs, "each", printed(size/sampler.Bytes(steps)), "count", steps)...)
	if k, known := f.keeper(); known && f.runsModel(l) {
		text += f.words.Say("detail.space") + f.words.Say("torch.keeper", "line", f.lineText(k.TorchSite), "blocks", k.Blocks)
	}
	return text
}

// largestText names the line that holds most.
func (f *failure) largestText() string {
	most := f.mostNamed()
	if most == nil {
		return f.words.Say("torch.no_frames")
	}
	site := f.refusedSite()
	if f.asksMost(most) {
		return f.words.Say("torch.asks", "line", f.lineText(site), "need", printed(f.snapshot.Trace.OOM.Requested))
	}
	id := "torch.largest"
	if most.Generation {
		id = "torch.generation"
	}
	text := f.words.Say(id, "line", f.lineText(most.TorchSite), "size", gib(most.Bytes), "blocks", most.Blocks, "percent", percentOf(most.Bytes, f.live()))
	if site.File != "" && !sameSite(site, most.TorchSite) && f.snapshot.Trace.OOM.Requested*requestShare > f.live() {
		text += f.words.Say("detail.space") + f.words.Say("torch.asks_besides", "line", f.lineText(site))
	}
	return text
}

// privateShare: private pools are named whose free blocks are more than a tenth of what is allocated.
const privateShare = 10

// requestShare: who asks for a quarter of what is allocated at once is named too.
const requestShare = 4

// asksMost: the refused request is larger than what any line holds, and the line that made it is the one to name.
func (f *failure) asksMost(most *sampler.TorchHolder) bool {
	return f.refusedSite().File != "" && f.snapshot.Trace.OOM.Requested > most.Bytes
}

// lineText names a line: with its code where the file can be read here, else with its function.
func (f *failure) lineText(s sampler.TorchSite) string {
	switch {
	case s.File == "":
		return f.words.Say("torch.no_line")
	case s.Code != "":
		return s.Place() + " `" + sampler.ClipAt(s.Code, sampler.CodeLength) + "`"
	}
	return s.Place() + " " + s.Function
}

// siteOf is the line that a cause is about; nil where a snapshot names none.
func (f *failure) siteOf(cause string) *sampler.TorchSite {
	site, known := sampler.TorchSite{}, false
	switch cause {
	case CauseValidationSpike:
		var h sampler.TorchHolder
		if _, h, known = f.validationHolds(); known {
			site = h.TorchSite
			break
		}
		var l sampler.TorchLine
		l, known = f.besides()
		site = l.TorchSite
	case CauseLeak:
		var l sampler.TorchLine
		l, known = f.leaking()
		site = l.TorchSite
		if h, piles := f.piles(); piles && !known {
			site, known = h.TorchSite, true
		}
	case CauseDataSpike:
		var l sampler.TorchLine
		l, known = f.spiking()
		site = l.TorchSite
	case CauseFragmentation:
		if known = f.snapshot != nil && len(f.snapshot.Pins) > 0; known {
			site = f.snapshot.Pins[0].TorchSite
		}
	case CauseTooBig:
		site, known = f.largestSite()
	}
	if !known || site.File == "" {
		return nil
	}
	return &site
}

func (f *failure) largestSite() (sampler.TorchSite, bool) {
	if _, h, ok := f.optimizerHolds(); ok {
		return h.TorchSite, true
	}
	switch most := f.mostNamed(); {
	case most == nil:
		return sampler.TorchSite{}, false
	case f.asksMost(most):
		return f.refusedSite(), true
	default:
		return most.TorchSite, true
	}
}

// othersWeight: where a snapshot gives the reason, what the message alone would suggest counts half.
const othersWeight = 0.5

// givesReason: what it says with less is a possibility beside others.
const givesReason = 0.5

// bySnapshot names the lines of the causes, and weakens those that the snapshot does not give.
func (f *failure) bySnapshot(list []sampler.Cause) {
	if f.snapshot == nil {
		return
	}
	given := map[string]float64{}
	for _, row := range causesSnapshot {
		if row.when(f) {
			given[row.cause] = max(given[row.cause], row.confidence(f))
		}
	}
	named := false
	for _, p := range given {
		named = named || p >= givesReason
	}
	for i := range list {
		if c := &list[i]; given[c.ID] > 0 {
			c.Site, c.Confidence = f.siteOf(c.ID), given[c.ID]
		} else if named {
			c.Confidence *= othersWeight
		}
	}
}

// snapshotHeadline is that of a snapshot in which no refusal is seen.
func (f *failure) snapshotHeadline() string {
	id := "torch.head"
	if f.snapshot.Cut {
		id = "torch.head_cut"
	}
	return f.words.Say(id, "gpu", f.snapshot.Device, "size", gib(f.live()))
}

// quietText says that nothing was found, and of a file that is cut, what is not known: a history ends with its refusal.
func (f *failure) quietText() string {
	switch {
	case !f.snapshot.Cut:
		return f.words.Say("torch.quiet")
	case f.snapshot.Trace == nil:
		return f.words.Say("torch.quiet_unread")
	}
	return f.words.Say("torch.quiet_cut")
}

// snapshotDetail names the line first, then what the arithmetic says.
func (f *failure) snapshotDetail(causes []sampler.Cause, rest string) string {
	text := ""
	if f.event.Held == nil || len(f.holders()) > 0 {
		text = f.largestText()
	}
	for _, row := range causesSnapshot {
		if len(causes) > 0 && row.cause == causes[0].ID && row.when(f) {
			text = row.evidence(f)
			break
		}
	}
	if f.unrefused() {
		return text
	}
	if free := f.snapshot.PrivateFree; free*privateShare > f.live() {
		text += f.words.Say("detail.space") + f.words.Say("torch.private", "size", gib(free))
	}
	if text == "" {
		return rest
	}
	return text + f.words.Say("detail.space") + rest
}
