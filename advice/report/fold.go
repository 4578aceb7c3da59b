package report

import (
	"cmp"
	"slices"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// Snapshot folds the next snapshot. It must not be changed afterwards.
func (r *Reporter) Snapshot(s *sampler.Snapshot) {
	gap := r.next(s.Time)
	r.noteSet(s)
	r.findExits(s, r.clock.Now, gap)
	r.at = s.Time
	r.count++
	r.host, r.driver = orText(s.Host, r.host), orText(s.Driver, r.driver)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if c := r.gpu(g); c != nil {
			c.fold(&r.timeline, g, gap)
			r.foldProcesses(c)
			r.noteHolders(c)
		}
	}
	if r.watch != nil {
		r.tellMarks(s.Time)
		r.gather(r.watch.Add(*s))
	}
}

// tellMarks tells the Watch what the log says until then.
func (r *Reporter) tellMarks(until time.Time) {
	for ; r.told < len(r.marks); r.told++ {
		m := r.marks[r.told]
		if at, ok := m.Time.Value(); ok && at.After(until) {
			return
		} else if ok {
			r.watch.Mark(m)
		}
	}
}

// orText is a unless it is empty.
func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// gpu finds the state of a GPU, or makes it.
func (r *Reporter) gpu(g *sampler.GPU) *gpuFold {
	c := r.known(g.Key())
	if c == nil && len(r.gpus) < watch.MaxGPUs {
		c = newGPUFold(g.Key())
		r.gpus = append(r.gpus, c)
	}
	return c
}

func (r *Reporter) foldProcesses(c *gpuFold) {
	for i := range c.gpu.Processes {
		p := &c.gpu.Processes[i]
		key := p.Key(c.key)
		q := r.procs[key]
		if q == nil {
			if len(r.procs) >= 4*maxReportProcesses {
				continue
			}
			q = newProcessFold(c, p.PID, r.clock.Now)
			r.procs[key] = q
		}
		q.fold(&r.timeline, p)
	}
}

// noteHolders notes who held what at a peak that is new with this snapshot.
func (r *Reporter) noteHolders(c *gpuFold) {
	if c.holders != nil || c.peak == nil {
		return
	}
	c.holders = []Holder{}
	for _, h := range watch.Holders(c.gpu, sampler.Opt[int]{}) {
		name := h.Name
		if h.Kind == watch.HolderUnattributed {
			name = ""
		}
		c.holders = append(c.holders, Holder{PID: h.PID, User: sampler.Clean(h.User), Name: sampler.Clean(name), Bytes: h.Bytes})
	}
	for _, q := range r.procs {
		if q.gpuKey == c.key {
			q.AtPeak = sampler.Opt[sampler.Bytes]{}
		}
	}
	for i := range c.gpu.Processes {
		p := &c.gpu.Processes[i]
		if q := r.procs[p.Key(c.key)]; q != nil {
			q.AtPeak = p.Memory
		}
	}
	if !r.atOwnPeak(c) {
		r.addRise(c)
	}
}

// atOwnPeak gives a process its own peak where that is of the moment at which its GPU was fullest: calls tell both, also when they were over as
// the processes were listed. What no process held is the rest. false: there is none.
func (r *Reporter) atOwnPeak(c *gpuFold) bool {
	i := slices.IndexFunc(c.gpu.Processes, func(p sampler.Process) bool {
		return p.Peak != nil && p.Peak.Time.Equal(c.peak.Time) && p.Peak.Bytes > p.Memory.Or(0) && p.Peak.Bytes <= c.peak.Bytes
	})
	if i < 0 {
		return false
	}
	p, rest := &c.gpu.Processes[i], c.peak.Bytes
	for j := range c.holders {
		h := &c.holders[j]
		if h.PID == p.PID {
			h.Bytes = p.Peak.Bytes
		}
		if h.PID != 0 {
			rest = rest.Less(h.Bytes)
		}
	}
	for j := range c.holders {
		if h := &c.holders[j]; h.PID == 0 {
			h.Bytes = min(h.Bytes, rest)
		}
	}
	c.sortHolders()
	if q := r.procs[p.Key(c.key)]; q != nil {
		q.AtPeak = sampler.Some(p.Peak.Bytes)
	}
	return true
}

// addRise gives a peak that was over when the processes were listed to whoever made it, as far as the window
// tells: without a process where it is not known whose it was.
func (r *Reporter) addRise(c *gpuFold) {
	w := c.gpu.Memory.Window
	if w == nil || !w.RiseTime.Or(time.Time{}).Equal(c.peak.Time) || !w.Rise.Known() {
		return
	}
	more, pid := c.peak.Bytes.Less(c.gpu.Memory.Used.Or(0)), w.RisePID.Or(0)
	i := slices.IndexFunc(c.holders, func(h Holder) bool { return h.PID == pid })
	if i < 0 && pid == 0 {
		i, c.holders = len(c.holders), append(c.holders, Holder{})
	}
	if i < 0 {
		return
	}
	c.holders[i].Bytes += more
	c.sortHolders()
	for _, q := range r.procs {
		if b, ok := q.AtPeak.Value(); ok && q.gpuKey == c.key && q.PID == pid {
			q.AtPeak = sampler.Some(b + more)
		}
	}
}

func (c *gpuFold) sortHolders() {
	slices.SortStableFunc(c.holders, func(a, b Holder) int { return cmp.Compare(b.Bytes, a.Bytes) })
}

// Reading takes a reading of the memory poller between two snapshots. gpu is the Key of its
// GPU. Readings before the first snapshot are left out.
func (r *Reporter) Reading(gpu sampler.GPUKey, at time.Time, used sampler.Bytes) {
	if r.count == 0 || used >= sampler.MaxPlausible {
		return
	}
	if c := r.known(gpu); c != nil {
		c.note(&r.timeline, at, float64(used))
	}
}

// Event takes an event of the recording. OOM events belong to OOM.
func (r *Reporter) Event(e Event) {
	if len(r.events) < maxReportEvents {
		e.T = r.seconds(e.Time)
		r.events = append(r.events, e)
	}
}

// OOM takes a failure at the moment when the live monitor would have heard of it; from is
// "recording" or "log".
func (r *Reporter) OOM(e sampler.OOMEvent, at time.Time, from string) {
	if i := slices.IndexFunc(r.logged, func(f LogFailure) bool { return f.Event.SameInLog(&e) }); i >= 0 {
		e.Context = r.logged[i].Event.Context // the recording has what an older program read from the same log
	}
	f := failed{event: e, printed: e, t: r.seconds(at), at: at, from: from}
	if r.watch != nil {
		if r.count > 0 {
			f.gpu = r.watch.GPUOf(e)
			meant := r.meant(e, f.t)
			f.incident, f.pid = r.watch.Incident(meant), meant.PID
		}
		r.gather(r.watch.Event(e, at))
	}
	if len(r.fails) < maxReportEvents {
		r.fails = append(r.fails, f)
	}
}

// SetNeed takes the need of whoever recorded, unless the report was given one.
func (r *Reporter) SetNeed(need sampler.Opt[sampler.Bytes]) {
	if r.watch != nil && !r.o.Need.Known() {
		r.watch.SetNeed(need)
	}
}

// Marks takes what the training log tells, placed in time, before the snapshots.
func (r *Reporter) Marks(marks []sampler.LogMark) { r.marks = append(r.marks, marks...) }

// Note adds a sentence about what was wrong with the input.
func (r *Reporter) Note(text string) { r.notes = append(r.notes, text) }

// gather keeps alerts that the Watch would forget.
func (r *Reporter) gather(open []sampler.Alert) {
	for i := range open {
		if open[i].T > r.newest || open[i].T == r.clock.Now {
			r.unsaved++
		}
	}
	for i := range open {
		r.newest = max(r.newest, open[i].T)
	}
	if r.unsaved > watch.MaxPast/4 {
		r.saveAlerts()
	}
}

func (r *Reporter) saveAlerts() {
	r.unsaved = 0
	type key struct {
		id string
		t  float64
	}
	at := map[key]int{}
	for i := range r.alerts {
		at[key{r.alerts[i].ID, r.alerts[i].T}] = i
	}
	for _, a := range r.watch.Past() {
		if i, ok := at[key{a.ID, a.T}]; ok {
			r.alerts[i].End = a.End
		} else if len(r.alerts) < maxReportAlerts {
			r.alerts = append(r.alerts, a)
		}
	}
}
