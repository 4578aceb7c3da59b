package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler/oomlog"
)

// The capability is read where it is known, else that of the name; of a name that only looks like another nothing is known.
func TestModels(t *testing.T) {
	for _, row := range []struct {
		name, capability string
		major, minor     int
		soc              bool
	}{
		{"NVIDIA H100 80GB HBM3", "", 9, 0, false}, {"NVIDIA A100-SXM4-40GB", "", 8, 0, false}, {"NVIDIA A10", "", 8, 6, false}, {"NVIDIA A10G", "", 8, 6, false},
		{"NVIDIA GeForce RTX 3090", "", 8, 6, false}, {"NVIDIA GeForce RTX 4090", "", 8, 9, false}, {"Quadro RTX 6000", "", 7, 5, false}, {"NVIDIA RTX 6000 Ada Generation", "", 8, 9, false},
		{"GTX1070", "", 6, 1, false}, {"Quadro P2000", "", 6, 1, false}, {"RTX 2080", "", 7, 5, false}, {"Tesla T4", "", 7, 5, false}, {"Tesla P40", "", 6, 1, false}, {"P4", "", 6, 1, false}, {"Tesla T40", "", 0, 0, false}, {"XT4", "", 0, 0, false}, {"4T4 T4", "", 7, 5, false},
		{"T45 T4", "", 7, 5, false}, {"zP40", "", 0, 0, false}, {"aP40 9P40", "", 0, 0, false}, {"L40S", "", 8, 9, false}, {"Orin (nvgpu)", "", 8, 7, true}, {"Jetson Nano", "", 0, 0, true},
		{"whatever", "9.0", 9, 0, false}, {"Tesla T4", "8.6", 8, 6, false}, {"Tesla T4", "0.5", 7, 5, false}, {"Tesla T4", "x.5", 7, 5, false}, {"Tesla T4", "8.x", 7, 5, false}, {"Tesla T4", "8", 7, 5, false},
		{"Quadro P2000", "", 6, 1, false}, {"TITAN XP", "", 6, 1, false}, {"RTX A6000", "", 8, 6, false}, {"Quadro M4000", "", 5, 2, false}, {"", "", 0, 0, false}, {"T4", "1.0", 1, 0, false},
	} {
		if g := modelOf(row.name, row.capability); g.major != row.major || g.minor != row.minor || g.soc != row.soc {
			t.Errorf("%q %q: %d.%d, soc %v", row.name, row.capability, g.major, g.minor, g.soc)
		}
	}
}

// Where no name is given, sizes that only older GPUs have tell it: fp16 is advised there, not bf16.
func TestSizesOfOlderCards(t *testing.T) {
	for size, older := range map[string]bool{"10.92": true, "10.76": true, "14.76": false, "11.91": false, "23.69": false, "15.78": false, "9.78": false, "14.84": false} {
		log := "I train my network:\nRuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; " + size + " GiB total capacity; 9.10 GiB already allocated; 2.00 MiB free; 9.20 GiB reserved in total by PyTorch)\n"
		events, err := oomlog.Scan(strings.NewReader(log))
		if err != nil || len(events) != 1 {
			t.Fatal(events, err)
		}
		yes, known := newFailure(Incident{Events: events}, events[0], lang.English()).gpu.bf16()
		if yes || known != older {
			t.Errorf("%s GiB: bf16 %v, known %v", size, yes, known)
		}
	}
}

func TestCountsAlike(t *testing.T) {
	for list, want := range map[string][3]bool{"0,1,2": {true, true, true}, "1, 1": {false, true, false}, "": {}, "0": {true, false, false}} {
		for place, want := range want {
			if got := countsAlike(list, place); got != want {
				t.Errorf("place %d of %q: %v", place, list, got)
			}
		}
	}
	if countsAlike("0", -1) {
		t.Error("a place before the first")
	}
}
