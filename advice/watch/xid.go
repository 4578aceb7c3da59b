package watch

import (
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
)

// xids are the Xid errors of a GPU.
type xids struct {
	known  bool // the GPU was looked at
	newest sampler.Opt[sampler.XID]
	recent []seenXID // of the last xidSeconds and a while longer, one for each number, the first one first
}

// seenXID is the newest error of a number.
type seenXID struct {
	sampler.XID
	seen float64 // when it showed
}

const (
	// staleXID: an Xid that old when watching begins belongs to another day.
	staleXID = time.Hour
	// maxXIDCodes bounds the numbers that are kept; there are some 150.
	maxXIDCodes = 32
)

func (x *xids) add(r *sampler.GPU, at time.Time, now float64) {
	newest := r.NewestXID()
	if was, had := x.newest.Value(); had && !was.Time.Known() && was.Code == newest.Or(was).Code {
		x.newest = newest.Else(x.newest) // it is dated now
	}
	for _, one := range r.XIDsSince(x.newest) {
		if when, dated := one.Time.Value(); !dated || x.known || at.Sub(when) < staleXID {
			x.see(one, now)
		}
	}
	x.known, x.newest = true, newest.Else(x.newest)
}

func (x *xids) see(one sampler.XID, now float64) {
	x.recent = slices.DeleteFunc(slices.Clone(x.recent), func(old seenXID) bool { return old.Code == one.Code || now-old.seen > xidSeconds })
	if len(x.recent) < maxXIDCodes {
		x.recent = append(x.recent, seenXID{one, now})
	}
}

// fault is why a GPU gives no figures.
type fault struct {
	kind  faultKind
	since float64
	text  string
}

type faultKind int

const (
	faultNone faultKind = iota
	faultOther
	faultSilent
	faultLost
)

func (f *fault) add(r *sampler.GPU, now float64) {
	text, ok := r.Error.Value()
	if f.kind == faultLost && strings.Contains(text, sampler.ErrReconnect.Error()) {
		return // the driver has gone, too: nothing is known of the GPU until it is back
	}
	kind := faultNone
	if ok {
		kind = faultOf(text)
	}
	if f.kind == faultSilent && kind == faultOther && strings.Contains(text, sampler.ErrStale.Error()) {
		kind = faultSilent // a call has come back, the others are still to: what is back is read
	}
	if kind != f.kind {
		f.since = now
	}
	if _, age, told := sampler.Unanswered(text); told && kind == faultSilent {
		f.since = now - age.Seconds() // before that was known
	}
	f.kind, f.text = kind, text
}

// faultOf goes by the words of sampler's errors, which sources wrap.
func faultOf(text string) faultKind {
	low := strings.ToLower(text)
	switch {
	case strings.Contains(low, strings.ToLower(sampler.ErrLost.Error())),
		strings.Contains(low, "fallen off the bus"):
		return faultLost
	case strings.Contains(low, strings.ToLower(sampler.ErrNotAnswering.Error())):
		return faultSilent
	case text == "":
		return faultNone
	}
	return faultOther
}
