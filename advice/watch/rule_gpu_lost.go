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

// saidLength has room for whatever nvpeak says of a driver: "not answering (12 s): a driver call (metrics and processes) has not returned".
const saidLength = 100

func checkLost(f *Facts) []finding {
	g := f.gpu
	if g == nil {
		return nil
	}
	lasted, name := f.now-g.fault.since, g.last.Label()
	said, remedy := sampler.CutRemedy(g.fault.text)
	text := sampler.ClipAt(said, saidLength)
	evidence := func(f *Facts, first string) []string {
		if remedy == "" {
			return []string{first}
		}
		return []string{first, f.words.Reason(remedy)}
	}
	switch {
	case g.fault.kind == faultLost:
		return []finding{{level: sampler.LevelCritical, render: func(f *Facts) message {
			return message{
				text:     f.words.Say("alert.gpu_lost", "gpu", name),
				evidence: evidence(f, f.words.Say("alert.gpu_lost.since", "text", text, "span", f.words.Span(lasted))),
				numbers:  map[string]float64{"lasted_s": lasted},
			}
		}}}
	case g.fault.kind == faultSilent && lasted >= silentSeconds:
		id := "alert.gpu_lost.silent"
		if g.last.Memory.Used.Known() {
			id = "alert.gpu_lost.partly"
		}
		return []finding{{level: sampler.LevelWarning, momentary: true, render: func(f *Facts) message {
			return message{
				text:     f.words.Say(id, "gpu", name, "span", f.words.Span(lasted)),
				evidence: evidence(f, f.words.Say("alert.gpu_lost.driver", "text", text)),
				numbers:  map[string]float64{"lasted_s": lasted},
			}
		}}}
	}
	return nil
}
