package explain

import (
	"math"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// gib is an amount as explanations write it: two decimals of GiB, as the messages have them,
// so that sums can be checked by eye; MiB below 0.1 GiB.
func gib(b sampler.Bytes) string {
	switch {
	case b >= 1000*sampler.GiB:
		return strconv.FormatFloat(b.GiB()/1024, 'f', 2, 64) + " TiB"
	case b >= sampler.GiB/10:
		return strconv.FormatFloat(b.GiB(), 'f', 2, 64) + " GiB"
	case b >= sampler.MiB:
		return strconv.FormatFloat(float64(b)/float64(sampler.MiB), 'f', 1, 64) + " MiB"
	}
	return b.String()
}

// SizeText is an amount as explanations write it, "15.82 GiB", for the faces that draw them.
func SizeText(b sampler.Bytes) string { return gib(b) }

// printed is a request as the message printed it: MiB below 1 GiB.
func printed(b sampler.Bytes) string {
	if b < sampler.GiB && b >= sampler.MiB {
		return strings.TrimSuffix(strconv.FormatFloat(float64(b)/float64(sampler.MiB), 'f', 2, 64), ".00") + " MiB"
	}
	return gib(b)
}

// amountOf writes an amount in the unit of the refused request, as the message does: MiB and GiB
// side by side are hard to add up.
func (f *failure) amountOf(b sampler.Bytes) string {
	if req, known := f.requested.Value(); known && req < sampler.GiB {
		return printed(b)
	}
	return gib(b)
}

// rough is an estimate: one decimal.
func rough(b sampler.Bytes) string { return b.String() }

// rangeText is a range of estimates.
func rangeText(s span) string {
	if low, high := rough(s.low), rough(s.high); low != high {
		return strings.TrimSuffix(low, " GiB") + "–" + high
	}
	return rough(s.high)
}

func percentOf(part, whole sampler.Bytes) string {
	if whole == 0 {
		return "0 %"
	}
	p := 100 * float64(part) / float64(whole)
	if p > 99 && p < 100 {
		return strconv.FormatFloat(math.Floor(p*10)/10, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// grouped writes a count with commas: 82,190,602.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func indexOf(s, part string) int { return strings.Index(s, part) }

// when is the place in the run: "epoch 5", "step 1000".
func (f *failure) when() string {
	e, knowsEpoch := f.context.Epoch.Value()
	s, knowsStep := f.context.Step.Value()
	switch {
	case knowsEpoch && knowsStep:
		return f.words.Say("when.epoch_step", "epoch", e, "step", s)
	case knowsEpoch:
		return f.words.Say("when.epoch", "epoch", e)
	case knowsStep:
		return f.words.Say("when.step", "step", s)
	case f.context.FirstStep:
		return f.words.Say("when.first")
	}
	return ""
}

// place is when in brackets, to be put behind a word; "" when nothing is known of it.
func (f *failure) place() string {
	if w := f.when(); w != "" {
		return f.words.Say("head.when", "when", w)
	}
	return ""
}

// headline says what happened where: "CUDA out of memory on GPU 0, rank 0, in validation (step 1000)".
func (f *failure) headline() string {
	id := "head." + f.class.kind
	if !f.words.Has(id) {
		switch {
		case f.onHost():
			id = "head.host"
		default:
			id = "head.gpu"
		}
	}
	text := f.words.Say(id)
	if gpu, known := f.event.GPUIndex.Value(); known && !f.onHost() {
		text += f.words.Say("head.on_gpu", "gpu", gpu)
	}
	if rank, known := f.event.Rank.Value(); known {
		text += f.words.Say("head.rank", "rank", rank)
	}
	if p := f.phase(); f.words.Has("phase." + p) {
		text += f.words.Say("head.phase", "phase", f.words.Say("phase."+p))
	}
	return text + f.place()
}
