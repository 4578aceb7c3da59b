package watch

import (
	"math"
	"slices"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

const (
	// The driver lists some dozens of processes on one GPU. What is above is counted as
	// unattributed.
	maxProcesses = 256
	// crowd is how many processes are kept apart on all GPUs while some of them are missing.
	crowd = 3072
	// goneSeconds is how long a process may be missing from the list before it counts as
	// ended: lists are read in turns and can come back short.
	goneSeconds = 5
)

// foldProcesses takes the processes of a snapshot. above and below are how far the fast
// readings of the GPU went beyond the newest one. A process list is read once a second
// only, so what was above is given to whoever made it rise, if a list at that moment told, else to
// whoever holds most of the GPU, less what the others gave back meanwhile.
func (g *gpu) foldProcesses(now, above, below float64) {
	changed := g.matchProcesses(living(g.last.Processes), now)
	if changed {
		g.came = now
	}
	sum, given, most, largest := 0.0, 0.0, g.used/2, (*proc)(nil)
	had, emptied := 0.0, (*proc)(nil)
	g.listed = false
	for _, p := range g.procs {
		m, ok := sampler.Plausible(p.process.Memory)
		if p.tick != g.tick || !ok {
			sum += p.series.Value // missing for a moment: it still has what it had
			continue
		}
		g.listed = true
		sum += m.MiB()
		given += max(0, p.series.Value-m.MiB())
		if m.MiB() >= most {
			most, largest = m.MiB(), p
		}
		had += p.series.Value
		if m.MiB() < p.series.Value && (emptied == nil || p.series.Value > emptied.series.Value) {
			emptied = p
		}
	}
	late := 0.0 // what the newest reading has of it, and the list, which is of a moment later, has not
	if emptied != nil && emptied.series.Value >= had/2 {
		largest, most, late = emptied, emptied.process.Memory.Or(0).MiB(), max(0, g.used-sum-g.rest.Value)
	}
	if p := g.risen(); p != nil {
		largest, most = p, p.process.Memory.Or(0).MiB()
	}
	deep := below
	if largest != nil {
		given -= max(0, largest.series.Value-most)
		below = 0
	}
	if changed {
		above = 0
	}
	for _, p := range g.procs {
		m, ok := sampler.Plausible(p.process.Memory)
		if p.tick != g.tick || !ok {
			continue
		}
		up, down := 0.0, 0.0
		if p == largest {
			down = max(0, min(deep-late, m.MiB()))
			// A list may be older than the readings: together they had no more than the GPU.
			up = max(0, min(above+late-given, g.used+above-sum))
		}
		p.series.Fall(now, m.MiB()-down)
		p.series.Add(now, m.MiB(), m.MiB(), m.MiB()+up, g.total)
		p.dips.Add(now, m.MiB()-down, m.MiB()+up, g.total)
		p.logged.Seen(m.MiB() + up)
		p.foldAllocator(now)
	}
	if largest != nil {
		above = 0
	}
	rest := max(0, g.used-sum-late)
	g.emptied(rest, now)
	if g.listed {
		g.rest.Records = series.Records{} // they were of the processes, by lists that came a little later
	}
	g.rest.Add(now, rest, max(0, rest-below), rest+above, g.total)
}

// risen is the process that made the highest reading of the window, where that is known.
func (g *gpu) risen() *proc {
	w := g.last.Memory.Window
	if w == nil || !w.RisePID.Known() || !w.RiseTime.Or(time.Time{}).Equal(w.MaxTime) {
		return nil
	}
	for _, p := range g.procs {
		if p.tick == g.tick && p.pid == w.RisePID.Or(0) && p.process.Memory.Known() {
			return p
		}
	}
	return nil
}

// emptied begins anew with what no process accounts for when it is gone: without a
// process list that is the end of one job, and the next one is not a spike of it.
func (g *gpu) emptied(rest, now float64) {
	empty := max(g.total*series.PlateauLevel, series.PlateauLeast) * 0.75
	if g.rest.Levelled() && max(rest, g.rest.Value) < empty && g.rest.Floor >= rest {
		g.rest.Start(now, false)
		g.growing = series.Growth{}
		g.flush.reset()
	}
}

// living are the processes of a list that have not ended: what the driver lists of others is left behind.
func living(list []sampler.Process) []sampler.Process {
	ended := func(p sampler.Process) bool { return p.Ended }
	if !slices.ContainsFunc(list, ended) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), ended)
}

// matchProcesses brings g.procs into the order of the list: those listed first, then
// those missing for a moment. changed: some came or went.
func (g *gpu) matchProcesses(list []sampler.Process, now float64) (changed bool) {
	if g.inOrder(list) {
		for i := range list {
			g.procs[i].process, g.procs[i].seen, g.procs[i].tick = &list[i], now, g.tick
		}
	} else {
		changed = true
		g.reorder(list, now)
	}
	for _, p := range g.procs { // its parent does not look after it: the driver may list it for ever
		if g.asks && p.tick == g.tick && p.asking.asked.ExitStatus.Known() && !p.told {
			p.told = g.recordDeath(p)
		}
	}
	for _, p := range slices.Backward(g.procs) { // how one has ended may be known though of those after it nothing is
		if g.over(p, now) {
			g.ended(p, now)
		}
	}
	g.procs = slices.DeleteFunc(g.procs, func(p *proc) bool { return g.over(p, now) })
	return changed || len(g.procs) > len(list)
}

// over says whether a process that may be missing for a moment only has ended.
func (g *gpu) over(p *proc, now float64) bool {
	return now-p.seen > g.gone || p.tick != g.tick && p.asking.asked.ExitStatus.Known()
}

// inOrder is the usual case: the same processes as in the snapshot before.
func (g *gpu) inOrder(list []sampler.Process) bool {
	if len(list) > len(g.procs) {
		return false
	}
	for i := range list {
		if !g.procs[i].is(&list[i]) {
			return false
		}
	}
	return true
}

func (g *gpu) reorder(list []sampler.Process, now float64) {
	order := g.spare[:0]
	for i := range list[:min(len(list), maxProcesses)] {
		p := g.find(&list[i])
		if p == nil {
			p = newProc(&list[i], now, g.at)
			if !slices.ContainsFunc(order, func(q *proc) bool { return q.process.Command == p.process.Command && q.process.User == p.process.User }) {
				g.lately.recall(p, now) // the other ranks of a job that use this GPU, too, are not the one that did
			}
		} else if p.tick == g.tick {
			continue // listed twice
		}
		p.process, p.seen, p.tick = &list[i], now, g.tick
		order = append(order, p)
	}
	for _, p := range g.procs {
		if p.tick != g.tick && len(order) < 2*maxProcesses {
			order = append(order, p)
		}
	}
	clear(g.procs)
	g.spare, g.procs = g.procs[:0], order
}

// meetAskers takes the processes that are new and have asked for memory in a snapshot whose figures are not believed: it may be the
// only one that has them.
func (g *gpu) meetAskers(now float64) {
	for i := range g.last.Processes {
		q := &g.last.Processes[i]
		if q.Requests != nil && !q.Ended {
			g.meet(q, now)
		}
	}
}

// meetEnded takes the processes that were refused memory and are listed only after they have ended: all of their life fell between two
// lists. before: the GPU in the snapshot before, which may have had them already; nil: there was none.
func (g *gpu) meetEnded(before *sampler.GPU, now float64) {
	for i := range g.last.Processes {
		q := &g.last.Processes[i]
		if q.Ended && wasRefused(q) && (before == nil || !slices.ContainsFunc(before.Processes, func(o sampler.Process) bool {
			return o.PID == q.PID && o.StartTime.Equal(q.StartTime) && wasRefused(&o)
		})) {
			g.meet(q, now)
		}
	}
}

func wasRefused(q *sampler.Process) bool { return q.Requests != nil && q.Requests.Refusal != nil }

// meet takes a process of the newest list, if it is new, for its requests alone.
func (g *gpu) meet(q *sampler.Process, now float64) {
	if len(g.procs) < 2*maxProcesses && g.find(q) == nil {
		p := newProc(q, now, g.at)
		p.tick = g.tick
		g.procs = append(g.procs, p)
	}
}

func (g *gpu) find(q *sampler.Process) *proc {
	for _, p := range g.procs {
		if p.is(q) {
			return p
		}
	}
	return nil
}

// ended takes the end of a process.
func (g *gpu) ended(p *proc, now float64) {
	g.recordOrphan(p, now)
	guess := (!p.asking.heard || g.door.Deaf(p.pid)) && p.asking.end() != endedWell // who was not refused anything did not die of that, nor who ends well
	died := p.told || g.recordDeath(p) || guess && g.recordEnding(p)
	g.lately.keep(p, died, now)
	g.runEnded = now
	g.near.end(p.pid)
	g.flush.reset()
	g.foretold = flushes{}
}

// recordOrphan takes what a process held when it ended. Its list entry went a moment ago,
// so the rest has already grown if it left memory behind; what was there before is in the
// rest's bucket.
func (g *gpu) recordOrphan(p *proc, now float64) {
	held := p.series.Value
	if held < max(orphanLeast, orphanShare*g.total) || p.series.Samples < series.MinSamples {
		return
	}
	if g.orphan.open && g.orphan.bytes >= held && g.left() > 0 {
		return
	}
	g.orphan = orphan{pid: p.pid, name: p.process.Name, bytes: held, since: now, open: true, rest: g.rest.Before(p.seen)}
}

// recordEnding looks whether a process that is listed no more died for want of memory.
func (g *gpu) recordEnding(p *proc) bool {
	s := &p.series
	free := g.lowest.last(p.seen, endingSeconds)
	if s.Samples < series.MinSamples || math.IsNaN(free) {
		return false
	}
	e := ending{pid: p.pid, name: p.process.Name, user: p.process.User, command: p.process.Command, at: p.seen, held: s.Peak, free: free}
	full := free <= max(flushLimit*g.total, flushLeast) && s.Last-s.PeakTime <= endingSeconds && s.Peak >= endingShare*g.usable
	if !full {
		e.held = s.Value
		if e.wanted, e.free = g.cutShort(p); e.wanted == 0 {
			return false
		}
	}
	if g.foretold.rising(p.seen) && s.Peak >= g.usable/2 {
		e.flushes = g.foretold
	}
	if len(g.ends) == maxEndings {
		g.ends = append(g.ends[:0], g.ends[1:]...)
	}
	g.ends = append(g.ends, e)
	return true
}

// cutShort is where the spikes of a process end, when one was due or under way as it ended and did not fit into the room
// that others left, and that room; 0: it was none.
func (g *gpu) cutShort(p *proc) (wanted, room float64) {
	pt, ok := p.series.Pattern(p.seen, g.total)
	if !ok || pt.Count < series.SpikesNeeded {
		return 0, 0
	}
	room = g.usable
	for _, q := range g.procs {
		if q != p && q.first <= p.seen { // later ones took what it gave back
			room -= q.series.Value
		}
	}
	if left, begun := pt.Begun(p.seen); begun && left > pt.Width+endingSeconds || !begun && !(pt.Regular && math.Abs(pt.Due(p.seen)) <= endingSeconds) {
		return 0, 0
	}
	if pt.Top <= room {
		return 0, 0
	}
	return pt.Top, room
}
