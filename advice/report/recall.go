package report

import (
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Recall adds to an incident what a recording shows of each of its failures: what the driver and the allocator told of it, the GPU, the
// process with its command and environment, the others, the peaks, all just before the failure, and what was alerted then. The recording
// must have been folded into the Reporter, with the failures told to it at their times (see PlaceFailures). What is known already stays.
// Failures of the run that only the recording has join those of the incident. Call it once, at the end.
func (r *Reporter) Recall(in explain.Incident) explain.Incident {
	if r.watch != nil {
		r.saveAlerts()
		r.addDeaths()
	}
	r.findIncidents()
	r.join(&in)
	in.Histories = make([]*explain.History, len(in.Events))
	first := explain.First(in)
	for n := range in.Events {
		i := (first + n) % len(in.Events) // the run is that of the failure which began it
		f := r.failure(i, in.Events[i])
		if f == nil || f.incident.History == nil {
			continue
		}
		in.Histories[i] = f.incident.History
		if in.Command == "" {
			in.Command = f.incident.Command
		}
		if len(in.Environment) == 0 {
			in.Environment = f.incident.Environment
		}
		if in.GPUName == "" {
			in.GPUName, in.ComputeCapability = f.incident.GPUName, f.incident.ComputeCapability
		}
	}
	if first >= 0 {
		if f := r.failure(first, in.Events[first]); f != nil {
			in.Alerts = r.openAt(*f)
		}
	}
	return in
}

// join makes the events of an incident those that the recording completed, and adds those that it alone has.
func (r *Reporter) join(in *explain.Incident) {
	for i, e := range in.Events {
		if f := r.failure(i, e); f != nil {
			in.Events[i] = f.event
			in.Events[i].Rank, in.Events[i].Occurrences = e.Rank.Else(f.event.Rank), max(e.Occurrences, f.event.Occurrences)
		}
	}
	logged := len(in.Events)
	for _, f := range r.ownFailures() {
		if !slices.ContainsFunc(in.Events[:logged], func(e sampler.OOMEvent) bool { return f.tells(&e) }) {
			in.Events = append(in.Events, f.event)
			if len(in.Files) > 0 {
				in.Files = append(in.Files, "")
			}
		}
	}
}

// ownFailures are those that the report is about: what a log tells of that its program did not survive, or else the last one that the driver
// saw. Others that the driver alone saw belong to it only if they were of the same run: on a shared GPU more programs die than one.
func (r *Reporter) ownFailures() []failed {
	about := slices.DeleteFunc(slices.Clone(r.fails), func(f failed) bool { return f.from == fromDriver || f.event.Recovered })
	if len(about) == 0 {
		if last := lastDeath(r.fails); last >= 0 {
			about = r.fails[last : last+1]
		}
	}
	if len(about) == 0 {
		return r.fails
	}
	return slices.DeleteFunc(slices.Clone(r.fails), func(f failed) bool {
		return f.from == fromDriver && !slices.ContainsFunc(about, func(o failed) bool { return r.oneRun(&o, &f) })
	})
}

// lastDeath is the place of the last failure that its program did not survive; -1: there is none.
func lastDeath(list []failed) int {
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].event.Recovered {
			return i
		}
	}
	return -1
}

// oneRun says whether two failures are of one run of a program: of about one time, and none was over before the other began.
func (r *Reporter) oneRun(a, b *failed) bool {
	if math.Abs(a.t-b.t) > nearExit || a.incident.Command != "" && a.incident.Command != b.incident.Command {
		return false
	}
	p, q := r.processOf(a), r.processOf(b)
	return p == nil || q == nil || p.First <= b.t+listedLate && q.First <= a.t+listedLate
}

// failure finds what the Reporter was told of an event, most likely at its place.
func (r *Reporter) failure(place int, e sampler.OOMEvent) *failed {
	if place < len(r.fails) && r.fails[place].tells(&e) {
		return &r.fails[place]
	}
	for i := range r.fails {
		if r.fails[i].tells(&e) {
			return &r.fails[i]
		}
	}
	return nil
}

// tells says whether a failure is the one of an event, as it was printed or as the driver completed it.
func (f *failed) tells(e *sampler.OOMEvent) bool {
	return f.event.SameInLog(e) || f.from != fromDriver && f.printed.SameInLog(e)
}
