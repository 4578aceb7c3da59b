package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// typedIn are the literals of a file that advice gives out as lines to type: they begin an element of a list of lines, or what is
// appended to one.
func typedIn(t *testing.T, file string) (list []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(e ast.Expr) {
		for {
			b, is := e.(*ast.BinaryExpr)
			if !is {
				break
			}
			e = b.X
		}
		lit, is := e.(*ast.BasicLit)
		if !is || lit.Kind != token.STRING {
			return
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && (strings.ContainsAny(text, "(=") || strings.Contains(text, " ")) {
			list = append(list, text)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if list, is := n.Type.(*ast.ArrayType); is {
				if name, is := list.Elt.(*ast.Ident); is && name.Name == "string" {
					for _, e := range n.Elts {
						keep(e)
					}
				}
			}
		case *ast.CallExpr:
			if name, is := n.Fun.(*ast.Ident); is && name.Name == "append" {
				for _, e := range n.Args[1:] {
					keep(e)
				}
			}
		}
		return true
	})
	return list
}

// Every line that a measure can tell to type has a row of what must be shown for it to exist.
func TestConcreteLinesHaveRows(t *testing.T) {
	files, err := filepath.Glob("fix_*.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	lines := []string{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			lines = append(lines, typedIn(t, file)...)
		}
	}
	for _, k := range knobs {
		lines = append(lines, k.plain)
	}
	for _, s := range shares {
		lines = append(lines, s.plain+" "+s.option+" 0.8")
	}
	if len(lines) < 120 {
		t.Fatalf("only %d lines found", len(lines))
	}
	for _, line := range lines {
		if !slices.ContainsFunc(concreteRows, func(r concreteRow) bool { return strings.Contains(line, r.part) }) {
			t.Errorf("no row says what %q needs", line)
		}
	}
}

// Every row can be reached, and what it says in words is in the catalog.
func TestConcreteRows(t *testing.T) {
	words := lang.English()
	for i, r := range concreteRows {
		if r.words != "" && !words.Has(r.words) || strings.HasPrefix(r.part, "do.") && !words.Has(r.part) {
			t.Errorf("%q: no such text", r.part)
		}
		if r.bare && r.words == "" || r.needs == nil && r.words != "" {
			t.Errorf("%q: words and needs do not match", r.part)
		}
		for _, before := range concreteRows[:i] {
			if !strings.HasPrefix(r.part, "do.") && strings.Contains(r.part, before.part) {
				t.Errorf("%q is never reached: %q stands before it", r.part, before.part)
			}
		}
	}
}

// No text of a person gets a line to type of which it does not show that it can be typed there.
func TestNothingConcreteWithoutItsNeeds(t *testing.T) {
	checked := 0
	for _, one := range slices.Concat(threads(t, "threads.txt"), threads(t, "kinds.txt")) {
		for _, e := range one.events(t) {
			f := newFailure(Incident{Events: []sampler.OOMEvent{e}}, e, lang.English())
			for _, a := range f.advise(f.causes()) {
				for _, line := range a.Do {
					row, found := f.rowOf(line)
					if !found {
						continue
					}
					checked++
					if row.needs != nil && !f.atHand() && !row.needs(f) {
						t.Errorf("%s: nothing shows that %q is possible", one.name, line)
					}
				}
			}
			break
		}
	}
	if checked < 200 {
		t.Errorf("only %d lines were checked", checked)
	}
}

// What stands in the advice for a text, and what does not.
func TestConcreteWhereShown(t *testing.T) {
	numbers := "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.76 GiB total capacity; 11.00 GiB already allocated; 12.00 MiB free; 11.20 GiB reserved in total by PyTorch)\n"
	for _, c := range []struct{ name, text, is, not string }{
		{"a tool without code", "I run inference in the app on long texts and it stops.\n" + numbers, "torch.no_grad()", "model.eval()"},
		{"a script of inference", "I run python infer.py and it stops.\n" + numbers, "model.eval()", "where that is not done yet"},
		{"a library evaluates", "I train with detectron2, and in the evaluation it stops.\n" + numbers, "a batch of 1", "DataLoader("},
		{"a loader in code", "I train. In the validation it stops.\nfor x in val_loader:\n    out = model.forward(x)\n" + numbers, "DataLoader(val_dataset", "a batch of 1"},
		{"vLLM as a library", "from vllm import LLM\nllm = LLM('m', gpu_memory_utilization=0.9)\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n", "vllm.LLM(…, gpu_memory_utilization=0.95)", "vllm serve"},
		{"vLLM in another product", "Our operator starts vllm.\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 546.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 514.19 MiB is free. Process 5 has 15.25 GiB memory in use. Of the allocated memory 13.73 GiB is allocated by PyTorch, and 736.86 MiB is reserved by PyTorch but unallocated.\n", "--max-model-len", "vllm serve"},
		{"Windows in a sentence", "My machine has 64 GB of RAM, python 3.7 and Windows 10. Training takes all the RAM, then it stops: not enough memory.\nMemoryError\n", "systeminfo", "cgroup"},
		{"Linux inside Windows", "I run it in WSL2 on Windows 11, and after loading the model it only says\nKilled\n", "free -g", "systeminfo"},
		{"no container", "On my Ubuntu desktop the training ends.\nKilled\n", "in a container: its limit", "docker run --memory=128g"},
		{"a container", "The training in my docker container on Ubuntu ends.\nKilled\n", "docker run --memory=128g", "in a container: its limit"},
		{"a hosted notebook", "On Google Colab the training stops after loading the data.\nMemory cgroup out of memory: Killed process 629 (train) total-vm:14119556kB, anon-rss:6538204kB\n", "a runtime with more RAM", "docker run"},
		{"a library that uses vLLM", "m = Bonsai('org/m', gpu_memory_utilization=0.9)\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n", "(…, gpu_memory_utilization=0.95)", "vllm.LLM("},
		{"a loader of any age", "I train.\n  File \"/env/python2.7/torch/utils/data/dataloader.py\", line 175, in handler\nRuntimeError: DataLoader worker (pid 19597) is killed by signal: Killed.\n", "num_workers=2", "prefetch_factor"},
		{"weights of 8 bits", "I finetune gpt_lora_int8, and when it saves the checkpoint it stops; state_dict() too.\n" + numbers, "another version of bitsandbytes", "model.cpu()"},
		{"a simulator of another maker", "I train 4096 environments with mani_skill.\n  File \"/a/mani_skill/env.py\", line 3, in step\n" + numbers, "", "--headless"},
		{"graphs of an old TensorFlow", "Several models are trained in a loop, and memory grows with each, until\nE tensorflow/core/common_runtime/executor.cc:1076] Resource exhausted: OOM when allocating tensor with shape[100,200]\n\t [[Node: s = Sub[_device=\"/job:localhost/replica:0/task:0/gpu:0\"]]]\n", "tf.Graph()", "tf.keras"},
		{"adapters in a detector", "I train yolo, and with a batch size of 1 it still stops.\n" + numbers, "a smaller backbone", "LoRA"},
		{"adapters in a language model", "I train llama on my sentences, and with a batch size of 1 it still stops.\n" + numbers, "adapters (LoRA)", ""},
		{"accumulation in TensorFlow", "I train, and get\nResourceExhaustedError (see above for traceback): OOM when allocating tensor with shape[90,17,17,32]\n", "divide the batch size by 2", "accumulat"},
		{"four bits in force", "I load it with load_in_4bit=True and from_pretrained, and while it loads it stops. It is a chat model.\n" + numbers, "", "load_in_4bit=True"},
		{"no GPU beside", "tensorflow/compiler/xla/service/platform_util.cc:240] unable to create StreamExecutor for CUDA:0: failed initializing StreamExecutor for CUDA device ordinal 0: Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n", "another GPU, where there is one", "export CUDA_VISIBLE_DEVICES=1"},
		{"an old TensorFlow", "sess=tf.Session() stops with\nE tensorflow/stream_executor/cuda/cuda_driver.cc:924] failed to allocate 5.93G (6365773824 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n", "per_process_gpu_memory_fraction", "export TF_FORCE_GPU_ALLOW_GROWTH"},
		{"PyTorch before 0.4", "I run demo.py and it stops.\nRuntimeError: cuda runtime error (2) : out of memory at /opt/conda/conda-bld/pytorch_1511304568725/work/torch/lib/THC/generic/THCStorage.cu:66\n", "volatile=True", "with torch.no_grad():"},
		{"layers of an older program", "llama.cpp from 2023: ./main -m m.gguf -ngl 35\nCUDA error: out of memory\nggml-cuda.cu:445\n", "fewer layers on the GPU", "llama-server"},
		{"variables before a command", "It ended after a day, out of memory; nothing else is said.\nFOO=1 BAR=2 fairseq-train data --max-tokens 64\n| WARNING: ran out of memory with exception: CUDA out of memory.\n", "", "-- FOO=1"},
		{"a context that is in force", "ollama run llama3\nError: an unknown error was encountered while running the model CUDA error: out of memory\n  current device: 0, in function alloc at llama.cpp/ggml-cuda.cu:233\n  cudaMalloc((void **) &ptr, look_ahead_size)\nollama[641]: llama_new_context_with_model: n_ctx      = 2048\n", "num_ctx 1024", "num_ctx 4096"},
		{"a context that is not named", "ollama run llama3\nError: an unknown error was encountered while running the model CUDA error: out of memory\n  current device: 0, in function alloc at llama.cpp/ggml-cuda.cu:233\n", "num_ctx 4096", ""},
		{"a call of AMD's driver", "ollama run llama3\nError: an unknown error was encountered while running the model CUDA error: out of memory\n  current device: 0, in function alloc at llama.cpp/ggml-cuda.cu:233\n  hipMalloc((void **) &ptr, look_ahead_size)\n", "rocm-smi", "nvidia-smi"},
		{"one sample for each GPU", "My training ends:\n`python train.py n_gpus=2 batch_size=2`\n" + numbers, "two thirds", "batch_size=1"},
		{"several samples for each GPU", "My training ends:\n`python train.py n_gpus=2 batch_size=8`\n" + numbers, "batch_size=4", ""},
		{"one environment", "I train SAC with MJX in one environment:\nsac.train(num_timesteps=30_000_000, num_envs=1, batch_size=32)\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 53280000080 bytes.\n", "simpler meshes", "fewer environments"},
		{"many environments", "I train PPO with MJX:\nppo.train(num_timesteps=30_000_000, num_envs=8192, batch_size=32)\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 53280000080 bytes.\n", "fewer environments", ""},
		{"accumulation that is refused", "I train with torch. I don't want to use gradient checkpointing or gradient accumulation.\n" + numbers, "divide the batch size by 2", "accumulat"},
		{"only a context", "gpu=1 th generate.lua\nTHCudaCheck FAIL file=/tmp/cutorch/init.c line=261 error=2 : out of memory\n", "nvidia-smi", "fewer of them at once"},
		{"only a session", "sess=tf.Session()\nTotal memory: 7.92GiB\nFree memory: 190.31MiB\nE tensorflow/stream_executor/cuda/cuda_driver.cc:1002] failed to allocate 190.31M (199557120 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n", "allow_growth", "batch size"},
		{"a model that is being made", "w.exe \"a.ts\" --model=large-v2\nStandalone Faster-Whisper r141.3 running on: CUDA\nTraceback (most recent call last):\nFile \"main.py\", line 529, in cli\nFile \"faster_whisper\\transcribe.py\", line 125, in __init__\nRuntimeError: CUDA failed with error out of memory\n", "--model medium", "--best_of"},
		{"weights of 8 bits before float8", "python entry_with_update.py --lowvram\nFooocus version: 2.1.703\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 622.00 MiB (GPU 0; 11.17 GiB total capacity; 10.36 GiB already allocated; 195.25 MiB free; 10.57 GiB reserved in total by PyTorch)\n", "--attention-split", "fp8"},
		{"an option by its older name", "python entry_with_update.py --lowvram\nFooocus version: 2.1.703\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 622.00 MiB (GPU 0; 11.17 GiB total capacity; 10.36 GiB already allocated; 195.25 MiB free; 10.57 GiB reserved in total by PyTorch)\n", "--attention-split", "--always-low-vram"},
		{"a speech model of another library, and bits", "Can I transcribe a recording of 3 hours?\nmodel = nemo_asr.models.EncDecCTCModel.from_pretrained('m')\ntext = model.transcribe(audio=path, batch_size=1)\nCUDA out of memory. Tried to allocate 91.71 GiB. GPU\n", "", "trainer.precision"},
		{"a speech model of another library, and transformers", "Can I transcribe a recording of 3 hours?\nmodel = nemo_asr.models.EncDecCTCModel.from_pretrained('m')\ntext = model.transcribe(audio=path, batch_size=1)\nCUDA out of memory. Tried to allocate 91.71 GiB. GPU\n", "", "torch_dtype"},
		{"arrays of numba", "arr = cuda.pinned_array((50000, 50000), dtype='float64')\ntest[threads, blocks](arr)\nnumba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY\n", "join the results", "batch size"},
		{"pictures that fill the GPU", "I have an RTX 3060 Ti and run instant-ngp.\n21:39:08 SUCCESS  Loaded 86 images of size 4000x3000 after 0s\n21:39:09 ERROR    Uncaught exception: Could not allocate memory: gpu_memory.h:109 cudaMalloc(&rawptr, n_bytes) failed with error out of memory\n", "pictures of half the side", "aabb_scale"},
		{"pictures without a model", "I have an RTX 3060 Ti and run instant-ngp.\n21:39:08 SUCCESS  Loaded 86 images of size 4000x3000 after 0s\n21:39:09 ERROR    Uncaught exception: Could not allocate memory: gpu_memory.h:109 cudaMalloc(&rawptr, n_bytes) failed with error out of memory\n", "every second picture", "8 or 4 bits"},
		{"pictures that do not fill the GPU", "I have an RTX 3060 Ti and run instant-ngp.\n21:39:08 SUCCESS  Loaded 86 images of size 400x300 after 0s\n21:39:09 ERROR    Uncaught exception: Could not allocate memory: gpu_memory.h:109 cudaMalloc(&rawptr, n_bytes) failed with error out of memory\n", "aabb_scale", "pictures of half the side"},
		{"a GPU that is set up", "./main -m q2.gguf\nLog start\nmain: build = 1233 (98311c4)\nmain: seed  = 1694898033\n\nCUDA error 2 at ggml-cuda.cu:5509: out of memory\ncurrent device: 1\nIt is the same regardless of what -n.\n", "export CUDA_VISIBLE_DEVICES=0", "ctx-size"},
		{"a model that is read", "./main -m q2.gguf -ngl 30\nLog start\nmain: build = 1233 (98311c4)\nmain: seed  = 1694898033\nllama_model_loader: loaded meta data\nllm_load_tensors: using CUDA for GPU acceleration\nCUDA error 2 at ggml-cuda.cu:5509: out of memory\ncurrent device: 0\n", "fewer layers", ""},
		{"other consumers beside Ollama", "ollama run llama3\nError: an unknown error was encountered while running the model CUDA error: out of memory\n  current device: 0, in function alloc at llama.cpp/ggml-cuda.cu:233\nIt works when I close the game.\n", "nvidia-smi --query", ""},
		{"boxes of many objects", "I tried to train Rotated-Faster-RCNN on DOTA.\nGPU memory is increasing throughout the training and eventually OOM.\n", "gpu_assign_thr", ""},
		{"boxes and a leak", "I tried to train Faster-RCNN on my data.\nGPU memory is increasing by 20 MB with each iteration of the training and eventually OOM.\n", "kept from one step to the next", "gpu_assign_thr"},
		{"attention over a recording", "I transcribe audio of 30 minutes with a model of torch and get\nCUDA out of memory. Tried to allocate 33.86 GiB. GPU 0 has a total capacity of 12.00 GiB of which 5.01 GiB is free. Of the allocated memory 5.25 GiB is allocated by PyTorch, and 705.29 MiB is reserved by PyTorch but unallocated.\n", "flash, sdpa", ""},
		{"external memory of XGBoost in force", "data = xgboost.ExtMemQuantileDMatrix(batches)\nMemory allocation error on worker 0: std::bad_alloc: out_of_memory\n", "cache_host_ratio", "xgboost.QuantileDMatrix("},
		{"external memory of XGBoost in an arena", "data = xgb.ExtMemQuantileDMatrix(batches)\nMemory allocation error on worker 0: std::bad_alloc: out_of_memory: RMM failure at: arena_memory_resource.hpp:171: Maximum pool size exceeded\n", "CudaAsyncMemoryResource", "instead of DMatrix"},
		{"quantiles of XGBoost in force", "data = xgboost.QuantileDMatrix(x)\nMemory allocation error on worker 0: std::bad_alloc: out_of_memory\n", "ExtMemQuantileDMatrix", "instead of DMatrix"},
		{"XGBoost with neither", "data = xgboost.DMatrix(x)\nMemory allocation error on worker 0: std::bad_alloc: out_of_memory\n", "instead of DMatrix", "cache_host_ratio"},
		{"a pool below the size of the GPU", "My card is an RTX 3090.\nstd::bad_alloc: out_of_memory: RMM failure at: pool_memory_resource.hpp:171: Maximum pool size exceeded (failed to allocate 5.985840 GiB)\n", "maximum_pool_size=22 * 2**30", "40 * 2**30"},
		{"precision of molecular dynamics in force", "props = {'CudaPrecision': 'mixed'}\nopenmm.OpenMMException: Error creating array forces: CUDA_ERROR_OUT_OF_MEMORY (2)\n", "more GPUs or processes", "double precision"},
		{"precision of molecular dynamics", "openmm.OpenMMException: Error creating array forces: CUDA_ERROR_OUT_OF_MEMORY (2)\n", "double precision", ""},
		{"pictures for a language model", "I fine-tune Qwen2-VL on my own data with torch and get CUDA out of memory.\n", "max_pixels", "shorter sequences"},
		{"texts for a language model", "I fine-tune Qwen2 on my own texts with torch and get CUDA out of memory.\n", "max_length", "max_pixels"},
		{"the binding of llama.cpp for Python by its name", "I load the model with llama-cpp-python.\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 40960.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\n", "n_ctx", "--ctx-size"},
		{"the size of voxels", "I train a segmentation of rooms with torch and voxel = 0.002 and get CUDA out of memory.\n", "larger voxels", "crop"},
		{"a page file, and workers", "RuntimeError: CUDA out of memory. Tried to allocate 856.00 MiB (GPU 0; 8.00 GiB total capacity; 2.96 GiB already allocated; 2.60 GiB free; 3.13 GiB reserved in total by PyTorch)\nThis is on Windows.\n", "num_workers", ""},
		{"a protein that is folded", "Could not predict job1. Not Enough GPU memory? RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7866899248 bytes.\n", "domains", "batch size"},
		{"a speech model of another library", "Can I transcribe a recording of 3 hours?\nmodel = nemo_asr.models.EncDecCTCModel.from_pretrained('m')\ntext = model.transcribe(audio=path, batch_size=1)\nCUDA out of memory. Tried to allocate 91.71 GiB. GPU\n", "pieces of 30 s", "asr(audio"},
	} {
		events, _ := oomlog.Scan(strings.NewReader(c.text))
		events = post.Read(c.text, events, oomlog.Scan)
		if len(events) == 0 {
			t.Errorf("%s: no event", c.name)
			continue
		}
		got := Explain(Incident{Events: events})
		all := ""
		for _, a := range got.Advice {
			all += strings.Join(a.Do, "\n") + "\n"
		}
		if !strings.Contains(all, c.is) || c.not != "" && strings.Contains(all, c.not) {
			t.Errorf("%s: not %q, or %q, in\n%s", c.name, c.is, c.not, all)
		}
	}
}
