package explain

import (
	"cmp"
	"slices"

	"nvpeak/sampler"
)

const (
	sourceMessage = "https://github.com/pytorch/pytorch/blob/001074d25084fdb87a799823e395a50f5ec044d3/c10/cuda/CUDACachingAllocator.cpp"
	sourceRanks   = "https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html"
	sourceJAX     = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"
)

// rulesElsewhere are about memory that this allocator never had.
var rulesElsewhere = []oomRule{
	{id: "R1", cause: "imbalance", reason: sourceRanks,
		when: func(f *failure) bool { return f.crowdedRanks() > 0 },
		sure: func(f *failure) float64 {
			switch m := f.missingOr0(); {
			case f.othersHold() >= f.needed():
				return 0.88
			case f.othersHold() >= m:
				return 0.75
			}
			return 0.45
		},
		say: func(f *failure) string {
			return f.words.Say("why.imbalance", "count", f.crowdedRanks(), "size", gib(f.othersHold()), "gpu", f.event.GPUIndex.Or(0))
		}},
	{id: "R1b", cause: "imbalance", reason: sourceRanks,
		when: func(f *failure) bool { return f.rankOnWrongGPU() },
		sure: func(f *failure) float64 {
			if len(f.others) >= 2 || f.sameCardRanks() > 1 {
				return 0.89
			}
			return 0.6
		},
		say: func(f *failure) string {
			return f.words.Say("why.wrong_gpu", "rank", f.event.Rank.Or(0), "gpu", f.event.GPUIndex.Or(0))
		}},
	{id: "R1c", cause: "imbalance", reason: "https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.event.GPUIndex.Or(1) == 0 && (f.inFunction("data_parallel", "parallel_apply") || f.inFunction("gather") && f.inFunction("scatter"))
		},
		sure: always(0.5),
		say:  func(f *failure) string { return f.words.Say("why.data_parallel") }},
	{id: "R1", cause: "other_process", reason: sourceMessage,
		when: func(f *failure) bool {
			return !f.onHost() && f.othersMatter() && !f.unattributed() && f.crowdedRanks() == 0
		},
		sure: func(f *failure) float64 { return f.othersSure() },
		say:  func(f *failure) string { return f.sayOthers() }},
	{id: "R1p", cause: "other_process", reason: sourceJAX,
		when: func(f *failure) bool {
			return !f.onHost() && f.othersMatter() && len(f.others) > 0 && f.preallocator() != "" && f.crowdedRanks() == 0
		},
		sure: always(0.3),
		say: func(f *failure) string {
			big := f.biggestOther()
			return f.words.Say("why.looks_like", "pid", big.PID, "percent", percentOf(big.Bytes, f.total.Or(0)), "name", f.preallocator())
		}},
	{id: "R1", cause: "unattributed", reason: sourceMessage,
		when: func(f *failure) bool { return !f.onHost() && f.othersMatter() && f.unattributed() },
		sure: func(f *failure) float64 { return f.othersSure() },
		say: func(f *failure) string {
			return f.words.Say("why.unattributed", "size", gib(f.elsewhere.Or(0)), "missing", f.amountOf(f.missingOr0()))
		}},
	{id: "R2", cause: "preallocation", reason: sourceJAX,
		when: func(f *failure) bool {
			return !f.onHost() && f.outside.Or(0) > max(3*sampler.GiB, partOf(f.total.Or(0), 0.15))
		},
		sure: func(f *failure) float64 {
			if f.outside.Or(0) >= f.needed() {
				return 0.82
			}
			return 0.4
		},
		say: func(f *failure) string {
			return f.words.Say("why.preallocation", "size", gib(f.outside.Or(0)))
		}},
}

func (f *failure) missingOr0() sampler.Bytes { m, _ := f.missing(); return m }

// othersSure: would the run have fitted without the others?
func (f *failure) othersSure() float64 {
	m, known := f.missing()
	hold := f.othersHold()
	switch {
	case !known && f.history != nil && hold > f.total.Or(0)/3 && f.free.Or(0) < partOf(f.total.Or(0), 0.1):
		return 0.85
	case !known:
		return 0.45
	case m == 0 && !f.cardFull():
		return 0.25
	case hold >= f.needed():
		return 0.88
	case hold >= m:
		return 0.55
	}
	return 0.3
}

// unattributed: the driver named the processes it sees and they do not account for it.
func (f *failure) unattributed() bool {
	if h := f.history; h != nil && h.Unattributed.Known() {
		return h.Unattributed.Or(0) > f.othersHold()/2
	}
	named := sampler.Bytes(0)
	for _, p := range f.others {
		named += p.Bytes
	}
	return f.process.Known() && named < f.othersHold()/2
}

func (f *failure) sayOthers() string {
	if len(f.others) == 0 || !f.total.Known() {
		id := "why.elsewhere"
		if f.ownInside {
			id = "why.elsewhere_own"
		}
		return f.words.Say(id, "size", gib(f.elsewhere.Or(0)), "total", gib(f.total.Or(0)), "free", f.amountOf(f.free.Or(0)),
			"reserved", gib(f.total.Or(0).Less(f.free.Or(0)).Less(f.elsewhere.Or(0))), "missing", f.amountOf(f.missingOr0()))
	}
	big := f.biggestOther()
	id := "why.other"
	if big.Arrived {
		id = "why.other_arrived"
	}
	return f.words.Say(id, "pid", big.PID, "name", holderName(big), "size", gib(big.Bytes), "all", gib(f.elsewhere.Or(0)), "missing", f.amountOf(f.missingOr0()))
}

// biggestOther is the other process that holds most.
func (f *failure) biggestOther() Neighbour {
	if len(f.others) == 0 {
		return Neighbour{}
	}
	return slices.MaxFunc(f.others, func(a, b Neighbour) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

func holderName(h Neighbour) string {
	name := sampler.Clean(h.Name)
	if h.User != "" {
		name += ", " + sampler.Clean(h.User)
	}
	if name == "" {
		return "?"
	}
	return name
}

// crowdedRanks counts processes of nearly the same small size on one card in a run of several
// ranks: the contexts of ranks that touched a GPU which is not theirs.
func (f *failure) crowdedRanks() int {
	many := f.context.WorldSize.Or(0) > 1 || f.event.Rank.Known() || len(f.ranks()) > 1 || f.command.Runs("torchrun", "accelerate", "deepspeed", "mpirun", "srun")
	if !many || len(f.others) < 2 || f.onHost() {
		return 0
	}
	low, high := f.others[0].Bytes, f.others[0].Bytes
	for _, p := range f.others {
		low, high = min(low, p.Bytes), max(high, p.Bytes)
	}
	own := f.process.Or(f.reserved())
	contexts := low >= 150*sampler.MiB && high <= 2*sampler.GiB && float64(high) <= 1.6*float64(low)
	sameSize := own > 0 && float64(low) > 0.5*float64(own) && float64(high) < 2*float64(own) && f.event.Rank.Or(0) > 0
	if contexts || sameSize {
		return len(f.others)
	}
	return 0
}

// rankOnWrongGPU: a rank other than 0 failed on GPU 0 while others are on it too.
func (f *failure) rankOnWrongGPU() bool {
	gpu, known := f.event.GPUIndex.Value()
	rank := f.event.Rank.Or(0)
	ownCards := f.environment["CUDA_VISIBLE_DEVICES"] != "" && len(f.environment["CUDA_VISIBLE_DEVICES"]) < 2
	return !f.onHost() && known && gpu == 0 && rank > 0 && rank < 8 && !ownCards && (f.othersMatter() || len(f.others) > 0 || f.sameCardRanks() > 1)
}

// ranks are the ranks that have events of their own.
func (f *failure) ranks() []int {
	var list []int
	for _, e := range f.siblings {
		if r, known := e.Rank.Value(); known && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// sameCardRanks counts ranks that failed on the same printed GPU with most of it in other hands.
func (f *failure) sameCardRanks() int {
	n := 0
	for _, e := range f.siblings {
		if e.Rank.Known() && e.GPUIndex.Known() && e.GPUIndex.Or(-1) == f.event.GPUIndex.Or(-2) && f.othersMatter() {
			n++
		}
	}
	return n
}
