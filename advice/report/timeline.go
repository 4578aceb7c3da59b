package report

import (
	"time"

	"nvpeak/advice/series"
)

// timeline is the time of a recording: seconds since its first snapshot.
type timeline struct {
	clock    series.Clock
	start    time.Time
	at       time.Time // of the newest snapshot
	count    int       // snapshots
	steps    []float64 // between the first of them
	sets     []Set
	silences []silence // longer than hold
}

// silence is a stretch of a recording without figures, in seconds from its start.
type silence struct{ from, to float64 }

// maxSilences are kept; a recording with more is no worse known for the rest.
const maxSilences = 4096

// maxSteps tell the usual time between snapshots.
const maxSteps = 1001

// next moves on to a snapshot. gap: what came before did not last until now.
func (l *timeline) next(at time.Time) (gap bool) {
	if l.count == 0 {
		l.start = at
	}
	before := l.clock.Now
	hold := l.hold()
	gap = l.clock.Next(at)
	if l.count > 1 && l.clock.Now-before > hold && len(l.silences) < maxSilences {
		l.silences = append(l.silences, silence{before, l.clock.Now})
	}
	if l.count > 0 && len(l.steps) < maxSteps {
		l.steps = append(l.steps, l.clock.Now-before)
	}
	return gap
}

// seconds is where a moment lies on the timeline, which begins with the first snapshot and
// never runs backwards.
func (l *timeline) seconds(at time.Time) float64 {
	return max(0, l.clock.Now+at.Sub(l.clock.Last).Seconds())
}

// unseen is how much of a stretch lies in silences, in seconds.
func (l *timeline) unseen(from, to float64) float64 {
	sum := 0.0
	for _, s := range l.silences {
		sum += max(0, min(to, s.to)-max(from, s.from))
	}
	return sum
}

// hold is how long a figure counts when the next one does not come.
func (l *timeline) hold() float64 { return max(5, 3*l.clock.Usual) }
