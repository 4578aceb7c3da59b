package explain

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// Some programs count in their log what they keep on the GPU: sessions that are open, entries of a cache, steps that an optimizer remembers. Where memory
// rises with such a number, nothing is kept by mistake.

// sourceLBFGS says what its history takes.
const sourceLBFGS = "https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html"

// counted is what is kept on the GPU that the log counts, and that was still becoming more in the end; nil: nothing is, or memory did not rise with it.
func (f *facts) counted() *sampler.SizeGrowth {
	c := f.context.Counted
	if c == nil || f.full() != nil || f.onHost() || f.heldMore() || f.startingUp() {
		return nil
	}
	if peaks := f.stretches(); f.recorded() && (len(peaks) < 3 || slices.Max(peaks).Less(slices.Min(peaks)) <= partOf(f.total.Or(0), grownShare)) {
		return nil
	}
	return c
}

// full is what a program that works through requests keeps up to a limit, by its log, and has kept that much of for long; nil: nothing is. What still
// rises then is no more of it.
func (f *facts) full() *sampler.SizeGrowth {
	if f.onHost() || f.tensorsGrew() || !f.program.is(running|undecided) || f.inTraining() {
		return nil
	}
	return f.context.Full
}

// fullText says so beside what is evidence of fragmentation.
func (f *failure) fullText(text string) string {
	c := f.full()
	if c == nil {
		return text
	}
	amount := func(v float64) string {
		if unit := sampler.Unit(c.Unit); unit > 0 {
			return gib(sampler.Bytes(v * float64(unit)))
		}
		return plainNumber(v)
	}
	return text + f.words.Say("detail.space") + f.words.Say("why.full_cache", "name", c.Name, "held", amount(c.To), "limit", amount(c.Of))
}

// keepsHistory: what is counted are the steps that L-BFGS remembers, for each of which it keeps vectors as large as all parameters.
func (f *facts) keepsHistory() bool {
	c := f.counted()
	return c != nil && c.Name == "history" && (f.inFunction("closure") || f.inFile("lbfgs") || f.inCode("closure)", "LBFGS"))
}

// fillsIndex: vectors are added to an index of FAISS on the GPU, which holds all of them.
func (f *facts) fillsIndex() bool {
	return f.told(sampler.ToldWork+sampler.WorkVectors) && !f.onHost() && (f.inFunction("replacement_add", "add_with_ids", "add_core", "add_c") || f.inCode("index.add(", ".add_with_ids("))
}

const (
	// roomLeft of the GPU is what is to be free with fewer (own threshold).
	roomLeft = 0.1
	// fewestKept and mostKept of what was there when the GPU was full are what remains: too few help nobody, and nearly as many end the same way (own thresholds).
	fewestKept, mostKept = 0.5, 0.85
)

// fewerCounted is a number of what is counted that leaves room, by what each took; one that people type.
func (f *facts) fewerCounted() int {
	c := f.counted()
	n := mostKept * c.To
	if peaks := f.stretches(); f.recorded() && c.To > c.From {
		if each := float64(slices.Max(peaks).Less(slices.Min(peaks))) / (c.To - c.From); each > 0 {
			n = min(n, c.To-float64(partOf(f.total.Or(0), roomLeft))/each)
		}
	}
	n = max(n, fewestKept*c.To, 1)
	if digits := math.Pow(10, math.Floor(math.Log10(n))-1); digits > 1 {
		n = math.Floor(n/digits) * digits
	}
	return int(n)
}

// cappedCount is the command with that number in the option that limits what is counted; "" where it has none.
func (f *failure) cappedCount() string {
	c := f.counted()
	name := strings.TrimSuffix(c.Name, "s")
	for _, a := range f.command.Arguments() {
		if v, err := strconv.ParseFloat(a.Value, 64); err != nil || v < c.To || !slices.Contains(strings.Split(strings.ReplaceAll(a.Plain, name+"s", name), "_"), name) {
			continue
		}
		return f.command.Apply([]command.Edit{f.command.ReplaceValue(a, strconv.Itoa(f.fewerCounted()))})
	}
	return ""
}

func (f *failure) countedPairs() []any {
	c := f.counted()
	return []any{"name", c.Name, "n", f.fewerCounted(), "from", plainNumber(c.From), "to", plainNumber(c.To)}
}

// countedText is how the process grew with what is counted, and where that ends.
func (f *failure) countedText(first, last float64) string {
	c := f.counted()
	pairs := []any{"name", c.Name, "from", plainNumber(c.From), "to", plainNumber(c.To)}
	if first >= last {
		return f.words.Say("why.counted_alone", pairs...)
	}
	pairs = append(pairs, "first", gib(sampler.Bytes(first)), "last", gib(sampler.Bytes(last)))
	if c.Of > c.To && c.To > c.From {
		return f.words.Say("why.counted_of", append(pairs, "of", plainNumber(c.Of), "all", gib(sampler.Bytes(first+(last-first)*(c.Of-c.From)/(c.To-c.From))))...)
	}
	return f.words.Say("why.counted", pairs...)
}
