package prom

import (
	"strconv"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/history"
)

// shares of the memory above which time is counted.
var shares = []float64{0.90, 0.95}

// place follows the memory of the GPU that stands at a place of the snapshots, reading by reading.
type place struct {
	key     sampler.GPUKey
	known   bool // the key is
	highest *history.Highest
	total   sampler.Bytes // 0: not known yet
	used    sampler.Bytes
	at      time.Time // of the newest reading; zero: there is none that counts
	above   [2]time.Duration
	xid     sampler.Opt[sampler.XID] // the newest that was counted
	xids    map[uint64]int
}

func newPlace() *place {
	return &place{highest: history.NewHighest(longestWindow), xids: map[uint64]int{}}
}

// read takes a reading.
func (p *place) read(at time.Time, used sampler.Bytes) {
	p.count(at)
	p.highest.Put(at, used)
	p.used, p.at = used, at
}

// lose ends what is known of the memory.
func (p *place) lose(at time.Time) {
	p.count(at)
	p.highest.Lose(at)
	p.at = time.Time{}
}

// count counts the time up to now in which much was in use.
func (p *place) count(now time.Time) {
	if p.at.IsZero() || !now.After(p.at) {
		return
	}
	for i, share := range shares {
		if p.total > 0 && float64(p.used) > share*float64(p.total) {
			p.above[i] += now.Sub(p.at)
		}
	}
	p.at = now
}

// seen takes what a snapshot says of the GPU. Another GPU at this place begins anew.
func (p *place) seen(g *sampler.GPU, at time.Time) {
	if p.known && p.key != g.Key() {
		*p = *newPlace()
	}
	p.key, p.known = g.Key(), true
	p.total = g.Memory.Total.Or(p.total)
	if used, ok := g.Memory.Used.Value(); !ok {
		p.lose(at)
	} else if p.at.IsZero() { // readings come when they differ
		p.read(at, used)
	}
	for _, xid := range g.XIDsSince(p.xid) {
		p.xids[xid.Code]++
	}
	p.xid = g.NewestXID().Else(p.xid)
}

// shareLabels are the shares as labels.
func shareLabel(i int) string { return strconv.FormatFloat(shares[i], 'f', 2, 64) }
