package explain

import "nvpeak/sampler"

// fixesVersion are for a job that is as large as before, of a program that is not the one it was.
var fixesVersion = []fixRow{
	{id: FixOtherVersion, source: "https://github.com/AUTOMATIC1111/stable-diffusion-webui/issues/8185",
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.9, CauseFragmentation: 0.8, CauseDataSpike: 0.8, CauseLeak: 0.6, CauseValidationSpike: 0.6, CauseMemoryLimit: 0.6, CausePreallocation: 0.6, CauseOversubscribed: 0.8, CauseHostMemory: 0.7},
		when: func(f *failure) bool {
			return f.told(sampler.ToldUpdate) && f.history == nil && !f.othersMatter() && !f.shows(sampler.ShowsBeforeNoGrad)
		},
		reach: always(1),
		do: func(f *failure) []string {
			return []string{f.comment("do.other_version"), f.comment("do.what_changed")}
		}},
}
