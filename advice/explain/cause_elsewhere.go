package explain

import (
	"slices"

	"nvpeak/sampler"
)

// causesElsewhere are about memory that this allocator never had.
var causesElsewhere = []causeRow{
	{id: "R1", cause: CauseImbalance, reason: sourceRanks,
		when:       func(f *failure) bool { return f.crowdedRanks() > 0 && !f.workersShare() },
		confidence: crowdedSure,
		evidence: func(f *failure) string {
			return f.words.Say("why.imbalance", "count", f.crowdedRanks(), "size", gib(f.othersHold()), "gpu", f.event.GPUIndex.Or(0))
		}},
	{id: "R1b", cause: CauseImbalance, reason: sourceRanks,
		when: func(f *failure) bool { return f.rankOnWrongGPU() },
		confidence: func(f *failure) float64 {
			if len(f.others) >= 2 || f.sameCardRanks() > 1 {
				return 0.89
			}
			return 0.6
		},
		evidence: func(f *failure) string {
			return f.words.Say("why.wrong_gpu", "rank", f.event.Rank.Or(0), "gpu", f.event.GPUIndex.Or(0))
		}},
	{id: "R1c", cause: CauseImbalance, reason: "https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",
		when: func(f *failure) bool {
			first := f.event.GPUIndex.Or(1) == 0 || f.told(sampler.ToldFirstFuller)
			return !f.onHost() && first && (f.inFunction("data_parallel", "parallel_apply") || f.gathersOutputs())
		},
		confidence: func(f *failure) float64 {
			if f.gathersOutputs() && f.bigRequest() {
				return 0.96 // what is gathered is itself what does not fit
			}
			if f.gathersOutputs() {
				return 0.86 // only this GPU ever holds what is gathered
			}
			return 0.5
		},
		evidence: func(f *failure) string { return f.words.Say("why.data_parallel") }},
	{id: "unshard", cause: CauseImbalance, reason: sourceFSDP,
		when:       func(f *failure) bool { return !f.onHost() && f.unshards() },
		confidence: always(0.92),
		evidence:   func(f *failure) string { return f.words.Say("why.unshards") }},
	{id: "collect", cause: CauseImbalance, reason: "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.gather",
		when: func(f *failure) bool { return !f.onHost() && f.collectsOnOne() },
		confidence: func(f *failure) float64 {
			if f.bigRequest() {
				return 0.96 // what is put together is itself what does not fit
			}
			return 0.86
		},
		evidence: func(f *failure) string { return f.words.Say("why.collects_on_one") }},
	{id: "resume", cause: CauseImbalance, reason: "https://docs.pytorch.org/docs/stable/generated/torch.load.html",
		when:       func(f *failure) bool { return f.ranksLoad() },
		confidence: always(0.88),
		evidence:   func(f *failure) string { return f.words.Say("why.ranks_load") }},
	{id: "first_rank", cause: CauseImbalance, reason: sourceRanks,
		when:       func(f *failure) bool { return f.firstRankAlone() },
		confidence: always(0.88),
		evidence:   func(f *failure) string { return f.words.Say("why.first_rank") }},
	{id: "stage", cause: CauseImbalance, reason: "https://docs.pytorch.org/docs/stable/distributed.pipelining.html",
		when:       func(f *failure) bool { return !f.onHost() && f.lastStage() && f.bigRequest() },
		confidence: always(0.86),
		evidence:   func(f *failure) string { return f.words.Say("why.last_stage") }},
	{id: "state", cause: CauseImbalance, reason: sourceFSDP,
		when: func(f *failure) bool {
			return !f.onHost() && f.gathersState()
		},
		confidence: always(0.86),
		evidence:   func(f *failure) string { return f.words.Say("why.full_state") }},
	{id: "peers", cause: CauseImbalance, reason: sourceRanks,
		when:       func(f *failure) bool { return !f.onHost() && f.aheadOfPeers() > 0 && f.unevenExperts() == 0 },
		confidence: func(f *failure) float64 { return f.unlessKept(0.87) },
		evidence: func(f *failure) string {
			return f.words.Say("why.peers", "own", gib(Usual(f.history.Peaks)), "ahead", gib(f.aheadOfPeers()), "count", len(f.history.Peers))
		}},
	{id: "drift", cause: CauseImbalance, reason: sourceRanks,
		when:       func(f *failure) bool { return !f.onHost() && f.aheadOfPeers() == 0 && f.driftsFromPeers() > 0 },
		confidence: func(f *failure) float64 { return f.unlessKept(0.9) },
		evidence: func(f *failure) string {
			return f.words.Say("why.drift", "ahead", gib(f.driftsFromPeers()), "count", len(f.history.PeerPeaks))
		}},
	{id: "alone", cause: CauseImbalance, reason: sourceRanks,
		when:       func(f *failure) bool { return f.evaluatesAlone() > 0 },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.75) },
		evidence: func(f *failure) string {
			return f.words.Say("why.evaluates_alone", "ahead", gib(f.evaluatesAlone()), "count", len(f.history.PeerPeaks))
		}},
	{id: "spread", cause: CauseImbalance, reason: "https://docs.pytorch.org/docs/stable/distributed.pipelining.html",
		when: func(f *failure) bool {
			return f.unevenPeers() && !f.unevenlyRouted() && f.aheadOfPeers() == 0 && f.driftsFromPeers() == 0
		},
		confidence: func(f *failure) float64 { return f.unlessOthers(0.55) }, // what made it too much for this one is another question
		evidence: func(f *failure) string {
			return f.words.Say("why.uneven", "own", gib(f.usualLately()), "low", gib(slices.Min(f.history.Peers)), "high", gib(slices.Max(f.history.Peers)), "count", len(f.history.Peers))
		}},
	{id: "R1", cause: CauseOtherProcess, reason: sourceMessage,
		when: func(f *failure) bool {
			return !f.onHost() && f.othersMatter() && !f.unattributed() && f.crowdedRanks() == 0
		},
		confidence: func(f *failure) float64 { return f.othersSure() },
		evidence:   func(f *failure) string { return f.sayOthers() }},
	{id: "R1", cause: CauseOtherProcess, reason: sourceMessage,
		when:       func(f *failure) bool { return f.noBatchMatters() },
		confidence: always(0.7),
		evidence:   func(f *failure) string { return f.sayOthers() }},
	{id: "both", cause: CauseOtherProcess, reason: sourceMessage,
		when:       func(f *failure) bool { return f.bothFail() },
		confidence: always(0.58),
		evidence:   func(f *failure) string { return f.words.Say("why.both_fail") }},
	{id: "R1p", cause: CauseOtherProcess, reason: sourceJAX,
		when: func(f *failure) bool {
			return !f.onHost() && f.othersMatter() && len(f.others) > 0 && f.takenByDefault() != "" && f.crowdedRanks() == 0
		},
		confidence: always(0.3),
		evidence: func(f *failure) string {
			big := f.biggestOther()
			return f.words.Say("why.looks_like", "pid", big.PID, "percent", percentOf(big.Bytes, f.total.Or(0)), "name", f.takenByDefault())
		}},
	{id: "start", cause: CauseOtherProcess, reason: "https://www.tensorflow.org/guide/gpu",
		when: func(f *failure) bool { return f.shareRefused() && !f.wholeShare() },
		confidence: func(f *failure) float64 {
			if f.phase() == sampler.PhaseValidation {
				return 0.5 // or the same program's other half
			}
			return 0.6
		},
		evidence: func(f *failure) string { return f.words.Say("why.share_refused") }},
	{id: "R1", cause: CauseUnattributed, reason: sourceMessage,
		when:       func(f *failure) bool { return !f.onHost() && f.othersMatter() && f.unattributed() },
		confidence: func(f *failure) float64 { return f.othersSure() },
		evidence: func(f *failure) string {
			return f.words.Say("why.unattributed", "size", gib(f.elsewhere.Or(0)), "missing", f.amountOf(f.shortfallOr0()))
		}},
	{id: "start", cause: CausePreallocation, reason: "https://www.tensorflow.org/guide/gpu",
		when:       func(f *failure) bool { return f.wholeShare() },
		confidence: always(0.68),
		evidence: func(f *failure) string {
			if free := f.foundFree(); free > 0 && f.startTotal() == 0 {
				return f.words.Say("why.whole_free", "need", printed(f.requested.Or(0)), "free", gib(free))
			}
			return f.words.Say("why.whole_share", "need", printed(f.requested.Or(0)), "total", gib(f.startTotal()))
		}},
	{id: "half", cause: CauseOtherProcess, reason: "https://github.com/kaldi-asr/kaldi/issues/4255",
		when:       func(f *failure) bool { return f.halfRefused() },
		confidence: always(0.75),
		evidence: func(f *failure) string {
			return f.words.Say("why.half_refused", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "used", gib(f.total.Or(0).Less(f.free.Or(0))))
		}},
	{id: "left", cause: CauseOtherProcess, reason: "https://www.tensorflow.org/guide/gpu",
		when:       func(f *failure) bool { return f.leastPool() > 0 },
		confidence: always(0.88),
		evidence:   func(f *failure) string { return f.words.Say("why.pool_left", "limit", gib(f.leastPool())) }},
	{id: "beside", cause: CausePreallocation, reason: "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",
		when:       func(f *failure) bool { return f.besideTensorFlow() },
		confidence: always(0.9),
		evidence: func(f *failure) string {
			return f.words.Say("why.beside_tensorflow", "pool", gib(f.context.PoolLimit.Or(0)))
		}},
	{id: "R2", cause: CausePreallocation, reason: sourceJAX,
		when: func(f *failure) bool {
			return f.holdsMuchOutside() && !f.rendersWorlds() && !f.rolloutOutside()
		},
		confidence: func(f *failure) float64 {
			switch {
			case f.simulates():
				return 0.3 // physics and cameras of the same environments
			case f.outside.Or(0) >= f.needed():
				return 0.82
			}
			return 0.4
		},
		evidence: func(f *failure) string {
			return f.words.Say("why.preallocation", "size", gib(f.outside.Or(0)))
		}},
	{id: "R2", cause: CauseTooBig, reason: "https://isaac-sim.github.io/IsaacLab/main/source/refs/troubleshooting.html",
		when:       func(f *failure) bool { return f.holdsMuchOutside() && f.rendersWorlds() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.85) },
		evidence: func(f *failure) string {
			return f.words.Say("why.simulator", "size", gib(f.outside.Or(0)))
		}},
}

// halfRefused: Kaldi asks for a part of what it has just found free, half of it by default, and did not get that: another process took of it in between.
// https://github.com/kaldi-asr/kaldi/blob/master/src/cudamatrix/cu-allocator.cc
func (f *facts) halfRefused() bool {
	return f.event.Framework == "kaldi" && !f.onHost() && f.requested.Known() && f.requested.Or(0) < partOf(f.free.Or(0), 0.9) && f.total.Or(0).Less(f.free.Or(0)) > 2*sampler.GiB
}

// nobodysPool is less than anybody gives to a program for all that it does (own threshold).
const nobodysPool = 256 * sampler.MiB

// leastPool is TensorFlow's pool where that is as small: it takes nearly all that it finds free at start, so somebody else had the GPU then. 0: it is
// larger, or not known.
func (f *facts) leastPool() sampler.Bytes {
	if limit := f.extra("pool_limit_bytes").Or(0); f.event.Kind == sampler.KindTensorFlow && !f.onHost() && limit < nobodysPool {
		return limit
	}
	return 0
}

// holdsMuchOutside: this process holds much more beside its allocator than a context (rule R2).
func (f *failure) holdsMuchOutside() bool {
	return !f.onHost() && f.outside.Or(0) > max(3*sampler.GiB, partOf(f.total.Or(0), 0.15))
}

// besideTensorFlow: TensorFlow made its device in the process in which PyTorch failed, and what PyTorch does not have is as much as its pool.
func (f *job) besideTensorFlow() bool {
	pool := f.context.PoolLimit.Or(0)
	return f.event.Framework == "pytorch" && pool > 0 && f.elsewhere.Or(0) >= partOf(pool, 0.9)
}

// rendersWorlds: a simulator with physics and cameras of its own runs in the process, so that what lies outside of PyTorch's allocator
// is its worlds.
func (f *failure) rendersWorlds() bool {
	_, jax := f.environment["XLA_PYTHON_CLIENT_MEM_FRACTION"]
	return !jax && !f.inFile("brax") && (f.told(sampler.ToldWork+sampler.WorkWorlds) || f.inFile("isaacgym", "legged_gym", "isaaclab", "omni/isaac", "mani_skill", "habitat", "genesis/"))
}

func (f *failure) sayOthers() string {
	if len(f.others) == 0 || !f.total.Known() {
		id := "why.elsewhere"
		if f.ownInside {
			id = "why.elsewhere_own"
		}
		return f.words.Say(id, "size", gib(f.elsewhere.Or(0)), "total", gib(f.total.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))),
			"reserved", gib(f.total.Or(0).Less(f.free.Or(0)).Less(f.elsewhere.Or(0))), "missing", f.amountOf(f.shortfallOr0()))
	}
	if list := f.copies(); list != nil {
		return f.copiesText(list)
	}
	big := f.biggestOther()
	id := "why.other"
	if big.Arrived {
		id = "why.other_arrived"
	}
	if _, known := f.shortfall(); !known {
		id += ".alone"
	}
	return f.words.Say(id, "pid", big.PID, "name", holderName(big), "size", gib(big.Bytes), "all", gib(f.notOwn()), "missing", f.amountOf(f.shortfallOr0()))
}

func (f *failure) copiesText(list []Neighbor) string {
	hold, arrived := sampler.Bytes(0), 0
	for _, p := range list {
		if hold += p.Bytes; p.Arrived {
			arrived++
		}
	}
	id := "why.copies"
	if arrived > 0 {
		id = "why.copies_arrived"
	}
	return f.words.Say(id, "count", len(list), "name", sampler.Clean(programName(list[0])), "size", gib(hold), "arrived", arrived)
}

// crowdedSure is how sure it is that what other processes of the job hold on this GPU is the reason.
func crowdedSure(f *failure) float64 {
	switch m := f.shortfallOr0(); {
	case f.othersHold() >= f.needed(), f.peersAlike() > 0:
		return 0.88
	case f.othersHold() >= m:
		return 0.75
	}
	return 0.45
}
