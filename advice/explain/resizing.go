package explain

import "nvpeak/sampler"

// sourceResizes is where darknet draws the size of its network anew.
const sourceResizes = "https://github.com/AlexeyAB/darknet/blob/master/src/detector.c"

// resizes: the network is given another size every few steps, so that it fails once a large one is drawn, and nothing leaks.
func (f *failure) resizes() bool { return f.told(sampler.ToldResizes) && !f.onHost() }

var causesResizing = []causeRow{
	{id: "told", cause: CauseDataSpike, reason: sourceResizes,
		when:       func(f *failure) bool { return f.resizes() },
		confidence: always(0.75),
		evidence:   func(f *failure) string { return f.words.Say("why.resizes") }},
}

var fixesResizing = []fixRow{
	{id: FixCapSampleSize, source: sourceResizes,
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseDataSpike: 0.98, CauseTooBig: 0.5, CauseUnknown: 0.6},
		when:    func(f *failure) bool { return f.resizes() && !f.told(sampler.ToldInForce+"random=0") },
		reach:   always(1),
		variant: func(f *failure) string { return "resizes" },
		do:      func(f *failure) []string { return []string{"random=0  " + f.comment("do.one_size")} }},
}
