package demo

// prealloc is four programs that take most of their GPU when they start and keep it.
// The GPUs are full and nothing is wrong.
// https://docs.jax.dev/en/latest/gpu_memory_allocation.html (75 % of the GPU)
// https://github.com/vllm-project/vllm/blob/main/vllm/config/cache.py (0.92 of it)
// https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth (nearly all)
func prealloc() script {
	visible := float64(a100.totalMiB-a100.keptMiB) / 1024 // GiB of the GPU as CUDA sees it
	return script{
		name:    "prealloc",
		title:   "JAX, vLLM, TensorFlow and llama.cpp fill their GPUs on purpose: nothing to worry about",
		hostGiB: 503.4, systemGiB: 16,
		gpus: []gpu{{model: a100}, {model: a100}, {model: a100}, {model: a100}},
		jobs: []job{
			{
				user: "carol", framework: "jax", pid: 20411, on: []int{0}, life: life{ago: 48700},
				command:     "python train_vit.py --config=configs/vit_l16.py --workdir=/scratch/carol/vit",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0", "XLA_FLAGS": "--xla_gpu_enable_latency_hiding_scheduler=true"},
				flat:        0.75*visible + 0.52, load: func(int) curve { return sum(jitter(81, 91, 99, 1), beat(61, 3, -70)) },
				hostGiB: 21, cpu: 165, pcie: 4.4e9,
			},
			{
				user: "svc-llm", framework: "vllm", pid: 21877, on: []int{1}, life: life{ago: 777600}, container: "docker:91c04be7a2d3",
				command: "python3 -m vllm.entrypoints.openai.api_server --model Qwen/Qwen2.5-32B-Instruct" +
					" --gpu-memory-utilization 0.92 --max-model-len 16384",
				environment: map[string]string{"NVIDIA_VISIBLE_DEVICES": "1"},
				flat:        0.92*visible + 0.61, load: func(int) curve { return jitter(82, 2, 96, 3) },
				hostGiB: 9.8, cpu: 102, pcie: 0.4e9,
			},
			{
				user: "dan", framework: "tensorflow", pid: 22602, on: []int{2}, life: life{ago: 5230},
				command:     "python retinanet.py --mode=train --model_dir=/scratch/dan/rn --batch_size=64",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "2", "TF_CPP_MIN_LOG_LEVEL": "1"},
				flat:        visible - 1.6, load: func(int) curve { return sum(jitter(83, 70, 93, 1), beat(37, 2, -55)) },
				hostGiB: 13.2, cpu: 310, pcie: 5.9e9,
			},
			{
				user: "erin", framework: "llama.cpp", name: "llama-server", pid: 23950, on: []int{3}, life: life{ago: 190000},
				command:     "/usr/local/bin/llama-server -m /models/qwen2.5-72b-instruct-q4_k_m.gguf -ngl 99 -c 32768 --port 8081",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "3"},
				flat:        57.9, load: func(int) curve { return sum(beat(23, 9, 86), jitter(84, 0, 7, 1)) },
				hostGiB: 2.2, cpu: 99, pcie: 0.1e9,
			},
		},
	}
}
