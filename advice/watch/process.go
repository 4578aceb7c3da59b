package watch

import (
	"math"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// proc is what is known of one process on one GPU.
type proc struct {
	pid     int
	start   sampler.Opt[time.Time]
	process *sampler.Process // newest snapshot, never changed
	first   float64          // when it was first listed
	seen    float64          // when it was last listed
	series  series.Series
	tick    uint64 // of the GPU, when it was last listed
	growing series.Growth
	peak    recentPeak // since its start-up
	close   closeCalls
	sweep   sweep
	swept   float64          // when the last of the runs had ended that it is of
	calm    float64          // seconds that it has computed since its newest record
	worked  float64          // seconds in which it used the GPU's processors
	settled bool             // its start is over, before its first minute is
	stepped sampler.Opt[int] // the first step that a log told of in its life
	dips    series.Dips
	logged  series.Kept // what a training log says that it has allocated

	retries   int     // of its allocator, newest
	retried   float64 // when they last rose; NaN: never
	retryRun  int     // retries since the first rise that is still recent
	refusals  int     // OOMs its allocator counted
	refused   float64 // when they last rose; NaN: never
	hostFirst float64 // MiB of host memory when first known; NaN: unknown
	asking    asking
	told      bool // that it died of a refused request
}

// is says whether p is the process q. A pid alone is not enough: pids are used again.
func (p *proc) is(q *sampler.Process) bool {
	if p.pid != q.PID {
		return false
	}
	old, ok := p.start.Value()
	now, known := q.StartTime.Value()
	if ok && known {
		return old.Equal(now)
	}
	return p.process.Command == q.Command && p.process.Name == q.Name
}

// establishedSeconds: a process that ran that long before it was first seen has its
// start-up behind it.
const establishedSeconds = 300

func newProc(q *sampler.Process, now float64, at time.Time) *proc {
	p := &proc{pid: q.PID, start: q.StartTime, process: q, first: now, seen: now,
		retried: math.NaN(), refused: math.NaN(), hostFirst: math.NaN()}
	began, ok := q.StartTime.Value()
	p.peak.reset(now)
	p.series.Start(now, ok && at.Sub(began).Seconds() >= establishedSeconds)
	if a := q.Allocator; a != nil {
		p.retries, p.refusals = a.Retries, a.OOMs
	}
	return p
}

// startSteps: by then algorithms are chosen and caches filled, unless shapes differ.
const startSteps = 10

// step takes a step that a log says is done: after so many of them the start is over.
func (p *proc) step(n int) {
	first, ok := p.stepped.Value()
	if !ok || n < first {
		p.stepped = sampler.Some(n)
		return
	}
	p.settled = p.settled || n-first >= startSteps
}

// foldAllocator takes the counters that the allocator inside the process reports.
func (p *proc) foldAllocator(now float64) {
	if h, ok := sampler.Plausible(p.process.HostMemory); ok && math.IsNaN(p.hostFirst) {
		p.hostFirst = h.MiB()
	}
	a := p.process.Allocator
	if a == nil {
		return
	}
	if a.Retries > p.retries {
		if !(now-p.retried < flushSpan) {
			p.retryRun = 0
		}
		p.retryRun += a.Retries - p.retries
		p.retried = now
	}
	if a.OOMs > p.refusals {
		p.refused = now
	}
	p.retries, p.refusals = a.Retries, a.OOMs
}

// Ranks of one job start within seconds of each other.
const jobSeconds = 15

// sameJob says whether two processes are ranks of one job: same user and command, started
// within seconds.
func sameJob(p, q *proc) bool {
	a, b := p.process, q.process
	if a.User != b.User || a.Name != b.Name || a.Command != b.Command {
		return false
	}
	s, ok := p.start.Value()
	t, known := q.start.Value()
	if ok && known {
		return s.Sub(t).Abs() <= jobSeconds*time.Second
	}
	return p.first-q.first <= jobSeconds && q.first-p.first <= jobSeconds
}
