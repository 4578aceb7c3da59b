package demo

import (
	"math"
	"strconv"

	"nvpeak/sampler"
)

// Host is the machine in which the scripted GPUs are.
type Host struct{ source *Source }

var _ sampler.Host = (*Host)(nil)

// Host is the machine of this scenario, with the same clock.
func (s *Source) Host() *Host { return &Host{source: s} }

// Name is the name of the machine.
func (h *Host) Name() string { return h.source.host }

// Identify fills in who the scripted processes are. Pids that no script knows are
// left as they are.
func (h *Host) Identify(ps []sampler.Process) {
	t := h.source.now()
	for i := range ps {
		if a, run, ok := h.source.find(ps[i].PID, t); ok {
			a.identify(&ps[i], h.source, run, t)
		}
	}
}

// find is the actor that has the pid at t, or had it in the run that ended last.
func (s *Source) find(pid int, t float64) (*actor, uint64, bool) {
	if a := s.byPID[pid]; a != nil {
		_, alive := a.job.life.at(t)
		return a, 0, alive
	}
	for _, a := range s.repeats {
		m, _ := a.job.life.at(t)
		if r, ok := a.runOf(pid); ok {
			if now := m.N % pidRuns; r == now || r+1 == now {
				return a, m.N - (now - r), true
			}
		}
	}
	return nil, 0, false
}

func (a *actor) identify(p *sampler.Process, s *Source, run uint64, t float64) {
	j := a.job
	p.StartTime = sampler.Some(a.start(s.epoch, run))
	p.User, p.Command, p.Visible = j.user, a.command, true
	p.Name = a.name
	p.Environment = a.environment // shared: what a snapshot holds is never changed
	if j.container != "" {
		p.Container = sampler.Some(j.container)
	}
	if j.framework != "" {
		p.Framework = sampler.Some(j.framework)
	}
	if j.launcher != "" && run == 0 {
		p.Parents = []sampler.Parent{{PID: j.pid - 1, Name: j.launcher}}
		p.Launch = j.launcher + " " + strconv.Itoa(j.pid-1)
	}
	if m, alive := j.life.at(t); !alive || m.N != run {
		return // it has gone between the list and this question
	}
	p.HostMemory = sampler.Some(pages(a.resident(t)))
	cpu := j.cpu * (0.25 + 0.75*a.share(t)/100) * (0.94 + 0.1*chance(uint64(a.pid), uint64(t)))
	p.CPU = sampler.Some(math.Floor(cpu*10) / 10)
}

// resident is the host memory of the process in GiB: it comes with the first
// seconds of its life and grows as the script says.
func (a *actor) resident(t float64) float64 {
	m, alive := a.job.life.at(t)
	if !alive {
		return 0
	}
	come := min(1, 0.2+m.T/8)
	return a.job.hostGiB*come + a.job.growthGiB*m.T/3600
}

// Memory of the machine: the system, the processes on the GPUs and their helpers.
func (h *Host) Memory() sampler.Opt[sampler.HostMemory] {
	s := h.source
	t := s.now()
	used := s.script.systemGiB + 0.6*chance(11, uint64(t/4))
	for i := range s.devices {
		for _, a := range s.devices[i].actors {
			if r := a.resident(t); r > 0 {
				// Prefetched batches come and go with the load.
				used += r + a.job.workersGiB*(0.8+0.2*a.share(t)/100)
			}
		}
	}
	total := pages(s.script.hostGiB)
	return sampler.Some(sampler.HostMemory{Total: total, Available: total.Less(pages(used))})
}

// pages rounds GiB down to whole 4 KiB pages.
func pages(gib float64) sampler.Bytes {
	return sampler.Bytes(max(0, gib)*float64(sampler.GiB)) &^ 4095
}
