package oomlog

import (
	"testing"

	"nvpeak/sampler"
)

// A number that a message begins with is read as one in its middle is, and what is known already stays.
func TestCapture(t *testing.T) {
	fields := &template{names: []string{"req", "free"}, kinds: []captureKind{kindMiB, kindMiB}}
	asked := pattern(`(\d+) asked(?:, (\d+) free)?`)
	for text, want := range map[string][2]sampler.Bytes{"7 asked, 5 free": {7, 5}, "x 7 asked, 5 free": {7, 5}, "7 asked": {7, 0}, "7 asked. 9 asked, 5 free": {7, 5}, "none": {}} {
		f := &findings{}
		f.capture(fields, asked, (&whole{text: text}).all(), 64)
		if f.Requested.Or(0) != want[0]*sampler.MiB || f.GPUFree.Or(0) != want[1]*sampler.MiB {
			t.Errorf("%q: %v asked, %v free", text, f.Requested, f.GPUFree)
		}
	}
}
