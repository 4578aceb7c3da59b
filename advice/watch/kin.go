package watch

import (
	"slices"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// ofJob says whether what two processes of the GPU hold is of one job: ranks, what one launcher has started, a process and what comes from it, or
// workers of one program. What a shell or a service has started is not.
func (g *gpu) ofJob(p, q *proc) bool {
	a, b := p.process, q.process
	return sameJob(p, q) || a.Launch != "" && a.Launch == b.Launch || comesFrom(p, q) || comesFrom(q, p) || g.workers(a, b)
}

// sessions are what unrelated programs come from.
var sessions = []string{"systemd", "init", "sshd", "tmux: server", "screen", "login", "cron", "slurmstepd", "containerd-shim", "dockerd", "conmon"}

// comesFrom says whether another process that computes on the GPU has started this one, by itself or through others. A terminal and a desktop draw.
func comesFrom(p, from *proc) bool {
	if !strings.Contains(from.process.Type, "compute") || started(p, from) {
		return false
	}
	for _, up := range p.process.Parents {
		if slices.Contains(sessions, up.Name) {
			return false
		}
		if up.PID == from.pid {
			return true
		}
	}
	return false
}

// foldHanded notes who was refused memory and has begun another process since that holds some, on whatever GPU: the work goes on there.
func (w *Watch) foldHanded() {
	for _, g := range w.gpus {
		for _, p := range g.procs {
			a := &p.asking
			if !a.heard || !a.pending() || w.clock.Now-a.tried > deathSeconds {
				continue
			}
			if slices.ContainsFunc(w.gpus, func(h *gpu) bool {
				return slices.ContainsFunc(h.procs, func(q *proc) bool {
					return q.first >= a.tried && !q.asking.pending() && max(series.Bytes(q.series.Value), q.asking.asked.Live) > 0 && comesFrom(q, p)
				})
			}) {
				a.handed = a.tried
			}
		}
	}
}

// started says whether p is known to have been there before q.
func started(p, q *proc) bool {
	a, ok := p.start.Value()
	b, known := q.start.Value()
	return ok && known && a.Before(b)
}

// workers says whether two processes are of one program, which another one has started: that computes on the GPU as well, or runs Python, as what
// starts processes in frameworks does. A notebook server does so for each of its notebooks.
func (g *gpu) workers(a, b *sampler.Process) bool {
	if len(a.Parents) == 0 || len(b.Parents) == 0 || a.User != b.User || a.Command == "" || withoutDigits(a.Command) != withoutDigits(b.Command) || strings.Contains(a.Command, "ipykernel") {
		return false
	}
	up := a.Parents[0]
	if up.PID != b.Parents[0].PID || up.PID <= 1 {
		return false
	}
	return strings.HasPrefix(up.Name, "python") || strings.HasPrefix(up.Name, "pt_") || slices.ContainsFunc(g.procs, func(q *proc) bool {
		return q.pid == up.PID && strings.Contains(q.process.Type, "compute")
	})
}

// kin is another process of the job, as it was when one was refused memory.
type kin struct {
	process *sampler.Process
	pid     int
	bytes   sampler.Bytes
}

// foldKin notes what else of its job is on the GPU when a process is refused memory: a launcher may end all of it before its end is seen.
func (g *gpu) foldKin() {
	for _, p := range g.procs {
		a := &p.asking
		if !a.heard || a.refusal.Tries == 0 || a.kinAt == a.tried {
			continue
		}
		a.kin, a.kinAt = nil, a.tried
		for _, q := range g.procs {
			if q == p || q.seen < a.tried-kinSeconds || !g.ofJob(p, q) {
				continue
			}
			if n := max(series.Bytes(q.series.Value), q.asking.asked.Live); n > 0 {
				a.kin = append(a.kin, kin{q.process, q.pid, n})
			}
		}
	}
}

// kinSeconds: processes are listed once a second.
const kinSeconds = 1.5

// withKin adds those of the job that were there when the process was refused memory, and are not listed any more.
func (a *asking) withKin(list []explain.Neighbor) []explain.Neighbor {
	for _, k := range a.kin {
		if !slices.ContainsFunc(list, func(o explain.Neighbor) bool { return o.PID == k.pid }) {
			list = append(list, explain.Neighbor{PID: k.pid, Bytes: k.bytes, Name: k.process.Name, User: k.process.User, Command: k.process.Command, Same: true})
		}
	}
	return list
}
