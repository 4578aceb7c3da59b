package explain

import (
	"slices"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// startupText is the arithmetic of a server that found its share taken.
func (f *failure) startupText() string {
	l := f.event.MemoryLimit
	if l == nil || !l.Allowed.Known() || !f.free.Known() || !f.total.Known() {
		return f.words.Say("why.startup_free_below_limit")
	}
	want := l.Allowed.Or(0)
	return f.words.Say("why.startup_numbers", "want", gib(want), "percent", percentOf(want, f.total.Or(0)), "free", f.rough(gib(f.free.Or(0))),
		"short", gib(want.Less(f.free.Or(0))), "used", gib(f.total.Or(0).Less(f.free.Or(0))))
}

// cacheText is the arithmetic of a KV cache that does not hold one request.
func (f *failure) cacheText() string {
	need, left := f.requested, f.extra("available_kv_cache_bytes")
	tokens := f.count("max_seq_len")
	if room := f.count("kv_cache_tokens"); room > 0 && tokens > room {
		return f.words.Say("why.kv_tokens", "tokens", grouped(tokens), "room", grouped(room))
	}
	if !need.Known() || !left.Known() || tokens == 0 {
		return f.words.Say("why.kv_cache_no_memory")
	}
	fits := ""
	if n := f.count("estimated_max_model_len"); n > 0 {
		fits = f.words.Say("kv.fits", "tokens", grouped(n))
	}
	return f.words.Say("why.kv_numbers", "tokens", grouped(tokens), "need", gib(need.Or(0)), "left", gib(left.Or(0)),
		"short", gib(need.Or(0).Less(left.Or(0))), "fits", fits)
}

// gainText is what a batch cut to 1/k gives back, as a share where the amounts are not known or more than the GPU has.
func (f *failure) gainText(gain span, k int) string {
	if !f.allocated.Known() || gain.high > f.total.Or(gain.high) {
		return f.words.Say("gain." + plainNumber(float64(k)))
	}
	return rangeText(gain)
}

// statesText is what does not follow the batch, in brackets; "" when it is not known.
func (f *failure) statesText() string {
	if !f.allocated.Known() {
		return ""
	}
	return f.words.Say("states.known", "states", rangeText(f.footprint.states))
}

// caveats are comments about an edited command: options nobody has seen the program take, and
// what is special about its style.
func (f *failure) caveats(s command.Suggestion) []string {
	var list []string
	for _, words := range s.Unsure {
		list = append(list, f.comment("do.if_script_has", "option", words))
	}
	if s.Note != "" {
		list = append(list, f.comment(s.Note))
	}
	return list
}

// comment is a line of shell or Python that says something and does nothing.
func (f *failure) comment(id string, pairs ...any) string { return "# " + f.words.Say(id, pairs...) }

// amountOf writes an amount in the unit of the refused request, as the message does: MiB and GiB
// side by side are hard to add up.
func (f *failure) amountOf(b sampler.Bytes) string {
	if req, known := f.requested.Value(); known && req < sampler.GiB {
		return printed(b)
	}
	return gib(b)
}

// rough is what is said of the free memory, or follows from it.
func (f *failure) rough(amount string) any { return f.words.Rough(amount, f.event.GPUFreeAbout) }

// when is the place in the run: "epoch 5", "step 1000".
func (f *failure) when() string {
	e, knowsEpoch := f.context.Epoch.Value()
	s, knowsStep := f.context.Step.Value()
	switch {
	case knowsEpoch && knowsStep:
		return f.words.Say("when.epoch_step", "epoch", e, "step", s)
	case knowsEpoch:
		return f.words.Say("when.epoch", "epoch", e)
	case knowsStep:
		return f.words.Say("when.step", "step", s)
	case f.context.FirstStep:
		return f.words.Say("when.first")
	}
	return ""
}

// place is when in brackets, to be put behind a word; "" when nothing is known of it.
func (f *failure) place() string {
	if f.program.is(running) && !f.program.is(imageTool) && !f.trains() && f.history == nil && !f.context.Epoch.Known() {
		return "" // a count of inputs, not of steps
	}
	if w := f.when(); w != "" {
		return f.words.Say("head.when", "when", w)
	}
	return ""
}

// headline says what happened where: "CUDA out of memory on GPU 0, rank 0, in validation (step 1000)".
func (f *failure) headline() string {
	if f.unrefused() {
		return f.snapshotHeadline()
	}
	id := "head." + f.class.kind
	if f.event.Kind == sampler.KindKilled && (f.reported() || indexOf(f.event.Text, "available RAM") >= 0) {
		id = "head.told_killed" // by whatever signal
	}
	if f.longerThanCache() {
		id += ".context"
	}
	if f.masked() {
		id = "head.masked"
	}
	if f.mapsFile() {
		id = "head.bus_error"
	}
	switch {
	case !f.complains():
	case f.onHost():
		id = "head.complaint_host"
	default:
		id = "head.complaint"
	}
	if !f.words.Has(id) {
		switch {
		case f.event.Kind == sampler.KindHostAlloc && f.refusedPin():
			id = "head.pinned" // there may be RAM
		case f.event.Kind == sampler.KindHostAlloc, f.onHost() && f.class.class == classAllocator:
			id = "head.host_alloc" // nobody was killed
		case f.onHost():
			id = "head.host"
		case f.event.MemoryKind == sampler.MemoryUnknown:
			id = "head.memory"
		default:
			id = "head.gpu"
		}
	}
	text := f.words.Say(id)
	if gpu, known := f.listedGPU().Else(f.event.GPUIndex).Value(); known && !f.onHost() {
		text += f.words.Say("head.on_gpu", "gpu", gpu)
	}
	if rank, known := f.event.Rank.Value(); known {
		text += f.words.Say("head.rank", "rank", rank)
	}
	p := f.phase()
	if f.testsOnly() {
		p = "evaluation" // of a program that trains nothing
	}
	if f.words.Has("phase." + p) {
		text += f.words.Say("head.phase", "phase", f.words.Say("phase."+p))
	}
	return text + f.place()
}

// renderNotes are the notes as sentences, each said once.
func (f *failure) renderNotes() []string {
	list := []string{}
	for _, n := range f.notes {
		if text := f.words.Say(n.id, n.pairs...); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
