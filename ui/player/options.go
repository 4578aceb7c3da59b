package player

import (
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// Options of a player.
type Options struct {
	Need   sampler.Opt[sampler.Bytes] // of the next allocation: alerts depend on it
	Lang   string                     // of its sentences; empty: English
	Levels watch.Levels               // that somebody has set
	Fixed  bool                       // the viewer set it: changes that were recorded do not count
}
