package trainlog

import "nvpeak/sampler"

// Listener takes a log while it is written and gives the readings of the allocator that it
// prints, and where the run stands whenever that changes. Memory is bounded; Write never waits and never fails.
type Listener struct {
	line  []byte
	marks chan sampler.LogMark
	epoch sampler.Opt[int] // the newest
	phase string           // what the run does in it

	stages    stagesSeen
	announced schedule
}

// heardMarks wait for somebody to take them; of more, the oldest go.
const heardMarks = 256

// NewListener makes a Listener.
func NewListener() *Listener {
	return &Listener{marks: make(chan sampler.LogMark, heardMarks), stages: stagesSeen{}}
}

// Marks are those in the order in which they came, without a time. It is never closed.
func (l *Listener) Marks() <-chan sampler.LogMark { return l.marks }

// Write takes the next piece of the log, at most maxLine bytes of a line.
func (l *Listener) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := lineEnd(b)
		part, rest := b, []byte(nil)
		if i >= 0 {
			part, rest = b[:i], b[i+1:]
		}
		l.line = append(l.line, part[:min(len(part), maxLine-len(l.line))]...)
		if i >= 0 {
			l.hear(string(l.line))
			l.line = l.line[:0]
		}
		b = rest
	}
	return n, nil
}

func (l *Listener) hear(line string) {
	if n, ok := stepOf(line); ok && len(l.marks) == 0 { // the next is as good, and none pushes out what waits
		l.marks <- sampler.LogMark{Kind: sampler.MarkStep, N: sampler.Some(n)}
	}
	marks := marksOf(line, true)
	if stage, ok := l.announced.stage(line, marks); ok {
		marks = append(marks, stage)
	}
	for _, m := range marks {
		if !l.news(m) {
			continue
		}
		for sent := false; !sent; {
			select {
			case l.marks <- m:
				sent = true
			default:
				select {
				case <-l.marks:
				default:
				}
			}
		}
	}
}

// news says whether a mark is a reading or tells of a change: a progress bar names its epoch many times a second.
func (l *Listener) news(m sampler.LogMark) bool {
	switch m.Kind {
	case sampler.MarkStage:
		return l.stages.news(m)
	case sampler.MarkAllocator:
		return m.Allocated.Known()
	case sampler.MarkEpoch:
		if !m.N.Known() || m.N == l.epoch {
			return false
		}
		l.epoch, l.phase = m.N, ""
		return true
	}
	changed := m.Kind != l.phase
	l.phase = m.Kind
	return changed
}
