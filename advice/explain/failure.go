package explain

import "nvpeak/advice/lang"

// failure is one event with all that rules and fixes read: what happened and what was in force
// (facts and job), and from them what would help (footprint and the effects of measures).
type failure struct {
	job
	footprint footprint
	words     lang.Catalog
	expected  bool // it has not happened, and an alert says what would help if it did
}
