package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// What is said below the headline is true of the numbers that the text has, and of those that it has not.
func TestDetail(t *testing.T) {
	for _, c := range []struct{ text, says, not string }{
		{"RuntimeError: CUDA out of memory. Tried to allocate 300.00 MiB (GPU 0; 7.79 GiB total capacity; 6.20 GiB already allocated; 50.00 MiB free; 700.00 MiB cached)",
			"250 MiB of that would be enough", "all that is unallocated"},
		{"It trains, and this comes in validation: CUDA out of memory. Tried to allocate 8.00 GiB (GPU 0; 23.70 GiB total capacity; 9.00 GiB already allocated; 4.00 GiB free; 17.00 GiB reserved in total by PyTorch)",
			"4.00 GiB of that would be enough", "not fragmentation"},
		{"tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,256,56,56]", "[64, 256, 56, 56]: 196 MiB in 32 bits", "not said here"},
		{"I get CUDA out of memory on my 8 GiB GPU with PyTorch when I train.", "not said here", "no numbers"},
		{"RuntimeError: [enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to allocate 48318382080 bytes.", "It asked for 45.00 GiB", ""},
	} {
		events, err := oomlog.Scan(strings.NewReader(c.text))
		events = post.Read(c.text, events, oomlog.Scan)
		if err != nil || len(events) == 0 {
			t.Errorf("%s: no event (%v)", c.text, err)
			continue
		}
		detail := Explain(Incident{Events: events}).Verdict.Detail
		if !strings.Contains(detail, c.says) || c.not != "" && strings.Contains(detail, c.not) {
			t.Errorf("%s: %q, not %q without %q", c.text, detail, c.says, c.not)
		}
	}
}
