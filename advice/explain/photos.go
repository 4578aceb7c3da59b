package explain

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// photosShare of a GPU, at 4 bytes a pixel, is enough that pictures fill it: many programs keep them with twice as many, or make a copy, and of
// GPUs that were sold with several sizes the name gives the largest
// (own threshold).
const photosShare = 1.0 / 4

// photos is what the pictures take that were loaded just before the failure, at 4 bytes a pixel, where that is much of the GPU; else 0.
func (f *facts) photos() sampler.Bytes {
	for _, what := range f.context.Told {
		if n, is := strings.CutPrefix(what, sampler.ToldPhotos); is {
			size, _ := strconv.ParseUint(n, 10, 62)
			if total := f.saidTotal(); !f.onHost() && !f.isPyTorch() && total > 0 && sampler.Bytes(size) >= partOf(total, photosShare) {
				return sampler.Bytes(size)
			}
		}
	}
	return 0
}

// causesPhotos is the arithmetic of pictures that a program brings to the GPU as it loads them.
var causesPhotos = []causeRow{
	{id: "photos", cause: CauseTooBig, reason: "https://github.com/NVlabs/instant-ngp/blob/master/docs/nerf_dataset_tips.md",
		when:       func(f *failure) bool { return f.photos() > 0 },
		confidence: always(0.78),
		evidence: func(f *failure) string {
			return f.words.Say("why.photos", "size", gib(f.photos()), "total", gib(f.saidTotal()))
		}},
}

// fixesPhotos make less of them.
var fixesPhotos = []fixRow{
	{id: FixSmallerInput, source: "https://github.com/NVlabs/instant-ngp/blob/master/docs/nerf_dataset_tips.md",
		kinds: ownCode | running, cost: 0.01,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.photos() > 0 },
		reach:   always(1),
		variant: func(*failure) string { return "photos" },
		do: func(f *failure) []string {
			return []string{f.comment("do.smaller_photos"), f.comment("do.fewer_photos")}
		}},
}
