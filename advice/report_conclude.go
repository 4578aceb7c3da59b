package advice

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// Report is what the recording so far tells. Call it once, at the end.
func (r *Reporter) Report() Report {
	out := Report{Schema: sampler.Schema, Source: sampler.Clean(r.o.Source), Host: sampler.Clean(r.host), Driver: sampler.Clean(r.driver), Start: r.start, End: r.at,
		Duration: r.clock.now, Snapshots: r.count, Interval: medianOf(r.steps),
		GPUs: []ReportGPU{}, Processes: []ReportProcess{}, Alerts: []sampler.Alert{}, Events: []ReportEvent{}, Phases: []ReportPhase{},
		Readings: []ReportAllocator{}, Causes: []sampler.Cause{}, Advice: []sampler.Advice{}, Notes: append([]string{}, r.notes...)}
	for _, c := range r.cards {
		out.GPUs = append(out.GPUs, c.report(r))
	}
	slices.SortStableFunc(out.GPUs, func(a, b ReportGPU) int { return cmp.Compare(a.Index, b.Index) })
	out.Processes = r.processes()
	if r.watch != nil {
		r.saveAlerts()
		out.Alerts = append(out.Alerts, r.alerts...)
		r.settle()
		r.conclude(&out)
	}
	out.Events = r.allEvents()
	r.placeMarks(&out)
	return out
}

// medianOf is 0 for an empty list.
func medianOf(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return math.Round(1000*slices.Sorted(slices.Values(list))[len(list)/2]) / 1000
}

func (r *Reporter) processes() []ReportProcess {
	list := []ReportProcess{}
	for _, q := range r.procs {
		p := q.ReportProcess
		p.Mean = rounded(q.mean.mean())
		if !p.Mean.Known() {
			p.Mean = p.AtExit
		}
		p.Plot = q.bins.points(max(5, 3*r.clock.usual))
		p.User, p.Name, p.Command = sampler.Clean(p.User), sampler.Clean(p.Name), sampler.Clean(p.Command)
		if r.o.Redact != nil {
			p.Command = r.o.Redact(p.Command)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b ReportProcess) int {
		return cmp.Or(cmp.Compare(peakBytes(b.Peak), peakBytes(a.Peak)), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.PID, b.PID), cmp.Compare(a.First, b.First))
	})
	return list[:min(len(list), maxReportProcesses)]
}

func peakBytes(p *ReportPeak) sampler.Bytes {
	if p == nil {
		return 0
	}
	return p.Bytes
}

// conclude finds causes and advice of the run: of its failures, else of an end that looks
// like one, else of what was alerted.
func (r *Reporter) conclude(out *Report) {
	switch {
	case len(r.fails) > 0:
		r.concludeFailures(out)
	default:
		x := r.suspicious()
		switch {
		case x != nil && len(Causes(r.warnings(x.open, &x.key))) > 0:
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

// concludeFailures explains all failures together. What was alerted at that moment joins.
func (r *Reporter) concludeFailures(out *Report) {
	in := Incident{}
	for _, f := range r.fails {
		in.Events = append(in.Events, f.event)
	}
	first := Explain(in).Verdict.Event
	if first < 0 {
		return
	}
	f := r.fails[first]
	events := in.Events
	in = f.incident
	in.Events = events
	e := Explain(in)
	out.Headline, out.Detail = e.Verdict.Headline, e.Verdict.Detail
	if f.event.Recovered {
		return
	}
	if e.Verdict.Event != first {
		first = max(0, e.Verdict.Event)
	}
	merged := mergeCauses(e.Events[first].Causes, Causes(r.openAt(f)))
	weighCauses(merged, in, in.Events[first])
	out.Causes, out.Advice = merged, e.Events[first].Advice
	if topCause(merged) != topCause(e.Events[first].Causes) {
		if list := newFailure(in, in.Events[first], Words("en")).advise(merged); len(list) > 0 {
			out.Advice = list
		}
	}
}

// openAt are the alerts that were open just before a failure, on its card or of the machine.
// The alert of the failure itself and of its need tell nothing of the cause.
func (r *Reporter) openAt(f failed) []sampler.Alert {
	var list []sampler.Alert
	gpu, placed := r.gpuOf(f)
	for _, a := range r.alerts {
		end, over := a.End.Value()
		if a.T >= f.t || over && end < f.t-1 || a.Level == sampler.LevelNotice {
			continue
		}
		if g, ok := a.GPU.Value(); ok && placed && g != gpu {
			continue
		}
		list = append(list, a)
	}
	return list
}

func (r *Reporter) gpuOf(f failed) (int, bool) {
	if x := r.exitNear(&f); x != nil {
		return x.GPU, true
	}
	if len(r.cards) == 1 {
		return r.cards[0].gpu.Index, true
	}
	return 0, false
}

const (
	// alertedWeight: what was alerted before a failure is evidence beside the message, which
	// speaks of the failure itself.
	alertedWeight = 0.85
	maxSure       = 0.97
)

// mergeCauses joins the causes that a message gives with those that were alerted. Both
// saying the same makes it surer.
func mergeCauses(said, alerted []sampler.Cause) []sampler.Cause {
	list := slices.Clone(said)
	for _, a := range alerted {
		i := slices.IndexFunc(list, func(c sampler.Cause) bool { return c.ID == a.ID })
		if i < 0 {
			a.Confidence *= alertedWeight
			list = append(list, a)
			continue
		}
		c := &list[i]
		c.Confidence = min(maxSure, max(c.Confidence, 1-(1-c.Confidence)*(1-a.Confidence*0.5)))
		c.Evidence = slices.Concat(c.Evidence, a.Evidence[:min(1, len(a.Evidence))])
	}
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return list
}

const (
	// foreseenWeight: an unusual batch is a surprise; what was alerted before was none.
	foreseenWeight = 0.6
	// holesWeight: growth that is mostly holes of the allocator is fragmentation, whatever
	// it looks like from outside.
	holesWeight = 0.5
	holesShare  = 0.5
)

// weighCauses lets the message and the recording correct each other. From outside a leak
// and fragmentation look the same; the message tells them apart. From the message a spike
// looks like an unusual batch; the recording tells whether it was.
func weighCauses(list []sampler.Cause, in Incident, e sampler.OOMEvent) {
	foreseen, holed := false, holesExplain(in.History, e)
	for _, c := range list {
		foreseen = foreseen || c.Confidence >= 0.6 && (c.ID == "validation_spike" || c.ID == "leak" || c.ID == "other_process")
	}
	for i := range list {
		switch c := &list[i]; {
		case c.ID == "data_spike" && foreseen:
			c.Confidence *= foreseenWeight
		case c.ID == "leak" && holed:
			c.Confidence *= holesWeight
		}
	}
	slices.SortStableFunc(list, func(a, b sampler.Cause) int { return cmp.Compare(b.Confidence, a.Confidence) })
}

// holesExplain says whether the request would have fitted into free memory and holes, and
// the holes are most of what the process grew by.
func holesExplain(h *History, e sampler.OOMEvent) bool {
	holes, ok := sane(e.ReservedUnallocated)
	need, asked := sane(e.Requested)
	if !ok || !asked || h == nil || len(h.Peaks) < 2 || need > holes+e.GPUFree.Or(0) {
		return false
	}
	grown := h.Peaks[len(h.Peaks)-1].Less(h.Peaks[0])
	return float64(holes) >= holesShare*float64(grown) && float64(holes) >= 0.05*float64(holes+e.Allocated.Or(0))
}

const (
	// fullShare of the usable memory in use when a process ends: it may have died of that.
	fullShare = 0.97
	// startSeconds: a job that ended earlier may never have got beyond its start.
	startSeconds = 300
	// endSure is how sure an end without a message is a failure.
	endSure = 0.5
)

// suspicious is the exit that looks most like a failure: on a card that was nearly full,
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
	_, yes := Preallocates(x.process)
	return yes
}

// fromExit judges an end on a full card as a failure without a message.
func (r *Reporter) fromExit(out *Report, x *exit) {
	in := x.incident
	if q := r.procs[x.process.Key(x.key)]; in.History != nil && q != nil && x.T-q.First < startSeconds {
		h := *in.History
		h.Peaks, in.History = nil, &h // a start climbs, too
	}
	in.Events = []sampler.OOMEvent{{Kind: "cuda_error_oom", MemoryKind: "gpu", Framework: x.process.Framework.Or("pytorch"), PID: pidOf(x.process)}}
	e := Explain(in)
	who := "the job on it"
	if x.PID != 0 {
		who = fmt.Sprintf("pid %d", x.PID)
	}
	text := fmt.Sprintf("GPU %d: %s ended with %.0f %% of the memory in use; no message says why", x.GPU, who, 100*x.Full)
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

// warnings are the alerts that are more than a notice; key: of that card and of the machine.
func (r *Reporter) warnings(list []sampler.Alert, key *string) (out []sampler.Alert) {
	c := (*reportCard)(nil)
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
	causes := Causes(list)
	out.Causes = append(out.Causes, causes...)
	first := list[0]
	for _, a := range list {
		if c := Causes([]sampler.Alert{a}); len(c) > 0 && len(causes) > 0 && c[0].ID == causes[0].ID {
			first = a
			break
		}
	}
	out.Headline = first.Text
	r.takeAdvice(out, first)
	for _, a := range list {
		r.takeAdvice(out, a)
	}
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

// allEvents are the events of recording and log, with starts and ends of processes that
// only the snapshots show.
func (r *Reporter) allEvents() []ReportEvent {
	list := append([]ReportEvent{}, r.events...)
	for i := range r.fails {
		f := &r.fails[i]
		text := "out of memory"
		if e := Explain(Incident{Events: []sampler.OOMEvent{f.event}}); len(e.Events) == 1 {
			text = e.Events[0].Headline
		}
		gpu := f.event.GPUIndex // as printed, which need not be the driver's number
		if n, ok := r.gpuOf(*f); ok {
			gpu = sampler.Some(n)
		}
		list = append(list, ReportEvent{T: f.t, Time: f.at, Kind: "oom", GPU: gpu, PID: f.event.PID, Text: text, From: f.from, OOM: &f.event})
	}
	told := map[string]bool{}
	for _, e := range r.events {
		told[fmt.Sprint(e.Kind, e.PID.Or(0))] = true
	}
	for i := range r.exits {
		x := &r.exits[i]
		if told[fmt.Sprint("process_end", x.PID)] || x.PID == 0 {
			continue
		}
		list = append(list, ReportEvent{T: x.T, Time: x.Time, Kind: "process_end", GPU: sampler.Some(x.GPU), PID: sampler.Some(x.PID),
			Text: strings.TrimSpace(sampler.Clean(x.process.Name)), From: "snapshots"})
	}
	for _, q := range r.procs {
		if q.First <= 0 || told[fmt.Sprint("process_start", q.PID)] {
			continue
		}
		list = append(list, ReportEvent{T: q.First, Time: r.start.Add(seconds(q.First)), Kind: "process_start", GPU: sampler.Some(q.GPU), PID: sampler.Some(q.PID),
			Text: sampler.Clean(q.Name), From: "snapshots"})
	}
	slices.SortStableFunc(list, func(a, b ReportEvent) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.PID.Or(0), b.PID.Or(0)))
	})
	return list[:min(len(list), maxReportEvents)]
}

// placeMarks turns the marks of the log into phases and readings.
func (r *Reporter) placeMarks(out *Report) {
	open := -1 // index of the phase that goes on
	for _, m := range r.marks {
		at, ok := m.Time.Value()
		if !ok || r.count == 0 {
			continue
		}
		t := at.Sub(r.start).Seconds()
		if t < -60 || t > out.Duration+60 {
			continue
		}
		t = min(max(t, 0), out.Duration)
		if m.Kind == sampler.MarkAllocator {
			out.Readings = append(out.Readings, ReportAllocator{T: t, GPU: m.GPU, Allocated: m.Allocated, Reserved: m.Reserved})
			continue
		}
		if open >= 0 && out.Phases[open].Kind == m.Kind && out.Phases[open].N == m.N {
			continue
		}
		if open >= 0 {
			out.Phases[open].End = t
		}
		if len(out.Phases) >= maxReportEvents {
			break
		}
		out.Phases = append(out.Phases, ReportPhase{Kind: m.Kind, N: m.N, T: t, End: out.Duration})
		open = len(out.Phases) - 1
	}
	for i := range out.Phases {
		p := &out.Phases[i]
		top := math.NaN()
		for _, g := range out.GPUs {
			top = upper(top, highest(g.Plot, p.T, p.End))
		}
		p.Peak = rounded(top)
	}
	for i := range out.GPUs {
		out.GPUs[i].EpochGrowth = epochGrowth(out.GPUs[i].Plot, out.Phases)
	}
}

// highest is the most in a stretch of a plot; what was in force when it began counts.
func highest(plot []ReportPoint, from, to float64) float64 {
	top, before := math.NaN(), math.NaN()
	for _, q := range plot {
		switch {
		case q.T < from:
			before = q.High
		case q.T < to:
			top = upper(top, q.High)
		}
	}
	if math.IsNaN(top) {
		return before
	}
	return top
}

// epochGrowth is the robust slope of the peaks per epoch.
func epochGrowth(plot []ReportPoint, phases []ReportPhase) sampler.Opt[float64] {
	var xs, ys []float64
	for _, p := range phases {
		n, ok := p.N.Value()
		if !ok || p.Kind == sampler.MarkSaving {
			continue
		}
		top := highest(plot, p.T, p.End)
		if math.IsNaN(top) {
			continue
		}
		if k := len(xs) - 1; k >= 0 && xs[k] == float64(n) {
			ys[k] = max(ys[k], top)
		} else {
			xs, ys = append(xs, float64(n)), append(ys, top)
		}
	}
	if len(xs) < 4 {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(math.Round(theilSen(xs, ys)))
}
