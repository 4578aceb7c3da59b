package watch

import (
	"math"
	"slices"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// fold takes the GPU's part of a snapshot.
func (g *gpu) fold(r *sampler.GPU, now float64, gap bool) {
	gap = gap || now-g.seen > g.gone
	before := g.last
	g.last, g.seen = r, now
	g.tick++
	g.xids.add(r, g.at, now)
	g.fault.add(r, now)
	if t, ok := r.Memory.PlausibleTotal().Value(); ok && t.MiB() != g.total {
		g.reset(now, t.MiB()) // MIG was set up anew, or the first figure
	}
	if gap {
		g.forgetRecent()
		g.near.resume(now)
	}
	u, ok := r.Memory.PlausibleUsed().Value()
	f, _ := r.Memory.PlausibleFree().Value()
	artifact := ok && u == 0 && g.used > 0 && !g.zero
	g.zero = artifact
	if !ok || artifact {
		g.used, g.free = math.NaN(), math.NaN()
		if artifact {
			g.used = 1 // so that a second zero is believed
		}
		g.meetAskers(now)
		g.meetEnded(before, now)
		g.foldAsking(now)
		return
	}
	high, low := u, u
	if w := r.Memory.Window; w != nil && w.Readings > 0 && w.Max < sampler.MaxPlausible && w.Max.MiB() <= g.total {
		high, low = max(u, w.Max), min(u, w.Min)
	}
	g.step = now - g.figures
	g.figures, g.used, g.free = now, u.MiB(), f.MiB()
	reserved, _ := sampler.Plausible(r.Memory.Reserved)
	g.usable = g.total - reserved.MiB()
	free := f.Less(high - u).MiB()
	if free < g.lowest.last(now, lowestSeconds)-loweredShare*g.total {
		g.lowered = now
	}
	g.lowest.add(now, free)
	g.foldProcesses(now, (high - u).MiB(), (u - low).MiB())
	g.foldEdges(now)
	g.foldGrowth(now)
	plain := g.flush.add(now, high.MiB(), low.MiB(), g.used, g.total, g.usable)
	if g.flush.rising(now) {
		g.foretold = g.flush // the last requests before the end turn it about
	}
	g.foldNear(now, u, plain)
	g.foldPeaks(now)
	g.foldBusy()
	g.foldSettled(now, gap)
	g.meetEnded(before, now)
	g.foldAsking(now)
}

// foldEdges tells excursions that just began how much was free before them.
func (g *gpu) foldEdges(now float64) {
	settled := math.NaN()
	free := func() float64 {
		if math.IsNaN(settled) {
			settled = g.settledFree(now)
		}
		return settled
	}
	for _, p := range g.procs {
		p.series.NoteFree(free)
	}
	g.rest.NoteFree(free)
}

// foldNear takes the near misses of the snapshot's window, or finds them in snapshots that
// come one after the other. Those of a start-up do not count. plain: there was another fall.
func (g *gpu) foldNear(now float64, used sampler.Bytes, plain bool) {
	count, deepest, fromLimit := 0, sampler.Bytes(0), false
	if w := g.last.Memory.Window; w != nil {
		count, deepest, fromLimit = w.Falls.Or(0), w.DeepestFall.Or(0), w.LimitFalls.Or(0) > 0
	} else if !(g.step > 0 && g.step <= fallSeconds) {
		g.near.counter = sampler.FallCounter{} // what was between is not known
	} else if fall, near := g.near.counter.Add(g.at, used, g.last.Memory.Usable()); near {
		count, deepest, fromLimit = 1, fall.Depth, fall.FromLimit
	}
	if count == 0 && plain {
		g.near.fallen(now, 1)
	}
	if count == 0 || g.came == now || deepest.MiB() < desktopMoves*g.total && g.desktop() {
		return
	}
	s, pid, p := &g.rest, 0, g.largest()
	if p != nil {
		if givesBack(p.process) {
			return
		}
		s, pid = &p.series, p.pid
	}
	starts := !(now-s.Rose > startSeconds) && !(p != nil && p.settled)
	if starts {
		g.near.fallen(now, count)
		if fromLimit {
			g.near.atLimit.add(now, count)
		}
	}
	if near := starts || g.near.add(now, pid, count, deepest.MiB(), fromLimit); near && p != nil {
		p.close.add(now, count, deepest.MiB())
	}
}

// desktopMoves, of the GPU, is what windows, browsers and video calls take and give back.
const desktopMoves = 0.03

// desktop says whether a display is driven by the GPU too.
func (g *gpu) desktop() bool {
	return slices.ContainsFunc(g.last.Processes, func(p sampler.Process) bool { return p.Type == "graphics" })
}

// busyFade is the part of the newest reading in the utilization of late.
const busyFade = 1.0 / 60

func (g *gpu) foldBusy() {
	u, ok := g.last.Utilization.GPU.Value()
	switch now := float64(u) / 100; {
	case !ok:
	case math.IsNaN(g.busy):
		g.busy = now
	default:
		g.busy += (now - g.busy) * busyFade
	}
}

// foldSettled notes that who holds most has computed for a while without needing more than before, and was not near its end.
func (g *gpu) foldSettled(now float64, gap bool) {
	for _, q := range g.procs {
		if sm, known := q.process.SM.Value(); known && sm > 0 && q.tick == g.tick && !gap {
			q.worked += g.step
		}
	}
	p := g.largest()
	u, ok := g.last.Utilization.GPU.Value()
	switch computes := ok && float64(u)/100 >= idleShare; {
	case p == nil:
	case p.series.Records.Newest() >= now:
		p.calm = 0
	case computes && !gap && p.series.Rose < now:
		p.calm += g.step
	}
	if p != nil && p.calm >= startSettled && p.series.Peak < nearlyFull*g.usable {
		p.settled = true
	}
}

// foldPeaks notes what each process has held at most, and the others then.
func (g *gpu) foldPeaks(now float64) {
	for _, p := range g.procs {
		if p.tick == g.tick && p.series.Levelled() {
			p.peak.add(now, p.series.High(), max(0, g.used-p.series.Value))
		}
	}
}

// growthAhead: growth is noticed when it has come half of the way.
const growthAhead = 1.0

// foldGrowth judges the series of which buckets have closed.
func (g *gpu) foldGrowth(now float64) {
	judge := func(growth *series.Growth, s *series.Series) {
		if growth.Due(s) {
			growth.Judge(s, now, g.room(s, now), g.total, growthAhead)
		}
	}
	largest := g.largest()
	for _, p := range g.procs {
		if p.tick == g.tick {
			p.series.Working = p == largest && g.busy >= workShare
			judge(&p.growing, &p.series)
		}
	}
	judge(&g.growing, &g.rest)
}
