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

// vanished keeps the GPUs of a host that its newest snapshot may lack.
type vanished struct{ told []told }

type told struct {
	gpu sampler.GPU // without figures
	at  time.Time   // last
}

// keep puts the GPUs in that the snapshot lacks, in the order of their numbers. MIG instances come and go by commands.
func (v *vanished) keep(s *sampler.Snapshot, now time.Time) {
	split := map[int]bool{} // GPUs that are told of as instances
	for i := range s.GPUs {
		if g := &s.GPUs[i]; g.MIG != nil {
			split[g.Index] = true
		} else {
			v.see(g, now)
		}
	}
	v.told = slices.DeleteFunc(v.told, func(t told) bool { return now.Sub(t.at) > vanishedFor || split[t.gpu.Index] })
	all := len(s.GPUs)
	for i := range v.told {
		if v.told[i].at.Before(now) {
			s.GPUs = append(s.GPUs, v.told[i].gpu)
		}
	}
	if len(s.GPUs) > all {
		slices.SortStableFunc(s.GPUs, func(a, b sampler.GPU) int { return cmp.Compare(a.Index, b.Index) })
	}
}

// see notes that the host tells of a GPU, and why it gives no figures if it does not.
func (v *vanished) see(g *sampler.GPU, now time.Time) {
	kept := sampler.GPU{Index: g.Index, UUID: g.UUID, Host: g.Host, PCI: g.PCI, Name: g.Name, Processes: []sampler.Process{}}
	kept.Memory.Total, kept.Memory.Reserved = g.Memory.Total, g.Memory.Reserved
	kept.Error = sampler.Some(g.Error.Or(vanishedReason))
	i := slices.IndexFunc(v.told, func(t told) bool { return t.gpu.Key() == kept.Key() })
	if i < 0 {
		i = len(v.told)
		v.told = append(v.told, told{})
	}
	v.told[i] = told{kept, now}
}
