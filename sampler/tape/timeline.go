package tape

import (
	"time"

	"nvpeak/sampler"
)

// timeline watches the order of time.
type timeline struct {
	last  time.Time
	usual time.Duration // shortest step so far, or what the header says
	ended bool          // an end line was seen
}

// gapSlack is what a late snapshot may be late before it counts as a gap.
const gapSlack = 2 * time.Second

// snapshot returns the events that stand between the snapshot before and this one.
func (t *timeline) snapshot(r *Record, n *notes) []Record {
	last := t.last
	t.last, t.ended = r.Time, false
	if last.IsZero() {
		return nil
	}
	step := r.Time.Sub(last)
	switch {
	case step < 0:
		n.backwards(r.Line, -step)
		return []Record{event(r, KindBackwards, -step, "")}
	case t.usual > 0 && step > 3*t.usual+gapSlack:
		n.gap(r.Line, step)
		return []Record{event(r, KindGap, step, "")}
	case step > 0 && (t.usual == 0 || step < t.usual):
		t.usual = step
	}
	return nil
}

func event(r *Record, kind string, d time.Duration, text string) Record {
	return Record{Line: r.Line, Time: r.Time, Event: &Event{Type: "event", Time: r.Time, Kind: kind,
		Dur: sampler.Some(d.Seconds()), Text: text}}
}
