package demo

// oom is a fine-tuning that does not fit: it fills the GPU with one long sequence
// after another, is refused, is gone, and a loop in a shell starts it again. After
// each failure the GPU is free, which is what its owner finds when looking.
func oom() script {
	return script{
		name:    "oom",
		title:   "fills the GPU, is refused, dies, leaves the GPU free, starts again",
		hostGiB: 62.6, systemGiB: 4.8, asks: 4096,
		gpus: []gpu{{model: rtx4090, hidden: 0.02}, {model: rtx4090}},
		jobs: []job{
			{
				user: "root", name: "Xorg", kind: graphics, pid: 1893, on: []int{0}, life: life{ago: 401000},
				command: "/usr/lib/xorg/Xorg :0 -seat seat0 -auth /run/lightdm/root/:0 -nolisten tcp vt7",
				flat:    0.1680, load: func(int) curve { return beat(11, 1, 2) }, hostGiB: 0.11, cpu: 2.1,
			},
			{
				user: "dan", framework: "pytorch", pid: 9122, on: []int{0}, life: life{ago: 19, every: 78, last: 60.3},
				command:     "python finetune.py --model 350m --batch-size 16 --max-length 4096 --epochs 3",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0"},
				memory: func(int) curve {
					return story(
						stage{6, stairs(0.37890625, 6.1, 5, 17)},
						stage{4, plateau(6.1)},
						stage{3, stairs(6.1, 12.4, 2.5, 7)}, // first batch: activations and optimizer states
						stage{44, ratchet(91, 12.4, 22.4, 43, 19)},
						// A request that fits only after the cache was given back, and one that does not.
						stage{1.6, sum(plateau(21.0), step(0.24, 2.1))},
						stage{0, sum(plateau(20.2), step(0.18, 3.05))},
					)
				},
				// Of the first, 2.1 GiB, the curve has the rest; at the second it gives up.
				refused: []refused{{56.98, 2150}, {59.06, 1640}, {59.12, 1640}, {59.3, 1640}},
				load: func(int) curve {
					return story(stage{10, jitter(92, 0, 12, 1)}, stage{48.6, jitter(93, 90, 99.4, 1)}, stage{0, jitter(94, 20, 60, 1)})
				},
				hostGiB: 7.4, workersGiB: 2.5, cpu: 105, pcie: 2.8e9,
			},
		},
	}
}
