package watch

import (
	"time"

	"nvpeak/sampler"
)

var ruleGPULost = Rule{
	Code:  sampler.AlertGPULost,
	Level: sampler.LevelCritical,
	Reason: "The driver says that the GPU is lost (NVML_ERROR_GPU_IS_LOST), or its calls have not come back for a while: " +
		"https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html",
	HoldFor:    2 * time.Second,
	ClearAfter: time.Second, // a GPU that is back is read: the alert would be untrue beside its figures
	Silences:   []string{sampler.AlertUnattributed, sampler.AlertImbalance},
	check:      checkLost,
}

// silentSeconds: a driver call may take seconds while a GPU is being reset or a
// debugger holds it; after that somebody should know.
const silentSeconds = 10

func checkLost(f *Facts) []finding {
	g := f.gpu
	if g == nil {
		return nil
	}
	lasted, text, index := f.now-g.fault.since, sampler.Clip(g.fault.text), g.last.Index
	switch {
	case g.fault.kind == faultLost:
		return []finding{{level: sampler.LevelCritical, render: func(f *Facts) message {
			return message{
				text: f.words.Say("alert.gpu_lost", "gpu", index),
				evidence: []string{f.words.Say("alert.gpu_lost.driver", "text", text),
					f.words.Say("alert.gpu_lost.since", "span", f.words.Span(lasted))},
				numbers: map[string]float64{"lasted_s": lasted},
			}
		}}}
	case g.fault.kind == faultSilent && lasted >= silentSeconds:
		return []finding{{level: sampler.LevelWarning, render: func(f *Facts) message {
			return message{
				text:     f.words.Say("alert.gpu_lost.silent", "gpu", index, "span", f.words.Span(lasted)),
				evidence: []string{f.words.Say("alert.gpu_lost.driver", "text", text)},
				numbers:  map[string]float64{"lasted_s": lasted},
			}
		}}}
	}
	return nil
}
