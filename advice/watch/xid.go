package watch

import (
	"strings"
	"time"

	"nvpeak/sampler"
)

// xid is the newest Xid error of a GPU.
type xid struct {
	known bool // the GPU was looked at
	had   bool // code and time are of an earlier look
	code  uint64
	time  sampler.Opt[time.Time]
	seen  float64 // when it first showed; valid while fresh
	fresh bool
}

// staleXID: an Xid that old when watching begins belongs to another day.
const staleXID = time.Hour

func (x *xid) add(r *sampler.GPU, at time.Time, now float64) {
	code, ok := r.LastXID.Value()
	if !ok {
		x.known = true
		return
	}
	when, dated := r.LastXIDTime.Value()
	old, wasDated := x.time.Value()
	same := x.had && code == x.code && (!dated || !wasDated || when.Equal(old))
	if !same {
		x.fresh = !dated || x.known || at.Sub(when) < staleXID
		x.seen = now
	}
	x.known, x.had, x.code, x.time = true, true, code, r.LastXIDTime
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
	if kind != f.kind {
		f.since = now
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
