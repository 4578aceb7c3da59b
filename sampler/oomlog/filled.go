package oomlog

import (
	"bytes"
	"slices"
	"strconv"

	"nvpeak/sampler"
)

// What a program keeps up to a limit takes no more once that is reached: "cache 21.3/21.4 GiB".

// filledLine is one reading of what is kept up to a limit: how full it was, and the limit.
type filledLine struct {
	share, limit float64
	unit         string
}

// addFilled reads "cache 21.3/21.4 GiB", "cache 280/300": what is kept, and the limit of it.
func (s *sizeBook) addFilled(line []byte) {
	for _, r := range sampler.KeptNames {
		f, ok := keptRow(r).readFilled(line)
		if !r.Bounded || r.After != "" || !ok {
			continue
		}
		if s.filled == nil {
			s.filled = map[string][]filledLine{}
		}
		list := s.filled[r.Word]
		if len(list) == maxPaces {
			for i := range maxPaces / 2 {
				list[i] = list[2*i]
			}
			list = list[:maxPaces/2]
		}
		s.filled[r.Word] = append(list, f)
		return
	}
}

// readFilled is what is kept in a line, and its limit.
func (r keptRow) readFilled(lower []byte) (f filledLine, ok bool) {
	at := bytes.Index(lower, []byte(r.Word))
	if at < 0 || at > 0 && isLetter(lower[at-1]) {
		return f, false
	}
	rest := bytes.TrimLeft(lower[at+len(r.Word):], ` "'=:`)
	if n := len(lower) - at - len(r.Word) - len(rest); n == 0 || n > 4 {
		return f, false
	}
	v, rest := leadingAmount(rest)
	end, has := bytes.CutPrefix(bytes.TrimLeft(withoutUnit(rest), " "), []byte("/"))
	if !has || v <= 0 {
		return f, false
	}
	limit, rest := leadingAmount(bytes.TrimLeft(end, " "))
	if limit <= 0 || v > filledOver*limit {
		return f, false
	}
	unit := bytes.TrimLeft(rest, " ")
	unit = unit[:len(unit)-len(withoutUnit(unit))]
	if len(rest) > 0 && len(unit) == 0 && (rest[0] == '/' || rest[0] == '%' || isLetter(rest[0])) {
		return f, false
	}
	return filledLine{v / limit, limit, string(unit)}, true
}

// withoutUnit is what follows a unit of memory, if the text begins with one.
func withoutUnit(b []byte) []byte {
	rest := bytes.TrimLeft(b, " ")
	for _, unit := range []string{"gib", "mib", "kib", "gb", "mb", "kb"} {
		if after, found := bytes.CutPrefix(rest, []byte(unit)); found && (len(after) == 0 || !isLetter(after[0])) {
			return after
		}
	}
	return b
}

// leadingAmount is the number that a text begins with, with or without a point, and what follows; 0: there is none.
func leadingAmount(b []byte) (v float64, rest []byte) {
	rest = bytes.TrimLeft(b, "0123456789.")
	v, err := strconv.ParseFloat(string(b[:len(b)-len(rest)]), 64)
	if err != nil || !(v < 1e12) {
		return 0, rest
	}
	return v, rest
}

const (
	// filledShare of its limit is full (own threshold): what makes room for the next entry has dropped a large one just before.
	filledShare = 0.85
	// filledOver: what is above its limit by more is something else.
	filledOver = 1.1
)

// full is what is kept up to a limit, and has been at it for the later half of its readings; nil: nothing is.
func (s *sizeBook) full() *sampler.SizeGrowth {
	for _, r := range sampler.KeptNames {
		list := s.filled[r.Word]
		later := list[len(list)/2:]
		if len(list) < sizesLeast || slices.ContainsFunc(later, func(f filledLine) bool { return f.share < filledShare }) {
			continue
		}
		newest := later[len(later)-1]
		return &sampler.SizeGrowth{Name: r.Word, To: newest.share * newest.limit, Of: newest.limit, Unit: newest.unit}
	}
	return nil
}
