package explain

import (
	"cmp"
	"path"
	"slices"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// crowdedRanks counts processes of nearly the same small size on one GPU in a run of several
// ranks: the contexts of ranks that touched a GPU which is not theirs.
func (f *job) crowdedRanks() int {
	if n := max(f.sameCommand(), f.sameWorkers()); n >= 2 {
		return n
	}
	if n := f.peersAlike(); n > 0 {
		return n
	}
	many := f.severalRanks()
	if len(f.others) < 2 || f.onHost() || f.ofAnotherProgram() {
		return 0
	}
	low, high := f.othersSpan()
	if !many && (f.sole() || len(f.others) < 4 || float64(high) > 1.05*float64(low)) {
		return 0 // so many of one size are of one job, whatever else is known of it, where each has a GPU of its own
	}
	own := f.process.Or(f.reserved())
	contexts := low >= 150*sampler.MiB && high <= 2*sampler.GiB && float64(high) <= 1.6*float64(low)
	sameSize := own > 0 && float64(low) > 0.5*float64(own) && float64(high) < 2*float64(own) && f.event.Rank.Or(0) > 0
	if contexts || sameSize {
		return len(f.others)
	}
	return 0
}

// severalRanks: the job has more than one process.
func (f *job) severalRanks() bool {
	return f.context.WorldSize.Or(0) > 1 || f.event.Rank.Known() || len(f.ranks()) > 1 || f.command.Runs("torchrun", "accelerate", "deepspeed", "mpirun", "srun")
}

// peersAlike counts the others on the first GPU that hold what this process holds, within a tenth (own threshold), where the job has as many ranks:
// none of them chose a GPU of its own. Each is one of the job, and to stop it ends the job.
func (f *job) peersAlike() int {
	own, n, world := f.process.Or(f.reserved()), len(f.others), f.context.WorldSize.Or(0)
	if n == 0 || f.onHost() || f.event.GPUIndex.Or(0) != 0 || !f.severalRanks() || f.ofAnotherProgram() {
		return 0
	}
	low, high := f.othersSpan()
	ranks := n + 1
	if own == 0 { // in a container it may not know which of them it is
		own, ranks = low, n
	}
	if ranks < 3 && ranks != world || world > 0 && ranks > world {
		return 0
	}
	if low < partOf(own, 0.9) || high > partOf(own, 1.1) {
		return 0
	}
	return n
}

// othersSpan is the least and the most that another process holds; there must be one.
func (f *job) othersSpan() (low, high sampler.Bytes) { return spanOf(f.others) }

func spanOf(list []Neighbor) (low, high sampler.Bytes) {
	low, high = list[0].Bytes, list[0].Bytes
	for _, p := range list {
		low, high = min(low, p.Bytes), max(high, p.Bytes)
	}
	return low, high
}

// ofAnotherProgram: the commands of the others are known, and none begins as this one does.
func (f *job) ofAnotherProgram() bool {
	own := f.command.Words()
	return len(own) > 0 && !slices.ContainsFunc(f.others, func(p Neighbor) bool {
		words := command.Parse(p.Command).Words()
		return p.Same || len(words) == 0 || path.Base(words[0]) == path.Base(own[0])
	})
}

// sameCommand counts the others on the GPU that were started as this process was.
func (f *job) sameCommand() (n int) {
	for _, p := range f.others {
		if p.Command != "" && startedAlike(p.Command, f.command.Text) && !f.onHost() {
			n++
		}
	}
	return n
}

// rankOnWrongGPU: a rank other than 0 failed on GPU 0 while others are on it too.
func (f *job) rankOnWrongGPU() bool {
	gpu, known := f.event.GPUIndex.Value()
	rank := f.event.Rank.Or(0)
	ownCards := f.environment["CUDA_VISIBLE_DEVICES"] != "" && len(f.environment["CUDA_VISIBLE_DEVICES"]) < 2
	return !f.onHost() && known && gpu == 0 && rank > 0 && rank < 8 && !ownCards && (f.othersMatter() || len(f.others) > 0 || f.sameCardRanks() > 1)
}

// crowded: other ranks hold memory on the GPU that failed.
func (f *job) crowded() bool { return f.crowdedRanks() > 0 || f.rankOnWrongGPU() }

// ranksLoad: a checkpoint is read on several GPUs, and straight to the one that it was saved from: all ranks fill that one.
func (f *failure) ranksLoad() bool {
	many := f.told(sampler.ToldResume) || f.context.WorldSize.Or(0) > 1 || f.event.Rank.Known()
	if f.told(sampler.ToldResume) && !f.inBackward() && !f.onHost() && f.torchCode() && !f.numbers() {
		return true // it is said, and no more is shown
	}
	return many && f.loadsOnGPU() && !f.onHost() && f.event.GPUIndex.Or(0) == 0 && (f.othersMatter() || !f.numbers())
}

// ranks are the ranks that have events of their own.
func (f *job) ranks() []int {
	var list []int
	for _, e := range f.siblings {
		if r, known := e.Rank.Value(); known && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list
}

// sameCardRanks counts ranks that failed on the same printed GPU with most of it used by other processes.
func (f *job) sameCardRanks() int {
	n := 0
	for _, e := range f.siblings {
		if e.Rank.Known() && e.GPUIndex.Known() && e.GPUIndex.Or(-1) == f.event.GPUIndex.Or(-2) && f.othersMatter() {
			n++
		}
	}
	return n
}

// gathersOutputs: the failing line collects the outputs of all GPUs on one, or the first one is said to hold more than the others.
func (f *job) gathersOutputs() bool {
	return f.told(sampler.ToldFirstFuller) || f.inCode("self.gather(outputs", "_gather(tensors", "comm.gather(", "dist.gather(") || f.inFunction("gather") && f.inFunction("scatter", "parallel_apply", "data_parallel")
}

// ontoOne is a function of one's own that puts together on one rank what all have.
var ontoOne = sampler.Pattern{Source: `(?i)gather\w*_(?:rank_?(?:0|zero)|master|main|root)|gather_?to_?(?:rank_?)?0|(?:rank_?(?:0|zero)|master|main)_\w*gather`}

// collectsOnOne: what failed puts together on one rank what all ranks have.
func (f *job) collectsOnOne() bool {
	return slices.ContainsFunc(f.context.Functions, ontoOne.Get().MatchString)
}

// lastStage: the last stage of a pipeline makes the logits, which no other stage holds.
func (f *job) lastStage() bool {
	return f.inFunction("last_stage") || f.inFile("pipeline") && (f.context.WorldSize.Or(0) > 1 || f.event.Rank.Known()) && f.inCode("lm_head(", "output_layer(")
}

// Usual is the middle of a list, the upper one of two; nothing when it is empty.
func Usual[T cmp.Ordered](list []T) (middle T) {
	if len(list) > 0 {
		middle = slices.Sorted(slices.Values(list))[len(list)/2]
	}
	return middle
}

// aheadOfPeers is by how much the process usually holds more than any other of its job, if that is
// more than contexts and buffers of rank 0 are (2 GiB and an eighth of the GPU); else 0.
func (f *facts) aheadOfPeers() sampler.Bytes {
	if f.history == nil || len(f.history.Peers) == 0 || len(f.history.Peaks) == 0 || slices.Max(f.history.Peers) == 0 {
		return 0
	}
	ahead := min(Usual(f.history.Peaks), slices.Min(f.history.Peaks)+f.total.Or(0)/16).Less(slices.Max(f.history.Peers)) // ahead from the start
	if ahead < max(2*sampler.GiB, f.total.Or(0)/8) {
		return 0
	}
	return ahead
}

// usualLately is what the process usually held in the last third of what was watched.
func (f *facts) usualLately() sampler.Bytes {
	peaks := f.history.Peaks
	return Usual(peaks[2*len(peaks)/3:])
}

// unevenPeers: the processes of the job hold clearly different amounts on their GPUs, as the stages of a pipeline do, and this one more than most of them
// (own thresholds: an eighth of the GPU more than the middle one, a quarter more than the least).
func (f *facts) unevenPeers() bool {
	if f.onHost() || f.history == nil || len(f.history.Peers) < 2 || len(f.history.Peaks) < 3 || !f.total.Known() {
		return false
	}
	if most := f.history.PeerPeaks; len(most) > 0 && slices.Max(f.history.Peaks).Less(Usual(most)) < f.total.Or(0)/16 {
		return false // they came as far: who dies in its start has hardly held that for long
	}
	own := f.usualLately()
	return own.Less(Usual(f.history.Peers)) >= f.total.Or(0)/8 && own.Less(slices.Min(f.history.Peers)) >= f.total.Or(0)/4
}

// inPipeline: the model is divided into stages, one after another.
func (f *job) inPipeline() bool {
	return f.inFile("pipeline_parallel/", "pipelining/", "runtime/pipe/") || f.command.HasPlain("pipeline_model_parallel_size", "pipeline_parallel_size")
}

// driftLevels new heights in a row show that a rank has come to hold more step by step: one
// jump may be a large sample that fell to it.
const driftLevels = 5

// driftsFromPeers is by how much the process has come to hold more, step by step, than any
// other of its job ever did; 0 when it has not.
func (f *facts) driftsFromPeers() sampler.Bytes {
	if f.history == nil || len(f.history.PeerPeaks) == 0 || slices.Max(f.history.PeerPeaks) == 0 {
		return 0
	}
	peaks, from := f.history.Peaks, 0
	for i := 1; i < len(peaks); i++ {
		if peaks[i-1].Less(peaks[i]) >= f.total.Or(0)/8 {
			from = i // its cache was emptied, or a phase ended: it may rise anew
		}
	}
	most, levels := f.heights(peaks)
	if since, n := f.heights(peaks[from:]); levels < driftLevels {
		most, levels = since, n
	}
	if ahead := most.Less(slices.Max(f.history.PeerPeaks)); levels >= driftLevels && ahead >= max(2*sampler.GiB, f.total.Or(0)/8) {
		return ahead
	}
	return 0
}

// heights is the most of these peaks, and how often one of them was more than all before it (own threshold: by half a hundredth of the GPU).
func (f *facts) heights(peaks []sampler.Bytes) (most sampler.Bytes, n int) {
	for _, b := range peaks {
		if b > most+f.total.Or(0)/200 {
			most, n = b, n+1
		}
	}
	return most, n
}

// evaluatesAlone is by how much a rank has risen again and again above the most that any other of its job held of late, and come back, where a validation was
// too much at last: it does that for all of them. 0: it does not.
func (f *facts) evaluatesAlone() sampler.Bytes {
	if f.onHost() || f.phase() != sampler.PhaseValidation || f.history == nil || len(f.history.PeerPeaks) == 0 || f.event.Rank.Else(f.event.GPUIndex).Or(0) != 0 {
		return 0
	}
	others, times, up := slices.Max(f.history.PeerPeaks), 0, false
	for _, b := range f.history.Peaks {
		was := up
		if up = b.Less(others) >= max(2*sampler.GiB, f.total.Or(0)/8); up && !was {
			times++
		}
	}
	if others == 0 || times < 2 || f.aheadOfPeers() > 0 || f.driftsFromPeers() > 0 {
		return 0
	}
	return slices.Max(f.history.Peaks).Less(others)
}

// toldOfImbalance: an alert had said that this GPU of the job fills while the others have room, so each rank has one of its own.
func (f *facts) toldOfImbalance() bool {
	return slices.ContainsFunc(f.alerts, func(a sampler.Alert) bool { return a.Kind == sampler.AlertImbalance })
}

// unevenDomains: each rank of a simulation has a part of its space, and what is in this one has become more than in the others.
func (f *failure) unevenDomains() bool {
	w, is := f.work()
	return is && (w.name == sampler.WorkGrid || w.name == sampler.WorkAtoms) && !f.crowded() && (f.toldOfImbalance() || f.aheadOfPeers() > 0 || f.driftsFromPeers() > 0)
}

// firstRankKeeps: only the first rank has come to hold more, steadily, and died on an ordinary request. It alone logs, draws and saves, so
// that what it does beside the steps keeps something; more work of a rank shows in what it asks for.
func (f *job) firstRankKeeps() bool {
	_, _, steady := f.growth()
	return f.driftsFromPeers() > 0 && !f.tablesGrow() && f.event.Rank.Else(f.event.GPUIndex).Or(-1) == 0 && steady && !f.bigRequest()
}

// keepsAlone: a rank keeps something of its own in each step or so, always of one size, and died on an ordinary request: a leak in what only
// this rank runs, such as its stage of a pipeline. More work of a rank comes unevenly, and shows in what it asks for.
func (f *job) keepsAlone() bool {
	g := riseOfLevels(f.stretches())
	return f.firstRankKeeps() || f.driftsFromPeers() > 0 && !f.tablesGrow() && g.steps >= driftLevels && g.steady() && g.even() && !f.bigRequest()
}

// unlessKept is how surely a rank that is ahead of the others has more to do.
func (f *job) unlessKept(sure float64) float64 {
	if f.keepsAlone() {
		return 0.6
	}
	return sure
}

// unshards: FSDP puts all parameters together on the GPU of one rank, as to run the model there between two steps.
func (f *facts) unshards() bool {
	return f.inCode("summon_full_params(") && f.inCode("rank0_only=True")
}

// gathersState: a full state dict is put together on the GPU.
func (f *facts) gathersState() bool {
	whole := f.told(sampler.ToldSharded) || f.inFunction("full_tensor", "gather_cpu_state_dict") // of a DTensor: https://docs.pytorch.org/docs/stable/distributed.tensor.html
	return whole && f.phase() == sampler.PhaseSaving || f.consolidates() || f.inFunction("full_state_dict", "full_post_state_dict", "full_pre_state_dict", "full_optim_state") || f.inCode("FULL_STATE_DICT") ||
		indexOf(f.event.Text, "state_dict") >= 0 && (indexOf(f.event.Text, "fully_sharded") >= 0 || indexOf(f.event.Text, "clone() tensor") >= 0) ||
		f.phase() == sampler.PhaseSaving && f.inFile("fsdp/_state_dict_utils.py", "checkpoint/state_dict.py")
}

// consolidates: the states that ZeroRedundancyOptimizer has divided are put together on one rank.
// https://docs.pytorch.org/docs/stable/distributed.optim.html
func (f *facts) consolidates() bool { return f.inFunction("consolidate_state_dict") }
