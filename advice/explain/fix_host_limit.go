package explain

import (
	"fmt"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// fixesHostLimit give a job more of the memory of its machine.
var fixesHostLimit = []fixRow{
	{id: FixRaiseLimit, source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		kinds: ownCode | running, cost: 0.1,
		lives: map[string]float64{CauseHostMemory: 0.75},
		when: func(f *failure) bool {
			return (f.class.class == classHost || f.onHost() && f.event.Framework == "tensorflow") && f.requested.Or(0) < noMachineHas && !(f.refusedPin() && f.withinWSL()) && !f.sharesRAM() // that of a board is what it is
		},
		variant: func(f *failure) string {
			switch f.event.Framework {
			case "ray":
				if f.rolloutTool() {
					return "ray_offload"
				}
				return "ray"
			case "slurm", "kubernetes":
				return f.event.Framework
			}
			if f.event.Kind == sampler.KindKernelKill || f.event.Framework == "tensorflow" {
				return "machine"
			}
			if f.shows(sampler.ShowsKubernetes) && !f.onWindows() {
				return "kubernetes"
			}
			return "host"
		},
		do: doHostLimit},
	{id: FixRaiseLimit, source: "https://learn.microsoft.com/windows/win32/memory/memory-limits-for-windows-releases",
		kinds: ownCode | running, cost: 0.1,
		lives:   map[string]float64{CauseHostMemory: 0.8},
		when:    func(f *failure) bool { return f.refusedThoughFree() && f.onWindows() },
		variant: func(f *failure) string { return "pagefile" },
		do: func(f *failure) []string {
			list := []string{`systeminfo | findstr /C:"Memory"  ` + f.comment("do.commit"), "SystemPropertiesPerformance.exe  " + f.pageFile()}
			if f.torchCode() && f.program.is(training|undecided) && f.program.name == "" && !f.mayHaveWorkers() {
				list[1] += "\n" + f.comment("do.or_that", "what", f.words.Say("do.any_workers")) // each of them commits some
			}
			return list
		}},
	{id: FixRaiseLimit, source: "https://github.com/ethereum-mining/ethminer/issues/150",
		kinds: ownCode | running, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.9},
		when:    func(f *failure) bool { return f.pageFileShort() },
		reach:   always(1),
		variant: func(f *failure) string { return "gpus" },
		do: func(f *failure) []string {
			if f.onWindows() {
				return []string{"SystemPropertiesPerformance.exe  " + f.comment("do.pagefile_gpus"), f.comment("do.gpus_in_turn")}
			}
			return []string{f.comment("do.swap_gpus"), f.comment("do.gpus_in_turn")}
		}},
	{id: FixRaiseLimit, source: "https://docs.kernel.org/mm/overcommit-accounting.html",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.98},
		when:    func(f *failure) bool { return f.refusedFork() },
		reach:   always(1),
		variant: func(f *failure) string { return "fork" },
		do: func(f *failure) []string {
			return []string{f.comment("do.without_fork"), f.comment("do.overcommit")}
		}},
	{id: FixRaiseLimit, source: "https://github.com/kohya-ss/sd-scripts/issues/1790",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.97},
		when:    func(f *failure) bool { return f.class.class == classMaps },
		variant: func(f *failure) string { return "maps" },
		do: func(f *failure) []string {
			return []string{"cat /proc/sys/vm/max_map_count", "sudo sysctl -w vm.max_map_count=1048576",
				`torch.multiprocessing.set_sharing_strategy("file_system")  ` + f.comment("do.or")}
		}},
	{id: FixRaiseLimit, source: sourceWSL,
		kinds: ownCode | running, cost: 0.05,
		lives:   map[string]float64{CauseHostMemory: 0.85},
		when:    func(f *failure) bool { return (f.maybePinned() || f.refusedPin() && f.withinWSL()) && !f.layered() },
		variant: func(f *failure) string { return "wsl" },
		do:      func(f *failure) []string { return []string{f.comment("do.wslconfig"), "free -g; ulimit -l"} }},
}

// refusedFork: the line that failed starts another process, which Linux counts as a second copy of all that the program holds, however little that one does.
// https://docs.kernel.org/mm/overcommit-accounting.html
func (f *failure) refusedFork() bool {
	n := len(f.context.Code)
	return f.onHost() && n > 0 && strings.Contains(f.event.Text, "Errno 12") && startsProcess.Get().MatchString(f.context.Code[n-1])
}

var startsProcess = sampler.Pattern{Source: `\bos\.(?:popen|system|fork)\(|\bsubprocess\.|\bPopen\(|_fork_exec\(|\bfork_exec\(`}

// runsOutside: a path or an error is one of Windows itself, whatever the text says of the Linux within it.
func (f *failure) runsOutside() bool {
	text := f.event.Text
	return strings.Contains(text, "WinError") || strings.Contains(text, "os error 1455") || strings.Contains(text, `\site-packages\`) || f.event.Kind == sampler.KindHostAlloc && strings.Contains(text, "DefaultCPUAllocator: not enough")
}

// pageFile is how large a page file of Windows has to be: larger than what it asked for in RAM, where that is known.
func (f *failure) pageFile() string {
	if need, known := f.requested.Value(); known && f.onHost() && need >= sampler.GiB {
		return f.comment("do.pagefile_need", "need", gib(need))
	}
	if f.told(sampler.ToldPageFile) {
		return f.comment("do.pagefile_room") // who speaks of it has most likely made it larger
	}
	return f.comment("do.pagefile")
}

func doHostLimit(f *failure) []string {
	switch f.event.Framework {
	case "slurm":
		measure := "sacct -j JOBID --format=JobID,MaxRSS,ReqMem"
		if slices.Contains(f.numbersInForce("--mem"), 0) { // all that the node has
			return []string{measure, f.comment("do.machine_ram")}
		}
		return []string{fmt.Sprintf("#SBATCH --mem=%dG", f.above("--mem", 128)), measure}
	case "kubernetes":
		return []string{"resources: {limits: {memory: 128Gi}}"}
	case "ray":
		// The node was full: what a task reserves frees nothing. https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html
		if f.rolloutTool() {
			return []string{f.comment("do.ray_offload"), f.comment("do.ray_users")}
		}
		return []string{f.comment("do.ray_users"), f.comment("do.ray_fewer")}
	}
	if f.shows(sampler.ShowsColab) {
		return []string{"free -g", f.comment("do.say.colab")}
	}
	if f.told(sampler.ToldWSL) && !f.runsOutside() {
		return []string{"free -g", f.comment("do.wslconfig")} // its kernel has a part of the RAM, whatever the page file
	}
	if f.onWindows() {
		list := []string{`systeminfo | findstr /C:"Memory"  ` + f.comment("do.task_manager"), "SystemPropertiesPerformance.exe  " + f.pageFile()}
		if f.libraryRefused() && f.program.is(training) && f.workers() != 0 && !f.workersSpent() {
			list[1] += "\n" + f.comment("do.or_that", "what", f.words.Say("do.any_workers"))
		}
		return list
	}
	if f.withinWSL() {
		return []string{"free -g", f.comment("do.wslconfig")}
	}
	if f.shows(sampler.ShowsKubernetes) {
		return []string{f.comment("do.limit_of_pod"), "kubectl describe pod POD  " + f.comment("do.pod_limits")}
	}
	if f.told(sampler.ToldNoContainer) {
		return []string{"free -g; ps aux --sort=-rss | head", f.comment("do.machine_ram")}
	}
	if f.event.Kind == sampler.KindKernelKill {
		return []string{"free -g; ps aux --sort=-rss | head", f.comment("do.machine_ram")}
	}
	return []string{"cat /sys/fs/cgroup/memory.max; free -g", fmt.Sprintf("docker run --memory=%dg …  ", f.above("--memory", 128)) + f.comment("do.if_container")}
}

// rolloutTool: a known program trains on what the same model writes, with Ray, and can keep weights and optimizer in RAM while it does the other.
func (f *failure) rolloutTool() bool {
	return f.tool != nil && slices.Contains([]string{"verl", "EasyR1", "OpenRLHF"}, f.tool.Name)
}

// libraryRefused: Windows had no commit charge left for a library of CUDA. Each worker of a data loader loads all of them once more there, as it starts
// from nothing: https://docs.pytorch.org/docs/stable/notes/windows.html
func (f *facts) libraryRefused() bool {
	text := strings.ToLower(f.event.Text)
	return f.event.Kind == sampler.KindHostAlloc && strings.Contains(text, "1455") && strings.Contains(text, ".dll")
}
