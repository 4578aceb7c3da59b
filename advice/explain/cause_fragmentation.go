package explain

// causesFragmentation: only where the arithmetic allows it (R5), and only where it is a
// real share: at least 5 % of what the allocator holds, and 10 % or 1 GiB. The thresholds are
// nvpeak's own; nobody published any.
var causesFragmentation = []causeRow{
	{id: "R5", cause: CauseFragmentation, reason: sourceNotes,
		when: func(f *failure) bool {
			return !f.onHost() && f.fitsAfterReuse() && f.unallocatedShare() >= 0.05 && !f.notFragmented()
		},
		confidence: func(f *failure) float64 { return f.fragmentationSure() },
		evidence: func(f *failure) string {
			return f.fullText(f.withHeld(f.words.Say("why.fragmentation", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "holes", f.amountOf(f.unallocated.Or(0)),
				"missing", f.amountOf(f.shortfallOr0()), "sum", f.amountOf(f.free.Or(0)+f.unallocated.Or(0)))))
		}},
	{id: "pool", cause: CauseFragmentation, reason: sourceJAX,
		when:       func(f *failure) bool { return f.poolHadRoom() },
		confidence: always(0.7),
		evidence: func(f *failure) string {
			return f.words.Say("why.pool_had_room", "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))))
		}},
	{id: "late", cause: CauseFragmentation, reason: sourceJAX,
		when:       func(f *failure) bool { return f.pooledLate() },
		confidence: always(0.58),
		evidence:   func(f *failure) string { return f.words.Say("why.pool_late") }},
	{id: "late", cause: CauseLeak, reason: sourceJAX,
		when:       func(f *failure) bool { return f.pooledLate() },
		confidence: always(0.52),
		evidence:   func(f *failure) string { return f.orLarger() }},
}
