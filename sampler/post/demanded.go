package post

import "nvpeak/sampler"

// demanded is an amount that somebody read off the error of a GPU: with a fraction, as programs print it and nobody says what one needs.
var demanded = lazily(`(?i)\b(?:demand(?:s|ed|ing)?|request(?:s|ed|ing)?|ask(?:s|ed|ing)? for|(?:tries|tried|trying|try|wants|wanted) to (?:allocate|reserve)|allocating)(?: \w+){0,2}? (\d{1,4}\.\d{1,2}) ?([GT])(?:i?B)\b`)

// addDemanded puts it into a failure that shows none.
func addDemanded(e *sampler.OOMEvent, text string) {
	at := demanded.FindStringSubmatch(text)
	if at == nil || e.Requested.Known() || e.Allocated.Known() || e.MemoryKind != sampler.MemoryGPU {
		return
	}
	if size, err := sampler.ParseBytes(at[1] + at[2]); err == nil {
		e.Requested = sampler.Some(size)
	}
}
