package watch

import (
	"time"

	"nvpeak/sampler"
)

// Rule is one thing worth an alert.
type Rule struct {
	Code       string        // the alert's kind
	Level      string        // the highest level it can have
	Reason     string        // why this is worth an alert, with the source of its numbers
	HoldFor    time.Duration // how long it must be true before it shows
	ClearAfter time.Duration // how long it must be false before it clears
	Silences   []string      // rules that say less about the same GPU while this one is open
	Own        bool          // it silences them for its process only, where they name one

	// check says what is true now. It is asked once for each GPU and, with none, once for
	// the machine. It keeps nothing and changes nothing.
	check func(f *Facts) []finding
}

// noticeID is the id of a finding that is only a notice so far.
const noticeID = 1

// finding is one thing that a rule found true at this moment.
type finding struct {
	pid    int // 0: no process
	id     int // tells findings of one rule on one GPU apart, beside the pid
	level  string
	eta    sampler.Opt[float64]   // seconds
	render func(f *Facts) message // called when somebody will read it
	over   func() bool            // says that it is refuted, so that nothing is waited for; nil: nothing can
	// momentary: its words are of this moment, as the figures are that it stands beside
	momentary bool
	recurs    bool // it is of what has happened, and a higher level says that it has happened again
	last      bool // there is no room for one step more
	// completes: it is the same as was raised, of which more is known by now
	completes bool
}

// message is a finding in words.
type message struct {
	text     string // one line, the important first
	evidence []string
	numbers  map[string]float64
	advice   []sampler.Advice
}
