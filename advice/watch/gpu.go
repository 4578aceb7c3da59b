package watch

import (
	"math"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// card is what is known of one GPU or MIG instance.
type card struct {
	key     cardKey
	gpu     *sampler.GPU // newest snapshot, never changed
	seen    float64      // when it was last listed
	first   float64      // when it was first listed
	figures float64      // when it last gave figures; NaN: never
	total   float64      // MiB; 0: unknown
	usable  float64      // total less what driver and firmware reserve
	used    float64      // MiB, newest; NaN: unknown now
	free    float64      // MiB, newest; NaN: unknown now
	worst   worstFree
	tick    uint64    // counts snapshots
	at      time.Time // of the newest snapshot
	gone    float64   // seconds a process may be missing from the list
	zero    bool      // the newest sample was 0 after a larger one: an artefact until it repeats

	rest    series.Series // what no listed process accounts for
	growing series.Growth
	procs   []*proc
	spare   []*proc // scratch
	listed  bool    // some process has a known figure
	orphan  orphan
	flush   flushes
	ends    []ending // at most maxEndings
	xid     xid
	fault   fault
}

// cardKey is the identity of a card over time.
type cardKey struct {
	uuid  string
	index int
	mig   int // GPU instance, -1 for a whole card
}

func keyOf(g *sampler.GPU) cardKey {
	k := cardKey{uuid: g.UUID, mig: -1}
	if g.UUID == "" {
		k.index = g.Index // without UUID (hand-written recordings) the index must do
	}
	if g.MIG != nil {
		k.mig = g.MIG.GPUInstance
	}
	return k
}

// worstFree is the least free memory of the last window and of all time.
type worstFree struct {
	window [worstBuckets]float64
	bucket [worstBuckets]int64
	ever   float64
}

const worstBuckets = 16 // of 4 s

func (w *worstFree) reset() {
	for i := range w.bucket {
		w.bucket[i] = series.NoBucket
	}
	w.ever = math.NaN()
}

func (w *worstFree) add(t, free float64) {
	b := int64(math.Floor(t / series.BucketSeconds))
	i := b & (worstBuckets - 1)
	if w.bucket[i] != b || free < w.window[i] {
		w.window[i], w.bucket[i] = free, b
	}
	if !(free >= w.ever) {
		w.ever = free
	}
}

// last is the least free memory of the last seconds, at most a minute; NaN: none known.
func (w *worstFree) last(t, seconds float64) float64 {
	b := int64(math.Floor(t / series.BucketSeconds))
	from := b - min(int64(seconds/series.BucketSeconds), worstBuckets-1)
	least := math.NaN()
	for i, j := range w.bucket {
		if j >= from && j <= b && !(w.window[i] >= least) {
			least = w.window[i]
		}
	}
	return least
}

// reset makes c a card of which nothing is known: a new one, or one whose size changed.
func (c *card) reset(now, total float64) {
	c.first, c.total = now, total
	c.figures, c.used, c.free = math.NaN(), math.NaN(), math.NaN()
	c.procs = c.procs[:0]
	c.rest.Start(now, false)
	c.growing = series.Growth{}
	c.worst.reset()
	c.orphan = orphan{}
	c.flush.reset()
}

// fold takes the card's part of a snapshot.
func (c *card) fold(g *sampler.GPU, now float64, gap bool) {
	gap = gap || now-c.seen > c.gone
	c.gpu, c.seen = g, now
	c.tick++
	c.xid.add(g, c.at, now)
	c.fault.add(g, now)
	if t, ok := g.Memory.PlausibleTotal().Value(); ok && series.MiB(t) != c.total {
		c.reset(now, series.MiB(t)) // MIG was set up anew, or the first figure
	}
	if gap {
		c.forgetRecent()
	}
	u, ok := g.Memory.PlausibleUsed().Value()
	f, _ := g.Memory.PlausibleFree().Value()
	artefact := ok && u == 0 && c.used > 0 && !c.zero
	c.zero = artefact
	if !ok || artefact {
		c.used, c.free = math.NaN(), math.NaN()
		if artefact {
			c.used = 1 // so that a second zero is believed
		}
		return
	}
	high, low := u, u
	if w := g.Memory.Window; w != nil && w.Readings > 0 && w.Max < sampler.Sane && series.MiB(w.Max) <= c.total {
		high, low = max(u, w.Max), min(u, w.Min)
	}
	c.figures, c.used, c.free = now, series.MiB(u), series.MiB(f)
	r, _ := sampler.Plausible(g.Memory.Reserved)
	c.usable = c.total - series.MiB(r)
	c.worst.add(now, series.MiB(f.Less(high-u)))
	c.foldProcesses(now, series.MiB(high-u), series.MiB(u-low))
	c.foldEdges(now)
	c.foldGrowth(now)
	c.flush.add(now, series.MiB(high), series.MiB(low), c.used, c)
}

// forgetRecent is for gaps: nothing that was open before counts as having lasted.
func (c *card) forgetRecent() {
	c.rest.ForgetRecent()
	for _, p := range c.procs {
		p.series.ForgetRecent()
	}
	c.flush.reset()
	c.orphan = orphan{}
}

// settledFree is what is free when nobody is in a spike.
func (c *card) settledFree(now float64) float64 {
	sum := 0.0
	for _, p := range c.procs {
		if p.series.Samples > 0 {
			sum += p.series.Settled(now)
		}
	}
	if c.rest.Samples > 0 {
		sum += c.rest.Settled(now)
	}
	return max(0, c.usable-sum)
}

// blind says whether the settled level of some holder is not known again after a gap.
func (c *card) blind(now float64) bool {
	for _, p := range c.procs {
		if now < p.series.Blind {
			return true
		}
	}
	return now < c.rest.Blind
}

// foldEdges tells excursions that just began how much was free before them.
func (c *card) foldEdges(now float64) {
	settled := math.NaN()
	free := func() float64 {
		if math.IsNaN(settled) {
			settled = c.settledFree(now)
		}
		return settled
	}
	for _, p := range c.procs {
		p.series.NoteFree(free)
	}
	c.rest.NoteFree(free)
}
