package fleet

import "time"

// offset estimates how far the clock of a host is ahead of the one here, from times that it wrote into its lines and when those came.
// A line comes after it was written, never before: its time less its arrival is the offset less the way, so the largest of many such
// differences is the best, and short of the truth by the fastest way, which over ssh is milliseconds. A mean would grow with every line that was held up.
//
// A clock that is set is followed: forward at once, since no way is shorter than none; backward when three lines in a row agree. Lines that come
// late together, after the network was away or this program was stopped, were held up, each for another time: of them only the first counts.
type offset struct {
	kept          [offsetLines]time.Duration
	n             int // differences so far
	written, came time.Time
}

const (
	offsetLines = 32
	offsetAgree = 250 * time.Millisecond
	offsetStep  = 2 * time.Second
	offsetVotes = 3
	offsetBurst = 4 // times as fast as they were written: what comes so has been waiting
)

// note takes a line that was written and came then.
func (o *offset) note(written, came time.Time) {
	apart, waited := written.Sub(o.written), came.Sub(o.came)
	o.written, o.came = written, came
	if best, known := o.value(); known && written.Sub(came) < best && waited < apart/offsetBurst {
		return
	}
	o.kept[o.n%offsetLines] = written.Sub(came)
	o.n++
	if o.n < offsetVotes {
		return
	}
	last := o.at(1)
	low, high := last, last
	for i := 2; i <= offsetVotes; i++ {
		low, high = min(low, o.at(i)), max(high, o.at(i))
	}
	if best, _ := o.value(); best-high > offsetStep && high-low < offsetAgree { // it was set back
		*o = offset{n: 1, written: written, came: came}
		o.kept[0] = last
	}
}

// at is the difference of the line so many before the next one.
func (o *offset) at(back int) time.Duration { return o.kept[(o.n-back)%offsetLines] }

// value is the estimate; false: there was no line yet.
func (o *offset) value() (time.Duration, bool) {
	if o.n == 0 {
		return 0, false
	}
	best := o.kept[0]
	for _, d := range o.kept[1:min(o.n, offsetLines)] {
		best = max(best, d)
	}
	return best, true
}

// dated estimates the same from the Date of answers, which is cut to a second: the clock there showed a time from Date to Date and a second,
// at some moment between the question and the answer. Each answer bounds the offset on both sides; where all bounds meet it lies.
type dated struct {
	low, high time.Duration
	known     bool
}

func (d *dated) note(date, asked, answered time.Time) {
	low, high := date.Sub(answered), date.Add(time.Second).Sub(asked)
	if l, h := max(low, d.low), min(high, d.high); d.known && l <= h {
		d.low, d.high = l, h
		return
	}
	d.low, d.high, d.known = low, high, true // the first, or one of the clocks was set
}

// value is 0 as long as the clocks may agree, else the middle.
func (d *dated) value() (time.Duration, bool) {
	if d.low <= 0 && d.high >= 0 {
		return 0, d.known
	}
	return (d.low + d.high) / 2, d.known
}
