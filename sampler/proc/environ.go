package proc

import "strings"

// environNames are the variables that concern memory and the choice of devices; a
// trailing * stands for any ending. Everything else in an environment is none of our
// business: it holds passwords.
var environNames = []struct{ name, why string }{
	{"PYTORCH_*ALLOC_CONF", "allocator options, https://docs.pytorch.org/docs/stable/notes/cuda.html"},
	{"PYTORCH_NO_CUDA_MEMORY_CACHING", "caching allocator off"},
	{"XLA_*", "preallocation and its share, https://docs.jax.dev/en/latest/gpu_memory_allocation.html"},
	{"JAX_PLATFORMS", "device choice"},
	{"JAX_CUDA_VISIBLE_DEVICES", "device choice"},
	{"TF_*", "TF_FORCE_GPU_ALLOW_GROWTH, TF_GPU_ALLOCATOR, https://www.tensorflow.org/guide/gpu"},
	{"CUDA_VISIBLE_DEVICES", "device choice"},
	{"CUDA_DEVICE_ORDER", "device choice"},
	{"CUDA_MODULE_LOADING", "size of the context"},
	{"CUDA_MPS_*", "memory limits under MPS"},
	{"NVIDIA_VISIBLE_DEVICES", "device choice in containers"},
	{"CUBLAS_WORKSPACE_CONFIG", "workspace per handle and stream"},
	{"CUBLASLT_WORKSPACE_SIZE", "workspace"},
	{"NCCL_*BUFFSIZE", "buffers per channel"},
	{"NCCL_M*_NCHANNELS", "number of channels"},
	{"NCCL_M*_CTAS", "number of channels"},
	{"GGML_CUDA_*", "unified memory, pool"},
	{"OLLAMA_*", "parallel requests, context length, overhead"},
	{"LOCAL_RANK", "device choice"},
	{"LOCAL_WORLD_SIZE", "device choice"},
	{"RANK", "which process of a job"},
	{"OMPI_COMM_WORLD_RANK", "which process of a job, Open MPI"},
	{"PMI*_RANK", "which process of a job, MPICH and PMIx"},
	{"SLURM_PROCID", "which process of a job"},
	{"WORLD_SIZE", "which process of a job"},
}

// environNever are names that a row above would take and that hold secrets: Terraform's
// variables and tokens begin with TF_ as TensorFlow's do, and API keys go by any prefix.
var environNever = []string{"TF_VAR_*", "TF_TOKEN_*", "TF_CLI_*", "TF_LOG*", "*_TOKEN", "*_KEY", "*SECRET*", "*PASSWORD*"}

const maxEnvironValue = 4 << 10 // bytes kept of one value

// parseEnviron picks those variables out of /proc/PID/environ. The first of a name counts,
// as for getenv. The result is never nil.
func parseEnviron(b []byte) map[string]string {
	found := map[string]string{}
	for entry := range strings.SplitSeq(string(b), "\x00") {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || len(name) > 128 || !wanted(name) {
			continue
		}
		if _, twice := found[name]; !twice { // a clone, so that the rest is not kept in memory
			found[strings.Clone(name)] = strings.Clone(value[:min(len(value), maxEnvironValue)])
		}
	}
	return found
}

func wanted(name string) bool {
	for _, pattern := range environNever {
		if match(pattern, name) {
			return false
		}
	}
	for _, row := range environNames {
		if match(row.name, name) {
			return true
		}
	}
	return false
}

// match is a glob with * only.
func match(pattern, name string) bool {
	part, pattern, star := strings.Cut(pattern, "*")
	rest, ok := strings.CutPrefix(name, part)
	for ok && star {
		part, pattern, star = strings.Cut(pattern, "*")
		if !star {
			return strings.HasSuffix(rest, part)
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok && rest == ""
}
