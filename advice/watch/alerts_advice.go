package watch

import (
	"cmp"
	"fmt"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// trouble is what an alert knows of a failure that has not happened yet. The fixes of
// explain answer it as if it had.
type trouble struct {
	card   *card
	proc   *proc   // who will fail; nil: not known
	need   float64 // MiB it will ask for; 0: not known
	free   float64 // MiB there will be
	phase  string  // of sampler.LogContext
	host   bool    // it is about host memory
	causes []sampler.Cause
	only   []string // ids of the fixes that come into question; none: all
}

// sure is a cause that the facts prove.
func sure(ids ...string) []sampler.Cause {
	var list []sampler.Cause
	for _, id := range ids {
		list = append(list, sampler.Cause{ID: id, Confidence: 1})
	}
	return list
}

// maxRemedies: an alert is read in passing.
const maxRemedies = 4

// remedies are the fixes that answer the trouble, ranked.
func (t trouble) remedies() []sampler.Advice {
	e := sampler.OOMEvent{Framework: "pytorch", Kind: "allocator", MemoryKind: sampler.MemoryGPU,
		Context: &sampler.LogContext{Phase: t.phase, Step: sampler.Some(1)}}
	if t.host {
		e.Framework, e.Kind, e.MemoryKind = "", "", sampler.MemoryHost
	}
	if t.need > 0 {
		e.Requested = sampler.Some(series.Bytes(t.need))
	}
	in := explain.Incident{}
	if c := t.card; c != nil {
		e.GPUTotal, e.GPUFree = sampler.Some(series.Bytes(c.usable)), sampler.Some(series.Bytes(t.free))
		in = c.incident(t.proc)
		if t.causes[0].ID == "unattributed" {
			u, _ := c.nobody()
			in.History.Others = nil // none of those listed
			e.ProcessInUse = sampler.Some(series.Bytes(c.used - u))
		}
	}
	if p := t.proc; p != nil {
		e.PID = sampler.Some(p.pid)
		e.Framework = p.process.Framework.Or(e.Framework)
		e.ProcessInUse = sampler.Some(series.Bytes(p.series.Value))
		if a := p.process.Allocator; a != nil {
			e.Allocated, e.ReservedUnallocated = sampler.Some(a.Allocated), sampler.Some(a.Reserved.Less(a.Allocated))
		}
	}
	in.Events = []sampler.OOMEvent{e}
	list := explain.NewFailure(in, e, lang.English()).Advise(t.causes)
	if len(t.only) > 0 {
		list = slices.DeleteFunc(list, func(a sampler.Advice) bool { return !slices.Contains(t.only, a.ID) })
	}
	list = list[:min(len(list), maxRemedies)]
	for i := range list {
		list[i].Rank = i + 1
	}
	return list
}

// incident is what is known of a process and its card, for explaining a failure of it.
func (c *card) incident(p *proc) explain.Incident {
	h := &explain.History{Total: c.gpu.Memory.PlausibleTotal(), Free: c.gpu.Memory.PlausibleFree()}
	if u, ok := c.gpu.PlausibleUnattributed(); ok {
		h.Unattributed = sampler.Some(u)
	}
	in := explain.Incident{GPUName: c.gpu.Name, ComputeCapability: c.gpu.ComputeCapability.Or(""), History: h}
	own := 0
	if p != nil {
		own = p.pid
		in.Command, in.Environment = p.process.Command, p.process.Environment
		h.Process = sampler.Some(series.Bytes(p.series.Value))
		h.Peaks = p.series.Peaks()
	}
	for _, q := range c.others(own) {
		h.Others = append(h.Others, explain.Neighbor{PID: q.pid, Bytes: series.Bytes(q.series.Value), Name: q.process.Name,
			User: q.process.User, Command: q.process.Command, Arrived: p != nil && q.first > p.first+jobSeconds})
	}
	return in
}

// who names a process: name and user.
func who(p *sampler.Process) string {
	name := sampler.Clip(p.Name)
	if name == "" {
		name = "process"
	}
	if p.User != "" {
		return name + ", " + sampler.Clip(p.User)
	}
	return name
}

// size is an amount of a series in words.
func size(m float64) string { return series.Bytes(m).String() }

// spanOf is a time in words that do not pretend to be exact: "40 s", "4 min", "2.5 h".
func spanOf(seconds float64) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%.0f s", max(0, seconds))
	case seconds < 90*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	}
	return fmt.Sprintf("%.1f days", seconds/86400)
}

// sortBySize puts the largest first.
func sortBySize(list []*proc) {
	slices.SortStableFunc(list, func(a, b *proc) int { return cmp.Compare(b.series.Value, a.series.Value) })
}
