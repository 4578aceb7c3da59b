package watch

import (
	"cmp"
	"slices"
	"strings"

	"nvpeak/sampler"
)

const (
	// fillTimes pieces of one size within fillSeconds, and the next refused: somebody takes all there
	// is. What leaks takes longer. Where requests are not told one by one, fillShare of all that was
	// granted must be such pieces.
	fillTimes   = 4
	fillSeconds = 30
	fillPause   = 5
	fillShare   = 0.9
	// leftShare of its most is what a program may keep that gives all back.
	leftShare = 0.05
	// fewPieces of one size are a test if that took its time; without that, manyPieces are, no further apart than hurrySeconds on average, and none much
	// further: a program that fills buffers, and fails, does something between.
	fewPieces    = 2
	manyPieces   = 16
	hurrySeconds = 0.1
	// probeTimes was granted, and refused, who looks how much there is.
	probeTimes = 3
	// planTimes within planSeconds somebody was content with less: it tries what there is.
	planTimes   = 2
	planSeconds = 60
	// descentTimes pieces of half the size and less, each until one was refused, within fillSeconds: somebody takes all there is. Who is content
	// with less takes a tenth off (BFC), or asks for more in between.
	descentTimes = 4
	// holdsShare of a GPU is all that one program can take: the rest is its context, and what the driver keeps.
	holdsShare = 0.9
)

// descent are refusals of half the size and less of the one before, one by one, with something granted in between.
type descent struct {
	bytes   sampler.Bytes // refused last
	since   float64
	n       int  // of those before which something was granted
	granted bool // since
}

func (d *descent) refused(n sampler.Bytes, at float64) {
	switch {
	case n > d.bytes/2 || at-d.since > fillSeconds:
		d.n, d.since = 1, at
	case d.granted:
		d.n++
	}
	d.bytes, d.granted = n, false
}

// descended says whether a process that ends so many seconds after the refusal took all of the GPU in smaller and smaller pieces, to the last: it has
// what it wanted, and whatever it says in the end is not of that.
func (a *asking) descended(after float64) bool {
	free, known := a.refusal.Free.Value()
	return after > atOnceSeconds && a.descent.n >= descentTimes && a.descent.bytes <= smallRequest && known && free <= smallRequest &&
		a.asked.Whole && a.total > 0 && float64(a.asked.Live) >= holdsShare*float64(a.total)
}

// harmless is a refusal by which nothing is lost.
type harmless struct {
	name string
	when func(a *asking) bool
}

// harmlessRefusals are those that programs bring about on purpose, a row each.
var harmlessRefusals = []harmless{
	{"memory that is, or moves to, the host's", (*asking).movesToHost},
	{"pieces of one size until one is refused", func(a *asking) bool {
		return a.filled && a.refusal.Tries == 1 && a.refusal.Function != "cuMemCreate"
	}},
	{"and an allocator between that asks again, but all is given back", func(a *asking) bool {
		return a.filled && float64(a.asked.Live) <= leftShare*float64(a.asked.Peak)
	}},
	{"less and less, until nothing is left", func(a *asking) bool {
		n, _, _ := a.planned.since(a.tried - planSeconds)
		return n >= planTimes || n > 0 && a.refusal.Smallest <= smallRequest
	}},
	{"a question by who holds nothing", func(a *asking) bool {
		planned, _, _ := a.planned.since(a.tried - planSeconds)
		return a.asked.Live == 0 && a.refusal.Freed == 0 && (a.refusal.Tries == 1 || planned > 0 || a.asked.Granted > 0)
	}},
}

// tested says whether a process that ends so many seconds after the refusal took pieces of one size and nothing else until one was refused, and gave
// them all back: whatever it says in the end, such as that it has found errors, is not of that. Who fails of it has other memory, too, or does not
// give it back. Who ends at once has tested nothing: it is a tester only if it took many, as fast as it could; so is who keeps them all and lives on
// for longer than it takes to fail.
func (a *asking) tested(after float64) bool {
	r, peak := &a.refusal, float64(a.asked.Peak)
	n := cmp.Or(a.run.n, a.asked.Granted)
	pieces := float64(r.Bytes) * float64(n)
	switch {
	case r.Tries != 1 || !a.asked.Whole || a.asked.Largest != r.Bytes:
		return false
	case pieces < fillShare*peak || peak < fillShare*pieces || a.run.n > 0 && (a.run.bytes != r.Bytes || a.tried-a.run.since > fillSeconds):
		return false
	}
	hurried := a.filled && n >= manyPieces && (a.run.n == 0 || a.run.hurries(a.tried))
	switch live := float64(a.asked.Live); {
	case live == peak && live > 0:
		return hurried && after > goesSeconds && a.asked.Refused == 1
	case live > leftShare*peak:
		return false
	case after <= atOnceSeconds:
		return hurried
	}
	return n >= fewPieces
}

// probed says whether a process asked for more and for less in turns and kept nothing of it, to find how much there is: of its last question it has
// not failed.
func (a *asking) probed() bool {
	q := &a.asked
	return q.Whole && q.Live == 0 && a.refusal.Freed == 0 && q.Granted >= probeTimes && q.Refused >= probeTimes && a.tried-a.began <= planSeconds
}

// movesToHost says whether what was refused is not the GPU's memory, or need not be.
func (a *asking) movesToHost() bool { return slices.Contains(hostFunctions, a.refusal.Function) }

var hostFunctions = []string{"cuMemAllocManaged", "cuMemHostAlloc", "cuMemAllocHost_v2"}

// byDesign says whether the last refusal was brought about on purpose.
func (a *asking) byDesign() bool {
	return slices.ContainsFunc(harmlessRefusals, func(h harmless) bool { return h.when(a) })
}

// Sizes of segments that PyTorch's allocator asks for where tensors are smaller:
// https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDACachingAllocator.cpp
const (
	smallSegment = 2 * sampler.MiB
	largeSegment = 20 * sampler.MiB
)

func segment(n sampler.Bytes) bool { return n == smallSegment || n == largeSegment }

// piece says whether a refused request was a piece of an expandable segment: how much was asked for in all
// is then not known.
func piece(r *sampler.Refusal) bool { return r.Function == "cuMemCreate" && segment(r.Bytes) }

// pooled are the functions whose requests are met from what a pool holds, or that move to the host: what they
// ask for is no need of free memory.
func pooled(function string) bool {
	return strings.Contains(function, "Async") || strings.Contains(function, "Managed")
}

// loaders are programs that start again with a smaller plan when the first does not fit.
var loaders = []string{"ollama"}

// plansAgain says whether a process that was refused memory is one of those, at its start.
func (p *proc) plansAgain() bool {
	return p.asking.age(p.asking.tried) <= startSeconds && slices.ContainsFunc(loaders, func(name string) bool {
		return strings.Contains(p.process.Name, name) || strings.Contains(p.process.Command, name)
	})
}
