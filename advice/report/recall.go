package report

import (
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Recall adds to an incident what a recording shows of each of its failures: the GPU, the process with its
// command and environment, the others, the peaks, all just before the failure. The recording must have been
// folded into the Reporter, with the failures told to it at their times (see PlaceFailures). What is known
// already stays. An incident without events takes those of the recording. Call it once, at the end.
func (r *Reporter) Recall(in explain.Incident) explain.Incident {
	r.findIncidents()
	if len(in.Events) == 0 {
		for _, f := range r.ownFailures() {
			in.Events = append(in.Events, f.event)
		}
	}
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
	return in
}

// ownFailures are those that the report is about. Where a log tells of one that its program did not survive, others that the driver alone saw
// belong to it only if they were of the same program, in about the time of that: on a shared GPU more programs die than one.
func (r *Reporter) ownFailures() []failed {
	logged := slices.DeleteFunc(slices.Clone(r.fails), func(f failed) bool { return f.event.Kind == sampler.KindRefused || f.event.Recovered })
	if len(logged) == 0 {
		return r.fails
	}
	return slices.DeleteFunc(slices.Clone(r.fails), func(f failed) bool {
		return f.event.Kind == sampler.KindRefused && !slices.ContainsFunc(logged, func(o failed) bool {
			return math.Abs(o.t-f.t) <= nearExit && (o.incident.Command == "" || o.incident.Command == f.incident.Command)
		})
	})
}

// failure finds what the Reporter was told of an event, most likely at its place.
func (r *Reporter) failure(place int, e sampler.OOMEvent) *failed {
	if place < len(r.fails) && r.fails[place].event.SameInLog(&e) {
		return &r.fails[place]
	}
	for i := range r.fails {
		if r.fails[i].event.SameInLog(&e) {
			return &r.fails[i]
		}
	}
	return nil
}
