package watch

import (
	"cmp"
	"math"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// unusedShare of its memory is free on a GPU that nobody uses.
const unusedShare = 0.9

// unused says whether nobody has used a GPU of late.
func (g *gpu) unused(now float64) bool {
	return g.lowest.last(now, lowestSeconds) >= unusedShare*g.total
}

// leaves is the least that there was free on a GPU: of late where nobody uses it, or else ever since it is watched, for spikes may
// be further apart, and a minute says nothing before it is over.
func (g *gpu) leaves(now float64) float64 {
	free := g.lowest.last(now, lowestSeconds)
	if g.unused(now) {
		return free
	}
	if now-g.first < lowestSeconds {
		return 0
	}
	if worst, known := sampler.Plausible(g.last.Memory.WorstFree); known {
		return min(free, worst.MiB())
	}
	return free
}

// wants is the process that a need is most likely of: who is known to ask, or else the job of the GPU. nil: nobody is there.
func (g *gpu) wants(need Need) *proc {
	if p := g.withPID(need.PID.Or(0)); p != nil {
		return p
	}
	return g.job()
}

// elsewhere is another GPU of the machine that has room for a need, nil where there is none: one that nobody uses before all
// others, then one with most room. Who has begun brings along what it holds, and ranks cannot go alone.
func elsewhere(f *Facts, need Need) *gpu {
	room := need.Bytes.MiB()
	if p := f.gpu.wants(need); p != nil {
		if usual, _ := peersOf(f.gpus, f.gpu, p); len(usual) > 0 {
			return nil
		}
		peak := p.peak.most().value
		if math.IsInf(peak, -1) { // it has only begun, and what it will hold is not known
			return nil
		}
		room += max(p.series.Value, peak)
	} else if f.gpu.free >= room { // who had it has gone, and it fits here
		return nil
	}
	var list []*gpu
	for _, g := range f.gpus {
		if g != f.gpu && g.seen == f.now && g.key.Host == f.gpu.key.Host && !g.last.Silent() && g.runs() && g.leaves(f.now) >= room {
			list = append(list, g)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(a, b *gpu) int { // in tenths, for of GPUs that are used alike the first is as good as any, and stays
		rank := func(g *gpu) float64 {
			if g.unused(f.now) {
				return math.Inf(1)
			}
			return math.Floor(10 * g.leaves(f.now) / g.total)
		}
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a.last.Index, b.last.Index))
	})
}

// runs says whether a program can run on a GPU: on one that is split into MIG instances, or is to be, none can.
func (g *gpu) runs() bool { return !g.split && !g.last.Unsplit }

// runOn is the advice to run on a GPU that has room. No setting of a job costs less.
func runOn(g *gpu, words lang.Catalog) sampler.Advice {
	name := g.last.Label()
	if g.last.MIG != nil {
		name = g.last.UUID
	}
	id := explain.FixOtherGPU
	return sampler.Advice{ID: id, Title: words.Say("fix."+id+".title", "gpu", g.last.Label()), Why: words.Say("fix." + id + ".why"), Cost: words.Say("fix." + id + ".cost"),
		Do:     []string{"export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=" + name + "  # " + words.Say("do.before_start")},
		Source: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables"}
}

// withFirst puts a fix before others, as many as an alert has.
func withFirst(first sampler.Advice, list []sampler.Advice) []sampler.Advice {
	list = slices.Insert(slices.Clone(list), 0, first)
	list = list[:min(len(list), maxFixes)]
	for i := range list {
		list[i].Rank = i + 1
	}
	return list
}
