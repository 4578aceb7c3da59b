package report

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Report is what the recording so far tells. Call it once, at the end.
func (r *Reporter) Report() Report {
	out := Report{Schema: sampler.Schema, Source: sampler.Clean(r.o.Source), Host: sampler.Clean(r.host), Driver: sampler.Clean(r.driver), Start: Moment{r.start}, End: Moment{r.at},
		Lang: r.words.Lang, Duration: r.clock.Now, Snapshots: r.count, Interval: math.Round(1000*explain.Usual(r.steps)) / 1000,
		Unseen: r.unseen(0, r.clock.Now), GPUs: []GPU{}, Processes: []Process{}, Alerts: []sampler.Alert{}, Events: []Event{}, Phases: []Phase{},
		Readings: []Allocator{}, Causes: []sampler.Cause{}, Advice: []sampler.Advice{}, Notes: append([]string{}, r.notes...)}
	for _, c := range r.gpus {
		out.GPUs = append(out.GPUs, c.report(&r.timeline))
	}
	slices.SortStableFunc(out.GPUs, func(a, b GPU) int { return cmp.Compare(a.Index, b.Index) })
	out.Processes = r.processes()
	out.Notes = append(out.Notes, r.missed(out.Processes)...)
	if r.watch != nil {
		r.saveAlerts()
		out.Alerts = append(out.Alerts, r.alerts...)
		r.addDeaths()
		r.conclude(&out)
	}
	out.Events = r.allEvents()
	r.placeMarks(&out)
	r.byWall(&out)
	return out
}

func (r *Reporter) processes() []Process {
	list := []Process{}
	for _, q := range r.procs {
		p := q.Process
		p.Exited = q.ended(r.known(q.gpuKey))
		p.Mean = rounded(q.mean.mean())
		if !p.Mean.Known() {
			p.Mean = p.AtExit
		}
		p.Plot = q.bins.points(r.hold())
		p.User, p.Name, p.Command = sampler.Clean(p.User), sampler.Clean(p.Name), sampler.Clean(p.Command)
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(cmp.Compare(peakBytes(b.Peak), peakBytes(a.Peak)), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.PID, b.PID), cmp.Compare(a.First, b.First))
	})
	return list[:min(len(list), maxReportProcesses)]
}

// missed says of which processes not all requests were seen.
func (r *Reporter) missed(list []Process) (notes []string) {
	pids := map[int]bool{}
	for _, p := range list {
		if p.Requests != nil && p.Requests.Missed {
			pids[p.PID] = true
		}
	}
	switch len(pids) {
	case 0:
	case 1:
		notes = append(notes, r.words.Say("report.missed", "pid", slices.Collect(maps.Keys(pids))[0]))
	default:
		notes = append(notes, r.words.Say("report.missed_all", "count", len(pids)))
	}
	return notes
}

func peakBytes(p *Peak) sampler.Bytes {
	if p == nil {
		return 0
	}
	return p.Bytes
}
