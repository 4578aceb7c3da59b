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

// biggestOther is the other process that holds most: one of another job, if there is any.
func (f *facts) biggestOther() Neighbor {
	if big := f.toStop(); big.PID > 0 || len(f.others) == 0 {
		return big
	}
	return slices.MaxFunc(f.others, func(a, b Neighbor) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// strangers are the others that are not of this job; none where the job may be one of them.
func (f *facts) strangers() []Neighbor {
	if f.mixed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.others), func(p Neighbor) bool { return p.Same })
}

// toStop is the process that could be stopped to make room: never one of this job.
func (f *facts) toStop() Neighbor {
	list := f.strangers()
	if len(list) == 0 {
		return Neighbor{}
	}
	return slices.MaxFunc(list, func(a, b Neighbor) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// aloneOnGPU: what is not free is of this job.
func (f *facts) aloneOnGPU() bool {
	if f.mixed || f.onHost() {
		return false
	}
	if f.told(sampler.ToldAlone) && !f.numbers() && len(f.others) == 0 {
		return true // as is said
	}
	return len(f.others) > 0 && len(f.strangers()) == 0 && !f.unattributed() || f.elsewhere.Known() && f.elsewhere.Or(0) == 0
}

// notOwn is what of the GPU is not this job's.
func (f *facts) notOwn() (sum sampler.Bytes) {
	for _, p := range f.strangers() {
		sum += p.Bytes
	}
	return max(sum, f.elsewhere.Or(0).Less(f.jobHolds()))
}

// jobHolds is what other processes of this job hold.
func (f *facts) jobHolds() (sum sampler.Bytes) {
	for _, p := range f.others {
		if p.Same && !f.mixed {
			sum += p.Bytes
		}
	}
	return sum
}

// strangersHold is a careful figure of what is not this job's.
func (f *facts) strangersHold() sampler.Bytes { return f.othersHold().Less(f.jobHolds()) }

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
