package explain

import "nvpeak/sampler"

// rulesUnknown is R9: the text gives no numbers, so nobody can tell from it alone.
var rulesUnknown = []oomRule{
	{id: "R9", cause: "unknown", reason: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		when: func(f *failure) bool { return !f.onHost() && f.class.class == classNoNumbers },
		sure: func(f *failure) float64 {
			if f.total.Known() {
				return 0.3 // a recording gives the numbers
			}
			return 0.6
		},
		say: func(f *failure) string {
			if f.words.Has("why." + f.class.kind) {
				return f.words.Say("why." + f.class.kind)
			}
			return f.words.Say("why.no_numbers")
		}},
	{id: "R9", cause: "too_big", reason: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		when: func(f *failure) bool {
			own := f.process.Or(0)
			return !f.onHost() && f.class.class == classNoNumbers && f.total.Known() && own > f.total.Or(0)/2 && f.free.Or(0) < f.total.Or(0)/10
		},
		sure: always(0.6),
		say: func(f *failure) string {
			return f.words.Say("why.recorded_full", "process", gib(f.process.Or(0)), "free", gib(f.free.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "R9", cause: "unknown", reason: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		when: func(f *failure) bool {
			return !f.onHost() && f.class.class == classAllocator && f.class.cause == "" && !f.requested.Known() && !f.total.Known() && !f.limited() && !f.corrupt()
		},
		sure: always(0.55),
		say:  func(f *failure) string { return f.words.Say("why.no_request") }},
	{id: "R6", cause: "unknown", reason: sourceMessage,
		when: func(f *failure) bool { return f.noSplit() },
		sure: always(0.5),
		say: func(f *failure) string {
			return f.words.Say("why.no_split", "need", printed(f.requested.Or(0)), "free", f.amountOf(f.free.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "R0", cause: "unknown", reason: "https://github.com/NVIDIA/nccl/issues/1284",
		when: func(f *failure) bool { return f.corrupt() },
		sure: always(0.9),
		say:  func(f *failure) string { return f.words.Say("note.corrupt_size") }},
}

// corrupt: the size asked for is no size ("more than 1EB"), so no memory setting can help.
func (f *failure) corrupt() bool {
	return f.event.Requested.Or(0) >= sampler.Sane || !f.event.Requested.Known() && indexOf(f.event.Text, "more than 1EB") >= 0
}

// noSplit: request and free memory are known, but not what this process held, so the rest of the
// card may be its own or anybody's.
func (f *failure) noSplit() bool {
	m, known := f.missing()
	return !f.onHost() && known && m > 0 && f.total.Known() && !f.allocated.Known() && !f.process.Known() && len(f.others) == 0
}
