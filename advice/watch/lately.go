package watch

import (
	"math"
	"slices"

	"nvpeak/sampler"
)

// lately remembers what runs that ended have needed at most, and how near they came to the limit: a job
// that is started again, by the same user with the same command, will need it again.
type lately [latelyKept]lastRun

type lastRun struct {
	user, command string
	peak          peakAt
	lived         closeCalls // of all runs of it
	held          float64    // MiB, the most that one has held, and grew no more, which did not die; 0: none
	at            float64    // when it ended
	died          bool       // for want of memory
}

// closeCalls are the near misses of a process, those of its first minute included.
type closeCalls struct {
	count      int
	shallowest float64 // MiB, the least that was given back
	last       float64
}

func (c *closeCalls) add(now float64, count int, depth float64) {
	if c.count == 0 || depth < c.shallowest {
		c.shallowest = depth
	}
	c.count, c.last = c.count+count, now
}

const (
	latelyKept = 8
	// latelySeconds is how long a run is remembered.
	latelySeconds = 3600
	// livedSeconds after its last near miss a run has lived through it, whatever ends it then.
	livedSeconds = 60
	// livedDepth of the least that was ever given back: with less there is no experience.
	livedDepth = 0.75
)

// keep takes a run that ended in place of the oldest. died: for want of memory, so that what was lived
// through before by runs like it says nothing.
func (l *lately) keep(p *proc, died bool, now float64) {
	peak := p.peak.most()
	if p.process.Command == "" || math.IsInf(peak.value, -1) {
		return
	}
	oldest := 0
	for i := range l {
		if l[i].user == p.process.User && l[i].command == p.process.Command {
			oldest = i
			break
		}
		if l[i].at < l[oldest].at {
			oldest = i
		}
	}
	r := &l[oldest]
	if r.user != p.process.User || r.command != p.process.Command {
		*r = lastRun{user: p.process.User, command: p.process.Command}
	}
	r.peak, r.at, r.died = peak, now, died
	if p.seen-p.series.PeakTime >= livedSeconds { // else it was stopped while it grew
		r.held = max(r.held, p.series.Peak)
	}
	switch c := p.close; {
	case died:
		r.held = 0
		for i := range l {
			if likeRun(p.process, &l[i]) {
				l[i].lived = closeCalls{}
			}
		}
	case c.count > 0 && p.seen-c.last >= livedSeconds:
		r.lived.add(now, c.count, c.shallowest)
	}
}

// likeRun: the trials of a sweep differ in numbers.
func likeRun(p *sampler.Process, r *lastRun) bool {
	return r.user == p.User && withoutDigits(r.command) == withoutDigits(p.Command)
}

// livedThrough says whether runs like it have come as near to the limit as a process has, as often, and went
// on: of as many times more, one would be the first to fail in less than half of the cases.
func (l *lately) livedThrough(p *proc, now float64) bool {
	var lived closeCalls
	for i := range l {
		if r := &l[i]; r.lived.count > 0 && now-r.at <= latelySeconds && likeRun(p.process, r) {
			lived.add(r.at, r.lived.count, r.lived.shallowest)
		}
	}
	return p.close.count > 0 && p.close.count <= lived.count && p.close.shallowest >= livedDepth*lived.shallowest
}

// reached says whether an earlier run of a process has held as much as that does now, stayed there and ended well: it grows again as it did.
func (l *lately) reached(p *proc, now float64) bool {
	return slices.ContainsFunc(l[:], func(r lastRun) bool {
		return r.command != "" && r.command == p.process.Command && r.user == p.process.User && now-r.at <= latelySeconds && p.series.Value <= r.held*(1+climbMargin)
	})
}

// recall gives a new process the peak of its last run.
func (l *lately) recall(p *proc, now float64) {
	for i := range l {
		if r := &l[i]; r.command != "" && r.command == p.process.Command && r.user == p.process.User && now-r.at <= latelySeconds {
			p.peak.now = r.peak
		}
	}
}
