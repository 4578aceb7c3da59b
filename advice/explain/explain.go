package explain

import (
	"strconv"
	"strings"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Explain reasons about the failure of a run. It is pure: the same incident gives the same answer.
func Explain(in Incident) Explanation { return explainIn(in, lang.For(in.Lang)) }

func explainIn(in Incident, words lang.Catalog) Explanation {
	out := Explanation{Schema: sampler.Schema, Lang: words.Lang, Omitted: in.Omitted, Snapshots: in.Snapshots, Events: []Event{},
		Causes: []sampler.Cause{}, Advice: []sampler.Advice{}, Plans: []Plan{}}
	failures := make([]*failure, len(in.Events))
	for i, event := range in.Events {
		one := in
		if i < len(in.Histories) && in.Histories[i] != nil {
			one.History = in.Histories[i]
		}
		failures[i] = newFailure(one, event, words)
		failures[i].snapshot = event.Held
		if i < len(in.Devices) && in.Devices[i] != nil {
			failures[i].snapshot = in.Devices[i]
		}
		if i < len(in.Files) {
			failures[i].file = in.Files[i]
		}
		failures[i].siblings = in.Events
	}
	for _, f := range failures {
		out.Events = append(out.Events, f.explain())
	}
	out.Verdict = judge(words, in, failures, out)
	if i := out.Verdict.Event; i >= 0 {
		first := out.Events[i]
		out.Causes, out.Advice, out.Plans = first.Causes, first.Advice, first.Plans
	}
	return out
}

// explain is everything about one event.
func (f *failure) explain() Event {
	causes := f.causes()
	if f.context.NaNLoss && !f.onHost() {
		f.note("note.nan")
	}
	if gpu, differs := f.listedGPU().Value(); differs {
		f.note("note.counts", "gpu", f.event.GPUIndex.Or(0), "real", gpu)
	} else if list := f.environment["CUDA_VISIBLE_DEVICES"]; list != "" && f.event.GPUIndex.Known() && !f.onHost() && !countsAlike(list, f.event.GPUIndex.Or(0)) {
		f.note("note.visible", "gpu", f.event.GPUIndex.Or(0), "list", sampler.Clean(list))
	}
	if f.expandable() && f.unallocatedShare() >= 0.05 {
		f.note("note.expandable_on")
	}
	e := Event{OOMEvent: f.event, File: f.file, Torch: f.snapshot, GPU: f.listedGPU(), Headline: f.headline(), Card: f.card(), Notes: f.renderNotes(),
		Causes: causes, Advice: []sampler.Advice{}, Plans: []Plan{}}
	e.Detail = f.detail(causes)
	if rest, found := strings.CutPrefix(e.Detail, f.arithmetic()); found && f.sum() == plainSum {
		m, _ := f.shortfall()
		e.Beyond = f.words.Say("sum.beyond", "missing", m) + rest
	}
	if f.program.is(undecided) && TopCause(causes) != CauseOtherProcess && TopCause(causes) != CauseImbalance && !f.onHost() && !f.corrupt() && f.isPyTorch() && !f.event.Recovered && f.snapshot == nil {
		e.Detail += f.words.Say("detail.space") + f.words.Say("detail.which_program")
	}
	if f.snapshot != nil {
		e.Detail = f.snapshotDetail(causes, e.Detail)
	}
	if e.OtherProcesses == nil {
		e.OtherProcesses = []sampler.OtherProcess{} // a list in JSON, never null
	}
	if f.event.Recovered || f.unrefused() && TopCause(causes) == CauseUnknown {
		if f.unrefused() {
			e.Causes = []sampler.Cause{} // there is nothing to explain
		}
		return e // an incident that the program mastered: nothing must be changed
	}
	e.Advice = f.beside(f.advise(causes), causes)
	e.Plans = f.plans(causes)
	return e
}

// listedGPU is the GPU that failed, as nvidia-smi counts, where a recording tells it and the message has another number.
func (f *failure) listedGPU() (gpu sampler.Opt[int]) {
	if f.history != nil && !f.onHost() && f.event.GPUIndex.Contradicts(f.history.GPU) {
		gpu = f.history.GPU
	}
	return gpu
}

// countsAlike: the entry of CUDA_VISIBLE_DEVICES at a place is the number of that place.
func countsAlike(list string, place int) bool {
	entries := strings.Split(list, ",")
	return place >= 0 && place < len(entries) && strings.TrimSpace(entries[place]) == strconv.Itoa(place)
}

// Headline is a failure in one line.
func Headline(e sampler.OOMEvent, words lang.Catalog) string {
	return newFailure(Incident{}, e, words).headline()
}

// Advise ranks what can be done about a failure whose causes are already known: one that an
// alert predicts. Only the first event of the incident counts.
func Advise(in Incident, causes []sampler.Cause, words lang.Catalog) []sampler.Advice {
	f := newFailure(in, in.Events[0], words)
	f.expected = true
	return f.advise(causes)
}
