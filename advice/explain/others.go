package explain

import (
	"cmp"
	"slices"

	"nvpeak/sampler"
)

// unattributed: the driver named the processes it sees and they do not account for it.
func (f *facts) unattributed() bool {
	if h := f.history; h != nil && h.Unattributed.Known() {
		return h.Unattributed.Or(0) > f.othersHold()/2
	}
	named := sampler.Bytes(0)
	for _, p := range f.others {
		named += p.Bytes
	}
	return f.process.Known() && named < f.othersHold()/2
}

// biggestOther is the other process that holds most.
func (f *facts) biggestOther() Neighbor {
	if len(f.others) == 0 {
		return Neighbor{}
	}
	return slices.MaxFunc(f.others, func(a, b Neighbor) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

func holderName(h Neighbor) string {
	name := sampler.Clean(h.Name)
	if h.User != "" {
		name += ", " + sampler.Clean(h.User)
	}
	if name == "" {
		return "?"
	}
	return name
}
