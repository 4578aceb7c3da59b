package explain

import "nvpeak/sampler"

const sourceNotes = "https://docs.pytorch.org/docs/stable/notes/cuda.html"

// rulesFragmentation: only where the arithmetic allows it (R5), and only where the holes are a
// real share: at least 5 % of what the allocator holds, and 10 % or 1 GiB. The thresholds are
// nvpeak's own; nobody published any.
var rulesFragmentation = []oomRule{
	{id: "R5", cause: "fragmentation", reason: sourceNotes,
		when: func(f *failure) bool { return !f.onHost() && f.fitsInHoles() && f.holesShare() >= 0.05 },
		sure: func(f *failure) float64 { return f.fragmentationSure() },
		say: func(f *failure) string {
			return f.words.Say("why.fragmentation", "need", printed(f.requested.Or(0)), "free", f.amountOf(f.free.Or(0)), "holes", f.amountOf(f.holes.Or(0)),
				"missing", f.amountOf(f.missingOr0()), "sum", f.amountOf(f.free.Or(0)+f.holes.Or(0)))
		}},
}

func (f *failure) fragmentationSure() float64 {
	real := f.holesShare() >= 0.10 || f.holes.Or(0) >= sampler.GiB
	p := 0.35
	switch {
	case real && f.holes.Or(0) >= f.requested.Or(0):
		p = 0.9 // one segment without holes would have been enough
	case real:
		p = 0.8
	}
	if f.expandable() {
		return min(p, 0.3) // the cure is in force, so holes of this size have another reason
	}
	if f.othersMatter() && f.othersHold() >= f.needed() {
		p = min(p, 0.6)
	}
	if first, last, steady := f.growth(); steady && last-first > 1.5*float64(f.holes.Or(0)) {
		p = min(p, 0.55) // it grew by more than the holes can explain
	}
	return p
}
