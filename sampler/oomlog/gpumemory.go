package oomlog

import (
	"bytes"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// Many training logs print themselves how much GPU memory they use, per epoch or every few steps. These
// figures tell a run that grows from one that met a large batch. They stand in lines that come a thousand
// times a second in a progress bar, so they are read by hand, without cleaning the line.

// memoryRow is one form of such a figure.
type memoryRow struct {
	word  string // lower case; the number stands right behind it, or before it
	needs string // lower case; must stand in the line too, where the word alone is common
	unit  sampler.Bytes
	// before: the number and its unit stand before the word.
	before bool
	// peak: it is the most that tensors held, so far or since the print before.
	peak bool
}

// memoryRows, the first that fits a line counts. unit is that of a number printed without one; 0: it must
// have one. Sources: mmengine's LoggerHook (MB), detectron2's CommonMetricPrinter (M), the MetricLogger of
// DETR and its many copies (MB), Megatron-LM's report_memory (MB), DeepSpeed's see_memory_usage, torchtitan.
var memoryRows = []memoryRow{
	{word: "max_mem: ", unit: sampler.MiB, peak: true},
	{word: "max mem: ", unit: sampler.MiB, peak: true},
	{word: "| max reserved: ", needs: "memory (mb)", unit: sampler.MiB},
	{word: "max_ma ", peak: true},
	{word: "memory: ", needs: "data_time: ", unit: sampler.MiB, peak: true},
	{word: "memory: ", needs: "loss"},
	{word: "max_memory_allocated (gb)", unit: sampler.GiB, peak: true},
	{word: "max memory allocated", peak: true},
	{word: "max_memory_allocated", peak: true},
	{word: "max_memory_reserved"},
	{word: "memory_reserved"},
	{word: "memory_allocated"},
	{word: "memory allocated"},
	{word: "gpu memory"},
	{word: "gpu mem"},
	{word: "gpu_mem"},
	{word: "mem_usage:cuda:0 "},
	{word: " gpu: ", needs: "loss"},
	{word: "mem alloc ", unit: sampler.GiB},
	{word: " mem ", needs: "loss"},
	{word: "allocated: ", needs: "loss"},
	{word: "alloc: ", needs: "loss"},
	{word: "vram: ", needs: "loss"},
	{word: "allocated=", needs: "loss"},
	{word: "alloc=", needs: "loss"},
	{word: "vram=", needs: "loss"},
	{word: " mem=", needs: "loss"},
	{word: "b allocated", before: true},
	{word: "b gpu mem", before: true},
	{word: "b / ", needs: "epoch", before: true}, // "epoch 3: 8755MiB / 16384MiB", copied from nvidia-smi
}

// ultralyticsWord stands in the rows of Ultralytics' table: "  3/100      11.2G      2.313 …".
const ultralyticsWord = "g    "

// memoryWords are what the parser looks for.
func memoryWords() []string {
	words := []string{ultralyticsWord}
	for _, r := range memoryRows {
		words = append(words, r.word)
	}
	return words
}

// maxStretches bounds what is kept of a run; beyond it neighbors are joined, keeping the larger.
const maxStretches = 64

// memoryBook keeps the figures of a run, oldest first: one per epoch where the log says the epoch with the
// figure, else one per print.
type memoryBook struct {
	values []sampler.Bytes
	stride int // prints in one value
	filled int // prints in the last value
	epoch  int // of the last value, 0: unknown
	rank   string
	most   sampler.Bytes // that tensors held; 0: no figure is of that
	lower  []byte        // scratch
	sized  bool          // what is called GPU memory is what a GPU has, as the task manager of Windows lists it
}

// add reads one line, without colors, in which those words were found.
func (m *memoryBook) add(line []byte, found *wordMask) {
	line = line[max(0, len(line)-keepBytes):] // figures stand at the end, where the bar is
	if rank := rankOf(line); rank != "" {
		if m.rank == "" {
			m.rank = rank
		} else if m.rank != rank {
			return // the ranks' figures would mix
		}
	}
	if epoch, v := ultralytics(line); v > 0 {
		m.perEpoch(epoch, v)
		return
	}
	lower := m.lowered(line)
	if bytes.Contains(lower, []byte("dedicated gpu memory")) || bytes.Contains(lower, []byte("shared gpu memory")) {
		m.sized = true
	}
	for i, word := range compiled().memoryRows {
		if !found.has(word) {
			continue // most of a line's time would go into looking again
		}
		r := &memoryRows[i]
		if m.sized && r.word == "gpu memory" {
			continue
		}
		at := bytes.Index(lower, []byte(r.word))
		if at < 0 || r.needs != "" && !bytes.Contains(lower, []byte(r.needs)) {
			continue
		}
		if v := r.read(lower, at); v > 0 {
			if r.peak {
				if v < m.most/2 {
					m.most = 0 // of a run before this one
				}
				m.most = max(m.most, v)
			}
			m.perPrint(v)
			return
		}
	}
}

// lowered is a line with its ASCII letters in lower case, until the next call.
func (m *memoryBook) lowered(line []byte) []byte {
	m.lower = append(m.lower[:0], line...)
	for i, c := range m.lower {
		if c >= 'A' && c <= 'Z' {
			m.lower[i] = c + 'a' - 'A'
		}
	}
	return m.lower
}

// read returns the figure of a row whose word stands at a place; 0: there is none.
func (r *memoryRow) read(lower []byte, at int) sampler.Bytes {
	if !r.before {
		return figure(lower[at+len(r.word):], r.unit)
	}
	start := at
	for start > 0 && at-start < 16 && (lower[start-1] == ' ' || lower[start-1] == '.' || lower[start-1] == 'i' || isUnit(lower[start-1]) || isDigit(lower[start-1])) {
		start--
	}
	return figure(bytes.TrimLeft(lower[start:at+1], " "), 0)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isUnit(c byte) bool  { return c == 'k' || c == 'm' || c == 'g' || c == 't' }

// letterUnit is what a letter for which isUnit holds stands for.
func letterUnit(c byte) sampler.Bytes { return sampler.KiB << (10 * strings.IndexByte("kmgt", c)) }

// figure reads "'): 22.3 GiB" with at most a few signs before the number; bare is the unit of a number
// without one, 0 for none. Lower case.
func figure(s []byte, bare sampler.Bytes) sampler.Bytes {
	i := 0
	for i < len(s) && i < 12 && strings.IndexByte(" '\":=()[]|{", s[i]) >= 0 {
		i++
	}
	start := i
	for i < len(s) && (isDigit(s[i]) || s[i] == '.' || s[i] == ',' && i+1 < len(s) && isDigit(s[i+1])) {
		i++
	}
	number := s[start:i]
	if i < len(s) && s[i] == '/' { // of the GPU's total: "2798.0/11011.5 MiB"
		for i++; i < len(s) && (isDigit(s[i]) || s[i] == '.'); i++ {
		}
	}
	if i < len(s) && s[i] == ' ' {
		i++
	}
	unit := bare
	if i < len(s) && isUnit(s[i]) && (i+1 == len(s) || !isLetter(s[i+1]) || s[i+1] == 'b' || s[i+1] == 'i') {
		unit = letterUnit(s[i])
	}
	return plausible(sampler.Amount(string(number), unit))
}

// plausible is an amount that a training GPU can hold, from a few MiB to a few TiB, else 0: anything else is
// another number.
func plausible(v sampler.Bytes, ok bool) sampler.Bytes {
	if !ok || v < sampler.MiB || v > 16*sampler.TiB {
		return 0
	}
	return v
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// ultralytics reads "   3/100      11.2G      2.313 …": the epoch and the column GPU_mem.
func ultralytics(line []byte) (epoch int, v sampler.Bytes) {
	s := bytes.TrimLeft(line, " \t")
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == 0 || i > 5 || i == len(s) || s[i] != '/' {
		return 0, 0
	}
	epoch, _ = strconv.Atoi(string(s[:i]))
	j := i + 1
	for j < len(s) && isDigit(s[j]) {
		j++
	}
	if j == i+1 || j == len(s) || s[j] != ' ' {
		return 0, 0
	}
	s = bytes.TrimLeft(s[j:], " ")
	end := bytes.IndexByte(s, ' ')
	if end < 2 || s[end-1] != 'G' {
		return 0, 0
	}
	gib, err := strconv.ParseFloat(string(s[:end-1]), 64)
	if err != nil || !isDigit(s[0]) || gib > 16*1024 {
		return 0, 0
	}
	return epoch, sampler.Bytes(gib*float64(sampler.GiB) + 0.5)
}

// rankOf is the label of a line that says which rank printed it: "[rank3]", "(worker pid=12)".
func rankOf(line []byte) string {
	if len(line) == 0 {
		return ""
	}
	if line[0] == '[' && len(line) > 6 && bytes.EqualFold(line[1:5], []byte("rank")) {
		if end := bytes.IndexByte(line, ']'); end > 0 && end < 16 {
			return string(line[:end])
		}
	}
	if line[0] == '(' {
		if end := bytes.IndexByte(line, ')'); end > 0 && end < 60 && bytes.Contains(line[:end], []byte("pid=")) {
			return string(line[:end])
		}
	}
	return ""
}

// perEpoch keeps the largest figure of an epoch. Epochs that begin again are a new run.
func (m *memoryBook) perEpoch(epoch int, v sampler.Bytes) {
	switch {
	case m.stride > 0 || epoch < m.epoch:
		*m = memoryBook{values: m.values[:0], epoch: epoch, rank: m.rank}
	case epoch == m.epoch && len(m.values) > 0:
		last := &m.values[len(m.values)-1]
		*last = max(*last, v)
		return
	}
	m.epoch = epoch
	if len(m.values) == maxStretches {
		m.halve()
	}
	m.values = append(m.values, v)
}

// perPrint keeps one value per print, or per so many prints that the book stays small.
func (m *memoryBook) perPrint(v sampler.Bytes) {
	if m.epoch > 0 {
		return // the table of epochs says more
	}
	m.stride = max(m.stride, 1)
	if m.filled > 0 && m.filled < m.stride {
		last := &m.values[len(m.values)-1]
		*last = max(*last, v)
		m.filled++
		return
	}
	if len(m.values) == maxStretches {
		m.halve()
		m.stride *= 2
	}
	m.values, m.filled = append(m.values, v), 1
}

// halve joins neighbors.
func (m *memoryBook) halve() {
	for i := range m.values[:len(m.values)/2] {
		m.values[i] = max(m.values[2*i], m.values[2*i+1])
	}
	m.values = m.values[:len(m.values)/2]
}

// mostAllocated is the most that tensors held, as far as the figures tell.
func (m *memoryBook) mostAllocated() (most sampler.Opt[sampler.Bytes]) {
	if m.most > 0 {
		most = sampler.Some(m.most)
	}
	return most
}

// list is a copy of the figures, oldest first; nil when there are none.
func (m *memoryBook) list() []sampler.Bytes { return append([]sampler.Bytes(nil), m.values...) }
