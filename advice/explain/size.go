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
		return strconv.FormatFloat(b.MiB(), 'f', 1, 64) + " MiB"
	}
	return b.String()
}

// SizeText is an amount as explanations write it, "15.82 GiB", for the front ends that draw them.
func SizeText(b sampler.Bytes) string { return gib(b) }

// printed is a request as the message printed it: MiB below 1 GiB.
func printed(b sampler.Bytes) string {
	if b < sampler.GiB && b >= sampler.MiB {
		return strings.TrimSuffix(strconv.FormatFloat(b.MiB(), 'f', 2, 64), ".00") + " MiB"
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
