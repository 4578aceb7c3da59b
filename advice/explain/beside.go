package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// madeSmaller are the fixes that make the job smaller, in place of a GPU that is larger.
var madeSmaller = []string{FixHalveBatchAccumulate, FixSmallerInput, FixCapSampleSize, FixGradientCheckpointing, FixAMPBF16, FixHalfPrecision, FixSmallerModel, FixNoGradInference}

// shownWith is how many of the entries of the first fix are read before the details.
const shownWith = 2

// beside puts beside the first fix what costs a look or another machine, where the text shows no more than that something
// was too large: who holds the GPU comes before, or an update where another program can do it, and a larger one behind.
func (f *failure) beside(list []sampler.Advice, causes []sampler.Cause) []sampler.Advice {
	if len(list) > 0 && f.told(sampler.ToldCut) {
		list[0].Do = append([]string{f.comment("do.command_cut")}, list[0].Do...)
	}
	if len(list) == 0 || f.onHost() || f.corrupt() || f.history != nil || f.program.is(server) || f.refusedThoughFree() || !slices.Contains(madeSmaller, list[0].ID) || len(list[0].Do) == 0 {
		return list
	}
	first := &list[0]
	switch {
	case f.told(sampler.ToldElsewhere) && !isCommand(first.Do[0]):
		first.Do[0] = f.comment("do.update_it") + "\n" + first.Do[0]
	case TopCause(causes) == CauseTooBig && f.largerHelps():
		first.Do = withLine(first.Do, f.largerGPU())
	case TopCause(causes) == CauseUnknown && f.anybodyElse() && !isCommand(first.Do[0]):
		look := "nvidia-smi  " + f.comment("do.look_first")
		if f.gpu.soc {
			look = f.comment("do.say.soc")
		}
		first.Do[0] = f.ofVendor([]string{look})[0] + "\n" + first.Do[0]
	}
	return list
}

// withLine adds a line to the entries that are read, unless it stands there.
func withLine(list []string, line string) []string {
	list = slices.DeleteFunc(list, func(entry string) bool { return entry == line })
	last := min(len(list), shownWith) - 1
	if slices.ContainsFunc(list[:last+1], func(entry string) bool { return strings.Contains(entry, line) }) {
		return list
	}
	if last < shownWith-1 {
		return append(list, line)
	}
	list[last] += "\n" + line
	return list
}

// isCommand: an entry is typed as it stands, not read.
func isCommand(entry string) bool {
	return !strings.HasPrefix(entry, "# ") && !strings.HasPrefix(entry, "model.eval()")
}

// largestSold is what a job can take for a GPU that holds it to be had, and largestOwn what the GPU can have
// for a larger one to be at hand (own thresholds).
const (
	largestSold = 180 * sampler.GiB
	largestOwn  = 60 * sampler.GiB
)

// largerHelps: the message shows how much the job took of the GPU, or nothing at all, and a GPU that holds it is to be had.
// Of public threads of jobs that were too big a larger GPU was what was taken in one of eight, whatever the size of the GPU.
func (f *failure) largerHelps() bool {
	return !f.triedGPU() && !f.graphFilled() && !f.othersMatter() && !f.absurd() && f.total.Or(0) < largestOwn && f.allocated.Or(0)+f.requested.Or(0) < largestSold && f.event.Kind != sampler.KindMPS && !f.told(sampler.ToldTables) &&
		!f.extra("total_allocation_bytes").Known() && !f.told(sampler.ToldWork+sampler.WorkMining) // then the fix names the size, or the GPU, itself
}

// largerGPU says that, with what the job needed at least.
func (f *failure) largerGPU() string {
	if small := f.smallGPU(); small != nil {
		return small[0]
	}
	id, need := "do.more_gpu", f.allocated.Or(0)+f.requested.Or(0)
	if f.total.Known() && f.free.Known() && f.numbers() { // with its context, and what others hold
		need = max(need, f.total.Or(0).Less(f.free.Or(0)).Less(f.unallocated.Or(0))+f.requested.Or(0))
	}
	if f.program.is(running) {
		id = "do.more_gpu_or_cpu"
	}
	if f.total.Known() && need > f.total.Or(0) {
		return f.comment(id+".need", "need", gib(need))
	}
	return f.comment(id)
}

// hugeRequest: few GPUs hold what was asked for at once, whoever else is there (own threshold).
func (f *facts) hugeRequest() bool { return f.requested.Or(0) > largestSold/2 }

// anybodyElse: nothing shows whose the memory was.
func (f *failure) anybodyElse() bool {
	return !f.numbers() && !f.total.Known() && !f.aloneOnGPU() && !f.impossible() && f.event.Kind != sampler.KindMPS
}
