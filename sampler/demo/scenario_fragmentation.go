package demo

// fragmentation is a run over graphs of ever other sizes. What the allocator holds goes
// up by a ratchet to the limit; there it gives back its unused segments and starts
// again, each time from higher up, because more of them are partly in use.
func fragmentation() script {
	return script{
		name:    "fragmentation",
		title:   "reserved memory ratchets up to the limit, is flushed, and comes back sooner",
		hostGiB: 125.6, systemGiB: 5.9,
		gpus: []gpu{{model: l40s}, {model: l40s}},
		jobs: []job{
			{
				user: "dan", framework: "pytorch", pid: 61342, on: []int{0}, life: life{ago: 45, every: 618, last: 606},
				command:     "python main.py --model gps-large --batch-size 2 --accumulate 8 --epochs 40",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0", "CUDA_MODULE_LOADING": "LAZY"},
				memory:      func(int) curve { return fragments() },
				load: func(int) curve {
					return story(stage{12, jitter(51, 0, 15, 1)}, stage{0, jitter(52, 78, 98, 1)})
				},
				hostGiB: 5.6, workersGiB: 7.1, cpu: 109, pcie: 2.2e9,
			},
			{
				user: "erin", framework: "pytorch", pid: 60118, on: []int{1}, life: life{ago: 9012},
				command:     "python main.py --model gps-large --batch-size 2 --accumulate 8 --epochs 40 --seed 2",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "1", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
				// The same run with segments that can grow: it follows what is allocated.
				memory: func(int) curve {
					return cycle(stage{150, ratchet(53, 33.25, 36.75, 130, 40)})
				},
				load:    func(int) curve { return jitter(54, 80, 98, 1) },
				hostGiB: 5.6, workersGiB: 7.1, cpu: 111, pcie: 2.2e9,
			},
		},
	}
}

// A flush gives back what is wholly free; the ratchet after it is shorter and begins higher.
var flushes = []struct{ seconds, from, to float64 }{
	{190, 17.5, 44.0}, {145, 23.75, 44.1}, {106, 29.5, 44.2}, {78, 34.25, 44.2}, {72, 38.0, 44.3},
}

func fragments() curve {
	stages := []stage{{12, stairs(0.4375, 17.5, 12, 11)}}
	for i, f := range flushes {
		stages = append(stages, stage{f.seconds, ratchet(uint64(560+i), f.from, f.to, f.seconds-3, int(f.to-f.from)*3)})
	}
	// The last request does not fit; two more attempts, then the process is gone.
	last := stage{0, sum(plateau(41.5), pulses(57, pulse{at: 0.5, last: 0.24, height: 2.9}, pulse{at: 1.1, last: 2, height: 2.95}))}
	return story(append(stages, last)...)
}
