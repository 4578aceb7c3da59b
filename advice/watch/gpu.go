package watch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// gpu is what is known of one GPU or MIG instance.
type gpu struct {
	key      sampler.GPUKey
	last     *sampler.GPU // newest snapshot, never changed
	seen     float64      // when it was last listed
	first    float64      // when it was first listed
	figures  float64      // when it last gave figures; NaN: never
	step     float64      // seconds between the last two times
	total    float64      // MiB; 0: unknown
	usable   float64      // total less what driver and firmware reserve
	used     float64      // MiB, newest; NaN: unknown now
	free     float64      // MiB, newest; NaN: unknown now
	lowest   lowestFree
	tick     uint64    // counts snapshots
	at       time.Time // of the newest snapshot
	gone     float64   // seconds a process may be missing from the list
	settled  settled
	tightest tightest
	ahead    ahead
	aheadFixes
	came    float64 // when processes last came or went
	lowered float64 // when the lowest free memory fell
	busy    float64 // utilization of late, 0..1; NaN: unknown
	zero    bool    // the newest sample was 0 after a larger one: an artifact until it repeats

	rest     series.Series // what no listed process accounts for
	growing  series.Growth
	procs    []*proc
	spare    []*proc // scratch
	listed   bool    // some process has a known figure
	orphan   orphan
	flush    flushes
	foretold flushes // when less was given back each time of late; zero: it was not
	near     nearMisses
	ends     []ending // at most maxEndings
	lately   lately
	runEnded float64 // when one did last; 0: none has
	xids     xids
	fault    fault

	requests []sampler.Request // of the snapshot that is folded
	sole     bool              // there is no other GPU
	split    bool              // it is listed by its MIG instances, too
	door     *sampler.Door     // how requests are seen; nil: nobody says
	asks     bool              // requests were seen here
	dead     []*proc           // that died of a refused request, in the snapshot that is folded
}

const (
	// MaxGPUs is how many GPUs are kept apart: a box has 16, or 112 MIG instances.
	MaxGPUs = 256
	// lowestSeconds is the window of the lowest free memory; what is that much of the GPU lower is news.
	lowestSeconds = 60
	loweredShare  = 0.005
)

// reset makes g a GPU of which nothing is known: a new one, or one whose size changed.
func (g *gpu) reset(now, total float64) {
	g.first, g.total = now, total
	g.figures, g.used, g.free = math.NaN(), math.NaN(), math.NaN()
	g.procs = g.procs[:0]
	g.rest.Start(now, false)
	g.growing = series.Growth{}
	g.lowest.reset()
	g.orphan = orphan{}
	g.flush.reset()
	g.near, g.lately = nearMisses{}, lately{}
	g.busy = math.NaN()
}

// forgetRecent is for gaps: nothing that was open before counts as having lasted.
func (g *gpu) forgetRecent() {
	g.rest.ForgetRecent()
	for _, p := range g.procs {
		p.series.ForgetRecent()
	}
	g.flush.reset()
	g.orphan = orphan{}
}

// settledFree is what is free when nobody is in a spike. It is asked for every process, and
// the same for all of one snapshot.
func (g *gpu) settledFree(now float64) float64 {
	if g.settled.tick != g.tick || g.settled.at != now {
		g.settled = settled{g.tick, now, g.settledNow(now)}
	}
	return g.settled.free
}

// settled is the settled free memory at a snapshot.
type settled struct {
	tick     uint64
	at, free float64
}

func (g *gpu) settledNow(now float64) float64 {
	sum := 0.0
	for _, p := range g.procs {
		if p.series.Samples > 0 {
			sum += p.series.Settled(now)
		}
	}
	if g.rest.Samples > 0 {
		sum += g.rest.Settled(now)
	}
	return max(0, g.usable-sum)
}

// blind says whether the settled level of some holder is not known again after a gap.
func (g *gpu) blind(now float64) bool {
	for _, p := range g.procs {
		if now < p.series.Blind {
			return true
		}
	}
	return now < g.rest.Blind
}

// room is what the growth of a series has left: beneath the next of its spikes when it has
// any, else beneath the most of the last minute, and beneath the peaks of others.
func (g *gpu) room(s *series.Series, now float64) float64 {
	top := s.Value
	if most := s.LastMinute(); most > top {
		top = most
	}
	if pt, ok := s.Pattern(now, g.total); ok && pt.Count >= series.SpikesNeeded {
		top = max(s.Settled(now), pt.Newest, s.Value) // it may be above all before
		if rise := s.Baseline(now) - pt.Level; rise > 0 {
			top = max(top, pt.Newest+rise)
		}
	}
	beside, _ := g.besidePeaks(s, now)
	return max(0, min(g.available(s, now)-top, beside))
}

// besidePeaks is what the growth of a series has left beneath the peak that another process comes to again and again, and that process: what
// is free between two of its peaks is no room to grow into. Infinite where nobody has such.
func (g *gpu) besidePeaks(s *series.Series, now float64) (room float64, whose *proc) {
	if g.tightest.tick != g.tick || g.tightest.at != now {
		g.tightest = g.tightestNow(now)
	}
	for _, t := range g.tightest.list {
		if t.proc != nil && &t.proc.series != s {
			return t.room, t.proc
		}
	}
	return math.Inf(1), nil
}

// tightest are the processes whose peaks leave least at a snapshot, which is asked for all of them: two, for one may be whose growth it is.
type tightest struct {
	tick uint64
	at   float64
	list [2]struct {
		proc *proc
		room float64
	}
}

func (g *gpu) tightestNow(now float64) tightest {
	t := tightest{tick: g.tick, at: now}
	first, second := &t.list[0], &t.list[1]
	for _, p := range g.procs {
		if !p.peak.again() {
			continue
		}
		most := p.peak.most().value
		left := g.usable - g.besides(p) - most
		if second.proc != nil && left >= second.room || !g.comesBack(p, most) {
			continue
		}
		if second.proc, second.room = p, left; first.proc == nil || left < first.room {
			*first, *second = *second, *first
		}
	}
	return t
}

// saved says whether an allocator has had to give back its cache at the limit before: what
// is in use is then not what is needed, and when it will fail is anybody's guess.
func (g *gpu) saved() bool {
	return g.near.count > 0 || g.asks && slices.ContainsFunc(g.procs, func(p *proc) bool { return p.asking.flushed.n > 0 })
}

// overtaken says whether another's next peak will not fit any more: that comes before any growth reaches the limit.
func (g *gpu) overtaken(s *series.Series) bool {
	return g.listed && slices.ContainsFunc(g.procs, func(p *proc) bool { return &p.series != s && g.crowdsOut(p) })
}

// risenSpan is the most that Risen looks back, in seconds.
const risenSpan = 1800

// outpaced says whether others have taken more within the last seconds, and kept it, than a holder of that slope in MiB a
// second: how long the room lasts is then theirs to say.
func (g *gpu) outpaced(s *series.Series, slope, seconds float64) bool {
	taken, span := 0.0, min(seconds, risenSpan)
	for _, p := range g.procs {
		if q := &p.series; q != s && p.tick == g.tick {
			taken += max(0, q.Risen(span)-max(0, q.Value-q.Floor))
		}
	}
	return g.listed && taken > slope*span
}

// available is what a holder can have while all others keep what they hold.
func (g *gpu) available(s *series.Series, now float64) float64 {
	return g.settledFree(now) + s.Settled(now)
}

// largest is the process that holds most; nil when none has a known figure.
func (g *gpu) largest() *proc {
	var most *proc
	for _, p := range g.procs {
		if p.tick == g.tick && p.series.Samples > 0 && (most == nil || p.series.Value > most.series.Value) {
			most = p
		}
	}
	return most
}

// left is how much of an ended process' memory is still in use, as far as one can tell.
func (g *gpu) left() float64 {
	o := &g.orphan
	if !o.open || math.IsNaN(o.rest) {
		return 0
	}
	if !g.last.Memory.Unattributed.Known() && !g.listed {
		return 0 // no process is listed at all: the list may just be unreadable
	}
	more := g.rest.Settled(math.Inf(1)) - o.rest
	if more < max(orphanLeast, orphanShare*g.total) {
		return 0
	}
	return min(more, o.bytes)
}

// unattributed is the unattributed memory of the GPU, when it is known.
func (g *gpu) unattributed() (float64, bool) {
	u, ok := g.last.PlausibleUnattributed()
	return u.MiB(), ok
}

// only is the process of a GPU that has one.
func (g *gpu) only() *proc {
	if len(g.procs) == 1 {
		return g.procs[0]
	}
	return nil
}

// withPID is a process of the GPU; nil when there is none.
func (g *gpu) withPID(pid int) *proc {
	for _, p := range g.procs {
		if p.pid == pid {
			return p
		}
	}
	return nil
}

// others are the processes of a GPU but one, the largest first.
func (g *gpu) others(pid int) []*proc {
	var list []*proc
	for _, p := range g.procs {
		if p.pid != pid && p.tick == g.tick && p.series.Samples > 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *proc) int { return cmp.Compare(b.series.Value, a.series.Value) })
	return list
}

// neighborLeast: others must have taken that much (and 2 % of the GPU) to be named.
const neighborLeast = 256

// newest is the largest process other than p that came or grew during the last seconds, else
// the largest.
func (g *gpu) newest(p *proc, seconds float64) *proc {
	list := g.others(p.pid)
	for _, q := range list {
		if g.seen-q.first <= seconds || q.series.Value-q.series.Base >= neighborLeast {
			return q
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// endings are the latest ending of the last ten minutes and how many of its kind there
// were within the hour, of those that nothing else told.
func (g *gpu) endings(now float64, told func(at float64) bool) (last ending, n int) {
	for _, e := range slices.Backward(g.ends) {
		switch {
		case told(e.at):
		case n == 0 && now-e.at > failureSeconds:
			return e, 0
		case n == 0:
			last, n = e, 1
		case e.command == last.command && e.user == last.user && now-e.at <= endingSpan:
			n++
		}
	}
	return last, n
}
