package report

import (
	"cmp"
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// nearExit is how far the end of a process may lie from the message of its failure: a
// program can take a while to die, and a follower reads a log every half second.
const nearExit = 120

// meant is the event with the process and GPU that it most likely speaks of, so that the
// Watch finds them: messages print the pid of their own namespace, or none.
func (r *Reporter) meant(e sampler.OOMEvent, t float64) sampler.OOMEvent {
	if e.MemoryKind == sampler.MemoryHost || r.listed(e.PID) {
		return e
	}
	if p, c := r.bySize(e); p != nil {
		e.PID = sampler.Some(p.PID)
		e.GPUIndex = sampler.Some(c.gpu.Index)
		e.GPUTotal = sampler.Opt[sampler.Bytes]{} // the GPU is known
	}
	return e
}

func (r *Reporter) listed(pid sampler.Opt[int]) bool {
	n, ok := pid.Value()
	return ok && r.anyProcess(func(p *sampler.Process) bool { return p.PID == n })
}

// bySize finds the process whose memory is what the message says of its own, or the
// largest one on the only GPU that comes into question.
func (r *Reporter) bySize(e sampler.OOMEvent) (*sampler.Process, *gpuFold) {
	own := float64(e.ProcessInUse.Or(0))
	slack := 0.02
	if held := e.Reserved.Or(e.Allocated.Or(0) + e.ReservedUnallocated.Or(0)); own == 0 && held > 0 && held < sampler.MaxPlausible {
		own, slack = float64(held+explain.ContextTypical), 0.05
	}
	var best *sampler.Process
	var on *gpuFold
	least := math.Inf(1)
	named := own == 0 && r.anyNamed(e)
	ranked := own == 0 && r.anyProcess(func(p *sampler.Process) bool { return e.Rank.Known() && p.Rank() == e.Rank })
	for _, c := range r.gpus {
		if t, ok := sampler.Plausible(e.GPUTotal); ok && c.total > 0 && (float64(t) > 1.1*c.total || float64(t) < 0.9*c.total) {
			continue
		}
		if n, ok := e.GPUIndex.Value(); ok && len(r.gpus) > 1 && own == 0 && n != c.gpu.Index {
			continue
		}
		for i := range c.gpu.Processes {
			p := &c.gpu.Processes[i]
			if named && !explain.Runs(p.Command, e.Context) || ranked && p.Rank() != e.Rank {
				continue
			}
			m := float64(p.Memory.Or(0))
			off := -m // the largest
			if own > 0 {
				off = math.Abs(m - own)
				if off > slack*own+float64(sampler.GiB) {
					continue
				}
			}
			if off < least {
				best, on, least = p, c, off
			}
		}
	}
	return best, on
}

// anyNamed: one of the processes is of the program that a log is of.
func (r *Reporter) anyNamed(e sampler.OOMEvent) bool {
	return r.anyProcess(func(p *sampler.Process) bool { return explain.Runs(p.Command, e.Context) })
}

func (r *Reporter) anyProcess(is func(*sampler.Process) bool) bool {
	return slices.ContainsFunc(r.gpus, func(c *gpuFold) bool {
		return slices.ContainsFunc(c.gpu.Processes, func(p sampler.Process) bool { return is(&p) })
	})
}

// findIncidents finds the incident of each failure: that of the process that was gone soon after
// it, where the Watch did not know whose it was.
func (r *Reporter) findIncidents() {
	for i := range r.fails {
		f := &r.fails[i]
		if f.event.MemoryKind == sampler.MemoryHost || f.incident.History != nil && f.incident.History.Process.Known() {
			continue
		}
		if r.watch != nil {
			if in, ok := r.watch.Refused(f.event, f.t); ok {
				f.incident = in
				continue
			}
		}
		if x := r.exitNear(f); x != nil && x.incident.History != nil && (f.incident.History == nil || x.incident.History.Process.Known()) {
			f.incident, f.pid = x.incident, pidOf(x.process)
			h := *x.incident.History
			h.GPU = f.gpu // which of the processes it was is a guess
			f.incident.History = &h
		}
	}
}

// exitNear is the exit nearest to a failure, on its GPU where that is known.
func (r *Reporter) exitNear(f *failed) (best *exit) {
	for i := range r.exits {
		x := &r.exits[i]
		d := math.Abs(x.T - f.t)
		pid, ok := f.event.PID.Value()
		gpu, known := f.gpu.Value()
		if d > nearExit || ok && r.everListed(pid) && x.PID != pid || known && x.GPU != gpu && !(ok && x.PID == pid) {
			continue
		}
		if best == nil || x.nearer(best, d, math.Abs(best.T-f.t)) {
			best = x
		}
	}
	return best
}

// nearer says whether an exit is rather that of a failure than another one. Ranks of one job end together: then it is the one whose GPU was alerted.
func (x *exit) nearer(o *exit, d, od float64) bool {
	if math.Abs(d-od) <= listedLate && x.alerted() != o.alerted() {
		return x.alerted()
	}
	return d < od || d == od && x.Bytes > o.Bytes
}

// alerted: more than a notice was open for its process as it ended.
func (x *exit) alerted() bool {
	return slices.ContainsFunc(x.open, func(a sampler.Alert) bool {
		return a.GPU.Or(-1) == x.GPU && a.PID.Or(x.PID) == x.PID && a.Level != sampler.LevelNotice && a.Kind != sampler.AlertOOM
	})
}

func (r *Reporter) everListed(pid int) bool {
	for k := range r.procs {
		if k.PID == pid {
			return true
		}
	}
	return false
}

// gpuOf is the index of the GPU that a failure was on, as far as it is known.
func (r *Reporter) gpuOf(f failed) (int, bool) {
	if n, ok := f.gpu.Value(); ok {
		return n, true
	}
	if x := r.exitNear(&f); x != nil {
		return x.GPU, true
	}
	if len(r.gpus) == 1 {
		return r.gpus[0].gpu.Index, true
	}
	return 0, false
}

// fromDriver: that is where a failure is known from of which no log told.
const fromDriver = "driver"

// listedLate is how many seconds after its first calls a process may be listed first.
const listedLate = 2

// processOf is the process that failed; nil: it is not known.
func (r *Reporter) processOf(f *failed) (found *processFold) {
	pid, known := f.pid.Value()
	if !known {
		return nil
	}
	for _, q := range r.procs {
		if q.PID == pid && q.First <= f.t+listedLate && (found == nil || q.First > found.First) {
			found = q
		}
	}
	return found
}

// addDeaths completes the failures by what the driver told of them, and takes those that it alone told of: requests that were refused to
// processes that then ended.
func (r *Reporter) addDeaths() {
	if r.deathsAdded {
		return
	}
	r.deathsAdded = true
	for i := range r.fails {
		f := &r.fails[i]
		if d, ok := r.watch.Completed(f.event); ok {
			f.event, f.incident = d.Event, d.Incident
			f.fromDeath(&d)
		}
	}
	for _, d := range r.watch.Deaths() {
		if len(r.fails) == maxReportEvents {
			break
		}
		f := failed{event: d.Event, t: d.T, at: d.Time, from: fromDriver, incident: d.Incident}
		f.fromDeath(&d)
		r.fails = append(r.fails, f)
	}
	slices.SortStableFunc(r.fails, func(a, b failed) int { return cmp.Compare(a.t, b.t) })
}

// fromDeath takes over whose failure it was, and where.
func (f *failed) fromDeath(d *watch.Death) {
	f.pid = sampler.Some(d.PID)
	if !d.Unplaced {
		f.gpu = sampler.Some(d.GPU)
	}
}
