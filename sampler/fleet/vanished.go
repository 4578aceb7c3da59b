package fleet

import (
	"cmp"
	"slices"
	"time"

	"nvpeak/sampler"
)

// An exporter tells of the GPUs that give figures. One that falls off the bus and is told of no more would go without a word, and its
// alert with it: so it stays in the list for a while.

// vanishedFor is how long. What is still not there then has been taken away on purpose.
const vanishedFor = 10 * time.Minute

// vanishedReason is what such a GPU says of itself.
var vanishedReason = sampler.ErrNotAnswering.Error() + ": its host tells of it no more"

// mostVanished is how many are kept: an exporter that gives its GPUs other names each time has all the more.
const mostVanished = 64

// vanished keeps the GPUs of a host that its newest snapshot may lack.
type vanished struct{ told map[sampler.GPUKey]told }

type told struct {
	gpu sampler.GPU // without figures
	at  time.Time   // last
}

// keep puts the GPUs in that the snapshot lacks, in the order of their numbers. MIG instances come and go by commands.
func (v *vanished) keep(s *sampler.Snapshot, now time.Time) {
	if v.told == nil {
		v.told = map[sampler.GPUKey]told{}
	}
	split := map[int]bool{} // GPUs that are told of as instances
	for i := range s.GPUs {
		if g := &s.GPUs[i]; g.MIG != nil {
			split[g.Index] = true
		} else if g.UUID != "" { // without one it may be any
			v.told[g.Key()] = told{withoutFigures(g), now}
		}
	}
	all := len(s.GPUs)
	for key, t := range v.told {
		switch {
		case !t.at.Before(now):
		case now.Sub(t.at) > vanishedFor || split[t.gpu.Index] || len(s.GPUs) == all+mostVanished:
			delete(v.told, key)
		default:
			s.GPUs = append(s.GPUs, t.gpu)
		}
	}
	if len(s.GPUs) > all {
		slices.SortFunc(s.GPUs[all:], func(a, b sampler.GPU) int { return cmp.Compare(a.UUID, b.UUID) })
		slices.SortStableFunc(s.GPUs, func(a, b sampler.GPU) int { return cmp.Compare(a.Index, b.Index) })
	}
}

// withoutFigures is what is left of a GPU of which nothing is told any more.
func withoutFigures(g *sampler.GPU) sampler.GPU {
	kept := sampler.GPU{Index: g.Index, UUID: g.UUID, Host: g.Host, PCI: g.PCI, Name: g.Name, Processes: []sampler.Process{}}
	kept.Memory.Total, kept.Memory.Reserved = g.Memory.Total, g.Memory.Reserved
	kept.Error = sampler.Some(g.Error.Or(vanishedReason))
	return kept
}
