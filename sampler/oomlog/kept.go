package oomlog

import (
	"bytes"
	"slices"
	"strconv"

	"nvpeak/sampler"
)

// keptRow reads the number behind a name of what a program keeps.
type keptRow sampler.KeptName

func keptWords() (words []string) {
	for _, r := range sampler.KeptNames {
		words = append(words, r.Word)
	}
	return slices.Compact(slices.Sorted(slices.Values(words)))
}

// keptBook keeps the figures of one name with the number of their lines, of which later ones are read less often, and the newest end to which they
// are counted.
type keptBook struct {
	values []float64
	lines  []int
	of     float64
}

// keep adds a figure; beyond maxPaces of them every other one is forgotten.
func (b *keptBook) keep(v float64, line int) {
	if len(b.values) == maxPaces {
		for i := range maxPaces / 2 {
			b.values[i], b.lines[i] = b.values[2*i], b.lines[2*i]
		}
		b.values, b.lines = b.values[:maxPaces/2], b.lines[:maxPaces/2]
	}
	b.values, b.lines = append(b.values, v), append(b.lines, line)
}

// quarter is the middle of the figures in one of the four parts of the lines, from 0; 0: there is none.
func (b *keptBook) quarter(n int) float64 {
	first, last := b.lines[0], b.lines[len(b.lines)-1]
	var in []float64
	for i, v := range b.values {
		if at := 4 * (b.lines[i] - first) / max(1, last-first+1); at == n {
			in = append(in, v)
		}
	}
	if len(in) == 0 {
		return 0
	}
	return median(in)
}

// adding: each figure is more than the one before, and the last is no older, in lines with figures, than twice the longest pause between two.
func (b *keptBook) adding(line int) bool {
	pause := 0
	for i := 1; i < len(b.values); i++ {
		if b.values[i] <= b.values[i-1] {
			return false
		}
		pause = max(pause, b.lines[i]-b.lines[i-1])
	}
	return line-b.lines[len(b.lines)-1] <= 2*pause
}

// mostOfHalf is the largest figure in the first half of the lines.
func (b *keptBook) mostOfHalf() (most float64) {
	first, last := b.lines[0], b.lines[len(b.lines)-1]
	for i, v := range b.values {
		if 2*(b.lines[i]-first) < last-first {
			most = max(most, v)
		}
	}
	return most
}

// addKept reads what is kept, or only what is added to it.
func (s *sizeBook) addKept(line []byte, added bool) {
	for _, r := range sampler.KeptNames {
		if added && r.After != sampler.KeptAdded {
			continue
		}
		v, of := keptRow(r).read(line)
		if v <= 0 {
			continue
		}
		if s.kept == nil {
			s.kept = map[string]*keptBook{}
		}
		if s.kept[r.Word] == nil {
			s.kept[r.Word] = &keptBook{}
		}
		s.kept[r.Word].keep(v, s.seen)
		s.kept[r.Word].of = of
	}
}

// read is the number behind the name in a line, and its end; 0: there is none.
func (r keptRow) read(lower []byte) (v, of float64) {
	at := bytes.Index(lower, []byte(r.Word))
	if at < 0 || at > 0 && isLetter(lower[at-1]) || r.After != "" && !bytes.Contains(lower[:at], []byte(r.After)) {
		return 0, 0
	}
	rest := lower[at+len(r.Word):]
	number := bytes.TrimLeft(rest, ` "'=:`)
	if len(number) == len(rest) || len(rest)-len(number) > 4 {
		return 0, 0
	}
	v, number = leadingNumber(number)
	if v <= 0 {
		return 0, 0
	}
	if end, has := bytes.CutPrefix(bytes.TrimLeft(number, " "), []byte("/")); has {
		of, number = leadingNumber(bytes.TrimLeft(end, " "))
	}
	if r.Bounded && of < v || len(number) > 0 && (number[0] == '%' || number[0] == '/' || isLetter(number[0])) || isSize(number) {
		return 0, 0 // amounts of memory, or a share
	}
	return v, of
}

// leadingNumber is the whole number that a text begins with, and what follows; 0: there is none.
func leadingNumber(b []byte) (v float64, rest []byte) {
	rest = bytes.TrimLeft(b, "0123456789")
	v, err := strconv.ParseFloat(string(b[:len(b)-len(rest)]), 64)
	if err != nil || v >= 1e12 || len(rest) > 0 && rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]) {
		return 0, rest
	}
	return v, rest
}

// isSize: a unit of memory follows.
func isSize(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " ")
	return slices.ContainsFunc([]string{"gb", "gib", "mb", "mib", "kb", "kib", "bytes", "%"}, func(unit string) bool { return bytes.HasPrefix(rest, []byte(unit)) })
}

const (
	// keptRise is growth of what is kept (own threshold): a half more in the last quarter than in the first.
	keptRise = 1.5
	// keptStill is what still grows (own threshold): from the third quarter to the last.
	keptStill = 1.05
	// addedLeast lines that each say one more was added are growth (own threshold).
	addedLeast = 4
)

// counted is what rose most of what is kept, and was still becoming more in the end; nil: nothing was. Of what stands at its height for a while memory
// cannot have risen since, nor since the first half of the run of what goes up and down below a height that it had reached then.
func (s *sizeBook) counted() (most *sampler.SizeGrowth) {
	ratio := keptRise
	for _, r := range sampler.KeptNames {
		b := s.kept[r.Word]
		if b == nil || len(b.values) < addedLeast {
			continue
		}
		newest := b.values[len(b.values)-1]
		if r.After != "" && newest/b.values[0] > ratio && b.adding(s.seen) {
			ratio, most = newest/b.values[0], &sampler.SizeGrowth{Name: r.Word, From: b.values[0], To: newest, Of: b.of}
		}
		if len(b.values) < sizesLeast {
			continue
		}
		from, before, to := b.quarter(0), b.quarter(2), b.quarter(3)
		if from > 0 && to/from > ratio && to > before*keptStill && to > b.mostOfHalf() && newest >= 0.9*slices.Max(b.values) {
			ratio, most = to/from, &sampler.SizeGrowth{Name: r.Word, From: b.values[0], To: max(newest, to), Of: b.of}
		}
	}
	return most
}
