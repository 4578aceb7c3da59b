package explain

import "nvpeak/sampler"

// sourceInserts is the fix of LAMMPS that inserts molecules, and its keyword max.
const sourceInserts = "https://docs.lammps.org/fix_gcmc.html"

// inserts: atoms are put into the system as it runs, so that a run that fits at first need not fit later, and nothing leaks.
func (f *failure) inserts() bool { return f.told(sampler.ToldInserts) && f.movesLong() }

// movesLong: atoms moved for long before it failed, as is said, so that the size of the system alone is not why.
func (f *failure) movesLong() bool {
	return (f.told(sampler.ToldWork+sampler.WorkAtoms) || f.told(sampler.ToldWork+sampler.WorkPotentials)) && f.told(sampler.ToldLate) && !f.onHost() && !f.numbers()
}

// splitsLate: gaussians are fitted, which are split as it trains, and it fails after many steps that had room.
func (f *failure) splitsLate() bool { return f.splats() && f.toldLate() }

// causesInserting: growth that is meant, told and not measured.
var causesInserting = []causeRow{
	{id: "growth", cause: CauseTooBig, reason: sourceInserts,
		when:       func(f *failure) bool { return f.inserts() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.7) },
		evidence:   func(f *failure) string { return f.words.Say("why.inserts") }},
	{id: "growth", cause: CauseTooBig, reason: "https://github.com/graphdeco-inria/gaussian-splatting/blob/main/README.md",
		when:       func(f *failure) bool { return f.splitsLate() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.66) },
		evidence:   func(f *failure) string { return f.words.Say("why.splits_late") }},
}

var fixesInserting = []fixRow{
	{id: FixSmallerInput, source: sourceInserts,
		kinds: ownCode | running, cost: 0, work: true,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.inserts() },
		reach:   always(1),
		variant: func(f *failure) string { return "inserts" },
		do: func(f *failure) []string {
			return []string{f.comment("do.cap_inserted"), f.comment("do.smaller_cell")}
		}},
	{id: FixLeak, source: "https://docs.lammps.org/Howto_restart.html",
		kinds: ownCode | running, cost: 0, work: true,
		lives:   map[string]float64{CauseUnknown: 0.9, CauseDataSpike: 0.9, CauseLeak: 0.97, CauseTooBig: 0.7},
		when:    func(f *failure) bool { return f.movesLong() && !f.inserts() && !f.compiled() },
		reach:   always(1),
		variant: func(f *failure) string { return "moves" },
		do: func(f *failure) []string {
			return []string{f.comment("do.last_frame"), f.comment("do.watch_neighbors")}
		}},
}
