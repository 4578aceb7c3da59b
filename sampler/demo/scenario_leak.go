package demo

// leak is a run that keeps a reference to every graph it has built: a little more
// memory with each group of batches, until nothing is left. Beside it runs a job
// whose memory goes up and down without growing.
func leak() script {
	const (
		loading = 21.0
		start   = 9.75
		segment = 0.3125 // 320 MiB, 16 of PyTorch's large segments
		every   = 8.2
	)
	return script{
		name:    "leak",
		title:   "memory grows step by step, is full after 15 minutes, fails and starts again",
		hostGiB: 125.6, systemGiB: 6.2,
		gpus: []gpu{{model: l40s}, {model: l40s}},
		jobs: []job{
			{
				user: "carol", framework: "pytorch", pid: 52117, on: []int{0}, life: life{ago: 60, every: 935, last: loading + 22*5*every - 0.02},
				command:     "python train_gnn.py --dataset products --hidden 1024 --batch-size 512 --epochs 400 --workers 8",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0"},
				memory: func(int) curve {
					return story(
						stage{loading, stairs(0.45, start, loading, 14)},
						// Every fifth step an epoch ends, with something larger for a moment:
						// the 22nd time it does not fit.
						stage{0, sum(climb(start, segment, every), beat(5*every, 1.1, 1.25))},
					)
				},
				load: func(int) curve {
					return story(stage{loading, jitter(31, 0, 18, 1)}, stage{0, sum(jitter(32, 84, 97, 1), beat(5*every, 2, -45))})
				},
				hostGiB: 9.4, workersGiB: 6.5, growthGiB: 17, cpu: 130, pcie: 2.6e9,
			},
			{
				user: "ann", framework: "pytorch", pid: 48803, on: []int{1}, life: life{ago: 21940}, container: "docker:5be0c7d1f9a4",
				command:     "python -u train_segment.py --crop 512 --batch 12 --amp --val-every 250",
				environment: map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "NVIDIA_VISIBLE_DEVICES": "1"},
				memory: func(int) curve {
					return cycle(
						stage{52, sum(stairs(13.5, 17.25, 2.5, 8), step(19, 0.15625))},
						stage{7, sum(stairs(17.25, 22.5, 1.2, 5), pulses(41, pulse{at: 3.1, last: 0.4, height: 4.5, loose: 1.5}))})
				},
				load: func(int) curve {
					return cycle(stage{52, jitter(42, 93, 99, 1)}, stage{7, jitter(43, 45, 80, 1)})
				},
				hostGiB: 7.2, workersGiB: 9.8, cpu: 124, pcie: 3.1e9,
			},
		},
	}
}
