package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// sourcePairs is a function that makes the matrix of all pairs of the rows of two arrays.
const sourcePairs = "https://docs.pytorch.org/docs/stable/generated/torch.cdist.html"

// toldPairs: a matrix of all pairs is made on the GPU, of so many things; 0: how many is not told.
func (f *facts) toldPairs() (n uint64, is bool) {
	for _, what := range f.context.Told {
		if number, is := strings.CutPrefix(what, sampler.ToldPairs); is && !f.onHost() && !f.numbers() && f.history == nil {
			n, _ = strconv.ParseUint(number, 10, 32)
			return n, true
		}
	}
	return 0, false
}

// densePairs: a matrix of all pairs is made in RAM, as is said, and no amount is.
func (f *facts) densePairs() bool {
	return f.onHost() && !f.requested.Known() && slices.ContainsFunc(f.context.Told, func(what string) bool { return strings.HasPrefix(what, sampler.ToldPairs) })
}

var causesPairs = []causeRow{
	{id: "pairs", cause: CauseTooBig, reason: sourcePairs,
		when:       func(f *failure) bool { _, is := f.toldPairs(); return is },
		confidence: always(0.7),
		evidence: func(f *failure) string {
			if n, _ := f.toldPairs(); n > 0 {
				return f.words.Say("why.pairs_sized", "n", n, "need", gib(sampler.Bytes(4*n*n)))
			}
			return f.words.Say("why.pairs")
		}},
}

var fixesPairs = []fixRow{
	{id: FixCapSampleSize, source: sourcePairs,
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.85, CauseValidationSpike: 0.9},
		when:    func(f *failure) bool { _, is := f.toldPairs(); return is },
		reach:   always(1),
		variant: func(*failure) string { return "pairs_gpu" },
		do: func(f *failure) []string {
			return []string{f.comment("do.rows_at_a_time"), f.comment("do.half_pairs"), f.comment("do.pairs_on_cpu")}
		}},
}

// pairsAlone: no batch is spoken of beside them.
func (f *facts) pairsAlone() bool {
	_, is := f.toldPairs()
	return is && !f.told(sampler.ToldBatch) && !f.program.is(training)
}
