package tape

import (
	"hash/maphash"
	"reflect"
	"time"

	"nvpeak/sampler"
)

// memo has texts and times of the lines before: in a line of a live stream nearly all are those of the line before, and a text that
// is not made again is neither allocated nor collected. Each place holds the newest of its hash. A nil memo has none.
type memo struct {
	seed  maphash.Seed
	texts [memoTexts]string
	times [memoTimes]memoTime
	maps  [memoTexts]memoMap

	gpus, processes int // how many the lists before had
}

// Of a machine with 8 GPUs and 32 processes: 150 texts, 60 times that stay.
const (
	memoTexts = 512
	memoTimes = 256
)

type memoTime struct {
	text string
	at   time.Time
	ok   bool
}

// memoMap is an object of texts as it was written, and what it says. Nobody changes it: it is of several snapshots.
type memoMap struct {
	text  string
	texts map[string]string
}

func newMemo() *memo { return &memo{seed: maphash.MakeSeed()} }

func (m *memo) place(b []byte) uint64 { return maphash.Bytes(m.seed, b) }

// length is how many elements a list will have if it is as the one before.
func (m *memo) length(list reflect.Type) *int {
	usual := 4
	switch {
	case m == nil:
		return &usual
	case list == reflect.TypeFor[[]sampler.GPU]():
		return &m.gpus
	}
	return &m.processes
}

// text is b as a string.
func (m *memo) text(b []byte) string {
	if m == nil {
		return string(b)
	}
	known := &m.texts[m.place(b)%memoTexts]
	if *known != string(b) {
		*known = string(b)
	}
	return *known
}

// time is b as a time.
func (m *memo) time(b []byte) (time.Time, bool) {
	if m == nil {
		return parseTime(string(b))
	}
	known := &m.times[m.place(b)%memoTimes]
	if known.text != string(b) {
		known.text = string(b)
		known.at, known.ok = parseTime(known.text)
	}
	return known.at, known.ok
}

// mapOf is an object of texts that was read before; nil: it was not.
func (m *memo) mapOf(raw []byte) map[string]string {
	if m == nil {
		return nil
	}
	if known := &m.maps[m.place(raw)%memoTexts]; known.text == string(raw) {
		return known.texts
	}
	return nil
}

// keep notes what an object of texts says.
func (m *memo) keep(raw []byte, texts map[string]string) {
	if m != nil {
		m.maps[m.place(raw)%memoTexts] = memoMap{string(raw), texts}
	}
}
