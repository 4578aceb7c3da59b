package demo

import "strconv"

// sixtyfour is as much as one screen will ever have to show: 64 GPUs, on most of
// them 32 small servers, on the others training and large models.
func sixtyfour() script {
	const (
		shared  = 44 // GPUs with many small processes
		perCard = 32
		trained = 12 // GPUs after them with one large training
	)
	s := script{
		name:    "sixtyfour",
		title:   "64 H200 with up to 32 processes each",
		hostGiB: 4031, systemGiB: 88,
	}
	for i := range 64 {
		s.gpus = append(s.gpus, gpu{model: h200, hidden: float64(i%9/8) * 0.125})
	}
	var small, training, large []int
	for i := range 64 {
		switch {
		case i < shared:
			small = append(small, i)
		case i < shared+trained:
			training = append(training, i)
		default:
			large = append(large, i)
		}
	}
	for slot := range perCard {
		var on []int
		for _, c := range small {
			// Every second shared GPU is full, the others are not quite.
			if c%2 == 0 || slot < perCard-c%13 {
				on = append(on, c)
			}
		}
		s.jobs = append(s.jobs, worker(slot, on))
	}
	s.jobs = append(s.jobs, sharded(training), experts(large))
	return s
}

// worker is the server of one slot on every shared GPU. Each fourth of them holds
// more memory for a moment when a large request comes.
func worker(slot int, on []int) job {
	kinds := []struct{ user, command, framework, container string }{
		{"svc-embed", "python -m serve.embed --model bge-large --shard {rank} --port 9" + strconv.Itoa(100+slot), "pytorch", "k8s:0f6d2c81ab37"},
		{"svc-rank", "tritonserver --model-repository=/models/rank --http-port=8" + strconv.Itoa(100+slot), "triton", "k8s:b52e90d4417c"},
		{"svc-voice", "python -m serve.speech --model whisper-large-v3 --card {gpu}", "pytorch", "k8s:6a1be37f20c9"},
		{"ann", "python sweep.py --trial {rank} --slot " + strconv.Itoa(slot), "jax", ""},
	}
	k := kinds[slot%len(kinds)]
	base := 1.5 + 1.75*chance(200, uint64(slot))
	j := job{
		user: k.user, command: k.command, framework: k.framework, container: k.container,
		pid: 100000 + slot*64, on: on, life: life{ago: 86400 + float64(slot)*311}, flat: base, uneven: 1.5,
		environment: map[string]string{"CUDA_VISIBLE_DEVICES": "{gpu}"},
		load:        func(rank int) curve { return jitter(uint64(210+slot*64+rank), 0, 5.2, 2) },
		hostGiB:     0.7 + base/4, cpu: 22, pcie: 9e7,
	}
	if slot%4 == 2 {
		j.memory = func(rank int) curve {
			return cycle(stage{40 + float64((slot*7+rank*11)%50), sum(plateau(base+1.5*chance(uint64(rank), uint64(slot))),
				pulses(uint64(300+slot*64+rank), pulse{at: 21, last: 0.4, height: 1.25, loose: 0.75}))})
		}
	}
	return j
}

func sharded(on []int) job {
	return job{
		user: "carol", framework: "pytorch", pid: 110000, on: on, life: life{ago: 1900800}, container: "slurm:91002",
		command: "/opt/venv/bin/python -u train_moe.py --nodes 1 --ranks {ranks} --expert-parallel 4 --recompute selective",
		environment: map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
			"LOCAL_RANK": "{rank}", "WORLD_SIZE": "{ranks}"},
		memory: func(rank int) curve {
			base := 118.5 + 1.25*float64(rank%4)
			return cycle(stage{110, sum(plateau(base), step(37, 0.625))}, stage{8, sum(plateau(base), pulses(uint64(400+rank),
				pulse{at: 1.5, last: 0.5, height: 13, loose: 3}, pulse{at: 5, last: 0.24, height: 17, loose: 2}))})
		},
		load: func(rank int) curve {
			seed := uint64(420 + rank)
			return cycle(stage{110, jitter(seed, 96, 100.4, 1)}, stage{8, jitter(seed, 30, 70, 1)})
		},
		hostGiB: 38, workersGiB: 17, cpu: 133, pcie: 6e9,
	}
}

func experts(on []int) job {
	return job{
		user: "svc-llm", framework: "vllm", pid: 120000, on: on, life: life{ago: 604800}, container: "k8s:d83c5519e7f0",
		command: "python3 -m vllm.entrypoints.openai.api_server --model deepseek-ai/DeepSeek-V3 --tensor-parallel-size {ranks}" +
			" --gpu-memory-utilization 0.92",
		environment: map[string]string{"LOCAL_RANK": "{rank}"},
		flat:        129.25, load: func(rank int) curve { return jitter(440, 25, 99, 4) },
		hostGiB: 16, cpu: 104, pcie: 2e9,
	}
}
