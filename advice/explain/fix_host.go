package explain

import (
	"strconv"

	"nvpeak/sampler"
)

var fixesHost = []fixRow{
	{id: "shm_size", source: "https://docs.docker.com/engine/containers/run/",
		fits: map[string]float64{"shared_memory": 1},
		when: func(f *failure) bool { return f.class.class == classShm },
		do: func(f *failure) []string {
			return []string{"df -h /dev/shm", "docker run --shm-size=16g …  " + f.comment("do.or_ipc"), f.comment("do.k8s_shm")}
		}},
	{id: "reduce_dataloader_workers", source: "https://github.com/pytorch/pytorch/issues/13246",
		fits: map[string]float64{"host_memory": 0.9, "shared_memory": 0.6},
		when: func(f *failure) bool {
			return !f.tooManyMapsOnly() && f.workers() != 0 && f.event.Framework != "llama.cpp" && f.event.Framework != "ollama"
		},
		reach: func(f *failure) float64 {
			if f.workers() < 0 && (f.event.Kind == sampler.KindCgroupKill || f.event.Kind == sampler.KindKubernetes) {
				return 0.6 // a limit was reached, and nobody knows of workers
			}
			return 0.85
		},
		do: doFewerWorkers},
	{id: "raise_limit", source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		fits: map[string]float64{"host_memory": 0.7},
		when: func(f *failure) bool { return f.class.class == classHost },
		variant: func(f *failure) string {
			switch f.event.Framework {
			case "slurm", "kubernetes", "ray":
				return f.event.Framework
			}
			return "host"
		},
		do: doHostLimit},
	{id: "raise_limit", source: "https://github.com/kohya-ss/sd-scripts/issues/1790",
		fits:    map[string]float64{"host_memory": 1.2},
		when:    func(f *failure) bool { return f.class.class == classMaps },
		variant: func(f *failure) string { return "maps" },
		do: func(f *failure) []string {
			return []string{"cat /proc/sys/vm/max_map_count", "sudo sysctl -w vm.max_map_count=1048576",
				`torch.multiprocessing.set_sharing_strategy("file_system")  ` + f.comment("do.or")}
		}},
	{id: "reduce_pinned_memory", source: "https://docs.pytorch.org/docs/stable/data.html#memory-pinning",
		fits: map[string]float64{"host_memory": 1.1},
		when: func(f *failure) bool { return f.pinned() },
		do: func(f *failure) []string {
			return []string{"DataLoader(…, pin_memory=False, num_workers=2)", "free -g; ulimit -l", f.comment("do.wslconfig")}
		}},
	{id: "confirm_host_kill", source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		fits: map[string]float64{"host_memory": 0.5},
		when: func(f *failure) bool {
			return f.class.kind == sampler.KindKilled || f.class.kind == sampler.KindWorkerKilled
		},
		do: func(f *failure) []string {
			return []string{"sudo dmesg -T | grep -i -E 'killed process|oom'", "cat /sys/fs/cgroup/memory.events"}
		}},
}

// tooManyMapsOnly: mappings are short, not memory.
func (f *failure) tooManyMapsOnly() bool { return f.class.class == classMaps && f.tooManyMaps() }

// workerNames are the options that set the number of data loader processes.
var workerNames = []string{"dataloader_num_workers", "num_workers", "workers", "n_workers", "num_data_workers", "nworkers", "data_workers", "dataloader_workers"}

// workers is the number of data loader processes; -1 when not known.
func (f *failure) workers() int {
	a, found := f.command.Find(workerNames...)
	n, err := strconv.Atoi(a.Value)
	if !found || err != nil {
		return -1
	}
	return n
}

func doFewerWorkers(f *failure) []string {
	half := func(v float64) float64 { return float64(int(v) / 2) }
	if text, _, ok := f.command.WithNumber(half, workerNames...); ok {
		return []string{text}
	}
	return []string{"DataLoader(…, num_workers=2, prefetch_factor=2, persistent_workers=False)"}
}

func doHostLimit(f *failure) []string {
	switch f.event.Framework {
	case "slurm":
		return []string{"#SBATCH --mem=128G", "sacct -j JOBID --format=JobID,MaxRSS,ReqMem"}
	case "kubernetes":
		return []string{"resources: {limits: {memory: 128Gi}}"}
	case "ray":
		return []string{"@ray.remote(memory=32 * 1024**3)"}
	}
	return []string{"cat /sys/fs/cgroup/memory.max; free -g", "docker run --memory=128g …  " + f.comment("do.if_container")}
}
