package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// notion is something that a measure speaks of and that not every program has.
type notion uint

const (
	aBatch     notion = 1 << iota // several inputs at once, whose number is set
	aGraph                        // that is kept for gradients, or not
	aNetwork                      // whose weights have a precision, and smaller relatives
	aTraining                     // with an optimizer and checkpoints
	validation                    // beside a training
	loaders                       // processes that read for it
	tokens                        // of a context
	processes                     // one for each GPU
	segments                      // of an allocator with options
	ownLines                      // lines of one's own that can be changed
	samples                       // that differ in size
	aShare                        // of the GPU that is taken at start
	requests                      // that come from outside
)

// notionsOf are what a measure needs to exist; 0: nothing that a program could lack.
var notionsOf = map[string]notion{
	FixAMPBF16: aTraining, FixCapPreallocation: aShare, FixCapSampleSize: samples, FixCheckFiles: 0, FixCommunicators: processes, FixConfirmHostKill: 0, FixExpandableSegments: segments,
	FixExpandableSegmentsOff: segments, FixLeak: ownLines, FixGradientCheckpointing: aTraining, FixHalveBatchAccumulate: aBatch,
	FixNoGradValidation: validation, FixRaiseLimit: 0, FixRebalanceRanks: processes, FixRecordRun: 0, FixReduceDataLoaderWorkers: loaders,
	FixReducePinnedMemory: loaders, FixShardOrOffload: aTraining, FixShmSize: loaders, FixShrinkValidationBatch: validation, FixSmallerModel: aNetwork,
	FixSmallerOptimizer: aTraining, FixStopOtherProcess: 0, FixNoGradInference: aGraph, FixSmallerInput: 0, FixOtherAllocator: segments,
	FixHalfPrecision: aNetwork, FixOffloadModel: aNetwork, FixLimitRequests: requests, FixShortenContext: tokens, FixLoadOnCPU: aTraining, FixSaveOnCPU: aTraining, FixOtherVersion: 0, FixCuDNNBenchmark: aNetwork,
}

// workRow is a kind of program that has less than a model has. What makes its job smaller is in the catalog under "work.<name>"
// and "do.less.<name>".
type workRow struct {
	name      string
	has       notion
	torch     bool   // it is made with PyTorch, whose messages it prints
	program   string // the name under which it is known, where it has one
	framework string // whose messages only such programs print
	shared    bool   // its job is made smaller as that of any program: it has no words of its own
}

var workRows = []workRow{
	{name: sampler.WorkScene},
	{name: sampler.WorkGame, program: "llama.cpp"}, // whose words for a refusal of Vulkan are those of any program
	{name: sampler.WorkAtoms, has: processes},
	{name: sampler.WorkPotentials, torch: true},
	{name: sampler.WorkGrid, has: processes | aShare},
	{name: sampler.WorkPhotos},
	{name: sampler.WorkParticles, has: aShare},
	{name: sampler.WorkScan, has: ownLines},
	{name: sampler.WorkMining},
	{name: sampler.WorkHashes},
	{name: sampler.WorkStreams},
	{name: sampler.WorkQueries},
	{name: sampler.WorkRows, has: ownLines},
	{name: sampler.WorkVectors, has: ownLines},
	{name: sampler.WorkBoosting, has: ownLines},
	{name: sampler.WorkMolecule},
	{name: sampler.WorkQubits, framework: "qiskit"},
	{name: sampler.WorkReads, has: aBatch, torch: true},
	{name: sampler.WorkSpikes, has: ownLines, torch: true},
	{name: sampler.WorkArrays, has: ownLines},
	{name: sampler.WorkLayers, has: aBatch | aNetwork | aTraining | validation | processes | ownLines | samples | aShare, shared: true},
	{name: sampler.WorkBank, has: aBatch | aNetwork | validation | loaders | processes | segments | ownLines | samples, torch: true, shared: true},
	{name: sampler.WorkDream, has: aNetwork | ownLines, torch: true},
	{name: sampler.WorkStyle, has: aNetwork | ownLines, torch: true},
	{name: sampler.WorkKernels, has: ownLines, torch: true},
	{name: sampler.WorkResiduals, has: aNetwork | ownLines, torch: true},
	{name: sampler.WorkWorlds, has: ownLines},
	{name: sampler.WorkScene, framework: "opengl"}, // an interface of renderers alone
	{name: sampler.WorkFolds, has: samples, program: "alphafold"},
}

// workFrameworks are those whose messages only such programs print.
var workFrameworks = func() map[string]bool {
	are := map[string]bool{}
	for _, row := range workRows {
		are[row.framework] = row.framework != ""
	}
	return are
}()

// work is what such a program does, and whether it is one.
func (f *facts) work() (workRow, bool) {
	known := slices.ContainsFunc(f.context.Told, func(told string) bool { return strings.HasPrefix(told, sampler.ToldWork) })
	if !known && !workFrameworks[f.event.Framework] {
		return workRow{}, false // as of most; each measure asks
	}
	for _, row := range workRows {
		if f.told(sampler.ToldWork+row.name) || row.framework != "" && row.framework == f.event.Framework {
			return row, (row.torch || f.compiled() || !f.printsTorch()) && (f.program.name == "" || f.program.name == row.program)
		}
	}
	return workRow{}, false
}

// printsTorch: the message or the traceback is that of PyTorch. CUDA's own words, and those of people, are of any program.
func (f *facts) printsTorch() bool {
	return f.isPyTorch() && (f.event.Kind == sampler.KindCUDA && f.event.Requested.Known() || f.inFile("torch/") || f.shows(sampler.ShowsTorch))
}

// has says whether the program has what a measure speaks of. Of one that is not known as a kind without it, that is assumed.
func (f *facts) has(n notion) bool {
	if n&aGraph != 0 && f.shows(sampler.ShowsGradients) {
		return false // none that could be left out
	}
	w, is := f.work()
	return !is || w.has&n == n
}

// possible: the program has what the measure is about. What makes the job of such a program smaller is a row of its own.
func (f *failure) possible(row fixRow) bool {
	if row.remote != f.told(sampler.ToldRemote) {
		return false // nothing on the machine of who asks
	}
	if row.work {
		return true
	}
	if !f.callsTorch(row.id) {
		return false
	}
	if f.makesContext() && (slices.Contains(followsOwn, row.id) || row.id == FixShortenContext || row.id == FixLimitRequests) {
		return false // nothing of the job was there
	}
	if !f.has(notionsOf[row.id]) || row.id == FixHalveBatchAccumulate && f.noBatch() || f.only() && notionsOf[row.id]&(aGraph|ownLines) != 0 && !(row.id == FixLeak && (f.told(sampler.ToldModels) || f.leftByFirst() || f.seenGrowing())) {
		return false
	}
	if row.id == FixOffloadModel && (f.tool != nil && f.tool.Whole || f.told(sampler.ToldWork+sampler.WorkLayers)) { // Caffe and Theano keep all of a network on the GPU
		return false
	}
	w, is := f.work()
	return !is || w.shared || row.id != FixSmallerInput
}

// oneWorld: there is but one environment, so that no fewer can be simulated at once.
func (f *facts) oneWorld() bool { return f.told(sampler.ToldInForce + "num_envs 1") }

// fixedBuffer: PhysX asked for a power of two, large and the same each time or with one environment alone: a buffer that is as large as the settings
// have it, whatever is simulated (own threshold: 256 MiB).
func (f *facts) fixedBuffer() bool {
	n := f.event.Requested.Or(0)
	return f.event.Framework == "physx" && n >= 256*sampler.MiB && n&(n-1) == 0 && (f.oneWorld() || f.told(sampler.ToldSame))
}

// noBatch: there is none that could be made smaller.
func (f *failure) noBatch() bool {
	return f.told(sampler.ToldNoBatch) && !f.wholeGraph() || f.allAtOnce() || f.told(sampler.ToldBags) || f.lacks(FixHalveBatchAccumulate) || f.converses() || f.computesArrays() || f.photos() > 0 || f.event.Kind == sampler.KindNumba && !f.program.is(training) && !f.told(sampler.ToldBatch) || f.pairsAlone() || f.told(sampler.ToldLeastBatch) || f.told(sampler.ToldModels) && !f.told(sampler.ToldBatch)
}

// fixesWorks are for programs that have less than a model has.
var fixesWorks = []fixRow{
	{id: FixSmallerInput, source: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/",
		kinds: ownCode | running, cost: 0.02, work: true,
		lives: map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.7, CauseDataSpike: 0.95, CauseFragmentation: 0.85, CauseMemoryLimit: 0.5, CauseOversubscribed: 0.8, CauseOtherProcess: 0.2, CauseLeak: 0.5,
			CauseImbalance: 0.3, CauseValidationSpike: 0.9, CausePreallocation: 0.3, CauseHostMemory: 0.85},
		when: func(f *failure) bool {
			w, is := f.work()
			return is && !w.shared && !f.inserts() && !(f.onHost() && (w.name == sampler.WorkMining || f.told(sampler.ToldGrowth))) // what its data set is on the GPU says nothing of RAM
		},
		reach: func(f *failure) float64 {
			if f.event.Framework == "relion" {
				return 0.8 // its own message names the processes on a GPU first
			}
			if f.pageFileShort() || f.oneBuffer() {
				return 0.6
			}
			if f.ranBefore() || f.told(sampler.ToldBackend) {
				return 0.7 // as large as it is
			}
			return 1
		},
		variant: func(f *failure) string {
			if f.told(sampler.ToldWork + sampler.WorkMining) {
				return "mining"
			}
			switch {
			case f.onHost() && f.requested.Or(0) >= noMachineHas:
				return "work_beyond"
			case f.onHost():
				return "work_host"
			}
			return "work"
		},
		pairs: func(f *failure) []any {
			w, _ := f.work()
			if f.fixedBuffer() {
				return []any{"what", f.words.Say("work.worlds.buffers")}
			}
			if w.name == sampler.WorkWorlds && f.oneWorld() {
				return []any{"what", f.words.Say("work.worlds.one")}
			}
			return []any{"what", f.words.Say("work." + w.name)}
		},
		do: func(f *failure) []string { return f.lessInput() }},
	{id: FixLeak, source: "https://docs.lammps.org/Howto_restart.html",
		kinds: ownCode | running, cost: 0.03, work: true,
		lives: map[string]float64{CauseLeak: 0.95, CauseHostMemory: 0.97},
		when: func(f *failure) bool {
			return f.compiled() && (!f.onHost() || f.class.class == classHost && (f.told(sampler.ToldGrowth) || f.told(sampler.ToldLate)))
		},
		reach: always(1),
		variant: func(f *failure) string {
			if f.onHost() {
				return "compiled_host"
			}
			return "compiled"
		},
		pairs: func(f *failure) []any { return []any{"tool", f.tool.Name} },
		do: func(f *failure) []string {
			return []string{f.comment("do.restart_files"), f.comment("do.report_growth", "tool", f.tool.Name)}
		}},
}
