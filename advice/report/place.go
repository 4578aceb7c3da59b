package report

import (
	"cmp"
	"slices"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// LogFailure is a failure that a training log tells of.
type LogFailure struct {
	Event sampler.OOMEvent
	Time  sampler.Opt[time.Time] // absent: the log has no time there
	// Since and Until are the times of the lines around it that have one.
	Since, Until sampler.Opt[time.Time]
}

// Logged is told all failures of the log, before the recording: of one that the recording has, too, the log tells more.
func (r *Reporter) Logged(list []LogFailure) { r.logged = list }

// afterSnapshot puts a failure behind the last snapshot that shows the job alive.
const afterSnapshot = time.Millisecond

// PlaceFailures puts the failures of a log on the timeline of a recording that was read as
// an outline, oldest first; those with a time that lies outside of the recording are
// treated as having none. A failure without a time is put where its job ended, else at the
// end of the recording; one that the program survived is put at the peak.
func (r *Reporter) PlaceFailures(list []LogFailure) []LogFailure {
	var out []LogFailure
	for _, f := range list {
		at, ok := f.Time.Value()
		if !ok || at.Before(r.start.Add(-nearExit*time.Second)) || at.After(r.at.Add(nearExit*time.Second)) {
			at = r.placeOf(f)
		}
		f.Time = sampler.Some(at)
		if !slices.ContainsFunc(r.fails, func(known failed) bool { return known.tells(&f.Event) }) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b LogFailure) int { return a.Time.Or(r.at).Compare(b.Time.Or(r.at)) })
	return out
}

func (r *Reporter) placeOf(f LogFailure) time.Time {
	e := f.Event
	if e.Recovered {
		var top *Peak
		for _, c := range r.gpus {
			if c.peak != nil && (top == nil || c.peak.Bytes > top.Bytes) {
				top = c.peak
			}
		}
		if top != nil {
			return top.Time
		}
	}
	// A second is more than clocks and snapshots differ by on one machine.
	low, high := f.Since.Or(r.start).Add(-time.Second), f.Until.Or(r.at).Add(nearExit*time.Second)
	if low.After(r.at) || high.Before(r.start) {
		low, high = r.start, r.at
	}
	if x := r.endOf(e, low, high); x != nil {
		return x.Time.Add(afterSnapshot)
	}
	if at, ok := f.Since.Value(); ok && f.Until.Known() && !at.Before(r.start) && at.Before(r.at) {
		return at
	}
	return r.at.Add(afterSnapshot)
}

// endOf is the exit in a stretch of time that looks most like that of the job in a message.
func (r *Reporter) endOf(e sampler.OOMEvent, low, high time.Time) *exit {
	score := func(x *exit) float64 {
		s := x.Full
		if x.rose {
			s += 0.2
		}
		if pid, ok := e.PID.Value(); ok && pid == x.PID {
			s += 8
		}
		if n, ok := e.GPUIndex.Value(); ok && n == x.GPU {
			s += 0.5
		}
		if x.awaits(&e) {
			s++
		}
		if explain.Runs(x.process.Command, e.Context) {
			s += 4
		}
		if own := e.ProcessInUse.Or(e.Allocated.Or(0)); own > 0 && float64(x.Bytes) > 0.7*float64(own) && float64(x.Bytes) < 1.4*float64(own)+float64(2*sampler.GiB) {
			s += 2
		}
		return s
	}
	exits := slices.DeleteFunc(append(slices.Clone(r.exits), r.refusedAtEnd()...), func(x exit) bool { return x.Time.Before(low) || x.Time.After(high) })
	if len(exits) == 0 || r.alive(e) {
		return nil
	}
	x := slices.MaxFunc(exits, func(a, b exit) int { return cmp.Compare(score(&a), score(&b)) })
	return &x
}

// refusedAtEnd are those that the last snapshot lists and that wait for memory which the driver has refused them: a recording
// often ends with its job, before that is gone.
func (r *Reporter) refusedAtEnd() (list []exit) {
	for _, c := range r.gpus {
		for _, p := range c.gpu.Processes {
			x := r.exitOf(c, p)
			if x.awaits(&sampler.OOMEvent{}) {
				list = append(list, x)
			}
		}
	}
	return list
}

// awaits says whether the driver refused a process what a message may tell of, and nothing came of that.
func (x *exit) awaits(e *sampler.OOMEvent) bool {
	q := x.process.Requests
	return q != nil && q.Refusal != nil && q.Refusal.Outcome == sampler.RefusalOpen && q.ExitStatus.Or(1) != 0 && watch.MayTell(e, q.Refusal)
}

// alive says whether the process that a message names was still there at the end.
func (r *Reporter) alive(e sampler.OOMEvent) bool {
	pid, ok := e.PID.Value()
	if !ok {
		return false
	}
	for _, q := range r.procs {
		if q.PID == pid {
			return !q.ended(r.known(q.gpuKey))
		}
	}
	return false
}
