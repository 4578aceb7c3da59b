package report

import (
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
		for _, f := range r.fails {
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
