package post

import "testing"

// What a library prints that could not start is named, and nothing else is.
func TestDisguise(t *testing.T) {
	for text, want := range map[string]string{
		"RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED\n":                                "CUDNN_STATUS_NOT_INITIALIZED",
		"CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`":            "CUBLAS_STATUS_NOT_INITIALIZED",
		"cuDNN error: CUDNN_STATUS_INTERNAL_ERROR":                                                 "CUDNN_STATUS_INTERNAL_ERROR",
		"Unable to find a valid cuDNN algorithm to run convolution":                                "Unable to find a valid cuDNN algorithm",
		"This is probably because cuDNN failed to initialize, so try looking to see if a warning ": "cuDNN failed to initialize",
		"RuntimeError: GET was unable to find an engine to execute this computation":               "unable to find an engine",
		"cuDNN error: CUDNN_STATUS_NOT_SUPPORTED":                                                  "",
		"the cuDNN handle is there":                                                                "",
	} {
		var h Head
		if _, err := h.Write([]byte(text)); err != nil || h.Disguise() != want {
			t.Errorf("%q: %q, want %q (%v)", text, h.Disguise(), want, err)
		}
	}
}
