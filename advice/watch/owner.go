package watch

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// ownerOf finds the GPU, and the process if it is known, of a failure. The index that a
// message prints is the CUDA ordinal, so it counts only when nothing remaps it.
func ownerOf(gpus []*gpu, e sampler.OOMEvent) (*gpu, *proc) {
	if e.MemoryKind == sampler.MemoryHost {
		return nil, nil
	}
	if pid, ok := e.PID.Value(); ok {
		if g, p := withPID(gpus, pid, e); p != nil {
			return g, p
		}
	}
	if len(gpus) == 1 {
		return gpus[0], gpus[0].only()
	}
	n, ok := e.GPUIndex.Value()
	if !ok || n < 0 {
		return nil, nil
	}
	if g, p := withOrdinal(gpus, n, e); g != nil {
		return g, p
	}
	for _, g := range gpus {
		if g.last.Index == n && g.last.MIG == nil && !remapped(gpus) && sameSize(g, e) {
			return g, g.only()
		}
	}
	return nil, nil
}

// withPID finds a process; on several GPUs, the one the message may mean.
func withPID(gpus []*gpu, pid int, e sampler.OOMEvent) (found *gpu, proc *proc) {
	for _, g := range gpus {
		for _, p := range g.procs {
			if p.pid != pid || !sameSize(g, e) {
				continue
			}
			if n, ok := visibleOrdinal(p.process.Environment, g.last.Index); proc == nil || ok && n == e.GPUIndex.Or(-1) {
				found, proc = g, p
			}
		}
	}
	return found, proc
}

// withOrdinal finds the only GPU that some process numbers n; none when several do.
func withOrdinal(gpus []*gpu, n int, e sampler.OOMEvent) (found *gpu, proc *proc) {
	for _, g := range gpus {
		for _, p := range g.procs {
			at, ok := visibleOrdinal(p.process.Environment, g.last.Index)
			if !ok || at != n || !sameSize(g, e) {
				continue
			}
			if found != nil {
				return nil, nil
			}
			found, proc = g, p
		}
	}
	return found, proc
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

// visibleOrdinal is the number that a process gives to a GPU:
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
func visibleOrdinal(env map[string]string, index int) (int, bool) {
	list, ok := env["CUDA_VISIBLE_DEVICES"]
	if !ok {
		return 0, false
	}
	for n, word := range strings.Split(list, ",") {
		if i, err := strconv.Atoi(strings.TrimSpace(word)); err == nil && i == index {
			return n, true
		}
	}
	return 0, false
}
