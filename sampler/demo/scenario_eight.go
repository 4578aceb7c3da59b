package demo

// eight is a server that several people share: a large training over four GPUs, a
// model served by two, a fine-tuning that samples pictures, and a GPU for notebooks.
func eight() script {
	return script{
		name:    "eight",
		title:   "8 H100: training over four GPUs, serving over two, fine-tuning, notebooks",
		hostGiB: 2015.5, systemGiB: 31,
		gpus: []gpu{{model: h100}, {model: h100}, {model: h100}, {model: h100, hidden: 0.06},
			{model: h100}, {model: h100}, {model: h100}, {model: h100}},
		jobs: []job{pretraining(), serving(), finetuning(), notebook("bob", 31204, 11.5, 14), notebook("carol", 33871, 3.25, 0)},
	}
}

func pretraining() job {
	return job{
		user: "ann", framework: "pytorch", pid: 40230, on: []int{0, 1, 2, 3}, life: life{ago: 402315}, container: "slurm:88213",
		command: "/opt/venv/bin/python -u pretrain.py --config configs/8b.yaml --micro-batch-size 4 --fsdp full_shard",
		environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,2,3", "LOCAL_RANK": "{rank}", "WORLD_SIZE": "{ranks}",
			"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
		// Flat but for the gathering of a checkpoint on every rank.
		memory: func(rank int) curve {
			base := []float64{69.5, 68.25, 68.25, 67.75}[rank]
			return cycle(stage{170, sum(plateau(base), step(44, 0.3125))},
				stage{6, sum(plateau(base+0.3125), pulses(uint64(100+rank), pulse{at: 2, last: 1.6, height: 6.5, loose: 0.75}))})
		},
		load: func(rank int) curve {
			seed := uint64(rank)*8 + 104
			return cycle(stage{170, jitter(seed, 97, 100.4, 1)}, stage{6, jitter(seed, 6, 30, 1)})
		},
		hostGiB: 41, workersGiB: 22, cpu: 141, pcie: 7.5e9,
	}
}

func serving() job {
	return job{
		user: "svc-llm", framework: "vllm", pid: 28840, on: []int{4, 5}, life: life{ago: 1209600}, container: "docker:c7710f3e5d28",
		name: "python3",
		command: "/usr/bin/python3 -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.3-70B-Instruct" +
			" --quantization fp8 --tensor-parallel-size 2 --gpu-memory-utilization 0.92",
		environment: map[string]string{"NVIDIA_VISIBLE_DEVICES": "4,5", "LOCAL_RANK": "{rank}"},
		flat:        73.5,
		load:        func(rank int) curve { return jitter(120, 12, 97, 4) }, // both work on the same requests
		hostGiB:     14, cpu: 101, pcie: 1.2e9,
	}
}

func finetuning() job {
	return job{
		user: "erin", framework: "pytorch", pid: 51833, on: []int{6}, life: life{ago: 7311},
		command:     "python train_dreambooth.py --pretrained sdxl-base --resolution 1024 --train_batch_size 4 --validation_epochs 5",
		environment: map[string]string{"CUDA_VISIBLE_DEVICES": "6"},
		memory: func(int) curve {
			return cycle(
				stage{74, sum(stairs(38.5, 43.75, 3, 9), step(31, 0.46875))},
				// Four pictures, each decoded at the end.
				stage{13, sum(stairs(44.25, 52, 1.5, 5), pulses(130, pulse{at: 3.2, last: 0.3, height: 17, loose: 3},
					pulse{at: 6.1, last: 0.3, height: 18, loose: 3}, pulse{at: 9.0, last: 0.3, height: 18, loose: 3},
					pulse{at: 11.9, last: 0.3, height: 21, loose: 2}))})
		},
		load: func(int) curve {
			return cycle(stage{74, jitter(131, 92, 99, 1)}, stage{13, jitter(132, 80, 99, 1)})
		},
		hostGiB: 19, workersGiB: 6, cpu: 119, pcie: 2.4e9,
	}
}

func notebook(user string, pid int, gib, percent float64) job {
	return job{
		user: user, framework: "pytorch", name: "python3", pid: pid, on: []int{7}, life: life{ago: float64(pid) * 9},
		command: "/opt/conda/bin/python3 -m ipykernel_launcher -f /home/" + user + "/.local/share/jupyter/runtime/kernel-e7d2.json",
		flat:    gib, load: func(int) curve { return beat(47, 6, percent) }, hostGiB: 0.4 + gib/2, cpu: 38,
	}
}
