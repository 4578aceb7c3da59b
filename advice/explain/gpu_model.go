package explain

// gpuModel is what the name of a GPU tells of its abilities.
type gpuModel struct {
	name  string
	major int // of the compute capability; 0: not known
	minor int
	soc   bool // Jetson and the like: host memory serves the GPU
}

// bf16 needs compute capability 8.0. known is false when the GPU is not known.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities
func (g gpuModel) bf16() (yes, known bool) { return g.major >= 8, g.major > 0 }
