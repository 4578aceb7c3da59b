package history

import (
	"slices"
	"sort"
	"time"

	"nvpeak/sampler"
)

// Highest knows the most since any time of late, of an amount that stays as it is until the next reading. It keeps what
// no later reading has reached, which is little: every time has its answer, and asking takes nothing away.
type Highest struct {
	keep  time.Duration
	stood []stood // falling amounts, each with a later end
	now   sampler.Bytes
	known bool
}

// stood is an amount and until when it was that.
type stood struct {
	amount sampler.Bytes
	until  time.Time
}

// highestSteps bounds what is kept. Beyond it neighbors become one, which has the larger amount and the later end.
const highestSteps = 4096

// NewHighest answers for times that are no longer ago.
func NewHighest(keep time.Duration) *Highest { return &Highest{keep: keep} }

// Put takes a reading. One that is older than the last counts as of that one's time.
func (h *Highest) Put(at time.Time, amount sampler.Bytes) {
	if h.known {
		h.end(at)
	}
	h.now, h.known = amount, true
}

// Lose ends the amount: until the next reading it is not known.
func (h *Highest) Lose(at time.Time) {
	if h.known {
		h.end(at)
	}
	h.known = false
}

// end notes how long the amount of now has lasted.
func (h *Highest) end(at time.Time) {
	n := len(h.stood)
	if n > 0 && at.Before(h.stood[n-1].until) {
		at = h.stood[n-1].until
	}
	for n > 0 && h.stood[n-1].amount <= h.now {
		n--
	}
	h.stood = append(h.stood[:n], stood{h.now, at})
	first := h.first(at.Add(-h.keep))
	h.stood = slices.Delete(h.stood, 0, first)
	if len(h.stood) <= highestSteps {
		return
	}
	half := h.stood[:0]
	for i := 0; i+1 < len(h.stood); i += 2 {
		half = append(half, stood{h.stood[i].amount, h.stood[i+1].until})
	}
	if len(h.stood)%2 == 1 {
		half = append(half, h.stood[len(h.stood)-1])
	}
	h.stood = half
}

// first is the place of what lasted beyond a time.
func (h *Highest) first(t time.Time) int {
	return sort.Search(len(h.stood), func(i int) bool { return h.stood[i].until.After(t) })
}

// Since is the most that it was at or after a time; false: nothing is known of that.
func (h *Highest) Since(t time.Time) (most sampler.Bytes, known bool) {
	if h.known {
		most, known = h.now, true
	}
	if i := h.first(t); i < len(h.stood) {
		most, known = max(most, h.stood[i].amount), true
	}
	return most, known
}
