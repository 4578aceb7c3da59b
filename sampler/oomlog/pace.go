package oomlog

import (
	"bytes"
	"slices"
	"strconv"
)

// Training logs print how long a step takes. Larger inputs take longer; what leaks does not. These figures
// are read by hand, as those of the memory, and only some of them: progress bars print a thousand a second.

// paceRow is one form of such a figure.
type paceRow struct {
	word   string // lower case
	needs  string // lower case; must stand in the line too
	before bool   // the number stands before the word
	rate   bool   // steps in a time, not the time of a step
}

// paceRows, the first that fits a line counts. Sources: tqdm, detectron2's CommonMetricPrinter, mmengine's
// LoggerHook, Megatron-LM, PhysicsNeMo, ESPnet, DeepSpeed.
var paceRows = []paceRow{
	{word: "time/iteration:"},
	{word: "time per iteration (ms):"},
	{word: "last_time: "},
	{word: "train_time="}, // before optim_step_time= on the same line
	{word: "step_time"},
	{word: " time: ", needs: "data_time: "},
	{word: "it/s", before: true, rate: true},
	{word: "s/it", before: true},
	{word: "batch/s", before: true, rate: true},
	{word: "s/batch", before: true},
	{word: "s/step", before: true},
	{word: "currsamplespersec=", rate: true},
}

func paceWords() (words []string) {
	for _, r := range paceRows {
		words = append(words, r.word)
	}
	return words
}

const (
	// paceEach: one of so many lines with a figure is read.
	paceEach = 16
	// maxPaces bounds what is kept of a run; beyond it every other one is forgotten.
	maxPaces = 256
	// paceLeast figures are needed, the first of which is of the warm-up.
	paceLeast = 12
)

// paceBook keeps figures of one form, spread over the run.
type paceBook struct {
	row    int // of the figures, plus one; 0: none yet
	seen   int // lines
	stride int // figures for one that is kept
	skip   int
	values []float64
}

// add reads one line.
func (p *paceBook) add(line []byte) {
	p.seen++
	if p.seen > 4*paceLeast && p.seen%paceEach != 0 {
		return
	}
	line = bytes.ToLower(line[max(0, len(line)-keepBytes):])
	for i := range paceRows {
		if p.row != 0 && p.row != i+1 {
			continue
		}
		if v := paceRows[i].read(line); v > 0 {
			p.row = i + 1
			p.keep(v)
			return
		}
	}
}

func (p *paceBook) keep(v float64) {
	if p.skip++; p.skip < p.stride {
		return
	}
	p.skip = 0
	if len(p.values) == maxPaces {
		for i := range maxPaces / 2 {
			p.values[i] = p.values[2*i]
		}
		p.values, p.stride = p.values[:maxPaces/2], max(1, p.stride)*2
	}
	p.values = append(p.values, v)
}

// read is the figure in a line; 0: there is none.
func (r *paceRow) read(lower []byte) float64 {
	at := bytes.LastIndex(lower, []byte(r.word))
	if at < 0 || r.needs != "" && !bytes.Contains(lower, []byte(r.needs)) {
		return 0
	}
	var number []byte
	if r.before {
		end := len(bytes.TrimRight(lower[:at], " "))
		begin := end
		for begin > 0 && end-begin < 16 && (isDigit(lower[begin-1]) || lower[begin-1] == '.') {
			begin--
		}
		number = lower[begin:end]
	} else {
		rest := bytes.TrimLeft(lower[at+len(r.word):], ` "'=:_s`)
		number = rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789.e+-"))]
	}
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil || !(v > 0 && v < 1e9) {
		return 0
	}
	if r.rate {
		return 1 / v
	}
	return v
}

// slowdown is how many times as long as at first a step took in the end: the medians of the first and the last
// quarter; 0: not known.
func (p *paceBook) slowdown() float64 {
	if len(p.values) < paceLeast {
		return 0
	}
	v := p.values[1:]
	k := max(3, len(v)/4)
	return median(v[len(v)-k:]) / median(v[:k])
}

func median(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }
