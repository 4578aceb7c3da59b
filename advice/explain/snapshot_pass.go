package explain

import (
	"maps"
	"slices"

	"nvpeak/sampler"
)

// besides is the line of an unusual rise that comes from another loop than that of the steps before: one batch
// would have come by the same way, or asked for more at once.
func (f *facts) besides() (sampler.TorchLine, bool) {
	if l, ok := f.spiking(); ok && l.Caller != "" && l.Validation == "" && l.Blocks >= keptBlocks {
		return l, true
	}
	if l, ok := f.moreOfSame(); ok {
		return l, true
	}
	return f.newPass()
}

// sameRise times the largest rise before is what one more batch adds where there is little room. Of blocks of at most
// sameBlock times the largest before there are more than ever, then.
const (
	sameRise  = 1.2
	sameBlock = 1.25
)

// moreOfSame is a rise of the model's lines that comes from elsewhere than those before, in more blocks and none larger:
// the graphs of several batches. It is the line that rose most, where all of them hold a fifth of all.
func (f *facts) moreOfSame() (best sampler.TorchLine, ok bool) {
	if f.snapshot == nil || f.snapshot.Trace == nil || f.snapshot.Trace.OOM == nil {
		return best, false
	}
	sum := sampler.Bytes(0)
	for _, l := range f.snapshot.Trace.Lines {
		more := l.Cycles >= spikeCycles && l.Usual > 0 && float64(l.Rise) > sameRise*float64(l.Usual) && l.Blocks >= keptBlocks
		if !more || l.Caller == "" || l.Validation != "" || float64(l.Rise) > sameBlock*float64(l.Largest)*float64(l.Blocks) {
			continue
		}
		sum += l.Rise
		if l.Rise > best.Rise {
			best = l
		}
	}
	return best, sum*5 > f.live()
}

// newPass is a pass of the model that comes from a line that had not run before, or through lines that had not, and takes
// more than any step took: it is the line that rose most. What runs without a graph gives back a block of a line when it
// makes the next one; such a pass has several of each. Larger blocks may be what the holes are too small for, where they
// had room for two.
func (f *facts) newPass() (best sampler.TorchLine, ok bool) {
	if f.snapshot == nil || f.snapshot.Trace == nil || f.snapshot.Trace.OOM == nil {
		return best, false
	}
	t := f.snapshot.Trace
	type group struct {
		best        sampler.TorchLine
		rise, usual sampler.Bytes
		blocks      int
		larger      bool
	}
	groups, quiet, largest := map[string]*group{}, sampler.Bytes(0), sampler.Bytes(0)
	for _, l := range t.Lines {
		if l.Module && l.Cycles >= spikeCycles {
			largest = max(largest, l.Largest)
			if 2*l.Rise < l.Usual {
				quiet += l.Usual // of the pass that runs in the steps
			}
		}
	}
	for _, l := range t.Lines {
		known := l.Cycles == 0 || l.Cycles >= spikeCycles
		if l.Caller == "" || l.Validation != "" || l.Generation || !l.Module || l.Blocks < 2 || !known {
			continue
		}
		g := groups[l.Caller]
		if g == nil {
			g = &group{}
			groups[l.Caller] = g
		}
		before := l.Largest
		if l.Cycles == 0 {
			before = largest
			g.usual = max(g.usual, quiet)
		}
		g.rise, g.usual, g.blocks = g.rise+l.Rise, g.usual+l.Usual, g.blocks+l.Blocks
		g.larger = g.larger || float64(l.Rise) > sameBlock*float64(before)*float64(l.Blocks)
		if l.Rise > g.best.Rise {
			g.best = l
		}
	}
	for _, where := range slices.Sorted(maps.Keys(groups)) {
		g := groups[where]
		more := g.usual > 0 && float64(g.rise+t.OOM.Requested) > sameRise*float64(g.usual) && g.blocks >= keptBlocks && g.rise*5 > f.live()
		if more && !(g.larger && f.inHoles() && f.roomForTwo()) && g.best.Rise > best.Rise {
			best = g.best
		}
	}
	return best, best.Rise > 0
}
