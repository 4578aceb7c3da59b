package sampler

import "time"

// XID is an error that the driver has reported of a GPU: https://docs.nvidia.com/deploy/xid-errors/index.html
type XID struct {
	Code uint64         `json:"xid"`
	Time Opt[time.Time] `json:"time"`
}

// maxXIDs bounds those of a GPU that wait for the next snapshot. The first ones are kept: what follows is mostly of their making.
const maxXIDs = 1024

// NewestXID is the newest error that is told of the GPU.
func (g *GPU) NewestXID() Opt[XID] {
	if code, ok := g.LastXID.Value(); ok {
		return Some(XID{code, g.LastXIDTime})
	}
	return Opt[XID]{}
}

// XIDsSince are the errors that have come since the snapshot before, in which told was the newest one, oldest first. Who knows the
// newest alone (a page of metrics, a recording of an earlier version) tells of no more than that.
func (g *GPU) XIDsSince(told Opt[XID]) []XID {
	if len(g.XIDs) > 0 {
		return g.XIDs
	}
	newest, ok := g.NewestXID().Value()
	if before, had := told.Value(); !ok || had && newest.same(before) {
		return nil
	}
	return []XID{newest}
}

// same says whether an error is the one that was told before, for all that is known.
func (x XID) same(before XID) bool {
	when, dated := x.Time.Value()
	return x.Code == before.Code && (!dated || when.Equal(before.Time.Or(time.Time{})))
}
