package watch

import (
	"fmt"

	"nvpeak/advice/series"
)

// ending is a process that was gone seconds after it had taken more than ever before and
// the card had nothing left: without a log that is all there is to see of an
// out-of-memory failure.
type ending struct {
	pid     int
	who     string
	user    string
	command string
	at      float64 // when it was last listed
	held    float64 // MiB
	free    float64 // MiB at the worst of its last seconds
}

const (
	maxEndings = 8
	// endingSeconds before its end a process must have reached its peak: one that is
	// steady at the limit and ends has done its work.
	endingSeconds = 10
	// endingShare of the used memory must be its own.
	endingShare = 0.5
	// endingSpan is how long endings of one command count together.
	endingSpan = 3600
)

// noteEnd looks at a process that is listed no more.
func (c *card) noteEnd(p *proc) {
	s := &p.series
	free := c.worst.last(p.seen, endingSeconds)
	if s.Samples < series.MinSamples || !(free <= max(flushLimit*c.total, flushLeast)) ||
		s.Last-s.PeakTime > endingSeconds || s.Peak < endingShare*c.usable {
		return
	}
	if len(c.ends) == maxEndings {
		c.ends = append(c.ends[:0], c.ends[1:]...)
	}
	c.ends = append(c.ends, ending{pid: p.pid, who: who(p.process), user: p.process.User, command: p.process.Command,
		at: p.seen, held: s.Peak, free: free})
}

// endings are the latest ending of the last ten minutes and how many of its kind there
// were within the hour.
func (c *card) endings(now float64) (last ending, n int) {
	if len(c.ends) == 0 {
		return last, 0
	}
	last = c.ends[len(c.ends)-1]
	if now-last.at > oomSeconds {
		return last, 0
	}
	for _, e := range c.ends {
		if e.command == last.command && e.user == last.user && now-e.at <= endingSpan {
			n++
		}
	}
	return last, n
}

func sayEnding(c *card, e ending, n int) saying {
	times := "has ended"
	if n > 1 {
		times = fmt.Sprintf("has ended %d times", n)
	}
	return saying{
		text: fmt.Sprintf("GPU %d: pid %d (%s) %s with the card full: most likely out of memory", c.gpu.Index, e.pid, e.who, times),
		evidence: []string{fmt.Sprintf("it held %s, its most ever, and %s were free in its last seconds", size(e.held), size(e.free)),
			"its log tells for sure: nvpeak explain"},
		numbers: map[string]float64{"held_bytes": float64(series.Bytes(e.held)), "free_bytes": float64(series.Bytes(e.free)), "endings": float64(n)},
	}
}
