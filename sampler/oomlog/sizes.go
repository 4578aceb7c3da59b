package oomlog

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"nvpeak/sampler"
)

// Many programs print how large a step is: the length of its sequences, the cells of a mesh, the samples of a ramp. Where
// such a figure rises, the work takes more memory by design, and nothing is kept.

// sizeNames are such figures, lower case. What counts all that was done so far, such as consumed samples, is none.
var sizeNames = []string{
	"length", "residues", "seqlen", "seq_len", "seq len", "sequence length", "sequence_length", "mean_length", "max_length",
	"batch size", "batch_size", "bsz", "batch", "resolution", "mean res", "avg res", "mean_res", "image size", "image_size", "img_size", "imgsz", "crop_size", "tile_size",
	"ctx", "ctx_len", "context length", "context_length", "max_depth", "fanout",
	"prompt_tokens", "input_tokens", "prompt tokens", "frames",
	"ar_steps", "ar steps", "rollout_steps", "rollout steps", "rollout_len", "rollout length", "unroll_steps", "unroll steps", "horizon",
	"inner_steps", "inner steps", "nfe-f", "nfe_f", "beam_size", "beam size", "num_beams", "sims per move", "num_simulations", "pred_len",
	"chi", "bond dim", "bond_dim", "bond dimension", "maxlinkdim",
	"cells", "points", "pts", "nodes", "edges", "particles", "atoms", "vertices", "triangles", "voxels", "elements",
}

// countedSizes are those of which programs print how many there are before the name: "25745554 cells".
var countedSizes = []string{"frames", "cells", "particles", "vertices", "triangles", "voxels", "elements"}

// batchedSizes are those that are counted of machines and of whole graphs, too: they are a size where they are said to be a batch's.
var batchedSizes = []string{"nodes", "edges"}

// stagedSizes are those that other programs count all their work in: they are a size where many lines have the same.
var stagedSizes = []string{"frames", "batch"}

// countsAll are words right before a name that make it a sum over the run, or the size of something else than a step.
var countsAll = [][]byte{[]byte("consumed"), []byte("processed"), []byte("seen"), []byte("total"), []byte("eval"), []byte("val"), []byte("test"),
	[]byte("episode"), []byte("queue"), []byte("buffer"), []byte("cache")}

const (
	sizesLeast = 8   // are needed
	sizesRise  = 1.2 // is growth: from the median of the first quarter to that of the last
	sizesStand = 4   // lines with the same figure make a stage

	schedulesLeast = 3   // figures
	scheduleRise   = 1.2 // from one to the next
)

// sizeBook keeps figures of each name, spread over the run.
type sizeBook struct {
	seen   int // lines
	adds   int // of those that were read for what is added alone
	books  map[string]*paceBook
	kept   map[string]*keptBook
	filled map[string][]filledLine
}

// addsMost lines that say that one more was added are read, each; those since only like all others.
const addsMost = 4096

// add reads one line: each of the first ones, then one of paceEach, and for what is added each that says so: there are few of them, as a rule.
func (s *sizeBook) add(line []byte) {
	s.seen++
	if s.seen > 4*paceLeast && s.seen%paceEach != 0 {
		if s.adds < addsMost && bytes.Contains(line, []byte(sampler.KeptAdded)) {
			s.adds++
			s.addKept(bytes.ToLower(line[max(0, len(line)-keepBytes):]), true)
		}
		return
	}
	line = bytes.ToLower(line[max(0, len(line)-keepBytes):])
	for _, name := range sizeNames {
		v := sizeAfter(line, name)
		if v <= 0 && (slices.Contains(countedSizes, name) || slices.Contains(batchedSizes, name) && ofBatch(line, name)) {
			v = sizeBefore(line, name)
		}
		if v <= 0 {
			continue
		}
		if s.books == nil {
			s.books = map[string]*paceBook{}
		}
		if s.books[name] == nil {
			s.books[name] = &paceBook{}
		}
		s.books[name].keep(v)
	}
	s.addKept(line, false)
	s.addFilled(line)
}

var exponent = regexp.MustCompile(`^e\+?\d{1,2}\b`)

// sizeAfter is the figure behind a name in a line; 0: there is none.
func sizeAfter(lower []byte, name string) float64 {
	at := bytes.Index(lower, []byte(name))
	if at < 0 || at > 0 && isLetter(lower[at-1]) {
		return 0
	}
	before := bytes.TrimRight(lower[:at], " _-.")
	if slices.ContainsFunc(countsAll, func(word []byte) bool { return bytes.HasSuffix(before, word) }) {
		return 0
	}
	rest := lower[at+len(name):]
	number := bytes.TrimLeft(rest, ` "'=:`)
	if len(number) == len(rest) || len(rest)-len(number) > 12 {
		return 0
	}
	end := len(number) - len(bytes.TrimLeft(number, "0123456789."))
	if e := exponent.Find(number[end:]); e != nil { // 8.3034e+06
		end += len(e)
	}
	v, err := strconv.ParseFloat(string(number[:end]), 64)
	if err != nil || !(v > 0 && v < 1e12) || end < len(number) && (number[end] == '%' || number[end] == '/' || isLetter(number[end])) {
		return 0
	}
	return v
}

// sizeBefore is the figure right before a name, which ends the statement; 0: there is none.
func sizeBefore(lower []byte, name string) float64 {
	at := bytes.Index(lower, []byte(name))
	if at < 1 || lower[at-1] != ' ' {
		return 0
	}
	if after := lower[at+len(name):]; len(after) > 0 && bytes.IndexByte([]byte(",;.)]|\r\n"), after[0]) < 0 {
		return 0 // "cells processed", "cells/s"
	}
	before := bytes.TrimRight(lower[:at], " ")
	from := len(bytes.TrimRight(before, "0123456789"))
	if from == len(before) || from > 0 && before[from-1] != ' ' && before[from-1] != '(' && before[from-1] != '=' && before[from-1] != ':' {
		return 0
	}
	said := bytes.TrimRight(before[:from], " _-.:=(")
	if slices.ContainsFunc(countsAll, func(word []byte) bool { return bytes.HasSuffix(said, word) }) {
		return 0
	}
	v, err := strconv.ParseFloat(string(before[from:]), 64)
	if err != nil || !(v > 0 && v < 1e12) {
		return 0
	}
	return v
}

// ofBatch: the number before a name is said of a batch or a part of a graph: "mini-batch 15034 nodes".
func ofBatch(lower []byte, name string) bool {
	before := bytes.TrimRight(lower[:max(0, bytes.Index(lower, []byte(name)))], " 0123456789")
	said := bytes.TrimRight(before, " _-.:=(")
	return bytes.HasSuffix(said, []byte("batch")) || bytes.HasSuffix(said, []byte("subgraph"))
}

// scheduled: a size that is said when it changes only, and has grown each time by as much as schedules make it: "sims per move = 64", 128, 256.
func scheduled(v []float64) bool {
	for i := 1; i < len(v); i++ {
		if v[i] < scheduleRise*v[i-1] {
			return false
		}
	}
	return len(v) >= schedulesLeast
}

// growth is the figure that rose most and was still at its height in the end; nil: none did.
func (s *sizeBook) growth() (most *sampler.SizeGrowth) {
	ratio := sizesRise
	for _, name := range sizeNames {
		b := s.books[name]
		if b == nil {
			continue
		}
		v := b.values
		if scheduled(v) && v[len(v)-1]/v[0] >= ratio {
			ratio, most = v[len(v)-1]/v[0], &sampler.SizeGrowth{Name: name, From: v[0], To: v[len(v)-1]}
		}
		if len(v) < sizesLeast {
			continue
		}
		if slices.Contains(stagedSizes, name) && len(slices.Compact(slices.Clone(v))) > len(v)/sizesStand {
			continue
		}
		k := max(2, len(v)/4)
		from, to, last := median(v[:k]), median(v[len(v)-k:]), v[len(v)-1]
		between := slices.Max([]float64{median(v[k : 2*k]), median(v[len(v)-2*k : len(v)-k])})
		if rise := to / from; rise >= ratio && (last >= 0.9*slices.Max(v) || to >= between && last >= (from+to)/2) { // one that varies from step to step may end low
			ratio, most = rise, &sampler.SizeGrowth{Name: name, From: from, To: max(last, to)}
		}
	}
	return most
}
