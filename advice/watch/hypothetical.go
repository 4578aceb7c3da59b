package watch

import (
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// hypothetical is a failure that has not happened yet, as far as an alert knows it. The
// fixes of explain answer it as if it had.
type hypothetical struct {
	gpu    *gpu
	proc   *proc               // who will fail; nil: not known
	need   float64             // MiB it will ask for; 0: not known
	guess  bool                // need follows from falls: nobody saw a request
	stuck  float64             // MiB that stay after a flush and did not two flushes before: by falls, not by measure; 0: not known
	free   float64             // MiB there will be
	has    func(*proc) float64 // MiB that another process has beside that; nil: what it holds now
	phase  string              // of sampler.LogContext
	host   bool                // it is about host memory
	causes []sampler.Cause
	only   []string // ids of the fixes that come into question; none: all
	never  string   // id of a fix that does not
}

// certain is a cause that the facts prove, with others that have a part in it.
func certain(id string, part ...string) []sampler.Cause {
	list := []sampler.Cause{{ID: id, Confidence: 1}}
	for _, other := range part {
		list = append(list, sampler.Cause{ID: other, Confidence: partConfidence})
	}
	return list
}

// partConfidence of a cause that is not the first.
const partConfidence = 0.4

// maxFixes: an alert is read in passing.
const maxFixes = 4

// fixes are those that answer the failure, ranked.
func (h hypothetical) fixes(words lang.Catalog) []sampler.Advice {
	e, in := h.event(), explain.Incident{}
	if h.gpu != nil {
		in = incidentOf(h.gpu, h.proc)
		for i := range in.History.Others {
			if o := &in.History.Others[i]; h.has != nil {
				o.Bytes = series.Bytes(h.has(h.gpu.withPID(o.PID)))
			}
		}
		if h.unattributed() {
			in.History.Others = nil // none of those listed
		}
	}
	in.Events = []sampler.OOMEvent{e}
	list := explain.Advise(in, h.causes, words)
	if len(h.only) > 0 {
		list = slices.DeleteFunc(list, func(a sampler.Advice) bool { return !slices.Contains(h.only, a.ID) })
	}
	list = slices.DeleteFunc(list, func(a sampler.Advice) bool {
		return a.ID == h.never || h.guess && a.ID == explain.FixCapSampleSize // which is about one request
	})
	list = list[:min(len(list), maxFixes)]
	for i := range list {
		list[i].Rank = i + 1
	}
	return list
}

func (h hypothetical) unattributed() bool { return h.causes[0].ID == explain.CauseUnattributed }

// inSpikes is the same failure in the spikes that come again; growth of them has an alert of its own.
func (h hypothetical) inSpikes() hypothetical {
	h.phase, h.never = sampler.PhaseValidation, explain.FixLeak
	return h
}

// event is the failure as its message would tell it.
func (h hypothetical) event() sampler.OOMEvent {
	e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU,
		Context: &sampler.LogContext{Phase: h.phase, Step: sampler.Some(1)}}
	if h.host {
		e.Framework, e.Kind, e.MemoryKind = "", "", sampler.MemoryHost
	}
	if h.need > 0 {
		e.Requested = sampler.Some(series.Bytes(h.need))
	}
	if h.stuck > 0 {
		e.Extra = map[string]any{explain.ExtraStuck: series.Bytes(h.stuck)}
	}
	if g := h.gpu; g != nil {
		e.GPUTotal, e.GPUFree = sampler.Some(series.Bytes(g.usable)), sampler.Some(series.Bytes(h.free))
		if h.unattributed() {
			u, _ := g.unattributed()
			e.ProcessInUse = sampler.Some(series.Bytes(g.used - u))
		}
	}
	if p := h.proc; p != nil {
		e.PID = sampler.Some(p.pid)
		e.Framework = p.process.Framework.Or(e.Framework)
		e.ProcessInUse = sampler.Some(series.Bytes(p.series.Value))
		if a := p.process.Allocator; a != nil {
			e.Allocated, e.ReservedUnallocated = sampler.Some(a.Allocated), sampler.Some(a.Reserved.Less(a.Allocated))
		}
	}
	return e
}

// incidentOf is what is known of a process and its GPU, for explaining a failure of it.
func incidentOf(g *gpu, p *proc) explain.Incident {
	h := &explain.History{Total: g.last.Memory.PlausibleTotal(), Free: g.last.Memory.PlausibleFree(), Sole: g.sole && g.last.Index == 0}
	if g.last.MIG == nil && g.key != (sampler.GPUKey{}) {
		h.GPU = sampler.Some(g.last.Index)
	}
	if u, ok := g.last.PlausibleUnattributed(); ok {
		h.Unattributed = sampler.Some(u)
	}
	in := explain.Incident{GPUName: g.last.Name, ComputeCapability: g.last.ComputeCapability.Or(""), History: h}
	own := 0
	if p != nil {
		own = p.pid
		in.Command, in.Environment = p.process.Command, p.process.Environment
		h.Process = sampler.Some(series.Bytes(p.series.Value))
		h.Peaks, h.Kept = p.series.Peaks(), p.dips.Floors()
	}
	h.Mixed = p == nil
	for _, q := range g.others(own) {
		h.Others = append(h.Others, explain.Neighbor{PID: q.pid, Bytes: series.Bytes(q.series.Value), Name: q.process.Name,
			User: q.process.User, Command: q.process.Command, Same: p != nil && g.ofJob(p, q), Arrived: p != nil && q.first > p.first+jobSeconds})
	}
	return in
}
