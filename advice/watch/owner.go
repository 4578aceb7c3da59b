package watch

import (
	"math"
	"slices"

	"nvpeak/sampler"
)

// ownerOf finds the GPU, and the process if it is known, of a failure that a text told of at a time. The number of a GPU in it is as the program
// counts those that it can see. literal: nothing tells which that is, so it is taken for that of nvidia-smi, if nothing says it is not.
func (w *Watch) ownerOf(e sampler.OOMEvent, at float64) (found *gpu, proc *proc, literal bool) {
	if e.MemoryKind == sampler.MemoryHost {
		return nil, nil, false
	}
	if pid, ok := e.PID.Value(); ok {
		if g, p := w.withPID(pid, e); p != nil {
			return g, p, false
		}
	}
	if len(w.gpus) == 1 {
		return w.gpus[0], w.gpus[0].only(), false
	}
	n, ok := e.GPUIndex.Value()
	if !ok || n < 0 {
		g, p := w.ofRank(e)
		return g, p, false
	}
	if g, p := w.refusedThere(e, at); g != nil {
		return g, p, false
	}
	numbered := w.numbered(n, e)
	for _, u := range numbered {
		switch {
		case found == nil:
			found, proc = u.gpu, u.proc
		case found != u.gpu:
			return nil, nil, false // several could be meant
		default:
			proc = found.only()
		}
	}
	if found != nil {
		return found, proc, false
	}
	for _, g := range w.gpus {
		if g.last.Index == n && g.last.MIG == nil && !remapped(w.gpus) && sameSize(g, e) {
			return g, g.only(), true
		}
	}
	return nil, nil, false
}

// withPID finds a process; on several GPUs, the one the message may mean.
func (w *Watch) withPID(pid int, e sampler.OOMEvent) (found *gpu, proc *proc) {
	for _, g := range w.gpus {
		for _, p := range g.procs {
			if p.pid != pid || !sameSize(g, e) {
				continue
			}
			if proc == nil || e.GPUIndex == sampler.Some(w.numberOf(g, p)) {
				found, proc = g, p
			}
		}
	}
	return found, proc
}

// ofRank finds the one process that has the rank of a text, and its GPU; nil: there is none, or it is on several, or several have it.
func (w *Watch) ofRank(e sampler.OOMEvent) (found *gpu, proc *proc) {
	for _, g := range w.gpus {
		for _, p := range g.procs {
			switch {
			case !e.Rank.Known() || p.process.Rank() != e.Rank || !sameSize(g, e):
			case proc != nil:
				return nil, nil
			default:
				found, proc = g, p
			}
		}
	}
	return found, proc
}

// refusedThere is where the driver has refused what a text tells of, and the process if it is there still; nil: it has not, or to several that
// count in another way.
func (w *Watch) refusedThere(e sampler.OOMEvent, at float64) (*gpu, *proc) {
	var best, other Death
	several := false
	for d := range w.refusals() {
		g := w.find(d.Key)
		switch {
		case g == nil || !sameSize(g, e) || !d.meant(e, at):
		case d.number == e.GPUIndex.Or(-1):
			if best.PID == 0 || d.nearer(&best, &e, at) {
				best = d
			}
		default:
			several = several || other.PID != 0 && !other.same(&d)
			other = d
		}
	}
	if best.PID == 0 && !several {
		best = other
	}
	if best.PID == 0 {
		return nil, nil
	}
	g := w.find(best.Key)
	return g, g.withPID(best.PID)
}

// use is a GPU and one of its processes.
type use struct {
	gpu  *gpu
	proc *proc
}

// numbered are the processes that call their GPU so, as far as their environment is known, and the GPUs; where some of them hold what a text says, those.
func (w *Watch) numbered(n int, e sampler.OOMEvent) (list []use) {
	ordinals := w.ordinals()
	for _, g := range w.gpus {
		for _, p := range g.procs {
			if at, known := ordinals.Number(p.process, g.last.Key()); known && at == n && sameSize(g, e) {
				list = append(list, use{g, p})
			}
		}
	}
	own, known := sampler.Plausible(e.ProcessInUse)
	holds := func(u use) bool { return math.Abs(u.proc.series.Value-own.MiB()) <= inUseOff*own.MiB() }
	if known && slices.ContainsFunc(list, holds) {
		list = slices.DeleteFunc(list, func(u use) bool { return !holds(u) })
	}
	return list
}

// inUseOff is by what part of it what a process says that it uses may differ from what the driver listed last.
const inUseOff = 0.1

// ordinals are how programs count the GPUs.
func (w *Watch) ordinals() sampler.Ordinals {
	s := sampler.Snapshot{}
	for _, g := range w.gpus {
		s.GPUs = append(s.GPUs, *g.last)
	}
	return sampler.NewOrdinals(&s)
}

// numberOf is what a process calls a GPU that it uses; where nobody knows, what nvidia-smi does.
func (w *Watch) numberOf(g *gpu, p *proc) int {
	ordinals := w.ordinals()
	if n, known := ordinals.Number(p.process, g.last.Key()); known {
		return n
	}
	return g.last.Index
}

// remapped says whether some process sees the GPUs in another order.
func remapped(gpus []*gpu) bool {
	for _, g := range gpus {
		for _, p := range g.procs {
			if p.process.Environment["CUDA_VISIBLE_DEVICES"] != "" {
				return true
			}
		}
	}
	return false
}

// sameSize says whether the size in the message can be that of the GPU: the two differ
// by what the driver reserves, never by a tenth.
func sameSize(g *gpu, e sampler.OOMEvent) bool {
	t, ok := sampler.Plausible(e.GPUTotal)
	return !ok || g.total == 0 || (t.MiB() < g.total*1.1 && t.MiB() > g.total*0.9)
}
