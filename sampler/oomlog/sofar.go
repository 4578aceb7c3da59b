package oomlog

import (
	"bytes"
	"slices"
	"strconv"

	"nvpeak/sampler"
)

// Some programs print how far they are within one piece of work: "... 2832 tokens so far". With the next piece the figure begins again, so what it
// reaches is how large each piece is; and where one goes far beyond all before it, that piece is unusual, and nothing is kept.

// soFarWord ends such a figure, lower case.
const soFarWord = " so far"

const (
	// soFarPieces at least have ended before one is called unusual.
	soFarPieces = 3
	// soFarBeyond is how many times as far it is as any of them (own threshold).
	soFarBeyond = 1.5
	// soFarWithin so many lines before a failure the figure is of the piece that failed: one that has ended says so in lines of its own.
	soFarWithin = 2
)

// soFarBook follows that figure: how far the pieces came that have ended, and the one that has not.
type soFarBook struct {
	name          string
	most, current float64
	pieces        int // that have ended
}

func (b *soFarBook) add(line []byte) {
	v, name := soFar(bytes.ToLower(line[max(0, len(line)-keepBytes):]))
	if v <= 0 || b.name != "" && name != b.name {
		return
	}
	b.name = name
	if v <= b.current {
		b.most = max(b.most, b.current)
		b.pieces++
	}
	b.current = v
}

// soFar is the figure of a line, and what it counts; 0: there is none.
func soFar(lower []byte) (v float64, name string) {
	at := bytes.LastIndex(lower, []byte(soFarWord))
	if at < 0 {
		return 0, ""
	}
	before := bytes.TrimRight(lower[:at], " ")
	from := bytes.LastIndexByte(before, ' ')
	if from < 0 || from == len(before)-1 || !isLetter(before[from+1]) {
		return 0, ""
	}
	name = string(bytes.TrimFunc(before[from+1:], func(r rune) bool { return r < 'a' || r > 'z' }))
	number := bytes.ReplaceAll(before[bytes.LastIndexByte(before[:from], ' ')+1:from], []byte(","), nil)
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil || !(v > 0 && v < 1e12) {
		return 0, ""
	}
	return v, name
}

// beyond is how far the piece that has not ended came, where that is far beyond all before it; nil: it is not.
func (b *soFarBook) beyond() *sampler.SizeGrowth {
	if b.pieces < soFarPieces || b.current < soFarBeyond*b.most {
		return nil
	}
	return &sampler.SizeGrowth{Name: b.name, From: b.most, To: b.current}
}

// saysSoFar: one of the last lines before a failure has the figure.
func saysSoFar(lines []*keptLine) bool {
	return slices.ContainsFunc(lines[max(0, len(lines)-soFarWithin):], func(l *keptLine) bool {
		v, _ := soFar(bytes.ToLower([]byte(l.text)))
		return v > 0
	})
}
