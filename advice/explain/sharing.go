package explain

import (
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// A GPU shared by the processes of one program: copies of it, or something that was started with it. None of them is to be ended; there are to be fewer, or
// elsewhere.

var causesSharing = []causeRow{
	{id: "workers", cause: CauseOtherProcess, reason: sourceMessage,
		when:       func(f *failure) bool { return f.workersShare() },
		confidence: crowdedSure,
		evidence: func(f *failure) string {
			return f.words.Say("why.workers_share", "count", f.crowdedRanks(), "size", gib(f.othersHold()), "gpu", f.event.GPUIndex.Or(0))
		}},
	{id: "helper", cause: CauseOtherProcess, reason: sourceMessage,
		when: func(f *failure) bool { return f.helper().PID > 0 && f.crowdedRanks() == 0 },
		confidence: func(f *failure) float64 {
			if f.helper().Bytes >= f.needed() {
				return 0.8
			}
			return 0.5
		},
		evidence: func(f *failure) string { return f.helperText() }},
}

var fixesSharing = []fixRow{
	{id: FixRebalanceRanks, source: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables",
		kinds: ownCode | running, cost: 0.03,
		lives: map[string]float64{CauseOtherProcess: 0.97},
		when:  func(f *failure) bool { return f.helper().PID > 0 && f.crowdedRanks() == 0 },
		variant: func(f *failure) string {
			if !f.secondGPU() {
				return "helper_alone"
			}
			return "helper"
		},
		saves: func(f *failure) (span, bool) { h := f.helper(); return span{h.Bytes, h.Bytes}, true },
		reach: always(1),
		pairs: func(f *failure) []any {
			h := f.helper()
			return []any{"pid", h.PID, "name", command.Parse(h.Command).Scripts()[0]}
		},
		do: func(f *failure) []string {
			if !f.secondGPU() {
				return []string{f.comment("do.take_turns")}
			}
			return []string{"CUDA_VISIBLE_DEVICES=1 " + sampler.Clean(f.helper().Command) + "  " + f.comment("do.another_gpu")}
		}},
	{id: FixStopOtherProcess, source: "https://docs.pytorch.org/docs/stable/notes/multiprocessing.html",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseOtherProcess: 0.97},
		when:    func(f *failure) bool { return f.workersShare() },
		saves:   func(f *failure) (span, bool) { return span{f.othersHold() / 2, f.othersHold()}, f.othersHold() > 0 },
		reach:   always(1),
		variant: func(f *failure) string { return "workers" },
		do: func(f *failure) []string {
			return []string{f.comment("do.fewer_workers"), `torch.cuda.set_device(worker % torch.cuda.device_count())  ` + f.comment("do.or")}
		}},
}

// contextsAlone is how much a context takes at most: who holds no more has loaded nothing beside it, and works on another GPU.
const contextsAlone = 700 * sampler.MiB

// workersShare: those that crowd the GPU are no ranks of a distributed run, of which each has a GPU of its own, but copies of one program.
func (f *job) workersShare() bool {
	if len(f.others) > 1 {
		if _, high := f.othersSpan(); high <= contextsAlone {
			return false
		}
	}
	return max(f.sameCommand(), f.sameWorkers()) >= 2 && !f.event.Rank.Known() && f.context.WorldSize.Or(0) <= 1 &&
		!f.command.Runs("torchrun", "accelerate", "deepspeed", "mpirun", "srun")
}

// sameWorkers counts the others where it failed in a process that Python's multiprocessing began, and two or more hold as much as each other.
func (f *job) sameWorkers() int {
	if len(f.others) < 2 || f.onHost() || !f.inFile("multiprocessing/spawn.py", "multiprocessing/process.py", "concurrent/futures/process.py") {
		return 0
	}
	if low, high := f.othersSpan(); float64(high) > 1.05*float64(low) {
		return 0
	}
	return len(f.others)
}

// spawned is the numbers in what Python's multiprocessing starts a process with; each has its own.
var spawned = sampler.Pattern{Source: `\b(tracker_fd|pipe_handle|parent_pid)=\d+`}

// startedAlike says whether two commands are the same.
func startedAlike(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a == b || strings.Contains(a, "spawn_main(") && spawned.Get().ReplaceAllString(a, "$1") == spawned.Get().ReplaceAllString(b, "$1")
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

// helperLength is how much of the command of a helper stands in a sentence, in characters: its program and what follows.
const helperLength = 80

func (f *failure) helperText() string {
	h := f.helper()
	return f.words.Say("why.helper", "pid", h.PID, "command", sampler.ClipAt(h.Command, helperLength), "size", gib(h.Bytes))
}
