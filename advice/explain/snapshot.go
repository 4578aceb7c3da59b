package explain

import (
	"cmp"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// FromSnapshot is what a memory snapshot of PyTorch makes of itself: the refusals in it, with the GPU of each. Where
// nothing was refused it is the GPU that holds most.
func FromSnapshot(s sampler.TorchSnapshot) (events []sampler.OOMEvent, devices []*sampler.TorchDevice) {
	most := -1
	for i := range s.Devices {
		d := &s.Devices[i]
		if d.Trace != nil && d.Trace.OOM != nil {
			events, devices = append(events, snapshotEvent(s, d)), append(devices, d)
		}
		if most < 0 || inUse(d) > inUse(&s.Devices[most]) {
			most = i
		}
	}
	if len(events) == 0 && most >= 0 && inUse(&s.Devices[most]) > 0 {
		d := &s.Devices[most]
		events, devices = append(events, snapshotEvent(s, d)), append(devices, d)
	}
	return events, devices
}

// inUse is what a GPU held when the snapshot was taken, or in the end of a history without segments.
func inUse(d *sampler.TorchDevice) sampler.Bytes {
	if d.Reserved == 0 && d.Trace != nil {
		return d.Trace.Live
	}
	return d.Reserved
}

// snapshotEvent is the refusal, or the state, of one GPU.
func snapshotEvent(s sampler.TorchSnapshot, d *sampler.TorchDevice) sampler.OOMEvent {
	e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, GPUIndex: sampler.Some(d.Device), Occurrences: 1,
		Allocated: sampler.Some(d.Allocated), ReservedUnallocated: sampler.Some(d.Reserved.Less(d.Allocated).Less(d.PrivateFree))}
	c := &sampler.LogContext{Environment: map[string]string{}}
	if s.Conf != "" {
		c.Environment["PYTORCH_CUDA_ALLOC_CONF"] = s.Conf
	}
	e.Context = c
	if d.Trace == nil || d.Trace.OOM == nil {
		return e
	}
	o := d.Trace.OOM
	e.Requested, e.GPUFree, e.Occurrences = sampler.Some(segmentOf(o.Requested)), o.Free, d.Trace.OOMs
	if o.Reserved > 0 {
		live := min(max(d.Trace.Live, d.Allocated), o.Reserved)
		e.Allocated, e.ReservedUnallocated = sampler.Some(live), sampler.Some(o.Reserved.Less(live).Less(d.PrivateFree))
	}
	if o.Site.Validation != "" {
		c.Phase = sampler.PhaseValidation
	}
	for _, f := range slices.Backward(o.Stack) {
		if !f.Python() {
			continue // the interpreter itself evaluates frames
		}
		c.Functions = append(c.Functions, f.Function)
		if !slices.Contains(c.Files, f.File) {
			c.Files = append(c.Files, f.File)
		}
	}
	return e
}

// segmentOf is what PyTorch asks the driver for, and its message names, when a tensor finds no block.
func segmentOf(tensor sampler.Bytes) sampler.Bytes {
	switch {
	case tensor == 0:
		return 0
	case tensor <= sampler.MiB:
		return 2 * sampler.MiB
	case tensor < 10*sampler.MiB:
		return 20 * sampler.MiB
	}
	return (tensor + 2*sampler.MiB - 1) / (2 * sampler.MiB) * (2 * sampler.MiB)
}

// unrefused: the snapshot shows a state and no failure.
func (f *facts) unrefused() bool {
	return f.snapshot != nil && !f.requested.Known() && (f.snapshot.Trace == nil || f.snapshot.Trace.OOM == nil)
}

// live is what the GPU held at the moment that is judged.
func (f *facts) live() sampler.Bytes {
	if t := f.snapshot.Trace; t != nil && (t.OOM != nil || f.snapshot.Reserved == 0) {
		return max(t.Live, f.snapshot.Allocated)
	}
	return f.snapshot.Allocated
}

// holders are the lines by what they held at the moment that is judged: of the history, and where there is none
// of the live blocks.
func (f *facts) holders() []sampler.TorchHolder {
	if f.snapshot == nil {
		return nil
	}
	t := f.snapshot.Trace
	if t == nil || f.snapshot.Reserved > 0 && (t.OOM == nil || f.snapshot.Allocated >= t.Live) {
		return f.snapshot.Holders
	}
	return heldInTrace(t) // since then some was freed
}

// generatedShare: what less than a tenth of all is was not what generation asked for more of.
const generatedShare = 10

// mostNamed is the line that held most, of those that generate where that was refused. What a backward pass makes has
// no line: it comes from threads without Python.
func (f *facts) mostNamed() *sampler.TorchHolder {
	list := f.holders()
	if f.refusedSite().Generation {
		i := slices.IndexFunc(list, func(h sampler.TorchHolder) bool { return h.File != "" && h.Generation })
		if i >= 0 && list[i].Bytes*generatedShare > f.live() {
			return &list[i]
		}
	}
	i := slices.IndexFunc(list, func(h sampler.TorchHolder) bool { return h.File != "" })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func heldInTrace(t *sampler.TorchTrace) (list []sampler.TorchHolder) {
	for _, l := range t.Lines {
		if l.Live > 0 {
			list = append(list, sampler.TorchHolder{TorchSite: l.TorchSite, Bytes: l.Live, Blocks: l.Blocks})
		}
	}
	slices.SortStableFunc(list, func(a, b sampler.TorchHolder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return list
}

// Holders are the lines by what they held: at the refusal where the history tells, else when the snapshot was taken.
func Holders(d *sampler.TorchDevice) []sampler.TorchHolder { return (&facts{snapshot: d}).holders() }

// pilesLeast blocks of what a line's calls of a model made are more than a pass leaves in use.
const pilesLeast = 8

// piles is the line that holds what a model returned, pass by pass: where no graph is made, that outlives its pass only when somebody keeps it.
// In a test on an H100 36 results were 99.5 % of what was allocated (testdata/h100, 09).
func (f *failure) piles() (sampler.TorchHolder, bool) {
	h := f.mostNamed()
	ok := h != nil && h.Module && !h.Generation && h.Blocks >= pilesLeast && 2*h.Bytes > f.live() &&
		(f.phase() == sampler.PhaseValidation || f.program.is(evaluation|inference)) && f.graphOff() && !f.generatesText()
	if !ok {
		return sampler.TorchHolder{}, false
	}
	return *h, true
}

// heldBy is what all lines hold that fit, and the largest of them.
func heldBy(list []sampler.TorchHolder, fits func(sampler.TorchSite) bool) (sum sampler.Bytes, largest sampler.TorchHolder) {
	for _, h := range list {
		if fits(h.TorchSite) {
			sum += h.Bytes
			if h.Bytes > largest.Bytes {
				largest = h
			}
		}
	}
	return sum, largest
}

// refusedSite is the line of the refused request.
func (f *facts) refusedSite() sampler.TorchSite {
	if f.snapshot == nil || f.snapshot.Trace == nil || f.snapshot.Trace.OOM == nil {
		return sampler.TorchSite{}
	}
	return f.snapshot.Trace.OOM.Site
}

// validationHolds is what a validation holds, where it matters: a fifth of all, or the refused request is its own.
func (f *facts) validationHolds() (sampler.Bytes, sampler.TorchHolder, bool) {
	sum, largest := heldBy(f.holders(), func(s sampler.TorchSite) bool { return s.Validation != "" && !f.keepsInSteps(s) })
	refused := f.refusedSite()
	if largest.Bytes == 0 && refused.Validation != "" {
		largest.TorchSite = refused
	}
	return sum, largest, f.snapshot != nil && (sum*5 > f.live() && sum > 0 || refused.Validation != "")
}

// keptBlocks of one line of a validation are more than it needs without a graph, which lets each go when the next
// layer has it.
const keptBlocks = 8

// keepsGraphs: the validation keeps what only a backward pass would need.
func (f *facts) keepsGraphs() bool {
	_, largest, ok := f.validationHolds()
	_, besides := f.besides()
	return besides || ok && largest.Blocks >= keptBlocks
}

// optimizerHolds is what the state of the optimizer takes, where it is more than anything else, or was refused.
func (f *facts) optimizerHolds() (sampler.Bytes, sampler.TorchHolder, bool) {
	sum, largest := heldBy(f.holders(), func(s sampler.TorchSite) bool { return s.Optimizer })
	others, most := heldBy(f.holders(), func(s sampler.TorchSite) bool { return !s.Optimizer })
	refused := f.refusedSite()
	if largest.Bytes == 0 && refused.Optimizer {
		largest.TorchSite = refused
	}
	return sum, largest, f.snapshot != nil && (refused.Optimizer || sum > 0 && sum > most.Bytes && 2*sum > others)
}

// runsModel: the line is of a forward pass, whose blocks a graph keeps that somebody else holds.
func (f *facts) runsModel(l sampler.TorchLine) bool { return l.Module || forwardNames(l.Function) }

// asksForMore: a validation, or a step that takes unusually much, was under way.
func (f *facts) asksForMore() bool {
	_, spike := f.spiking()
	_, besides := f.besides()
	_, _, validation := f.validationHolds()
	return spike || besides || validation || f.phase() == sampler.PhaseValidation
}

// fitsWithout: the request had fitted into what was free, had the line given back a quarter of what it kept.
func (f *facts) fitsWithout(l sampler.TorchLine) bool {
	short := f.shortfallOr0()
	return short > 0 && l.Grown/4 >= short
}

// explains: what the line has gained in the steps that were seen is what the request was short of.
func (f *facts) explains(l sampler.TorchLine) bool {
	short := f.shortfallOr0()
	return short > 0 && l.Grown >= short
}

// largerThan: this step takes more than usual by more than a line has gained in all steps.
func (f *facts) largerThan(l sampler.TorchLine) bool {
	spike, ok := f.spiking()
	size, _ := f.kept(l)
	return ok && spike.Usual > 0 && spike.Rise.Less(spike.Usual) > size && !sameSite(spike.TorchSite, l.TorchSite)
}

// inHoles: the request fits into what is unallocated, and into no block of it. Of large blocks a small one gets nothing.
// Where the step was to take more than that, the holes are not what it died of.
func (f *facts) inHoles() bool {
	return f.snapshot != nil && f.fitsAfterReuse() && !f.unusable() && f.helpsOn() && (f.snapshot.LargestFree < f.requested.Or(0) || f.asksSmall())
}

// helpsOn: what is free and unallocated had been enough for what the lines of this step usually come to.
func (f *facts) helpsOn() bool {
	more := sampler.Bytes(0)
	if t := f.snapshot.Trace; t != nil && t.OOM != nil {
		for _, l := range t.Lines {
			if l.Module && l.Rise > 0 {
				more += l.Usual.Less(l.Rise)
			}
		}
	}
	return f.room() >= more
}

// room is what is free, or unallocated.
func (f *facts) room() sampler.Bytes { return f.free.Or(0) + f.unallocated.Or(0) }

// roomForTwo: packed, one more block such as the one that was refused had fitted as well.
func (f *facts) roomForTwo() bool { return f.room() >= 2*f.requested.Or(0) }

// asksSmall: PyTorch takes what is refused from segments of its own.
func (f *facts) asksSmall() bool {
	t := f.snapshot.Trace
	return t != nil && t.OOM != nil && t.OOM.Requested > 0 && t.OOM.Requested <= sampler.MiB
}

// unusable: what is unallocated is no more than it always is.
func (f *facts) unusable() bool { return f.unallocatedShare() < 0.05 }

// forwardNames: a function that runs or loads a model. What it allocates without anything being freed may be one step.
func forwardNames(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"forward", "__call__", "__init__", "load", "build", "to_device", "cuda", "generate", "attention"}, func(s string) bool { return strings.Contains(name, s) })
}

const (
	spikeRise   = 1.5 // times the largest rise before
	spikeCycles = 3   // rises that must be known
)

// spiking is the line that rose unusually just before the refusal.
func (f *facts) spiking() (sampler.TorchLine, bool) {
	best := sampler.TorchLine{}
	if f.snapshot == nil || f.snapshot.Trace == nil || f.phase() == sampler.PhaseValidation { // whose steps are those of training
		return best, false
	}
	t := f.snapshot.Trace
	if t.StepUsual > 0 {
		return f.spikingStep()
	}
	for _, l := range t.Lines {
		if l.Cycles >= spikeCycles && l.Usual > 0 && float64(l.Rise) > spikeRise*float64(l.Usual) && l.Rise*10 > f.live() && l.Rise > best.Rise {
			best = l
		}
	}
	if t.OOM == nil || best.Rise >= t.OOM.Requested {
		return best, best.Rise > 0
	}
	for _, l := range t.Lines { // it was refused before anything of it was there
		usual := t.OOM.Usual // of the same call: the line may make blocks of many sizes
		if sameSite(l.TorchSite, t.OOM.Site) && l.Cycles >= spikeCycles && t.OOM.Requests >= spikeCycles && usual > 0 && float64(t.OOM.Requested) > spikeRise*float64(usual) {
			return l, true
		}
	}
	return best, best.Rise > 0
}

// spikingStep is the line that takes most of a step that takes unusually much.
func (f *facts) spikingStep() (best sampler.TorchLine, unusual bool) {
	t := f.snapshot.Trace
	if t.OOM == nil || t.Steps < spikeCycles || float64(t.StepRise) <= spikeRise*float64(t.StepUsual) || t.StepRise*10 <= f.live() {
		return best, false
	}
	for _, l := range t.Lines {
		if l.Rise > best.Rise && l.File != "" && !l.Optimizer && l.Grown == 0 {
			best = l
		}
	}
	if best.Rise < t.OOM.Requested && t.OOM.Site.File != "" {
		best = sampler.TorchLine{TorchSite: t.OOM.Site, Rise: t.OOM.Requested} // nothing of it is there yet
	}
	return best, best.Rise > 0
}

func sameSite(a, b sampler.TorchSite) bool {
	return a.File == b.File && a.Line == b.Line && a.Validation == b.Validation // without lines all are one
}
