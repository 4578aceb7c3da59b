package post

import "nvpeak/sampler"

// demanded is an amount that somebody read off the error of a GPU: with a fraction, as programs print it and nobody says what one needs.
var demanded = lazily(`(?i)\b(?:demand(?:s|ed|ing)?|request(?:s|ed|ing)?|ask(?:s|ed|ing)? for|(?:tries|tried|trying|try|wants|wanted) to (?:allocate|reserve)|allocating)(?: \w+){0,2}? (\d{1,4}\.\d{1,2}) ?([GT])(?:i?B)\b`)

// crashesAt is an amount of which whoever writes says that the program asks for it and ends.
var crashesAt = lazily(`(?i)\b(?:it|which|that|this|program|script|layer|model) (?:tries|tried|wants|wanted|attempts|attempted|is trying) to (?:allocate|reserve) (?:about |around |over |more than |~)?(\d{1,4}) ?([GT])(?:i?B)\b(?:[^.\n]|\.\d){0,40}?\b(?:crash(?:es|ed)|fail(?:s|ed)|dies|died|stops|stopped|aborts|aborted)\b`)

// addDemanded puts it into a failure that shows none.
func addDemanded(e *sampler.OOMEvent, text string) {
	at := demanded.FindStringSubmatch(text)
	if at == nil {
		at = crashesAt.FindStringSubmatch(text)
	}
	if at == nil || e.Requested.Known() || e.Allocated.Known() || e.MemoryKind != sampler.MemoryGPU {
		return
	}
	if size, err := sampler.ParseBytes(at[1] + at[2]); err == nil {
		e.Requested = sampler.Some(size)
	}
}
