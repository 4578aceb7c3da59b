package explain

import (
	"strings"

	"nvpeak/sampler"
)

// ExtraStuck is the key under which an event that is foretold has what stays after a flush of a cache and did not two flushes before.
const ExtraStuck = "stuck_bytes"

var fixesAllocator = []fixRow{
	{id: FixExpandableSegments, source: sourceNotes,
		kinds: ownCode | server | imageTool, cost: 0,
		lives: map[string]float64{CauseFragmentation: 0.97, CauseValidationSpike: 0.3, CauseOtherProcess: 0.3, CauseTooBig: 0.1, CauseDataSpike: 0.03, CauseImbalance: 0.3},
		when: func(f *failure) bool {
			if f.told(sampler.ToldSegments) && f.isPyTorch() && !f.onHost() {
				return true
			}
			if f.toldUnallocated() {
				return true
			}
			return f.isPyTorch() && (f.event.Kind == sampler.KindCUDA || f.event.Kind == sampler.KindHIP || f.event.Kind == sampler.KindRefused) && f.unallocatedShare() >= 0.05 &&
				f.fitsAfterReuse() && !f.saysCached() && !f.expandable() && !f.expandableBroken() && !f.oversubscribed() && !f.limited() && !f.notFragmented()
		},
		saves: func(f *failure) (span, bool) {
			return span{partOf(f.unallocated.Or(0), 0.5), f.unallocated.Or(0)}, f.unallocated.Known()
		},
		reach: func(f *failure) float64 {
			if f.beforeExpandable() {
				return 0.75 // an update comes first, and may bring changes of its own
			}
			if f.recorded() && f.larger() && f.inTraining() {
				return 0.3 // the work goes on growing, and fills what is won back
			}
			if f.shortfallOr0() <= partOf(f.unallocated.Or(0), 0.8) {
				return 1
			}
			return 0.7
		},
		variant: func(f *failure) string {
			switch {
			case f.told(sampler.ToldSegments) && !f.numbers():
				return "told"
			case f.toldUnallocated():
				return "said"
			case f.beforeExpandable():
				return "old"
			}
			return ""
		},
		pairs: func(f *failure) []any {
			return []any{"holes", f.amountOf(f.unallocated.Or(0)), "missing", f.amountOf(f.shortfallOr0())}
		},
		do: doExpandable},
	{id: FixExpandableSegments, source: sourceNotes,
		kinds: ownCode | server | imageTool, cost: 0,
		lives: map[string]float64{CauseFragmentation: 0.97},
		when: func(f *failure) bool {
			return f.extra(ExtraStuck).Known() && f.isPyTorch() && !f.expandable() && !f.expandableBroken() && !f.beforeExpandable()
		},
		saves: func(f *failure) (span, bool) {
			stuck := f.extra(ExtraStuck).Or(0)
			return span{partOf(stuck, 0.5), stuck}, true
		},
		reach:   always(1),
		variant: func(f *failure) string { return "stuck" },
		pairs:   func(f *failure) []any { return []any{"holes", f.amountOf(f.extra(ExtraStuck).Or(0))} },
		do:      doExpandable},
	{id: FixExpandableSegments, source: "https://github.com/jhc13/taggui/issues/188",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseMemoryLimit: 0.45, CauseHostMemory: 0.4, CauseUnknown: 0.45},
		when: func(f *failure) bool {
			return f.refusedThoughFree() && f.requested.Known() && !f.limited() && f.isPyTorch() && f.event.Kind == sampler.KindCUDA && !f.onWindows() && !f.saysCached() && !f.expandable() && !f.expandableBroken() && !f.beforeExpandable() &&
				!(f.unallocated.Known() && f.unallocated.Or(0) < f.requested.Or(0)/4) // it changes nothing about what is not there
		},
		reach: func(f *failure) float64 {
			if f.littleRAM() {
				return 0.3 // which the driver asks for, too
			}
			return 1
		},
		variant: func(f *failure) string { return "refused" },
		pairs:   func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do:      doExpandable},
	{id: FixExpandableSegmentsOff, source: "https://github.com/pytorch/pytorch/issues/192330",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseUnknown: 0.85, CauseMemoryLimit: 0.8},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindCUDADriver || f.expandable() && f.expandableBroken()
		},
		do: func(f *failure) []string {
			name, value := f.allocatorVariable(), withoutOption(f.allocatorOptions(), "expandable_segments")
			value = strings.TrimPrefix(value+",expandable_segments:False", ",")
			return f.setVariable(name, value)
		}},
}

func doExpandable(f *failure) []string {
	// max_split_size_mb together with expandable_segments is pointless and failed an assertion
	// before https://github.com/pytorch/pytorch/pull/134338; cudaMallocAsync ignores both.
	value := withoutOption(f.allocatorOptions(), "expandable_segments", "max_split_size_mb", "backend")
	value = strings.TrimPrefix(value+",expandable_segments:True", ",")
	lines := f.setVariable(f.allocatorVariable(), value)
	if f.beforeExpandable() {
		lines = append(append([]string{"pip install --upgrade torch"}, lines...),
			"export "+f.allocatorVariable()+"=max_split_size_mb:512  "+f.comment("do.split_size"))
	}
	return lines
}
