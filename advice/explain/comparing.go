package explain

import "nvpeak/sampler"

// sourceCompared has such a setting: https://github.com/princeton-vl/RAFT-Stereo/blob/main/evaluate_stereo.py
const sourceCompared = "https://github.com/princeton-vl/RAFT-Stereo/blob/main/README.md"

// fixesComparing are for what compares two pictures point by point (matches, flow, stereo). Tiles of the two show different things, so that they are no
// way out where smaller pictures are none.
var fixesComparing = []fixRow{
	{id: FixSmallerInput, source: sourceCompared,
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.93, CauseUnknown: 0.75, CauseDataSpike: 0.9},
		when:    func(f *failure) bool { return f.compares() && f.triedSize() && !f.onHost() && !f.program.is(training) },
		reach:   always(2.5), // although its size was tried: it is another one
		variant: func(*failure) string { return "compared" },
		do: func(f *failure) []string {
			return []string{f.comment("do.compared"), f.comment("do.say.sixteen")}
		}},
}

// compares: a volume of correlations, or of costs, is spoken of or stands in the traceback.
func (f *failure) compares() bool {
	return f.shows(sampler.ShowsCorrelation) || f.inFunction("correlation", "cost_volume")
}
