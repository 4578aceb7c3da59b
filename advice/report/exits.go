package report

import (
	"math"
	"slices"

	"nvpeak/sampler"
)

const (
	// exitShare of the GPU, or exitLeast: what held less is no job worth a word.
	exitShare = 0.02
	exitLeast = 256 * sampler.MiB
	// dropShare of the used memory gone at once is the end of a job that is not listed.
	dropShare = 0.5
	dropOfGPU = 0.1
	maxExits  = 1000
	// exitFreeSeconds is how long memory may take to come back after an exit.
	exitFreeSeconds = 10
)

// Exits are the ends of jobs so far, oldest first.
func (r *Reporter) Exits() []Exit {
	list := make([]Exit, len(r.exits))
	for i := range r.exits {
		list[i] = r.exits[i].Exit
	}
	return list
}

// findExits compares a snapshot with the one before it, which the Watch has seen last.
func (r *Reporter) findExits(s *sampler.Snapshot, now float64, gap bool) {
	for i := range s.GPUs {
		g := &s.GPUs[i]
		c := r.known(g.Key())
		if c == nil || math.IsNaN(c.used) || g.Silent() {
			continue
		}
		used, ok := sampler.Plausible(g.Memory.Used)
		if !ok {
			continue
		}
		gone := r.missing(c, g)
		if len(gone) == 0 && !c.hasList && len(g.Processes) == 0 && !gap &&
			c.used-float64(used) > max(dropShare*c.used, dropOfGPU*c.total, float64(exitLeast)) && float64(used) <= c.idle() {
			gone = []sampler.Process{{Memory: sampler.Some(sampler.Bytes(c.used) - used)}}
		}
		for _, p := range gone {
			r.addExit(c, p, now)
		}
		r.returned(c, g)
	}
}

// missing lists the processes of the snapshot before that are not in this one.
func (r *Reporter) missing(c *gpuFold, g *sampler.GPU) (gone []sampler.Process) {
	for i := range c.gpu.Processes {
		p := &c.gpu.Processes[i]
		key := p.Key(c.key)
		m, ok := sampler.Plausible(p.Memory)
		if !ok || float64(m) < exitShare*c.total && m < exitLeast {
			continue
		}
		if !slices.ContainsFunc(g.Processes, func(q sampler.Process) bool { return q.Key(c.key) == key }) {
			gone = append(gone, *p)
		}
	}
	return gone
}

func (r *Reporter) addExit(c *gpuFold, p sampler.Process, now float64) {
	if len(r.exits) >= maxExits {
		return
	}
	x := r.exitOf(c, p)
	if r.watch != nil {
		x.incident = r.watch.Incident(r.meant(sampler.OOMEvent{PID: pidOf(p), GPUIndex: sampler.Some(c.gpu.Index)}, c.seen))
		x.open = slices.Clone(r.watch.Open())
	}
	r.exits = append(r.exits, x)
	c.endSpikes(now) // what a job leaves is no spike coming back
	if float64(x.Bytes) > c.used/2 {
		c.endJob(now)
		c.exitFree = sampler.Opt[sampler.Bytes]{}
		if c.usable > 0 { // how much is free is told
			c.exitFree, c.exitUntil = sampler.Some(sampler.Bytes(0)), now+exitFreeSeconds
		}
	}
	if q := r.procs[p.Key(c.key)]; q != nil {
		q.left = true
	}
}

// exitOf is what the newest snapshot tells of the end of one of its processes.
func (r *Reporter) exitOf(c *gpuFold, p sampler.Process) exit {
	high := c.used
	if w := c.gpu.Memory.Window; w != nil && w.Max < sampler.MaxPlausible {
		high = max(high, float64(w.Max))
	}
	x := exit{key: c.key, process: p, Exit: Exit{Time: r.at, T: c.seen, GPU: c.gpu.Index, PID: p.PID, Bytes: p.Memory.Or(0), Used: sampler.Bytes(c.used)}}
	if c.usable > 0 {
		x.Full = min(1, high/c.usable)
	}
	typical := c.busy.median()
	x.rose = !math.IsNaN(typical) && high > typical+0.03*c.total
	return x
}

func pidOf(p sampler.Process) sampler.Opt[int] {
	if p.PID == 0 {
		return sampler.Opt[int]{}
	}
	return sampler.Some(p.PID)
}

// returned takes back the exits of processes that were only left out of one list.
func (r *Reporter) returned(c *gpuFold, g *sampler.GPU) {
	for i := range g.Processes {
		q := r.procs[g.Processes[i].Key(c.key)]
		if q == nil || !q.left {
			continue
		}
		q.left = false
		r.exits = slices.DeleteFunc(r.exits, func(x exit) bool {
			return x.key == c.key && x.process.Key(c.key) == g.Processes[i].Key(c.key)
		})
	}
}
