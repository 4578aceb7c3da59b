package post

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// loadedPhotos is how programs say how many pictures of what size they have loaded.
var loadedPhotos = lazily(`(?i)\b(?:loaded|read) (\d{1,6}) (?:training |train )?(?:images|pictures|photos|frames)\b[^\n]{0,24}?\b(\d{3,5}) ?[x×] ?(\d{3,5})\b`)

const (
	photosWithin  = 5 // lines before the failure: what came between would have been told
	bytesPerPixel = 4 // of colors and how much covers
)

// addPhotos puts into a context what the pictures take that were loaded just before the failure in a line.
func addPhotos(c *sampler.LogContext, text string, line int) {
	lines := strings.Split(text, "\n")
	for i := min(line, len(lines)) - 1; i >= max(0, line-1-photosWithin); i-- {
		at := loadedPhotos.FindStringSubmatch(lines[i])
		if at == nil {
			continue
		}
		size := uint64(bytesPerPixel)
		for _, n := range at[1:] {
			v, err := strconv.ParseUint(n, 10, 32)
			if err != nil {
				return
			}
			size *= v
		}
		c.Told = append(c.Told, sampler.ToldPhotos+strconv.FormatUint(size, 10))
		return
	}
}
