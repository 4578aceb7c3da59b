package demo

// neighbor is a run with room enough for its validation, until somebody else's job
// takes a part of one GPU. Nothing happens at that moment: the next validation fails.
func neighbor() script {
	const (
		round   = 480.0           // from one arrival of the other job to the next
		arrival = 112.0           // after the epoch, between two validations
		refused = 15 + 6*60 + 45  // age of the run when its seventh validation begins
		short   = refused + 1.45  // and when it asks for what is no longer there
		begun   = refused - 165.0 // before the epoch
	)
	validation := func(train, val float64) curve {
		return cycle(
			stage{45, stairs(train-6, train, 9, 12)},
			stage{5, sum(stairs(train, val-3, 2.4, 8), pulses(71, pulse{at: 2.9, last: 0.6, height: 3, loose: 0.8}))},
			stage{10, stairs(train-6, train, 4, 8)},
		)
	}
	return script{
		name:    "neighbour",
		title:   "somebody else's job takes the memory that the next validation needs",
		hostGiB: 503.4, systemGiB: 14,
		gpus: []gpu{{model: a100}, {model: a100}},
		jobs: []job{
			{
				user: "ann", framework: "pytorch", pid: 71120, on: []int{0, 1}, life: life{ago: begun, every: round, last: short},
				command:     "/opt/conda/bin/python -u deblur.py --crop 256 --batch-size 8 --val-full-resolution --val-every 1000",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0,1", "LOCAL_RANK": "{rank}", "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:512"},
				memory: func(rank int) curve {
					return story(stage{15, stairs(0.46875, 21, 15, 9)}, stage{0, validation(26.25-float64(rank)*0.8125, 56.5)})
				},
				load: func(rank int) curve {
					seed := uint64(rank)*8 + 720
					return story(stage{15, jitter(seed, 0, 20, 1)},
						stage{0, cycle(stage{45, jitter(seed, 94, 99.4, 1)}, stage{5, jitter(seed, 40, 75, 1)}, stage{10, jitter(seed, 94, 99.4, 1)})})
				},
				hostGiB: 8.9, workersGiB: 16, cpu: 116, pcie: 3.4e9,
			},
			{
				user: "bob", framework: "pytorch", pid: 80415, on: []int{1}, life: life{ago: -arrival, every: round, last: 105},
				command:     "python eval_llm.py --model meta-llama/Llama-3.1-8B-Instruct --dtype bfloat16 --batch-size 32 --tasks mmlu",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "1"},
				memory: func(int) curve {
					return sum(stairs(0.46875, 15.5, 9, 31), ratchet(73, 0, 19.5, 24, 17))
				},
				load: func(int) curve {
					return story(stage{9, jitter(74, 0, 6, 1)}, stage{0, jitter(75, 18, 62, 2)})
				},
				hostGiB: 12.4, cpu: 101, pcie: 5e9,
			},
		},
	}
}
