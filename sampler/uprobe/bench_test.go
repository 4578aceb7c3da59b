//go:build linux && (amd64 || arm64)

package uprobe

import (
	"testing"

	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// Opening and closing with one library.
func BenchmarkOpen(b *testing.B) {
	libs := []string{cudatest.Library(cudatest.Build(b))}
	for b.Loop() {
		d, err := Open(request.New(everybody{}), Options{Libraries: libs})
		if err != nil {
			b.Skip(err)
		}
		d.Close()
	}
}
