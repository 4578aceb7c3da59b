package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// Figures that stand in lines of their own beside the failure are used: of TensorFlow's pool, and of what ollama planned.
func TestFiguresBeside(t *testing.T) {
	const refused = "Resource exhausted: OOM when allocating tensor with shape[200,256,256,75] and type float on /job:localhost/device:GPU:0 by allocator GPU_0_bfc\n"
	for _, row := range []struct {
		name, text, says string
		confidence       float64 // of the first cause, at least
	}{
		{"more than the pool", "Limit:                  3221225472\nInUse:                   644245094\nMaxInUse:                644245094\n" + refused, "3.00 GiB, of which 0.60 GiB was in use: 1.26 GiB short", 0.9},
		{"more than is left of it", "Limit:                  5368709120\nInUse:                  3221225472\n" + refused, "5.00 GiB, of which 3.00 GiB was in use: 1.66 GiB short", 0.68},
		{"it would have fitted", "Limit:                 53687091200\nInUse:                  3221225472\n" + refused, "enough in sum", 0.3},
		{"the last counts", "Limit:                 53687091200\n" + refused + "Limit:                  3221225472\nInUse:                   644245094\n", "may take 3.00 GiB", 0.9},
		{"a plan of ollama", `msg="offload to cuda" memory.available="[15.5 GiB]" memory.required.full="16.3 GiB" memory.required.allocations="[14.2 GiB]"` +
			"\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 2508.00 MiB on device 0: cudaMalloc failed: out of memory\n", "14.20 GiB of the 15.50 GiB", 0.5},
	} {
		t.Run(row.name, func(t *testing.T) {
			events, err := oomlog.Scan(strings.NewReader(row.text))
			events = post.Read(row.text, events, oomlog.Scan)
			if err != nil || len(events) == 0 {
				t.Fatalf("%d events (%v)", len(events), err)
			}
			got := Explain(Incident{Events: events[:1]})
			if !strings.Contains(got.Verdict.Detail, row.says) {
				t.Errorf("says %q, not %q", got.Verdict.Detail, row.says)
			}
			if c := got.Causes[0]; c.ID != CauseTooBig || c.Confidence < row.confidence {
				t.Errorf("%s with %.2f, at least %.2f wanted", c.ID, c.Confidence, row.confidence)
			}
		})
	}
}
