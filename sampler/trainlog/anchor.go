package trainlog

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// Recording is what the times of a log are compared with.
type Recording struct {
	Start, End time.Time
	Ends       []time.Time    // of jobs: a failure lies near to one
	Sets       []Set          // when the clock was set, oldest first
	Zone       *time.Location // that a log without a zone is most likely in; nil: local
}

// LineTime is when a line of the log was printed. Between two stamps, Before and After are
// those; a line whose log has none has neither.
type LineTime struct {
	Exact         sampler.Opt[time.Time]
	Before, After sampler.Opt[time.Time]
}

// slack is how far clocks of log and recording may differ, and how long a job takes to end.
const slack = 2 * time.Minute

// Anchor gives the times their date and zone, as far as the log leaves them out: the local
// zone, unless only another one lets the log lie within the recording; zone is then that one. lines
// are the times of the lines asked for, by number.
func (l *Log) Anchor(rec Recording) (marks []sampler.LogMark, lines map[int]LineTime, zone string) {
	offset, moved := l.offset(rec)
	if moved {
		zone = "UTC" + time.Time{}.In(time.FixedZone("", int(offset/time.Second))).Format("-07:00")
	}
	even := rec.even()
	fix := func(s stamp, known bool) sampler.Opt[time.Time] {
		if !known {
			return sampler.Opt[time.Time]{}
		}
		return sampler.Some(even(rec.resolve(s, offset)))
	}
	for _, m := range l.marks {
		m.Time = fix(m.at, m.known)
		marks = append(marks, m.LogMark)
	}
	lines, even = map[int]LineTime{}, rec.even()
	for _, w := range l.lines {
		lines[w.line] = LineTime{Before: fix(w.before, w.has), Exact: fix(w.at, w.exact), After: fix(w.after, w.followed)}
	}
	return marks, lines, zone
}

// resolve is the time of a stamp, whose clock is offset ahead of UTC.
func (rec Recording) resolve(s stamp, offset time.Duration) time.Time {
	if s.zoned {
		return s.time.UTC()
	}
	start := rec.Start.Add(offset).UTC()
	t := s.time
	switch {
	case !s.date: // counted from 1 January 2000
		days := int(t.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
		t = time.Date(start.Year(), start.Month(), start.Day()+days, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		if t.Before(start.Add(-12 * time.Hour)) {
			t = t.AddDate(0, 0, 1)
		}
	case !s.year:
		t = t.AddDate(start.Year()-t.Year(), 0, 0)
		if t.Sub(start) > 182*24*time.Hour {
			t = t.AddDate(-1, 0, 0)
		} else if start.Sub(t) > 182*24*time.Hour {
			t = t.AddDate(1, 0, 0)
		}
	}
	return t.Add(-offset)
}

// offset is how far the clock of the log is ahead of UTC.
func (l *Log) offset(rec Recording) (offset time.Duration, moved bool) {
	zone := rec.Zone
	if zone == nil {
		zone = time.Local
	}
	_, seconds := rec.Start.In(zone).Zone()
	local := time.Duration(seconds) * time.Second
	best, score := local, l.fits(rec, local)+0.5
	for quarter := -12 * 4; quarter <= 14*4; quarter++ {
		o := time.Duration(quarter) * 15 * time.Minute
		s := l.fits(rec, o)
		if o == 0 {
			s += 0.25
		}
		if s > score {
			best, score = o, s
		}
	}
	return best, best != local && l.stamps > 0
}

// fits is how well the log lies in the recording with an offset.
func (l *Log) fits(rec Recording, offset time.Duration) (score float64) {
	if l.stamps == 0 || l.first.zoned {
		return 0
	}
	even := rec.even()
	within := func(t time.Time) bool { return !t.Before(rec.Start.Add(-slack)) && !t.After(rec.End.Add(slack)) }
	for _, s := range []stamp{l.first, l.last} {
		if within(even(rec.resolve(s, offset))) {
			score++
		}
	}
	even = rec.even()
	for _, w := range l.lines[:min(len(l.lines), 50)] {
		if !w.exact {
			continue
		}
		t := even(rec.resolve(w.at, offset))
		if within(t) {
			score += 1 / float64(len(l.lines))
		}
		if slices.ContainsFunc(rec.Ends, func(e time.Time) bool { return t.Sub(e).Abs() < slack }) {
			score += 2 / float64(len(l.lines))
		}
	}
	return score
}
