package report

import (
	"cmp"
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// conclude finds causes and advice of the run: of its failures, else of an end that looks
// like one, else of what was alerted.
func (r *Reporter) conclude(out *Report) {
	switch e := r.o.Explained; {
	case e != nil && e.Lang == r.words.Lang:
		take(out, *e)
		r.nameFailed(out, e)
	case len(r.fails) > 0:
		r.concludeFailures(out)
	default:
		x := r.suspicious()
		switch {
		case r.allParts():
			r.fromAlerts(out, slices.DeleteFunc(r.lasting(), func(a sampler.Alert) bool { return a.Kind == sampler.AlertGrowth }))
		case x != nil && len(explain.AlertCauses(r.warnings(x.open, &x.key))) > 0:
			r.fromAlerts(out, r.warnings(x.open, &x.key))
		case x != nil && x.Full >= fullShare && x.rose && !r.preallocated(x):
			r.fromExit(out, x)
		default:
			r.fromAlerts(out, r.lasting())
		}
	}
	for i := range out.Advice {
		out.Advice[i].Rank = i + 1
	}
}

// allParts says whether the log counted the parts of the run to the last, and told of nothing else since but of saving: what grew with them has ended as it
// was to, and a job that is gone then has not failed. Some count from 0.
func (r *Reporter) allParts() bool {
	for _, m := range slices.Backward(r.marks) {
		switch m.Kind {
		case sampler.MarkAllocator, sampler.MarkSaving:
		default:
			return m.Kind == sampler.MarkStage && slices.Contains(sampler.PartNames, m.Label) && m.N.Or(0) >= m.Of-1
		}
	}
	return false
}

// concludeFailures explains all failures together. What was alerted at that moment joins.
func (r *Reporter) concludeFailures(out *Report) {
	e := explain.Explain(r.Recall(explain.Incident{Lang: r.o.Lang}))
	take(out, e)
	r.nameFailed(out, &e)
}

// nameFailed tells whose failure the headline is about.
func (r *Reporter) nameFailed(out *Report, e *explain.Explanation) {
	if e.Verdict.Event < 0 || e.Verdict.Event >= len(e.Events) {
		return
	}
	f := r.failure(e.Verdict.Event, e.Events[e.Verdict.Event].OOMEvent)
	if f == nil {
		return
	}
	out.Failed = &Failed{T: f.t, Time: f.at}
	if q := r.processOf(f); q != nil {
		out.Failed.PID, out.Failed.Command = q.PID, sampler.Clean(cmp.Or(q.Command, q.Name))
	}
}

// take takes over why a run died. Nobody died of what was survived.
func take(out *Report, e explain.Explanation) {
	out.Headline, out.Detail = e.Verdict.Headline, e.Verdict.Detail
	if !e.Verdict.Recovered {
		out.Causes, out.Advice = e.Causes, e.Advice
	}
}

// recentSeconds: what was alerted up to that long before a failure is still evidence of its cause.
const recentSeconds = 900

// openAt are the alerts that were open shortly before a failure, on its GPU or of the machine.
// The alert of the failure itself and of its need tell nothing of the cause.
func (r *Reporter) openAt(f failed) []sampler.Alert {
	var list []sampler.Alert
	gpu, placed := r.gpuOf(f)
	for _, a := range r.alerts {
		end, over := a.End.Value()
		if a.T >= f.t || over && end < f.t-recentSeconds || a.Level == sampler.LevelNotice && a.Kind != sampler.AlertImbalance {
			continue
		}
		if g, ok := a.GPU.Value(); ok && placed && g != gpu {
			continue
		}
		list = append(list, a)
	}
	return list
}

const (
	// fullShare of the usable memory in use when a process ends: it may have died of that.
	fullShare = 0.97
	// startSeconds: a job that ended earlier may never have got beyond its start.
	startSeconds = 300
	// endSure is how sure an end without a message is a failure.
	endSure = 0.5
)

// suspicious is the exit that looks most like a failure: on a GPU that was nearly full,
// or with a warning open.
func (r *Reporter) suspicious() (best *exit) {
	score := func(x *exit) float64 {
		s := x.Full
		if slices.ContainsFunc(x.open, func(a sampler.Alert) bool { return a.Level != sampler.LevelNotice && a.GPU.Or(x.GPU) == x.GPU }) {
			s++
		}
		return s
	}
	for i := range r.exits {
		x := &r.exits[i]
		if s := score(x); s >= 0.9 && (best == nil || s > score(best)) {
			best = x
		}
	}
	return best
}

func (r *Reporter) preallocated(x *exit) bool {
	_, yes := explain.Preallocates(x.process)
	return yes
}

// fromExit judges an end on a full GPU as a failure without a message.
func (r *Reporter) fromExit(out *Report, x *exit) {
	in := x.incident
	if q := r.procs[x.process.Key(x.key)]; in.History != nil && q != nil && x.T-q.First < startSeconds {
		h := *in.History
		h.Peaks, in.History = nil, &h // a start climbs, too
	}
	in.Lang = r.o.Lang
	in.Events = []sampler.OOMEvent{{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Framework: x.process.Framework.Or("pytorch"), PID: pidOf(x.process)}}
	e := explain.Explain(in)
	who := r.words.Say("report.job")
	if x.PID != 0 {
		who = r.words.Say("report.pid", "pid", x.PID)
	}
	text := r.words.Say("report.ended", "gpu", x.GPU, "who", who, "percent", math.Round(100*x.Full))
	out.Headline = text
	for _, c := range e.Causes {
		c.Confidence *= endSure
		c.Evidence = append([]string{text}, c.Evidence...)
		out.Causes = append(out.Causes, c)
	}
	out.Advice = append(out.Advice, e.Advice...)
}

// lasting are the warnings that say most of a run that did not fail: those still open at
// its end, else all.
func (r *Reporter) lasting() []sampler.Alert {
	var open, all []sampler.Alert
	for _, a := range r.alerts {
		if a.Level == sampler.LevelNotice {
			continue
		}
		all = append(all, a)
		if !a.End.Known() {
			open = append(open, a)
		}
	}
	if len(open) > 0 {
		return open
	}
	return all
}

// warnings are the alerts that are more than a notice; key: of that GPU and of the machine.
func (r *Reporter) warnings(list []sampler.Alert, key *sampler.GPUKey) (out []sampler.Alert) {
	c := (*gpuFold)(nil)
	if key != nil {
		c = r.known(*key)
	}
	for _, a := range list {
		if a.Level != sampler.LevelNotice && (c == nil || a.GPU.Or(c.gpu.Index) == c.gpu.Index) {
			out = append(out, a)
		}
	}
	return out
}

// fromAlerts takes causes and advice from alerts.
func (r *Reporter) fromAlerts(out *Report, list []sampler.Alert) {
	if len(list) == 0 {
		return
	}
	causes := explain.AlertCauses(list)
	out.Causes = append(out.Causes, causes...)
	first := list[0]
	for _, a := range list {
		if c := explain.AlertCauses([]sampler.Alert{a}); len(c) > 0 && len(causes) > 0 && c[0].ID == causes[0].ID {
			first = a
			break
		}
	}
	out.Headline = r.together(list, first)
	r.takeAdvice(out, first)
	for _, a := range list {
		r.takeAdvice(out, a)
	}
}

// together is what an alert says, with the other GPUs of which the same was said then.
func (r *Reporter) together(list []sampler.Alert, a sampler.Alert) string {
	for _, g := range watch.PastGroups(list, r.words) {
		if g.Kind == a.Kind && g.Level == a.Level && slices.Contains(g.Keys, a.Key) {
			return g.Text
		}
	}
	return a.Text
}

// maxReportAdvice: a report is read more slowly than an alert, and still read.
const maxReportAdvice = 8

func (r *Reporter) takeAdvice(out *Report, a sampler.Alert) {
	for _, adv := range a.Advice {
		if len(out.Advice) < maxReportAdvice && !slices.ContainsFunc(out.Advice, func(o sampler.Advice) bool { return o.ID == adv.ID }) {
			out.Advice = append(out.Advice, adv)
		}
	}
}
