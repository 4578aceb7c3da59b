package post

// disguises are what libraries of CUDA print where something of their own could not be made, which a full GPU is one reason of among
// others: https://github.com/haotian-liu/LLaVA/issues/392, https://github.com/flexflow/flexflow-train/issues/51
var disguises = lazily(`\bCU(?:DNN|BLAS)_STATUS_(?:NOT_INITIALIZED|INTERNAL_ERROR)\b|(?i)\bunable to find (?:an engine|a valid cudnn algorithm)\b|\bcudnn failed to initialize\b`)

// Disguise is an error in the text that a GPU without free memory may have brought about; empty: there is none.
func (h *Head) Disguise() string {
	if h.long {
		return ""
	}
	return disguises.FindString(h.text.String())
}

// TensorFlow says whether its words stand in the text. It takes nearly all of a GPU unless told otherwise: https://www.tensorflow.org/guide/gpu
func (h *Head) TensorFlow() bool { return tensorFlow.MatchString(h.text.String()) }

var tensorFlow = lazily(`(?i)\btensorflow\b|\bkeras\b|This is probably because cuDNN failed to initialize`)

// faults are accesses of memory that a program may not make, which no want of memory brings about, and doubts a sentence that asks whether it
// is that. https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html (cudaErrorIllegalAddress, cudaErrorMisalignedAddress)
var (
	faults = lazily(`(?i)\b(?:an )?illegal memory access(?: was encountered)?\b|\bmisaligned address\b|\bcudaError(?:Illegal|Misaligned)Address\b|\bCUDA_ERROR_(?:ILLEGAL|MISALIGNED)_ADDRESS\b`)
	doubts = lazily(`(?i)^\W*(?:is|are|was|were|could|can|does|do|did|might|may)\b|[?？]\s*$|吗\s*[。.!！，,]?\s*$|是不是|是否|会不会|难道`)
)

// Fault is such an error in the text; empty: there is none.
func (h *Head) Fault() string {
	if h.long {
		return ""
	}
	return faults.FindString(h.text.String())
}
