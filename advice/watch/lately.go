package watch

import "math"

// lately remembers what runs that ended have needed at most: a job that is started again, by the
// same user with the same command, will need it again.
type lately [latelyKept]lastRun

type lastRun struct {
	user, command string
	peak          peakAt
	at            float64 // when it ended
}

const (
	latelyKept = 8
	// latelySeconds is how long a run is remembered.
	latelySeconds = 3600
)

// keep takes a run that ended in place of the oldest.
func (l *lately) keep(p *proc, now float64) {
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
	l[oldest] = lastRun{p.process.User, p.process.Command, peak, now}
}

// recall gives a new process the peak of its last run.
func (l *lately) recall(p *proc, now float64) {
	for i := range l {
		if r := &l[i]; r.command != "" && r.command == p.process.Command && r.user == p.process.User && now-r.at <= latelySeconds {
			p.peak.now = r.peak
		}
	}
}
