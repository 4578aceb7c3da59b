package explain

import "nvpeak/sampler"

// fixesVersion are for a job that is as large as before, of a program that is not the one it was.
var fixesVersion = []fixRow{
	{id: FixOtherVersion, source: "https://github.com/ollama/ollama/issues/5359",
		kinds: server, cost: 0.01,
		lives:   map[string]float64{CauseUnknown: 0.97, CauseTooBig: 0.97},
		when:    func(f *failure) bool { return f.misjudged() },
		reach:   always(1),
		variant: func(*failure) string { return "estimate" },
		do: func(f *failure) []string {
			return append([]string{f.comment("do.newer_ollama")}, doFewerLayers(f)[0])
		}},
	{id: FixOtherVersion, source: "https://github.com/AUTOMATIC1111/stable-diffusion-webui/issues/8185",
		kinds: ownCode | running, cost: 0.02,
		lives: map[string]float64{CauseUnknown: 0.85, CauseTooBig: 0.9, CauseFragmentation: 0.8, CauseDataSpike: 0.8, CauseLeak: 0.6, CauseValidationSpike: 0.6, CauseMemoryLimit: 0.6, CausePreallocation: 0.6, CauseOversubscribed: 0.8, CauseHostMemory: 0.7},
		when: func(f *failure) bool {
			return f.told(sampler.ToldUpdate) && f.history == nil && (!f.othersMatter() || f.ranBeforeUpdate()) && !f.shows(sampler.ShowsBeforeNoGrad)
		},
		reach: always(1),
		do: func(f *failure) []string {
			return []string{f.comment("do.other_version"), f.comment("do.what_changed")}
		}},
}

// desktop is as much of a GPU as a desktop and its programs hold, which were there before an update, too (own threshold).
const desktop = 0.2

// ranBeforeUpdate: with the program as it was before the same job ran, and no more is missing than the others on the GPU had then as well. That it
// is full now says nothing of why.
func (f *failure) ranBeforeUpdate() bool {
	return f.told(sampler.ToldUpdate) && f.history == nil && !f.impossible() && !f.told(sampler.ToldGrowth) && f.total.Known() && f.strangersHold() <= partOf(f.total.Or(0), desktop)
}
