package watch

import (
	"strconv"
	"strings"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// owner finds the card, and the process if it is known, of a failure. The index that a
// message prints is the CUDA ordinal, so it counts only when nothing remaps it.
func (w *Watch) owner(e sampler.OOMEvent) (*card, *proc) {
	if e.MemoryKind == sampler.MemoryHost {
		return nil, nil
	}
	if pid, ok := e.PID.Value(); ok {
		if c, p := w.withPID(pid, e); p != nil {
			return c, p
		}
	}
	if len(w.cards) == 1 {
		return w.cards[0], w.cards[0].only()
	}
	n, ok := e.GPUIndex.Value()
	if !ok || n < 0 {
		return nil, nil
	}
	if c, p := w.withOrdinal(n, e); c != nil {
		return c, p
	}
	for _, c := range w.cards {
		if c.gpu.Index == n && c.gpu.MIG == nil && !w.remapped() && sameSize(c, e) {
			return c, c.only()
		}
	}
	return nil, nil
}

// withPID finds a process; on several cards, the one the message may mean.
func (w *Watch) withPID(pid int, e sampler.OOMEvent) (found *card, proc *proc) {
	for _, c := range w.cards {
		for _, p := range c.procs {
			if p.pid != pid || !sameSize(c, e) {
				continue
			}
			if n, ok := visibleOrdinal(p.process.Environment, c.gpu.Index); proc == nil || ok && n == e.GPUIndex.Or(-1) {
				found, proc = c, p
			}
		}
	}
	return found, proc
}

// withOrdinal finds the only card that some process numbers n; none when several do.
func (w *Watch) withOrdinal(n int, e sampler.OOMEvent) (found *card, proc *proc) {
	for _, c := range w.cards {
		for _, p := range c.procs {
			at, ok := visibleOrdinal(p.process.Environment, c.gpu.Index)
			if !ok || at != n || !sameSize(c, e) {
				continue
			}
			if found != nil {
				return nil, nil
			}
			found, proc = c, p
		}
	}
	return found, proc
}

// only is the process of a card that has one.
func (c *card) only() *proc {
	if len(c.procs) == 1 {
		return c.procs[0]
	}
	return nil
}

// remapped says whether some process sees the cards in another order.
func (w *Watch) remapped() bool {
	for _, c := range w.cards {
		for _, p := range c.procs {
			if p.process.Environment["CUDA_VISIBLE_DEVICES"] != "" {
				return true
			}
		}
	}
	return false
}

// sameSize says whether the size in the message can be that of the card: the two differ
// by what the driver reserves, never by a tenth.
func sameSize(c *card, e sampler.OOMEvent) bool {
	t, ok := sampler.Plausible(e.GPUTotal)
	return !ok || c.total == 0 || (series.MiB(t) < c.total*1.1 && series.MiB(t) > c.total*0.9)
}

// visibleOrdinal is the number that a process gives to a card:
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
