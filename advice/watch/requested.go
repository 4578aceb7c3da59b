package watch

import (
	"math"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// requested is the need that requests at the driver tell of: what comes again, what was refused of late, else the
// largest of the last minute. low is the least that was free since it could be asked for again, in MiB.
func (g *gpu) requested(now float64) (need Need, low float64, ok bool) {
	var best Need
	rank := 0
	take := func(p *proc, r int, n Need, free float64) {
		if r > rank || r == rank && n.Bytes > best.Bytes {
			n.GPU, n.PID = sampler.Some(g.last.Index), sampler.Some(p.pid)
			rank, best, low = r, n, free
		}
	}
	low = math.NaN()
	if !g.asks {
		return best, low, false
	}
	for _, p := range g.procs {
		if p.tick != g.tick || !p.asking.heard {
			continue
		}
		a := &p.asking
		if bytes, free, due := a.again.due(now); due {
			take(p, 3, Need{Bytes: bytes, Source: NeedAsked, Again: true}, free)
		}
		if size, refused := a.refusedNow(now); refused {
			take(p, 2, Need{Bytes: size, Source: NeedRefused}, g.free)
		}
		if size, asked := a.largest(g.total); asked && !preallocates(p) {
			take(p, 1, Need{Bytes: size, Source: NeedAsked}, g.free)
		}
	}
	return best, low, rank > 0
}

func preallocates(p *proc) bool {
	_, yes := explain.Preallocates(*p.process)
	return yes
}

// refusedSeconds is how long a refused request of a program that goes on is worth a word.
const refusedSeconds = 60

// refusedNow is the request that the process was refused of late, where it still needs it.
func (a *asking) refusedNow(now float64) (sampler.Bytes, bool) {
	if !a.pending() || now-a.tried > refusedSeconds || a.byDesign() || a.wentOn() || piece(&a.refusal) {
		return 0, false
	}
	return a.refusal.Smallest, a.refusal.Smallest >= againLeast && a.refusal.Smallest < sampler.MaxPlausible
}

// largest is the largest request of the last minute, unless its program was content with less, or it needs no free memory.
func (a *asking) largest(total float64) (sampler.Bytes, bool) {
	n, r := a.asked.LargestRecent, &a.refusal
	refused := r.Tries > 0 && n <= r.Bytes && n >= r.Smallest
	switch {
	case n < againLeast || n.MiB() > total:
		return 0, false
	case refused && (r.MadeDo() || a.byDesign()):
		return 0, false
	case a.pools >= n:
		return 0, false
	}
	return n, true
}
