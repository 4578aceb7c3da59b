package watch

import (
	"testing"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Host memory is low with a twentieth left after a fall of a twentieth, and critical with a fiftieth.
func TestHostLowBounds(t *testing.T) {
	for _, row := range []struct {
		left, most float64
		want       string
	}{
		{5000, 10000, "[warning 0]"}, {5001, 10001, "[]"}, {4000, 9000, "[warning 0]"}, {4000, 8999, "[]"},
		{2000, 50000, "[critical 0]"}, {2001, 50000, "[warning 0]"}, {0, 50000, "[critical 0]"},
	} {
		h := &host{known: true, total: 100000, most: row.most, memory: sampler.HostMemory{Available: series.Bytes(row.left)}}
		if got := levels(checkHostMemory(&Facts{host: h})); got != row.want {
			t.Errorf("%v left of %v: %s, want %s", row.left, row.most, got, row.want)
		}
		if got := checkHostMemory(&Facts{host: h, gpu: &gpu{}}); got != nil {
			t.Errorf("told for a GPU: %v", got)
		}
		if h.known = false; checkHostMemory(&Facts{host: h}) != nil {
			t.Error("told of unknown memory")
		}
	}
	for likely, want := range map[float64]string{300: "[critical 0]", 301: "[warning 0]"} {
		h := &host{known: true, total: 100000, memory: sampler.HostMemory{Available: series.Bytes(1000 * likely)},
			growing: series.Growth{Found: true, Trend: series.Trend{Slope: 1000, Early: 1000, Late: 1000}}}
		if got := levels(checkHostMemory(&Facts{host: h})); got != want {
			t.Errorf("gone in %v s: %s, want %s", likely, got, want)
		}
	}
}

// Swap that grew by 1 % of the memory, and 512 MiB, within five minutes is told while a tenth or less is available.
func TestSwapBounds(t *testing.T) {
	for _, row := range []struct {
		total, left, grown float64
		want               bool
	}{
		{100000, 10000, 1000, true}, {100000, 10001, 1000, false}, {100000, 10000, 999, false},
		{20000, 2000, 512, true}, {20000, 2000, 511, false},
	} {
		h := &host{known: true, total: row.total, memory: sampler.HostMemory{Available: series.Bytes(row.left)}}
		h.swap.Start(0, true)
		for at := 0.0; at < 200; at++ {
			h.swap.Add(at, 100, 100, 100, row.total)
		}
		h.swap.Add(200, 100+row.grown, 100+row.grown, 100+row.grown, row.total)
		if got := len(checkSwap(&Facts{host: h})) > 0; got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
		if checkSwap(&Facts{host: h, gpu: &gpu{}}) != nil {
			t.Error("told for a GPU")
		}
	}
}

// Figures of the host that cannot be are none.
func TestHostPlausible(t *testing.T) {
	for name, row := range map[string]struct {
		m    sampler.HostMemory
		want bool
	}{
		"plain":         {sampler.HostMemory{Total: 100, Available: 60, SwapUsed: 5}, true},
		"all available": {sampler.HostMemory{Total: 100, Available: 100}, true},
		"more than all": {sampler.HostMemory{Total: 100, Available: 101}, false},
		"nothing":       {sampler.HostMemory{}, false},
		"too much":      {sampler.HostMemory{Total: sampler.MaxPlausible}, false},
		"too much swap": {sampler.HostMemory{Total: 100, SwapUsed: sampler.MaxPlausible}, false},
	} {
		var h host
		if h.fold(sampler.Some(row.m), 0, false); h.known != row.want {
			t.Errorf("%s: known %v", name, h.known)
		}
	}
	var h host
	h.fold(sampler.Some(sampler.HostMemory{Total: 100, Available: 60}), 0, false)
	if h.fold(sampler.Opt[sampler.HostMemory]{}, 1, false); h.known {
		t.Error("what is not read is still known")
	}
}
