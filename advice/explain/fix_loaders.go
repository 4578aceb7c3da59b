package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// fixesLoaders are about workers of data loaders, and what they share.
var fixesLoaders = []fixRow{
	{id: FixShmSize, source: "https://docs.docker.com/engine/containers/run/",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseSharedMemory: 0.95},
		reach: func(f *failure) float64 {
			if f.roomyShm() {
				return 0.3
			}
			return 0.95
		},
		when: func(f *failure) bool {
			return f.class.class == classShm && !(f.told(sampler.ToldHosted) && !f.shows(sampler.ShowsKubernetes))
		},
		variant: func(f *failure) string {
			if f.inContainer() || f.atHand() {
				return ""
			}
			return "any"
		},
		do: func(f *failure) []string {
			if f.told(sampler.ToldInForce + ipcHost) { // it counts when a container is made, and with it /dev/shm is the machine's
				return []string{"df -h /dev/shm  " + f.comment("do.shm_of_host"), f.comment("do.new_container"), f.comment("do.any_workers")}
			}
			switch {
			case f.told(sampler.ToldNoContainer):
				return []string{"df -h /dev/shm", fmt.Sprintf("sudo mount -o remount,size=%dg /dev/shm  ", f.above("/dev/shm", 16)) + f.comment("do.shm_of_machine"), f.comment("do.any_workers")}
			case f.shows(sampler.ShowsKubernetes):
				return []string{f.comment("do.k8s_shm"), "df -h /dev/shm"}
			}
			return []string{"df -h /dev/shm", fmt.Sprintf("docker run --shm-size=%dg …  ", f.above("--shm-size", 16)) + f.comment("do.or_ipc"), f.comment("do.k8s_shm")}
		}},
	{id: FixReduceDataLoaderWorkers, source: "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseSharedMemory: 0.93},
		when: func(f *failure) bool {
			return f.class.class == classShm && f.told(sampler.ToldHosted) && !f.told(sampler.ToldWorkersOff) && f.workers() != 0
		},
		reach:   always(1),
		variant: func(f *failure) string { return "hosted" },
		do: func(f *failure) []string {
			return []string{f.comment("do.workers_or_none"), f.comment("do.less_between_processes"), "df -h /dev/shm"}
		}},
	{id: FixCheckFiles, source: sourceMapped,
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseSharedMemory: 0.99},
		when:  func(f *failure) bool { return f.mapsFile() || f.roomyShm() },
		reach: always(1),
		variant: func(f *failure) string {
			if f.roomyShm() {
				return "roomy"
			}
			return ""
		},
		do: func(f *failure) []string {
			if f.roomyShm() {
				return []string{"df -h  " + f.comment("do.full_disk"), f.comment("do.without_workers"), f.comment("do.check_mapped")}
			}
			return []string{f.comment("do.check_mapped"), "df -h  " + f.comment("do.full_disk")}
		}},
	{id: FixReduceDataLoaderWorkers, source: "https://github.com/pytorch/pytorch/issues/13246",
		kinds: ownCode, cost: 0.05,
		lives: map[string]float64{CauseHostMemory: 0.8, CauseSharedMemory: 0.6},
		when: func(f *failure) bool {
			return (f.program.kind != inference && f.phase() != sampler.PhaseLoading || f.told(sampler.ToldLoader)) && f.mayHaveWorkers() && !f.told(sampler.ToldVocabulary) && (f.onHost() || f.onWindows() || f.workersDecide()) && !f.tooManyMapsOnly() && f.workers() != 0 && !f.workersSpent() && !slices.Contains([]string{"llama.cpp", "ollama", "tensorflow"}, f.event.Framework)
		},
		reach: func(f *failure) float64 {
			if f.workersDecide() && f.onWindows() {
				return 0.6 // that it helps is known, and a larger page file lets them stay
			}
			if f.workersDecide() {
				return 1
			}
			if f.workers() == 1 {
				return 0.4 // the process itself holds as much
			}
			if !f.onHost() && f.program.is(undecided) {
				return 0.5
			}
			if !f.onHost() {
				return 0.95
			}
			if f.told(sampler.ToldLoader) {
				return 1
			}
			if !f.loaderSeen() {
				return 0.5 // nobody knows of workers
			}
			if f.told(sampler.ToldOffload) {
				return 0.5 // states are kept there on purpose
			}
			return 0.85
		},
		variant: func(f *failure) string {
			if f.readsWithTensorFlow() {
				return "tfdata"
			}
			return ""
		},
		do: doFewerWorkers},
}

// ipcHost is Docker's option by which a container has the /dev/shm of its machine.
const ipcHost = "--ipc=host"

// sourceMapped says which accesses to a mapped file end with SIGBUS.
const sourceMapped = "https://man7.org/linux/man-pages/man2/mmap.2.html"

// mapsFile: a bus error of a process without workers, which share nothing then: a file that it maps ends before where it reads, or no
// disk takes what it writes.
func (f *failure) mapsFile() bool {
	return f.class.class == classShm && (f.told(sampler.ToldWorkersOff) || f.workers() == 0)
}

// roomyEnough is more of /dev/shm than the batches of most loaders take (own threshold, GiB).
const roomyEnough = 16

// roomyShm: /dev/shm is that of the machine, and is said to have so much that it need not be what was full: the same signal has other reasons.
func (f *failure) roomyShm() bool {
	return f.class.class == classShm && f.told(sampler.ToldInForce+ipcHost) && !f.mapsFile() && slices.ContainsFunc(f.context.Told, func(what string) bool {
		room, is := strings.CutPrefix(what, sampler.ToldInForce+"/dev/shm ")
		n, err := strconv.Atoi(room)
		return is && err == nil && n >= roomyEnough
	})
}

// mayHaveWorkers: it is a run of one's own, or the text shows data loader workers, or a training on Windows, where each takes some of the
// page file. Tools with a window and programs in C++ have none.
func (f *failure) mayHaveWorkers() bool {
	return f.atHand() || f.told(sampler.ToldLoader) || f.workersDecide() || f.shows(sampler.ShowsLoader) || f.loaderSeen() || f.readsWithTensorFlow() || !f.onHost() && f.program.is(training)
}

// loaderSeen: something shows that there are data loader workers, or a training that mostly has some.
func (f *failure) loaderSeen() bool {
	return f.workers() > 0 || f.event.Kind == sampler.KindWorkerKilled && (f.isPyTorch() || f.event.Framework == "paddle") || f.killedInTraining() || f.inFunction("dataloader", "_try_get_data", "_next_data", "_worker_loop") || f.inFile("dataloader") ||
		f.program.is(training) && (f.context.Epoch.Known() || f.context.Step.Known()) && f.event.Kind != sampler.KindCgroupKill && f.event.Kind != sampler.KindKubernetes
}

// killedInTraining: a training was ended that may have workers: where a post shows nothing of PyTorch, nor a step or a script, it may as well be a model of
// scikit-learn or of topics, which has none.
func (f *failure) killedInTraining() bool {
	if f.event.Kind != sampler.KindKilled || f.event.Framework == "deepspeed" || !f.program.is(training) {
		return false
	}
	return f.atHand() || f.readsWithTensorFlow() || f.isPyTorch() && f.event.Framework != "" || f.shows(sampler.ShowsTorch) || len(f.context.Scripts) > 0 || f.command.Known
}

// workersSpent: with no workers at all, or whatever their number, it ends the same way.
func (f *facts) workersSpent() bool { return f.told(sampler.ToldAnyWorkers) }

// workersMayNot: what grows in RAM need not be the data loader workers: none are spoken of, they were tried without effect, or the one that
// was killed is all there is of them.
func (f *failure) workersMayNot() bool {
	return !f.told(sampler.ToldLoader) || f.event.Kind == sampler.KindWorkerKilled || f.workersSpent()
}

// workersMayGrow: the machine's memory grows, as is said, in a program with data loader workers, and nothing tells which process it is:
// https://github.com/pytorch/pytorch/issues/13246
func (f *failure) workersMayGrow() bool {
	return f.onHost() && !f.hostGrew() && f.told(sampler.ToldGrowth) && (f.told(sampler.ToldLoader) || f.event.Kind == sampler.KindWorkerKilled) && !f.workersSpent()
}

// readsWithTensorFlow: the inputs come through tf.data, which has a buffer to shuffle and no workers.
func (f *failure) readsWithTensorFlow() bool {
	return f.event.Framework == "tensorflow" || f.told(sampler.ToldTFData)
}

// fewWorkers are fewer than those that are set, and a few where none are.
func (f *job) fewWorkers() int {
	if n := f.workers(); n > 0 {
		return min(2, n/2)
	}
	return 2
}

func doFewerWorkers(f *failure) []string {
	half := func(v float64) float64 { return float64(int(v) / 2) }
	if text, _, ok := f.command.WithLess(half, workerNames...); ok {
		return []string{text}
	}
	if f.workersDecide() && f.workers() == 1 {
		return []string{f.comment("do.no_cuda_in_workers")}
	}
	if f.workersDecide() {
		return []string{f.comment("do.one_worker"), f.comment("do.no_cuda_in_workers")}
	}
	if f.readsWithTensorFlow() {
		return []string{"dataset.shuffle(256).batch(…).prefetch(1)  " + f.comment("do.shuffle_buffer")}
	}
	if f.reported() && !f.told(sampler.ToldLoader) {
		return []string{f.comment("do.any_workers")}
	}
	return []string{fmt.Sprintf("DataLoader(…, num_workers=%d)  ", f.fewWorkers()) + f.comment("do.no_workers")}
}
