package watch

import "strings"

// job is the process of a GPU that most likely asks for more: the one that has held most. What a desktop holds
// is no job. nil: there is none.
func (g *gpu) job() (most *proc) {
	for _, p := range g.procs {
		if p.tick == g.tick && p.series.Peak >= neighborLeast && (most == nil || p.series.Peak > most.series.Peak) {
			most = p
		}
	}
	return most
}

// jobName is what the ranks of a job have in common: who runs it, and the command without the numbers that may
// differ. It is that of a process, or of the GPU's job.
func (g *gpu) jobName(pid int) string {
	p := g.withPID(pid)
	if p == nil {
		p = g.job()
	}
	if p == nil {
		return ""
	}
	return p.process.User + " " + withoutDigits(p.process.Command)
}

func withoutDigits(command string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, command)
}

// strangers is how much of a GPU is not the job's: of other processes that are listed, and of none that the
// driver names, where it names some and that is worth a search.
func (g *gpu) strangers(job *proc) (listed, hidden float64) {
	for _, q := range g.procs {
		if q != job && q.tick == g.tick && (job == nil || !g.ofJob(job, q)) {
			listed += q.series.Value
		}
	}
	if u, ok := g.unattributed(); ok && g.listed && u >= max(orphanLeast, orphanShare*g.total) {
		hidden = u
	}
	return listed, hidden
}

// spikingTop of its peak: the spikes are what makes it.
const spikingTop = 0.9

// spiking says whether the peak of a process is a spike that comes again and gives back that many MiB: a
// validation, whatever the process does at this moment.
func (g *gpu) spiking(p *proc, now, least float64) bool {
	if p == nil {
		return false
	}
	b, ok := p.series.Bursts(now)
	return ok && b.Brief() && b.High >= least && b.Most >= spikingTop*p.peak.most().value
}
