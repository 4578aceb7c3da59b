package explain

const sourceAnatomy = "https://huggingface.co/docs/transformers/model_memory_anatomy"

const (
	sourceMessage = "https://github.com/pytorch/pytorch/blob/001074d25084fdb87a799823e395a50f5ec044d3/c10/cuda/CUDACachingAllocator.cpp"
	sourceRanks   = "https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html"
	sourceJAX     = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"
	sourceSplats  = "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md"
)

const sourceNotes = "https://docs.pytorch.org/docs/stable/notes/cuda.html"

// sourceFSDP tells what FSDP puts together, and where.
const sourceFSDP = "https://docs.pytorch.org/docs/stable/fsdp.html"
