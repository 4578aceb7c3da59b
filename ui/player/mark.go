package player

import (
	"cmp"
	"slices"
	"time"
)

// Mark is something worth going to in a recording.
type Mark struct {
	At   time.Time // of the snapshot that shows it
	Kind MarkKind
	Text string // harmless, whatever the recording holds
}

// MarkKind is what a mark stands for.
type MarkKind int

// The kinds of marks, the least important first.
const (
	MarkStart MarkKind = iota // of a process
	MarkPeak
	MarkAlert
	MarkOOM
	MarkKinds // how many there are
)

func (m Mark) compare(o Mark) int {
	return cmp.Or(m.At.Compare(o.At), cmp.Compare(o.Kind, m.Kind), cmp.Compare(m.Text, o.Text))
}

// near are the marks of the next time after now that has any, or of the one before.
func near(list []Mark, now time.Time, by int) []Mark {
	i, _ := slices.BinarySearchFunc(list, now, func(m Mark, t time.Time) int { return m.At.Compare(t) })
	if by < 0 {
		j := i
		for i > 0 && list[i-1].At.Equal(list[j-1].At) {
			i--
		}
		return list[i:j]
	}
	for i < len(list) && list[i].At.Equal(now) {
		i++
	}
	j := i
	for j < len(list) && list[j].At.Equal(list[i].At) {
		j++
	}
	return list[i:j]
}

// Timeline is where a recording is played, and what there is in it.
type Timeline struct {
	Start, End, At time.Time
	Speed          float64 // seconds of the recording per second
	Paused         bool
	Read           float64 // how much is read in the background, 0 to 1
	Marks          []Mark  // by time
}
