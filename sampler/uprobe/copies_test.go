//go:build linux && (amd64 || arm64)

package uprobe

import (
	"strings"
	"testing"

	"nvpeak/sampler/uprobe/cudatest"
)

// Two copies of libcuda that one thread uses in turn have a current context each.
func TestTwoCopies(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		cudatest.Alone(t)
		dir := cudatest.Build(t)
		one, other := cudatest.Library(dir), cudatest.Library(copyOf(t, dir))
		o.Libraries = []string{one, other}
		r := rigOf(t, dir, 2, o)
		p := cudatest.Play(t, dir)
		p.Do("device 0", "alloc a 1000000000", "load "+other, "device 1", "alloc b 2000000000",
			"load "+one, "alloc c 1100000000", "load "+other, "alloc d 2100000000", "load "+one, "alloc e 1200000000")
		r.settled(5)
		want := []string{"1000000000 0 0", "2000000000 0 1", "1100000000 0 0", "2100000000 0 1", "1200000000 0 0"}
		if got := said(r.seen); strings.Join(got, "\n") != "cuMemAlloc_v2 "+strings.Join(want, "\ncuMemAlloc_v2 ") {
			t.Errorf("seen:\n%s", strings.Join(got, "\n"))
		}
	})
}

// More copies than are kept: what is not known is not said, and no call is told at the GPU of another copy.
func TestManyCopies(t *testing.T) {
	cudatest.Alone(t)
	dir := cudatest.Build(t)
	var o Options
	for range 3 {
		o.Libraries = append(o.Libraries, cudatest.Library(copyOf(t, dir)))
	}
	r := rigOf(t, dir, 3, o)
	p := cudatest.Play(t, dir, "FAKECUDA_DEVICES=3")
	for i, library := range o.Libraries {
		p.Do("load "+library, "device "+string(rune('0'+i)))
	}
	for i, library := range o.Libraries {
		p.Do("load "+library, "alloc a"+string(rune('0'+i))+" 1000000000")
	}
	p.End("exit 0") // the GPU of who lives on is awaited for longer
	r.settled(3)
	if got := strings.Join(said(r.seen), "\n"); got != "cuMemAlloc_v2 1000000000 0 ?\ncuMemAlloc_v2 1000000000 0 1\ncuMemAlloc_v2 1000000000 0 2" {
		t.Errorf("seen:\n%s", got)
	}
}
