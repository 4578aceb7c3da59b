package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// numbersInForce are the numbers that the text has set for any of some options, under the names that it is read by.
func (f *facts) numbersInForce(options ...string) (set []float64) {
	for _, what := range f.context.Told {
		for _, option := range options {
			if number, is := strings.CutPrefix(what, sampler.ToldInForce+option+" "); is {
				if v, err := strconv.ParseFloat(number, 64); err == nil {
					set = append(set, v)
				}
			}
		}
	}
	return set
}

// below is the number to which the text has a setting, where that is less.
func (f *facts) below(setting string, number int) int {
	for _, v := range f.numbersInForce(setting) {
		number = min(number, int(v))
	}
	return number
}

// above is what an option for memory of the machine is to be, in GiB: the usual, or twice what the text has set.
func (f *facts) above(option string, usual int) int {
	if set := f.numbersInForce(option); len(set) > 0 && int(slices.Max(set)) >= usual {
		return 2 * int(slices.Max(set))
	}
	return usual
}

// shareInForce is the share that the text says is set: the smallest where several were tried, as what is advised must be less.
// usual is the default; a change that raises it goes from there.
func (f *facts) shareInForce(option string, usual float64, change func(float64) float64) float64 {
	least := usual
	if change(usual) >= usual {
		return usual
	}
	for _, v := range f.numbersInForce(command.PlainName(option)) {
		least = min(least, v)
	}
	return least
}

// largestShare of a GPU leaves next to nothing for what a server does not reserve (own threshold).
const largestShare = 0.95

// hasLargestShare: a server that reserves its share has as much of the GPU as it can have.
func (f *failure) hasLargestShare() bool {
	row, known := shares[f.limitVariant()]
	if !known {
		return false
	}
	name, most := command.PlainName(row.option), 0.0
	f.command.WithNumber(func(v float64) float64 { most = v; return v }, name)
	for _, v := range f.numbersInForce(name) {
		most = max(most, v)
	}
	return most >= largestShare
}
