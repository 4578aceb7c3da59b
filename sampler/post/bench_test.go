package post

import (
	"fmt"
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
)

// BenchmarkRead reads a text of 30 KB that is nothing but different failures, the most work that a text as long as a post can make.
func BenchmarkRead(b *testing.B) {
	var failures strings.Builder
	for i := 0; failures.Len() < 30<<10; i++ {
		fmt.Fprintf(&failures, "step %d\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which %d.31 MiB is free. "+
			"Of the allocated memory 70.12 GiB is allocated by PyTorch, and 5.%02d GiB is reserved by PyTorch but unallocated.\n", i, 20+2*i, 10+i, i%100)
	}
	for n := 0; b.Loop(); n++ {
		// Each time another text: a pattern keeps its answers of the last.
		text := fmt.Sprintf("run %d\n%s", n, failures.String())
		events, err := oomlog.Scan(strings.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		Read(text, events, oomlog.Scan)
		b.ReportMetric(float64(len(events)), "failures")
	}
}
