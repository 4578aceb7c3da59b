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
