package cli

import (
	"bytes"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// The JSON of check names the instance of a GPU in MIG mode as that of once does.
func TestCheckJSONNamesInstances(t *testing.T) {
	whole, part := card("GPU-0", 79*sampler.GiB), card("MIG-1", 39*sampler.GiB)
	part.Index, part.MIG = 1, &sampler.MIG{ParentUUID: "GPU-1", GPUInstance: 2}
	c := watch.NewChecker(sampler.GiB)
	c.Add(sampler.Snapshot{GPUs: []sampler.GPU{whole, part}})
	var out bytes.Buffer
	if err := checkJSON(&out, c.Answer(), 1); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, `"mig":null`) || !strings.Contains(text, `"mig":{`) || !strings.Contains(text, `"gpu_instance":2`) {
		t.Error(text)
	}
}

// A holder without name and user, as one in another container, is not "()".
func TestHoldersWithoutName(t *testing.T) {
	got := holders(lang.English(), []watch.Holder{{PID: 4000000, Bytes: sampler.GiB}, {PID: 7, Name: "python", Bytes: sampler.GiB}})
	if want := "pid 4000000 (not seen from here) 1.0 GiB, pid 7 (python) 1.0 GiB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where it does not fit the figures say so: what is free is not rounded up to what is needed, nor that down.
func TestCheckRoundsApart(t *testing.T) {
	g := card("MIG-1", 40*sampler.GiB)
	g.Memory.Used = sampler.Some(40*sampler.GiB - 28114*sampler.MiB)
	g.Memory.Free = sampler.Some(28114 * sampler.MiB) // 27.455 GiB
	c := watch.NewChecker(28140 * sampler.MiB)        // 27.480
	c.Add(sampler.Snapshot{GPUs: []sampler.GPU{g}})
	var out bytes.Buffer
	if err := checkText(&out, lang.English(), c.Answer(), 0); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "27.5 GiB does not fit, 27.4 GiB free, 26 MiB short") {
		t.Error(text)
	}
}
