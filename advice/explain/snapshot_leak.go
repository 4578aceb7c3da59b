package explain

import (
	"slices"

	"nvpeak/sampler"
)

// leakShare: growth of less than a fiftieth of all, and of less than 1 GiB, killed nothing, unless it is a slow leak.
const leakShare = 50

// slowSteps in which a line kept slowLeast or more, without which the request had fitted: a slow leak that has come to
// the limit, however much else is there.
const (
	slowSteps = 20
	slowLeast = 32 * sampler.MiB
)

// leaking is the line that grew most from step to step.
func (f *facts) leaking() (sampler.TorchLine, bool) {
	best, most := sampler.TorchLine{}, sampler.Bytes(0)
	if f.snapshot == nil || f.snapshot.Trace == nil {
		return best, false
	}
	k, keeps := f.keeper()
	for _, l := range f.snapshot.Trace.Lines {
		inSteps := f.snapshot.Trace.Steps > 0 || keeps && l.Requests%k.Requests == 0
		if size, _ := f.kept(l); size > most && (l.Validation == "" || f.keepsInSteps(l.TorchSite)) && !l.Optimizer && (inSteps || !f.named()) {
			best, most = l, size
		}
	}
	slow := f.snapshot.Trace.Steps >= slowSteps && best.Grown >= slowLeast && (f.fitsWithout(best) || !f.inHoles() && f.explains(best))
	return best, most > 0 && (most*leakShare > f.live() || most >= sampler.GiB || slow)
}

// named: the history has lines. One without tells growth only.
func (f *facts) named() bool {
	return slices.ContainsFunc(f.snapshot.Trace.Lines, func(l sampler.TorchLine) bool { return l.File != "" })
}

const (
	keeperBlocks = 8 // fewer may be chance
	keeperMost   = sampler.MiB
)

// keeper is a line outside of the model that makes one small block each step and never gives it back, such as a loss
// that is kept with its graph: the one with the most.
func (f *facts) keeper() (best sampler.TorchLine, ok bool) {
	if f.snapshot == nil || f.snapshot.Trace == nil {
		return best, false
	}
	for _, l := range f.snapshot.Trace.Lines {
		once := l.Blocks == l.Requests && l.Blocks >= keeperBlocks && l.Grown > 0 && l.Live <= keeperMost*sampler.Bytes(l.Blocks)
		if once && !f.runsModel(l) && !l.Optimizer && l.Validation == "" && (f.snapshot.Trace.Steps == 0 || f.oneEachStep(l)) && l.Blocks > best.Blocks {
			best = l
		}
	}
	return best, best.Blocks > 0
}

// keepsInSteps: the line keeps one block of each step of the training. What validates by its name does not, then.
func (f *facts) keepsInSteps(s sampler.TorchSite) bool {
	if f.snapshot.Trace == nil {
		return false
	}
	i := slices.IndexFunc(f.snapshot.Trace.Lines, func(l sampler.TorchLine) bool { return sameSite(l.TorchSite, s) })
	if i < 0 {
		return false
	}
	l := f.snapshot.Trace.Lines[i]
	return l.Grown > 0 && l.Blocks >= keeperBlocks && f.oneEachStep(l)
}

// leakSteps are the steps of a leak: those of the history, or those that its keeper has made; 0: not known.
func (f *facts) leakSteps() int {
	if steps := f.snapshot.Trace.Steps; steps > 0 {
		return steps
	}
	k, _ := f.keeper()
	return k.Requests
}

// heldBy is what a line holds in all, with what was there before the history began.
func (f *facts) heldBy(l sampler.TorchLine) sampler.TorchHolder {
	for _, h := range f.holders() {
		if sameSite(h.TorchSite, l.TorchSite) && h.Bytes >= l.Grown {
			return h
		}
	}
	return sampler.TorchHolder{TorchSite: l.TorchSite, Bytes: max(l.Live, l.Grown), Blocks: l.Blocks}
}

const (
	evenBlocks = 100 // fewer of one size may be chance
	evenPart   = 8   // by which the mean of some may differ from that of others: a block may be larger than what was asked for
)

// kept is what a line has kept, and in how many steps; 0 steps: not known. A history shorter than the run shows the last
// of it only: where each step made one block that stayed, blocks of that size from before came one in each step too.
func (f *facts) kept(l sampler.TorchLine) (size sampler.Bytes, steps int) {
	if l.Grown == 0 {
		return 0, 0
	}
	h := f.heldBy(l)
	if f.oneEachStep(l) && h.Blocks > l.Blocks && h.Blocks >= evenBlocks {
		mean, seen := h.Bytes/sampler.Bytes(h.Blocks), l.Live/sampler.Bytes(l.Blocks)
		if max(mean, seen)-min(mean, seen) <= seen/evenPart {
			return h.Bytes, h.Blocks
		}
	}
	if l.Steps > 0 {
		return l.Grown, l.Steps
	}
	return l.Grown, f.leakSteps()
}

// oneEachStep: each step that was seen made one block, and none of them is gone.
func (f *facts) oneEachStep(l sampler.TorchLine) bool {
	steps := f.snapshot.Trace.Steps
	return steps > 0 && l.Blocks > 0 && l.Blocks == l.Requests && l.Blocks >= steps-1 && l.Blocks <= steps+1
}
