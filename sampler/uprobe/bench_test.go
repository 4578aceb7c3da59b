//go:build linux && (amd64 || arm64)

package uprobe

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

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

// What the programs in the kernel take of a call, by its own measure; the trap that leads to them comes on top.
func BenchmarkCalls(b *testing.B) {
	cudatest.Alone(b)
	dir := cudatest.Build(b)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{cudatest.Library(dir)}})
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		b.Fatal(err)
	}
	defer stats.Close() //nolint:errcheck // the end of the test closes it
	p := cudatest.Play(b, dir)
	p.Do("device 0")
	b.ResetTimer()
	for b.Loop() {
		p.Do("time 1000 1000")
		time.Sleep(window) // or it is let go of
	}
	for name, program := range map[string]*ebpf.Program{"entered": d.objects.Entered, "returned": d.objects.Returned} {
		s, err := program.Stats()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Runtime.Nanoseconds())/float64(s.RunCount), name+"-ns/call")
	}
}
