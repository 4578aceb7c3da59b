package history

import (
	"time"
)

// Track is the history of one figure, kept by maximum (or minimum) at every resolution,
// so that a spike stays visible however far one looks back. Missing time is NaN.
// Its memory is bounded, and little while the figure does not move.
type Track struct {
	byMin bool
	rings [len(tiers)]ring
	all   *unbounded // instead of the rings, in an Archive
}

func newTrack(byMin bool, keep [len(tiers)]int) *Track {
	t := &Track{byMin: byMin}
	for i := range t.rings {
		t.rings[i] = newRing(keep[i])
	}
	return t
}

// Add notes v for the time from (exclusive) to at (inclusive).
func (t *Track) Add(from, at time.Time, v float64) {
	if t.all != nil {
		t.all.add(from, at, float32(v), t.byMin)
		return
	}
	for i := range t.rings {
		first, last := stepsOf(i, from, at)
		r := &t.rings[i]
		for n := max(first, last-r.size+1); n <= last; n++ {
			r.put(n, float32(v), t.byMin)
		}
	}
}

// stepsOf are the first and the last step of a tier between two times. Seconds, for nanoseconds
// end in the year 2262.
func stepsOf(tier int, from, at time.Time) (first, last int64) {
	step := int64(tiers[tier].step / time.Second)
	if first, last = from.Unix()/step, at.Unix()/step; first < last {
		first++
	}
	return first, last
}

// ColumnStep is how much time one of n columns stands for when they show span: the
// smallest that covers it and is a whole number of steps of the tier that will be read,
// so that no step belongs to two columns and a complete column never changes.
func ColumnStep(span time.Duration, n int) time.Duration {
	if n < 1 {
		return span
	}
	step := (span + time.Duration(n) - 1) / time.Duration(n)
	unit := tiers[0].step
	for _, t := range tiers {
		if step > t.step {
			unit = t.step
		}
	}
	return max(unit, (step + unit - 1).Truncate(unit))
}

// Columns reduces the last n*step before end to n values, oldest first, each the
// maximum (or minimum) of its time. Columns begin at whole multiples of step, so that a
// plot moves only when a column is complete.
func (t *Track) Columns(end time.Time, step time.Duration, n int) []float64 {
	return t.AppendColumns(make([]float64, 0, max(n, 0)), end, step, n)
}

// AppendColumns appends what Columns gives.
func (t *Track) AppendColumns(list []float64, end time.Time, step time.Duration, n int) []float64 {
	tier := 0
	for tier < len(tiers)-1 && (time.Duration(n)*step > tiers[tier].step*time.Duration(t.rings[tier].size) ||
		step >= 2*tiers[tier+1].step) {
		tier++
	}
	r, unit := &t.rings[tier], int64(tiers[tier].step/time.Millisecond)
	wide := int64(step / time.Millisecond) // of a column; nanoseconds end in the year 2262
	lastColumn := end.UnixMilli() / wide
	for c := lastColumn - int64(n) + 1; c <= lastColumn; c++ {
		from, to := c*wide/unit, ((c+1)*wide-1)/unit
		list = append(list, float64(r.most(from, to, t.byMin)))
	}
	return list
}

// recall fills an empty track with what was known at a time, and returns when it was last.
func (t *Track) recall(from *unbounded, at time.Time) (seen time.Time) {
	second := at.Unix()
	for i := range t.rings {
		r, unit := &t.rings[i], int64(tiers[i].step/time.Second)
		end := second / unit
		put := func(n int64, v float32) {
			r.put(n, v, t.byMin)
			if now := time.Unix(n*unit, 0); now.After(seen) {
				seen = now
			}
		}
		from.each(i, max(end-r.size+1, 0), end-1, put)
		// The last step was not over yet.
		from.each(0, end*unit, second, func(_ int64, v float32) { put(end, v) })
	}
	return seen
}
