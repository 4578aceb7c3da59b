package watch

import (
	"cmp"
	"iter"
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

// sized says whether a text tells how much was refused, and not how much was free.
func sized(e *sampler.OOMEvent) bool {
	return e.MemoryKind != sampler.MemoryHost && e.Requested.Known() && !e.GPUFree.Known()
}

// printedWithin is by how much a size may be off that is printed in GiB with two decimals; 0: it is printed otherwise.
func printedWithin(n sampler.Bytes) sampler.Bytes {
	const hundredth = float64(sampler.GiB) / 100
	if n < sampler.GiB || math.Abs(float64(n)-math.Round(float64(n)/hundredth)*hundredth) >= 1 {
		return 0
	}
	return sampler.GiB / 200
}

// asks says whether a text tells of the size that was refused: that of a tensor, for which an allocator asks for a segment, or which it asks for
// again with less, until it is just enough. Of pieces that size is not known.
func asks(e *sampler.OOMEvent, r *sampler.Refusal) bool {
	asked, known := sampler.Plausible(e.Requested)
	off := printedWithin(asked)
	return known && !piece(r) && asked <= r.Bytes+off && cmp.Or(r.Smallest, r.Bytes) <= asked+off+largeSegment
}

// plainCUDA is the framework of a message of CUDA itself: whatever runs on it prints the same.
const plainCUDA = "cuda"

// completed is a failure that a text tells without figures, with those of the driver: what it refused, and what the text says of the run. One that the
// text tells with its size has from the driver what else there was.
func (d *Death) completed(e sampler.OOMEvent) (sampler.OOMEvent, bool) {
	switch {
	case bare(&e):
	case sized(&e) && asks(&e, &d.refusal):
		e.GPUFree, e.GPUFreeAbout, e.GPUTotal = d.Event.GPUFree, d.Event.GPUFreeAbout, e.GPUTotal.Else(d.Event.GPUTotal)
		e.PID, e.ProcessInUse = e.PID.Else(d.Event.PID), e.ProcessInUse.Else(d.Event.ProcessInUse)
		return e, true
	default:
		return e, false
	}
	c := d.Event
	if e.Framework != "" && (e.Framework != plainCUDA || c.Framework == "") {
		c.Framework = e.Framework
	}
	c.Rank, c.Recovered, c.Line, c.Text, c.Context, c.Held = e.Rank, e.Recovered, e.Line, e.Text, e.Context, e.Held
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
	}
	moves := (lacked && !o.placed || o.literal) && !d.Unplaced
	if moves {
		o.gpu, o.placed, o.literal, o.pid = d.Key, true, false, d.PID
	}
	switch {
	case lacked, moves:
		w.rekey(was, o)
	case !o.dead:
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
	if is.pid != 0 {
		in.now.PID = sampler.Some(is.pid)
	}
	if g := w.find(is.gpu); g != nil {
		in.now.Place(g.last)
	}
}

// Completed is the death of which a log told without figures, and the failure with them; false: there is none.
func (w *Watch) Completed(e sampler.OOMEvent) (Death, bool) {
	for i := range w.failures {
		o := &w.failures[i]
		if !o.logged || !o.event.SameInLog(&e) && !(o.death.PID != 0 && o.printed.SameInLog(&e)) {
			continue
		}
		d, known := o.death, o.death.PID != 0
		if !known {
			d, known = w.refusedTo(o.event, o.at, o.gpu, o.placed)
		}
		if event, lacked := d.completed(e); known && lacked {
			d.Event, d.Incident.Events = event, []sampler.OOMEvent{event}
			return d, true
		}
	}
	return Death{}, false
}

// refusedTo is what the driver refused a process that is there, or was a moment ago, nearest to when a text told of a failure: it may not have ended of that,
// or not yet.
func (w *Watch) refusedTo(e sampler.OOMEvent, at float64, key sampler.GPUKey, placed bool) (best Death, found bool) {
	for _, g := range w.gpus {
		for _, p := range g.procs {
			if p.asking.refusal.Tries == 0 {
				continue
			}
			if d := w.deathOf(g, p); d.is(e, at, key, placed) && (!found || d.nearer(&best, &e, at)) {
				best, found = d, true
			}
		}
	}
	return best, found
}

// refusedAs is what the driver refused and a text tells of, with its size: to a process that has died of it, or that is still there.
func (w *Watch) refusedAs(e sampler.OOMEvent, g *gpu, at float64) (best Death, found bool) {
	key := sampler.GPUKey{}
	if g != nil {
		key = g.key
	}
	for d := range w.refusals() {
		if d.is(e, at, key, g != nil) && asks(&e, &d.refusal) && (!found || math.Abs(d.T-at) < math.Abs(best.T-at)) {
			best, found = d, true
		}
	}
	return best, found
}

// refusals are what the driver has refused: to the processes that have died of it, and to those that are there.
func (w *Watch) refusals() iter.Seq[Death] {
	return func(yield func(Death) bool) {
		for _, d := range w.deaths {
			if !yield(d) {
				return
			}
		}
		for _, g := range w.gpus {
			for _, p := range g.procs {
				if p.asking.refusal.Tries > 0 && !yield(w.deathOf(g, p)) {
					return
				}
			}
		}
	}
}

// Refused is what was known when the driver refused what a text tells of, at a time on the clock of the snapshots; false: it refused nothing like that.
func (w *Watch) Refused(e sampler.OOMEvent, at float64) (explain.Incident, bool) {
	d, known := w.refusedAs(e, nil, at)
	return d.Incident, known
}
