package watch

import (
	"fmt"
	"time"

	"nvpeak/sampler"
)

var ruleGPULost = Rule{
	Code:  "gpu_lost",
	Level: sampler.LevelCritical,
	Reason: "The driver says that the card is lost (NVML_ERROR_GPU_IS_LOST), or its calls have not come back for a while: " +
		"https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html",
	HoldFor:    2 * time.Second,
	ClearAfter: 5 * time.Second,
	Silences:   []string{"unattributed", "imbalance"},
	check:      checkLost,
}

// silentSeconds: a driver call may take seconds while a card is being reset or a
// debugger holds it; after that somebody should know.
const silentSeconds = 10

func checkLost(f *Facts) []finding {
	c := f.card
	if c == nil {
		return nil
	}
	lasted, text, index := f.now-c.fault.since, sampler.Clip(c.fault.text), c.gpu.Index
	switch {
	case c.fault.kind == faultLost:
		return []finding{{level: sampler.LevelCritical, say: func() saying {
			return saying{
				text: fmt.Sprintf("GPU %d is lost: programs on it have failed and need a restart after a reset or reboot", index),
				evidence: []string{fmt.Sprintf("the driver says: %s", text),
					fmt.Sprintf("for %s", spanOf(lasted))},
				numbers: map[string]float64{"lasted_s": lasted},
			}
		}}}
	case c.fault.kind == faultSilent && lasted >= silentSeconds:
		return []finding{{level: sampler.LevelWarning, say: func() saying {
			return saying{
				text:     fmt.Sprintf("GPU %d has not answered for %s: its figures are unknown", index, spanOf(lasted)),
				evidence: []string{fmt.Sprintf("the driver says: %s", text)},
				numbers:  map[string]float64{"lasted_s": lasted},
			}
		}}}
	}
	return nil
}
