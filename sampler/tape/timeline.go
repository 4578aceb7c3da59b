package tape

import (
	"time"

	"nvpeak/sampler"
)

// timeline watches the order of time, and keeps it in recordings of which the clock was set back:
// those of nvpeak 1.0 and earlier, hand-written ones, and logs of nvidia-smi.
type timeline struct {
	last  time.Time     // of the newest snapshot
	usual time.Duration // shortest step so far, or what the header says
	ended bool          // an end line was seen

	raw    time.Time     // of the newest snapshot, as written
	rawAny time.Time     // of that or the newest readings
	ahead  time.Duration // what was taken off the clock by being set back, all in all
	before time.Duration // that, without the last time
}

const (
	// gapSlack is what a late snapshot may be late before it counts as a gap.
	gapSlack = 2 * time.Second
	// backSlack is what lines may be in disorder by before the clock counts as set back.
	backSlack = time.Second
)

// pass gives a record its place in time and returns the events that stand before it. even: the
// recording says that its times go on evenly.
func (t *timeline) pass(r *Record, n *notes, even bool) (events []Record) {
	if even {
		return t.snapshot(r, n)
	}
	back := t.setBack(r)
	if back > 0 {
		step := t.usual
		if r.Snapshot == nil {
			step = 0 // the snapshot that follows is as far away as it is
		}
		t.before, t.ahead = t.ahead, t.ahead+back+step
		t.raw, t.rawAny = r.Time.Add(-step), r.Time.Add(-step)
	}
	t.place(r)
	if back > 0 {
		n.backwards(r.Line, back)
		events = append(events, event(r, KindBackwards, back, ""))
	}
	return append(events, t.snapshot(r, n)...)
}

// setBack is how far the clock was set back before a record.
func (t *timeline) setBack(r *Record) time.Duration {
	last := t.raw
	switch {
	case r.Readings != nil:
		last = t.rawAny
	case r.Snapshot != nil:
	case r.Event == nil || r.Event.Kind == KindXID || r.Time.IsZero(): // an Xid error may be an old one
		return 0
	}
	if back := last.Sub(r.Time); !last.IsZero() && back >= backSlack {
		return back
	}
	return 0
}

// place moves a record to where it is when the clock is never set back.
func (t *timeline) place(r *Record) {
	written := r.Time
	if r.Snapshot != nil {
		t.raw, t.rawAny = written, written
	} else if r.Readings != nil {
		t.rawAny = written
	}
	if t.ahead == 0 || r.Time.IsZero() {
		return
	}
	r.Time = written.Add(t.ahead)
	if r.Event != nil {
		e := *r.Event
		e.Time = r.Time
		r.Event = &e
	}
	if r.Snapshot != nil {
		r.Snapshot = r.Snapshot.Retimed(func(at time.Time) time.Time {
			if at.After(written) { // from before the clock was set
				return at.Add(t.before)
			}
			return at.Add(t.ahead)
		}, func(start time.Time) time.Time { return start }).WithAhead(-t.ahead)
	}
}

// snapshot returns the events that stand between the snapshot before and this one.
func (t *timeline) snapshot(r *Record, n *notes) []Record {
	if r.Snapshot == nil {
		return nil
	}
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
