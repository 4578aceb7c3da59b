package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// Every measure says what it needs to exist, and every kind of program has words in each language.
func TestNotionsAndWorks(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range fixRows {
		seen[row.id] = true
		if _, is := notionsOf[row.id]; !is {
			t.Errorf("nothing says what %s needs", row.id)
		}
	}
	for id := range notionsOf {
		if !seen[id] {
			t.Errorf("%s is no measure", id)
		}
	}
	for _, w := range workRows {
		for _, id := range []string{"work." + w.name, "do.less." + w.name, "do.parts." + w.name} {
			if lang.English().Has(id) == w.shared {
				t.Errorf("%s: text %v, though shared is %v", id, !w.shared, w.shared)
			}
		}
	}
}

// What people write of programs that have less than a model has, in own words.
var ofWorks = []struct{ work, text string }{
	{sampler.WorkScene, "I render a forest with Blender on my card with 6 GB, and it stops at frame 12.\nSystem is out of GPU memory\n"},
	{sampler.WorkScene, "V-Ray GPU shows in its log\nCUDA error 2: out of memory\nand the picture stays black.\n"},
	{sampler.WorkGame, "The game stops after the second level: out of video memory trying to allocate a rendering resource. I have 4 GB, what can I do?\n"},
	{sampler.WorkAtoms, "With LAMMPS and 9 million atoms I get this on a V100.\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  cudaMalloc(ptr, n) error( cudaErrorMemoryAllocation): out of memory\n"},
	{sampler.WorkAtoms, "openmm.OpenMMException: Error creating array forces: CUDA_ERROR_OUT_OF_MEMORY (2)\n"},
	{sampler.WorkGrid, "Our finite volume code stops at a mesh of 40 million cells.\nCUDA error at solver.cu:12: out of memory\n"},
	{sampler.WorkPhotos, "colmap patch_match_stereo stops with my 400 photos.\nCUDA error at src/mvs/gpu_mat.h:152 - out of memory\n"},
	{sampler.WorkPhotos, "OpenDroneMap with 900 pictures of a quarry ends so on Ubuntu:\nKilled\n"},
	{sampler.WorkParticles, "A refinement in cryoSPARC ends with\nMemoryError: cuMemAlloc failed: out of memory\n"},
	{sampler.WorkScan, "I reconstruct a cone beam scan with ASTRA.\nError: CUDA error 2: out of memory.\n"},
	{sampler.WorkMining, "Connecting to stratum+tcp://eth.example.org:4444\nCUDA error in func 'init' at line 126 : out of memory.\n"},
	{sampler.WorkMining, "Setting DAG epoch #177 for GPU0\nCUDA error - cannot allocate big buffer for DAG.\n"},
	{sampler.WorkMining, "GPU 0: insufficient memory for DAG epoch 401.\n"},
	{sampler.WorkMining, "Can't generate DAG, GPU #1: out of memory\n"},
	{sampler.WorkMining, "ethminer worked for a year, now it says\nCUDA error in func 'init' at line 126 : out of memory.\n"},
	{sampler.WorkHashes, "hashcat stops on my old card.\nCUDA error 2: out of memory\n"},
	{sampler.WorkStreams, "Transcoding a 4K film with hevc_nvenc fails at once: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"},
	{sampler.WorkStreams, "Transcoding a film with NVENC fails with a CUDA out of memory error on a card with 12 GB.\n"},
	{sampler.WorkQueries, "A join of two tables with spark-rapids fails.\nstd::bad_alloc: CUDA error at: cuda_memory_resource.hpp:69: cudaErrorMemoryAllocation out of memory\n"},
	{sampler.WorkRows, "from cuml.manifold import UMAP\nMemoryError: std::bad_alloc: out_of_memory: CUDA error at: cuda_memory_resource.hpp:69: cudaErrorMemoryAllocation out of memory\n"},
	{sampler.WorkVectors, "Error: 'err == cudaSuccess' failed: StandardGpuResources: alloc fail type FlatData size 42466784256 bytes (cudaMalloc error out of memory [2])\n"},
	{sampler.WorkBoosting, "I train CatBoost on a table of 3 million rows.\nError: Out of memory. Requested 8880 MB; Free 5902.06 MB\n type -> NCudaLib::TOutOfMemoryError\n"},
	{sampler.WorkMolecule, "gpu4pyscf with def2-TZVP stops.\ncupy.cuda.memory.OutOfMemoryError: Out of memory allocating 9,663,676,416 bytes (allocated so far: 38,654,705,664 bytes).\n"},
	{sampler.WorkQubits, "A state vector of 34 qubits: CUDA error 2: out of memory\n"},
	{sampler.WorkReads, "dorado basecaller sup pod5/ ends on my laptop.\nterminate called after throwing an instance of 'c10::OutOfMemoryError'\n  what():  CUDA out of memory. Tried to allocate 1.95 GiB (GPU 0; 11.74 GiB total capacity; 5.01 GiB already allocated; 1.42 GiB free; 8.46 GiB reserved in total by PyTorch)\n"},
	{sampler.WorkSpikes, "Kilosort on a probe with 384 channels:\nOut of memory on device. To view more detail about available memory on the GPU, use 'gpuDevice()'.\n"},
	{sampler.WorkArrays, "CuArray{Float32,2}(undef, n, n)\nERROR: CUDA error: out of memory (code #2, ERROR_OUT_OF_MEMORY)\n"},
	{sampler.WorkStyle, "I run neural_style.py on one picture of 1800 pixels and get this on my GPU:\nRuntimeError: CUDA out of memory. Tried to allocate 1.95 GiB (GPU 0; 7.74 GiB total capacity; 5.01 GiB already allocated; 1.42 GiB free; 5.46 GiB reserved in total by PyTorch)\n"},
	{sampler.WorkDream, "SinGAN stops on my picture; where do I lower the batch size?\nRuntimeError: CUDA out of memory. Tried to allocate 24.00 MiB (GPU 0; 3.95 GiB total capacity; 2.94 GiB already allocated; 3.69 MiB free; 3.02 GiB reserved in total by PyTorch)\n"},
	{sampler.WorkKernels, "An exact Gaussian process with 60000 points in gpytorch stops.\nRuntimeError: CUDA out of memory. Tried to allocate 1.95 GiB (GPU 0; 7.74 GiB total capacity; 5.01 GiB already allocated; 1.42 GiB free; 5.46 GiB reserved in total by PyTorch)\n"},
	{sampler.WorkResiduals, "I train a PINN for the heat equation.\nRuntimeError: CUDA out of memory. Tried to allocate 1.95 GiB (GPU 0; 7.74 GiB total capacity; 5.01 GiB already allocated; 1.42 GiB free; 5.46 GiB reserved in total by PyTorch)\n"},
	{sampler.WorkGame, "The emulator stops when the map changes: Unexpected API error ErrorOutOfDeviceMemory\n"},
	{sampler.WorkWorlds, "4096 ants in Isaac Gym:\nPxgCudaDeviceMemoryAllocator fail to allocate memory 100663296 bytes!! Result = 2\n"},
	{sampler.WorkFolds, "Boltz-1 runs out of memory for my protein of 2300 residues. The card has 48 GB.\n"},
}

// Programs that have no batch, no gradients and no network are told of none: each measure has all that it speaks of, and the first
// one that makes the job smaller says how that is done there.
func TestWorksGetOnlyWhatTheyHave(t *testing.T) {
	words := lang.English()
	said := map[notion][]string{aBatch: {"batch"}, aGraph: {"no_grad", "gradient", "backward"}, aNetwork: {"half precision", "quantiz", "checkpoint"}, loaders: {"worker", "DataLoader"}, validation: {"validation"}, tokens: {"max_length", "KV cache"}}
	for _, c := range ofWorks {
		events, err := oomlog.Scan(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		events = post.Read(c.text, events, oomlog.Scan)
		if len(events) == 0 {
			t.Errorf("%s: no event in %q", c.work, c.text)
			continue
		}
		f := newFailure(Incident{Events: events[:1]}, events[0], words)
		w, is := f.work()
		if !is || w.name != c.work {
			t.Errorf("%q is taken for %q, not %q", c.text, w.name, c.work)
			continue
		}
		got := Explain(Incident{Events: events})
		way := false
		for _, a := range got.Advice {
			if !f.has(notionsOf[a.ID]) {
				t.Errorf("%s: %s needs what it has not", c.work, a.ID)
			}
			text := a.Title + "\n" + strings.Join(a.Do, "\n")
			way = way || a.ID == FixSmallerInput && strings.Contains(text, words.Say("do.less."+c.work))
			for n, list := range said {
				if !f.has(n) && a.ID != FixSmallerInput && slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, s) }) {
					t.Errorf("%s: %q speaks of what it has not", c.work, text)
				}
			}
		}
		if !way {
			t.Errorf("%s: nothing says how its job is made smaller", c.work)
		}
	}
}

// A name that is only that of a format or of a data set, a training and the message of PyTorch are no such program.
func TestNoWorks(t *testing.T) {
	torch := "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.76 GiB total capacity; 11.00 GiB already allocated; 12.00 MiB free; 11.20 GiB reserved in total by PyTorch)\n"
	for _, text := range []string{
		"I train a NeRF on the blender data set.\n" + torch,
		"python train.py --data nerf_synthetic/blender\nCUDA error: out of memory\n",
		"The images come from colmap, then 3D gaussian splatting stops.\n" + torch,
		"I fine-tune a model on texts about molecular dynamics.\n" + torch,
		"File \"/env/openmmlab/lib/python3.8/site-packages/mmdet/a.py\", line 3, in forward\n" + torch,
		"With faiss in the same script.\n" + torch,
		"I train a network for style transfer.\n" + torch,
		"Bonito writes questions from texts on one GPU.\n" + torch,
		"The state vector of the LSTM is kept.\nResourceExhaustedError: OOM when allocating tensor with shape[64,512,1024]\n",
		"PPO plays the game Breakout; rewards rise, then CUDA error: out of memory\n",
		"XGBoost and LightGBM were compared, and this comes with XGBoost.\nMemory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: 8126464\n- Requested memory: 33554432\n",
	} {
		events, _ := oomlog.Scan(strings.NewReader(text))
		events = post.Read(text, events, oomlog.Scan)
		if len(events) == 0 {
			t.Errorf("no event in %q", text)
			continue
		}
		f := newFailure(Incident{Events: events[:1]}, events[0], lang.English())
		if w, is := f.work(); is {
			t.Errorf("%q is taken for %q", text, w.name)
		}
	}
}
