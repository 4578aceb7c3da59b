package explain

import (
	"cmp"
	"slices"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// sole: a recording shows that the machine has no other GPU.
func (f *facts) sole() bool { return f.history != nil && f.history.Sole }

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

// leastCopies of one program are more than anybody starts by hand (own threshold, as is how nearly they hold the same).
const leastCopies = 3

// copies are the strangers of one program that hold nearly as much as each other, and most of what is not this job's: workers of which each start leaves one
// behind, or that outlived what had begun them. To stop one of them gains next to nothing.
func (f *facts) copies() []Neighbor {
	byProgram, sum := map[string][]Neighbor{}, map[string]sampler.Bytes{}
	most := ""
	for _, p := range f.strangers() {
		name := programName(p)
		if name == "" {
			continue
		}
		byProgram[name], sum[name] = append(byProgram[name], p), sum[name]+p.Bytes
		if sum[name] > sum[most] || sum[name] == sum[most] && name < most {
			most = name
		}
	}
	list := byProgram[most]
	if len(list) < leastCopies || sum[most] < f.notOwn()/2 {
		return nil
	}
	low, high := spanOf(list)
	if float64(high) > 1.25*float64(low) {
		return nil
	}
	return list
}

// programName is the script that a process runs, or its program, or its name and user where its command is not known; "": that neither.
func programName(p Neighbor) string {
	line := command.Parse(p.Command)
	for _, list := range [][]string{line.Scripts(), line.Words()} {
		if len(list) > 0 {
			return list[0]
		}
	}
	if p.Name == "" {
		return ""
	}
	return holderName(p)
}

// arrivedHold is what strangers hold that came after the run had started.
func (f *facts) arrivedHold() (sum sampler.Bytes) {
	for _, p := range f.strangers() {
		if p.Arrived {
			sum += p.Bytes
		}
	}
	return sum
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
