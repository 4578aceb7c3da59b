package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// firstRankOnly are what programs ask before they do what the first rank alone does.
var firstRankOnly = []string{"rank == 0", "rank==0", "rank() == 0", "is_main_process", "is_global_zero", "is_master", "is_rank_0", "is_rank0", "is_primary"}

// firstRankAlone: it failed in what only one of several ranks does, and that one holds more than the others for it, or what is
// named there are its own weights or samples. What one rank judges or saves alone would take as much anywhere.
func (f *failure) firstRankAlone() bool {
	if f.onHost() || !f.ranks() || f.phase() == sampler.PhaseSaving || f.event.Rank.Else(f.event.GPUIndex).Or(0) != 0 {
		return false
	}
	ahead := f.aheadOfPeers() > 0 || f.driftsFromPeers() > 0
	return f.drawsAlone() && ahead || slices.ContainsFunc(f.context.Code, func(line string) bool {
		alone := slices.ContainsFunc(firstRankOnly, func(word string) bool { return strings.Contains(line, word) })
		return alone && (weightsOfItsOwn.Get().MatchString(line) || f.loadsThere() || ahead)
	})
}

// loadsThere: the line that failed brings another model to the GPU.
func (f *failure) loadsThere() bool {
	n := len(f.context.Code)
	return n > 0 && bringsModel.Get().MatchString(f.context.Code[n-1])
}

var bringsModel = sampler.Pattern{Source: `(?i)\b(?:load\w*|from_pretrained|build\w*)\([^()]*\)\.(?:to|cuda)\(`}

// weightsOfItsOwn are what one rank holds beside the model that all have.
var weightsOfItsOwn = sampler.Pattern{Source: `(?i)(?:^|[^a-z])(?:ema|teacher|averaged?_model|swa_model)(?:[^a-z]|$)|sample_grid`}
