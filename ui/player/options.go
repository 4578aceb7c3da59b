package player

import "nvpeak/sampler"

// Options of a player.
type Options struct {
	Need  sampler.Opt[sampler.Bytes] // of the next allocation: alerts depend on it
	Fixed bool                       // the viewer set it: changes that were recorded do not count
}
