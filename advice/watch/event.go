package watch

import (
	"slices"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Levels are the levels of used memory that somebody has set.
func (w *Watch) Levels() Levels { return w.levels }

// SetLevels sets them. Alerts follow with the next snapshot.
func (w *Watch) SetLevels(l Levels) { w.levels = l }

// SetNeed sets the need that the user typed; absent takes it back.
func (w *Watch) SetNeed(need sampler.Opt[sampler.Bytes]) { w.needs.set(need) }

// Need is the need that the user typed.
func (w *Watch) Need() sampler.Opt[sampler.Bytes] { return w.needs.typed }

// Mark takes what a training log says at the time of the newest snapshot.
func (w *Watch) Mark(m sampler.LogMark) {
	if m.Kind == sampler.MarkStage && w.clock.Started {
		w.stages.add(w.clock.Now, m)
		return
	}
	if n, ok := m.N.Value(); ok && m.Kind == sampler.MarkStep && w.clock.Started {
		for _, g := range w.gpus {
			if p := g.largest(); p != nil {
				p.step(n)
			}
		}
		return
	}
	if b, ok := sampler.Plausible(m.Allocated); ok && w.clock.Started {
		w.tensors.add(w.clock.Now, b.MiB())
		for _, g := range w.gpus {
			if p := g.largest(); p != nil && b.MiB() < p.series.Value {
				p.logged.Add(w.clock.Now, b.MiB())
			}
		}
	}
}

// Event takes an out-of-memory failure found in a followed log at time t. It raises an
// alert, and the refused size becomes the need. It returns the alerts that are open now, as
// Add does; before the first snapshot there are none.
func (w *Watch) Event(e sampler.OOMEvent, t time.Time) []sampler.Alert {
	if w.clock.Started && t.After(w.clock.Last) && w.clock.Next(t) {
		w.holdAgain()
		for _, g := range w.gpus {
			g.forgetRecent()
		}
	}
	now := w.clock.Now
	g, p, literal := w.ownerOf(e, now)
	if w.toldOf(e, g) {
		if w.clock.Started {
			w.showFailures(t)
		}
		return w.Open()
	}
	o := failure{event: e, at: now, logged: true, explained: explain.Explain(w.Incident(e))}
	if p != nil {
		o.pid = p.pid
	} else if d, refused := w.refusedAs(e, g, now); refused {
		o.pid = d.PID
	}
	if g != nil {
		o.gpu, o.placed, o.literal = g.key, true, literal
	}
	if g != nil && e.Recovered && e.MemoryKind != sampler.MemoryHost {
		g.near.catch(now)
	}
	if size, ok := sampler.Plausible(e.Requested); ok && size > 0 && g != nil && e.MemoryKind != sampler.MemoryHost && !wayLeft(e) {
		r := refusal{bytes: size, gpu: g.key, at: now}
		if p != nil {
			r.pid, r.command = p.pid, p.process.Command
		}
		w.needs.refuse(r)
	}
	if d, found := w.refusedTo(e, now, o.gpu, o.placed); found && d.refusal.Outcome == sampler.RefusalOpen {
		if _, lacked := d.completed(e); lacked {
			w.tells(&o, d, e)
		}
	}
	w.addFailure(o)
	if w.clock.Started {
		w.showFailures(t)
	}
	return w.Open()
}

// wayLeft: the program tries several ways to do the same, and has taken another one: it will not ask for that again.
func wayLeft(e sampler.OOMEvent) bool {
	return e.Recovered && slices.Contains([]string{sampler.KindTensorRT, sampler.KindTensorFlow, sampler.KindXLA}, e.Kind)
}

// Incident is what the snapshots so far tell of a failure: the GPU, the process with its
// command and environment as far as they are known, the others, the peaks. It is for
// Explain.
func (w *Watch) Incident(e sampler.OOMEvent) explain.Incident {
	in := explain.Incident{}
	g, p, _ := w.ownerOf(e, w.clock.Now)
	d, refused := w.refusedAs(e, g, w.clock.Now)
	switch {
	case e.MemoryKind == sampler.MemoryHost:
		in = hostIncident(w.gpus, &w.host)
	case refused && (p == nil || p.pid == d.PID):
		in = d.Incident // as it was then; by now its processes may be gone
	case g != nil:
		in = incidentOf(g, p)
		if p != nil {
			in.History.Age = sampler.Some(ageOf(p, &w.clock))
			in.History.Peers, in.History.PeerPeaks = peersOf(w.gpus, g, p)
		}
	}
	if g != nil && e.Refused == nil && e.MemoryKind != sampler.MemoryHost {
		e.Refused = g.refusedOf(p, &e, w.clock.Last)
	}
	if refused && e.Refused == nil {
		e.Refused = d.Event.Refused
	}
	in.Events, in.Lang = []sampler.OOMEvent{e}, w.lang
	return in
}

// GPUOf is the index of the GPU that a failure was on, as its alert says it.
func (w *Watch) GPUOf(e sampler.OOMEvent) (gpu sampler.Opt[int]) {
	if g, _, _ := w.ownerOf(e, w.clock.Now); g != nil {
		gpu = sampler.Some(g.last.Index)
	}
	return gpu
}

// Fit is the arithmetic of the need against a GPU, for the screen: the typed need, else
// the refused one, else the largest request of late. Without one there are no holders, which take longer than all the rest.
// ok is false for an unknown GPU.
func (w *Watch) Fit(key sampler.GPUKey) (fit Fit, ok bool) {
	g := w.find(key)
	if g == nil {
		return Fit{}, false
	}
	return w.needs.fit(g, w.clock.Now), true
}
