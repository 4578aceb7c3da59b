package watch

import (
	"math"
	"slices"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// needs are the needs that are known without guessing.
type needs struct {
	typed   sampler.Opt[sampler.Bytes]
	refused []refusal // newest last
}

// refusal is a request that an allocator was refused.
type refusal struct {
	bytes   sampler.Bytes
	gpu     sampler.GPUKey
	pid     int    // 0: not known
	command string // of the process that asked, "" when not known
	at      float64
}

const (
	maxRefusals = 16
	// refusalSeconds is how long a refused request stays a need when nothing is known of
	// the program that made it.
	refusalSeconds = 3600
	// refusedWindow is the window of the lowest free memory for a refused request: the
	// minute before would still show the process that has died of it.
	refusedWindow = 8
	// restartSeconds is how long the same command may take to come back.
	restartSeconds = 24 * 3600
)

// set takes the need that was typed; one that cannot be is none.
func (n *needs) set(need sampler.Opt[sampler.Bytes]) {
	if b, ok := need.Value(); ok && (b == 0 || b >= sampler.MaxPlausible) {
		need = sampler.Opt[sampler.Bytes]{}
	}
	n.typed = need
}

// refuse takes a request that was refused for good.
func (n *needs) refuse(r refusal) {
	n.refused = append(n.refused, r)
	if len(n.refused) > maxRefusals {
		n.refused = slices.Delete(n.refused, 0, 1)
	}
}

// fold forgets refusals that are too old to say something about what runs now.
func (n *needs) fold(now float64) {
	if len(n.refused) == 0 {
		return
	}
	n.refused = slices.DeleteFunc(n.refused, func(r refusal) bool {
		limit := float64(refusalSeconds)
		if r.command != "" {
			limit = restartSeconds
		}
		return now-r.at > limit
	})
}

// of is the need to compare a GPU with: what was typed, else the last request refused on
// it to a program that still runs there (or, when it is not known who asked, of late). Where
// no program can run there is none.
func (n *needs) of(g *gpu) (Need, bool) {
	if !g.runs() {
		return Need{}, false
	}
	if b, ok := n.typed.Value(); ok {
		return Need{Bytes: b, Source: NeedTyped}, true
	}
	for i := len(n.refused) - 1; i >= 0; i-- {
		r := n.refused[i]
		if r.gpu != g.key {
			continue
		}
		need := Need{Bytes: r.bytes, Source: NeedRefused, GPU: sampler.Some(g.last.Index)}
		if r.command == "" {
			return need, true
		}
		for _, p := range g.procs {
			if p.tick == g.tick && p.process.Command == r.command {
				need.PID = sampler.Some(p.pid)
				return need, true
			}
		}
		return Need{}, false
	}
	return Need{}, false
}

// fit is what was asked for against a GPU, with who holds its memory.
func (n *needs) fit(g *gpu, now float64) Fit {
	f := n.asked(g, now)
	if f.Need.Known() {
		f.Holders = Holders(*g.last, own(f.Need))
	}
	return f
}

// arithmetic is what a GPU has for its need: the one that was asked for, else the largest jump that came back.
func (n *needs) arithmetic(g *gpu, now float64) Fit {
	f := n.asked(g, now)
	if f.Need.Known() {
		return f
	}
	if need, ok := g.largestJump(now); ok {
		// The worst free memory is that of the last such jump itself: what counts is what
		// there is between them.
		f.WorstFree = sampler.Some(series.Bytes(g.settledFree(now)))
		f.compare(g, need)
		if f.Short.MiB() <= g.total*jumpSlack {
			f.Short = 0
		}
	}
	return f
}

// asked is what a GPU has for what was typed, refused or requested.
func (n *needs) asked(g *gpu, now float64) Fit {
	f := Fit{GPU: g.last.Index, UUID: g.last.UUID, Label: g.last.Label(), MIG: g.last.MIG != nil, Instance: g.last.MIG, Total: g.last.Memory.PlausibleTotal(), Free: g.last.Memory.PlausibleFree()}
	need, ok := n.of(g)
	low := math.NaN()
	if !ok {
		need, low, ok = g.requested(now)
	}
	window := float64(lowestSeconds)
	if need.Source == NeedRefused {
		window = refusedWindow
	}
	if v := g.lowest.last(now, window); v == v && !g.last.Silent() { // of a GPU that gives nothing now, it was
		f.WorstFree = sampler.Some(series.Bytes(v))
	}
	if low == low {
		f.WorstFree = sampler.Some(series.Bytes(low))
	}
	if ok {
		f.compare(g, need)
	}
	return f
}

// compare sets a need against the worst free memory.
func (f *Fit) compare(g *gpu, need Need) {
	f.Need = sampler.Some(need)
	f.Reusable = g.reusable(need)
	f.Short = short(need.Bytes, f.WorstFree, f.Reusable.Or(0))
}

// jumpSlack is the part of the GPU that a jump may lack: jumps differ by that much.
const jumpSlack = 0.005

// reusable is what the process that needs memory has free in its own allocator. Without
// knowing who asks it is that of the only process that reports one.
func (g *gpu) reusable(n Need) sampler.Opt[sampler.Bytes] {
	var found sampler.Opt[sampler.Bytes]
	for _, p := range g.procs {
		a := p.process.Allocator
		if a == nil || a.Reserved >= sampler.MaxPlausible || n.PID.Known() && n.PID.Or(0) != p.pid {
			continue
		}
		if found.Known() {
			return sampler.Opt[sampler.Bytes]{}
		}
		found = sampler.Some(a.Reserved.Less(a.Allocated).Less(a.InactiveSplit))
	}
	return found
}

// largestJump is the largest amount that a process of the GPU took at once, gave back,
// and may ask for again.
func (g *gpu) largestJump(now float64) (Need, bool) {
	best, pid := 0.0, 0
	for _, p := range g.procs {
		if pt, ok := p.series.Pattern(now, g.total); ok && pt.High > best {
			best, pid = pt.High, p.pid
		}
	}
	if pt, ok := g.rest.Pattern(now, g.total); ok && !g.listed && pt.High > best {
		best, pid = pt.High, 0
	}
	if best <= 0 {
		return Need{}, false
	}
	n := Need{Bytes: series.Bytes(best), Source: NeedJump, GPU: sampler.Some(g.last.Index)}
	if pid != 0 {
		n.PID = sampler.Some(pid)
	}
	return n, true
}

// own is the need of a GPU's holder, if it is known whose it is.
func own(n sampler.Opt[Need]) sampler.Opt[int] {
	if v, ok := n.Value(); ok {
		return v.PID
	}
	return sampler.Opt[int]{}
}
