package watch

import (
	"cmp"
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// bareKinds are those of errors that say no more than that there was no memory.
var bareKinds = []string{sampler.KindCUDAError, sampler.KindCUDADriver, sampler.KindNumba, sampler.KindCuPy}

// bare says whether a text tells of a failure without any of its figures.
func bare(e *sampler.OOMEvent) bool {
	return slices.Contains(bareKinds, e.Kind) && !e.Requested.Known() && !e.GPUFree.Known() && !e.GPUTotal.Known() && !e.Allocated.Known()
}

// completed is a failure that a text tells without figures, with those of the driver: what it refused, and what the text says of the run.
func (d *Death) completed(e sampler.OOMEvent) (sampler.OOMEvent, bool) {
	if !bare(&e) {
		return e, false
	}
	c := d.Event
	c.Framework, c.Rank, c.Recovered, c.Line, c.Text, c.Context, c.Held = cmp.Or(e.Framework, c.Framework), e.Rank, e.Recovered, e.Line, e.Text, e.Context, e.Held
	if e.Refused != nil {
		c.Refused = e.Refused
	}
	return c, true
}

// tells makes one failure of a text and a death.
func (w *Watch) tells(o *failure, d Death, e sampler.OOMEvent) {
	was, least := o.incidentKey(), sampler.Bytes(0)
	var lacked bool
	o.death, o.logged, o.printed = d, true, e
	if o.event, lacked = d.completed(e); lacked {
		least = d.refusal.Smallest // of a falling series that would have done
		if !o.placed && !d.Unplaced {
			o.gpu, o.placed = d.Key, true
		}
		w.rekey(was, o)
	} else if !o.dead {
		return
	}
	in := d.Incident
	in.Events = []sampler.OOMEvent{o.event}
	o.explained = explain.Explain(in)
	if size, ok := sampler.Plausible(o.event.Requested); o.placed && ok && size > 0 {
		w.needs.refuse(refusal{bytes: cmp.Or(least, size), gpu: o.gpu, at: w.clock.Now, pid: d.PID, command: d.command})
	}
}

// incidentKey is that of its alert.
func (o *failure) incidentKey() incidentKey {
	pid, id := o.key()
	return incidentKey{rule: slices.Index(rules, &ruleOOM), machine: !o.placed, gpu: o.gpu, pid: pid, id: id}
}

// rekey lets the open alert of a failure, of which more is known now, go on as that of another place.
func (w *Watch) rekey(was incidentKey, o *failure) {
	in, is := w.open[was], o.incidentKey()
	if in == nil || w.open[is] != nil {
		return
	}
	delete(w.open, was)
	w.open[is] = in
	in.key, in.renderedAt, in.completed = is, math.Inf(-1), true
	in.now.Key = is.gpu
	if is.pid != 0 {
		in.now.PID = sampler.Some(is.pid)
	}
	if g := w.find(is.gpu); g != nil {
		in.gpu = sampler.Some(g.last.Index)
		in.now.GPU = in.gpu
	}
}

// Completed is the death of which a log told without figures, and the failure with them; false: there is none.
func (w *Watch) Completed(e sampler.OOMEvent) (Death, bool) {
	for i := range w.failures {
		if o := &w.failures[i]; o.logged && o.death.PID != 0 && bare(&o.printed) && o.printed.SameInLog(&e) {
			d := o.death
			d.Event, _ = d.completed(e)
			d.Incident.Events = []sampler.OOMEvent{d.Event}
			return d, true
		}
	}
	return Death{}, false
}
