package trainlog

import (
	"bufio"
	"io"
	"slices"
	"time"

	"nvpeak/sampler"
)

// Log is what a training log tells of its times, before they are anchored to a recording.
type Log struct {
	marks   []mark
	lines   []lineTime // of the lines asked for
	waiting int        // the first of lines with no stamp after it yet
	first   stamp
	last    stamp
	stamps  int

	phase     sampler.LogMark // the newest mark that is no reading
	stages    stagesSeen
	announced schedule
	readings  int
	step      sampler.Opt[int] // of those that are counted, the newest
	settled   bool             // there were enough of them
	thinned   int              // how often every other reading was left out
}

type mark struct {
	sampler.LogMark
	at    stamp
	known bool
}

// lineTime is when a line was printed: exactly, or between two stamps.
type lineTime struct {
	line          int
	exact         bool
	at            stamp // of the line itself
	before, after stamp // the last one before it, the first one after
	has, followed bool
}

const (
	maxMarks = 20000
	// maxLine bytes of a line are looked at.
	maxLine = 4096
)

// Scan reads a log. lines are those whose times are wanted, as package oomlog counts them.
func Scan(r io.Reader, lines []int) (*Log, error) {
	l := &Log{}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(lines))) {
		l.lines = append(l.lines, lineTime{line: n})
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var form stamps
	number, next := 1, 0 // next of l.lines
	for {
		line, ended, err := readLine(in)
		if err != nil && err != io.EOF {
			return l, err
		}
		if line != "" {
			next = l.take(&form, line, number, next)
		}
		if err == io.EOF {
			return l, nil
		}
		if ended {
			number++
		}
	}
}

// readLine reads up to \n or \r; ended: it was \n. What is longer than maxLine is dropped.
func readLine(in *bufio.Reader) (line string, ended bool, err error) {
	var b []byte
	for {
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return string(b), false, err
		case c == '\n':
			return string(b), true, nil
		case c == '\r':
			if len(b) > 0 {
				return string(b), false, nil
			}
		case len(b) < maxLine:
			b = append(b, c)
		}
	}
}

// take looks at one line.
func (l *Log) take(form *stamps, line string, number, next int) int {
	st, stamped := form.of(line)
	for next < len(l.lines) && l.lines[next].line <= number {
		w := &l.lines[next]
		w.before, w.has = l.last, l.stamps > 0
		if w.line == number {
			if !stamped {
				break // what a \r overwrote; the rest of the line may have a time
			}
			w.exact, w.at = true, st
		}
		next++
	}
	if stamped {
		if l.stamps == 0 {
			l.first = st
		}
		if !st.date && l.stamps > 0 { // a clock without a day goes on over midnight
			st.time = st.time.AddDate(0, 0, int(l.last.time.Sub(l.first.time)/(24*time.Hour)))
			if st.time.Before(l.last.time.Add(-12 * time.Hour)) {
				st.time = st.time.AddDate(0, 0, 1)
			}
		}
		l.last = st
		l.stamps++
		for ; l.waiting < next && l.lines[l.waiting].line < number; l.waiting++ {
			w := &l.lines[l.waiting]
			w.after, w.followed = st, true
		}
	}
	l.count(line, number)
	marks := marksOf(line, (l.readings+1)%(1<<l.thinned) == 0)
	if stage, ok := l.announced.stage(line, marks); ok {
		marks = append(marks, stage)
	}
	for _, m := range marks {
		m.Line = number
		l.add(mark{m, l.last, l.stamps > 0})
	}
	return next
}

// count takes two steps of a log, by which its start is over: the first, and one that is startSteps beyond it.
func (l *Log) count(line string, number int) {
	if l.settled {
		return
	}
	n, ok := stepOf(line)
	first, counts := l.step.Value()
	if l.settled = counts && n >= first+startSteps; !ok || counts && n >= first && !l.settled {
		return
	}
	l.step = sampler.Some(n)
	l.add(mark{sampler.LogMark{Kind: sampler.MarkStep, N: l.step, Line: number}, l.last, l.stamps > 0})
}

// startSteps is how many steps after the first a run has settled.
const startSteps = 10

// maxThinned keeps 1<<thinned a number.
const maxThinned = 30

// thin makes room: every other reading of the allocator goes, or every other mark where phases alone are too many.
func (l *Log) thin() {
	before := len(l.marks)
	drop := func(what func(mark) bool) {
		n := 0
		l.marks = slices.DeleteFunc(l.marks, func(o mark) bool {
			n++
			return n%2 == 0 && what(o)
		})
	}
	if drop(func(o mark) bool { return o.Kind == sampler.MarkAllocator }); len(l.marks) < before {
		l.thinned = min(l.thinned+1, maxThinned)
		return
	}
	drop(func(mark) bool { return true })
}

// add keeps a mark. What only repeats the phase before is left out; when there are too
// many, every other reading of the allocator goes, and later ones are taken less often.
func (l *Log) add(m mark) {
	switch m.Kind {
	case sampler.MarkStep:
	case sampler.MarkAllocator:
		l.readings++
		if l.readings%(1<<l.thinned) != 0 {
			return
		}
	case sampler.MarkStage:
		if l.stages == nil {
			l.stages = stagesSeen{}
		}
		if !l.stages.news(m.LogMark) {
			return
		}
	default:
		if m.Kind == l.phase.Kind && m.N == l.phase.N {
			return
		}
		l.phase = m.LogMark
	}
	if len(l.marks) >= maxMarks {
		l.thin()
	}
	l.marks = append(l.marks, m)
}
