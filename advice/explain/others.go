package explain

import (
	"cmp"
	"slices"

	"nvpeak/advice/command"
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

// helper is the program that the failing one has started, or was started with, and that holds most beside it: a server of rewards or labels, another
// model. Copies of the failing one, and programs whose commands name no script, are none.
func (f *job) helper() (most Neighbor) {
	own := f.command.Scripts()
	for _, p := range f.others {
		other := command.Parse(p.Command).Scripts()
		if p.Same && !f.mixed && !f.onHost() && len(own) > 0 && len(other) > 0 && !slices.Equal(own, other) && p.Bytes > max(most.Bytes, sampler.GiB, partOf(f.total.Or(0), 0.1)) {
			most = p
		}
	}
	return most
}

func (f *failure) helperText() string {
	h := f.helper()
	return f.words.Say("why.helper", "pid", h.PID, "command", sampler.Clip(h.Command), "size", gib(h.Bytes))
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
