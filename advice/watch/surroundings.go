package watch

import (
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// ageOf is how long a process has been running, in seconds.
func ageOf(p *proc, clock *series.Clock) float64 {
	if began, ok := p.start.Value(); ok {
		return clock.Last.Sub(began).Seconds()
	}
	return clock.Now - p.first
}

// peersOf is what the other processes of a job, or the process itself on other GPUs, usually hold
// there, and have held at most in the last third of the time.
func peersOf(gpus []*gpu, own *gpu, p *proc) (usual, most []sampler.Bytes) {
	for _, g := range gpus {
		if g == own || g.total != own.total {
			continue
		}
		for _, q := range g.procs {
			if q.pid == p.pid || sameJob(p, q) {
				peaks := q.series.Peaks()
				usual = append(usual, explain.Usual(peaks))
				if n := len(peaks); n > 0 {
					most = append(most, slices.Max(peaks[n-max(1, n/3):]))
				}
			}
		}
	}
	return usual, most
}

// mostOnHost is the process of a GPU that holds most host memory, and how much in MiB.
func mostOnHost(gpus []*gpu) (most *proc, held float64) {
	for _, g := range gpus {
		for _, p := range g.procs {
			if m, ok := sampler.Plausible(p.process.HostMemory); ok && m.MiB() > held {
				most, held = p, m.MiB()
			}
		}
	}
	return most, held
}

// hostIncident is what is known of a failure for host memory: the process that holds most of it,
// how much that has grown, and how much the machine lost.
func hostIncident(gpus []*gpu, h *host) explain.Incident {
	in := explain.Incident{}
	most, held := mostOnHost(gpus)
	if most == nil || !h.known {
		return in
	}
	in.Command, in.Environment = most.process.Command, most.process.Environment
	in.History = &explain.History{
		HostGrown: sampler.Some(series.Bytes(max(0, held-most.hostFirst))),
		HostLost:  sampler.Some(series.Bytes(max(0, h.most-h.memory.Available.MiB()))),
	}
	return in
}
