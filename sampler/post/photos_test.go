package post

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// Pictures that were loaded just before are told with what they take, others are not.
func TestPhotosBefore(t *testing.T) {
	const fails = "ERROR Could not allocate memory: cudaMalloc(&p, n) failed with error out of memory\n"
	for text, told := range map[string]bool{
		"Loaded 10 images of size 4000x3000 after 0s\n" + fails:                      true,
		"Loaded 10 images of size 4000x3000 after 0s\na\nb\nc\nd\ne\nf\ng\n" + fails: false,
		fails + "Loaded 10 images of size 4000x3000 after 0s\n":                      false,
		"Loaded 10 images from the folder\n" + fails:                                 false,
	} {
		events := read(t, text)
		if len(events) != 1 || slices.Contains(events[0].Context.Told, sampler.ToldPhotos+"480000000") != told {
			t.Errorf("%q: %+v", text, events)
		}
	}
}
