//go:build linux && (amd64 || arm64)

package uprobe

import (
	"strings"
	"testing"

	"nvpeak/sampler/uprobe/cudatest"
)

// plays has a program ask, and compares what is seen with what it says.
func plays(t *testing.T, o Options, commands ...string) (r *rig) {
	t.Helper()
	r = newRig(t, 2, o)
	want := asked(cudatest.Play(t, r.dir).Do(commands...))
	r.settled(len(want))
	if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return r
}

// What is asked for on a stream is told on the GPU where the stream was made, also while another one is current, and so is a refusal.
func TestStreams(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		plays(t, o, "device 0", "alloc a 1000000000", "device 1", "stream", "async b 70000000", "device 0", "async c 80000000", "async d 9000000000",
			"stream", "async e 60000000", "device 1", "async f 50000000", "stream -", "async g 40000000")
	})
}
