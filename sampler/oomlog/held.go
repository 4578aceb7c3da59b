package oomlog

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// found is an event, and where its context is to be read as long as nobody has asked for it.
type found struct {
	sampler.OOMEvent
	moment *moment
	again  *found // the last printing, if that came long after the one before
}

// settle reads the context.
func (f *found) settle() {
	if f.moment != nil {
		f.Context, f.moment = f.moment.context(), nil
	}
	if f.again != nil {
		f.again.settle()
		f.Again = &f.again.OOMEvent
	}
}

// apart is how many lines after a failure another printing of it may be of another time.
const apart = 80

// printedAgain takes another printing of the failure, and says whether it may be of another time.
func (e *held) printedAgain(h *held) bool {
	far := h.Line-e.last > apart
	if far {
		e.again = &h.found
	} else if e.again != nil {
		e.again.Occurrences++
	}
	e.repeat(h)
	return far
}

// held is an event that waits.
type held struct {
	found
	row    *compiledRow
	title  bool          // it stands in the title of a post, and what is printed comes below
	quoted bool          // in a sentence of somebody who tells of it
	raised bool          // it is an exception, whose traceback stands above it
	key    string        // stream
	last   int           // line where it was last seen
	tried  sampler.Bytes // the last request of a series
}

// ifTitle is the event where it stands in a title, and nil where not. Its context is then that of the next copy only, or of
// the one after where that one, now, is quoted in a sentence.
func (e *held) ifTitle(now *held) *held {
	if !e.title {
		return nil
	}
	e.title = now.quoted
	return e
}

// otherShape: another printing names another tensor than this one.
func (e *held) otherShape(h *held) bool {
	one, known := e.Extra["shape"].([]int)
	other, too := h.Extra["shape"].([]int)
	return known && too && !slices.Equal(one, other)
}

// foretells: the allocator that TensorFlow and XLA share writes what it was refused, and the traceback comes below that.
func (e *held) foretells(now *held) bool {
	return (e.Kind == sampler.KindTensorFlow || e.Kind == sampler.KindXLA) && !e.raised && now.raised
}

// inSentence: words stand before the error, as where somebody tells of it.
func inSentence(line string) bool {
	before, _, found := strings.Cut(line, "Error")
	return found && len(strings.Fields(before)) >= 6
}

// triesLess says whether h is the next try of an allocator that asks for a tenth less each time, as
// TensorFlow does at start: https://github.com/tensorflow/tensorflow/issues/14231. All tries are one failure.
func (e *held) triesLess(h *held) bool {
	if h.Line-e.last > 6 || e.Kind != sampler.KindTensorFlow && e.Kind != sampler.KindXLA || e.Kind != h.Kind || e.MemoryKind != h.MemoryKind {
		return false
	}
	was, now := float64(e.tried), float64(h.Requested.Or(0))
	return was > 0 && (now > was*0.88 && now < was*0.92 || now == was)
}

// repeat counts another printing of the same failure and takes what it adds: one in other words is of the same time. The last one,
// which may have been read first, tells whether the program went on.
func (e *held) repeat(h *held) {
	if h.row == e.row || h.row.name == e.row.name {
		e.Occurrences++
	}
	earlier, later := e, h
	if h.Line < e.Line {
		earlier, later = h, e
	}
	e.Recovered = later.Recovered || earlier.Recovered && later.Line-earlier.last < 8
	if e.triesLess(h) && h.tried < e.tried {
		e.Recovered, e.tried = true, h.tried // it asked again for less: it went on
	}
	e.fill(h)
	e.last = max(e.last, h.last)
}

// absorb takes the numbers of a vaguer wording of the same failure. A recovery from what came long before is none from this.
func (e *held) absorb(h *held) {
	if e.sacrificed() {
		e.PID = h.PID.Else(e.PID)
	}
	e.Recovered = e.Recovered || h.Recovered && e.Line-h.last < recoverWithin
	e.Line = min(e.Line, h.Line)
	e.fill(h)
	e.last = max(e.last, h.last)
}

// namesNoDevice: of a tensor that was refused only the other printing names the operation, and with it the device.
func (e *held) namesNoDevice(h *held) bool {
	shape, known := e.Extra["shape"].([]int)
	other, _ := h.Extra["shape"].([]int)
	return known && h.MemoryKind == sampler.MemoryHost && e.Kind == h.Kind && !e.GPUIndex.Known() && slices.Equal(shape, other)
}

func (e *held) fill(h *held) {
	e.Rank, e.GPUIndex, e.PID = e.Rank.Else(h.Rank), e.GPUIndex.Else(h.GPUIndex), e.PID.Else(h.PID)
	e.Requested, e.GPUTotal, e.GPUFree = e.Requested.Else(h.Requested), e.GPUTotal.Else(h.GPUTotal), e.GPUFree.Else(h.GPUFree)
	e.ProcessInUse, e.Allocated = e.ProcessInUse.Else(h.ProcessInUse), e.Allocated.Else(h.Allocated)
	e.ReservedUnallocated, e.Reserved = e.ReservedUnallocated.Else(h.ReservedUnallocated), e.Reserved.Else(h.Reserved)
	e.PrivatePools = e.PrivatePools.Else(h.PrivatePools)
	if e.MemoryLimit == nil {
		e.MemoryLimit = h.MemoryLimit
	}
	if len(e.OtherProcesses) == 0 && len(h.OtherProcesses) > 0 {
		e.OtherProcesses, e.SelfUnknown = h.OtherProcesses, h.SelfUnknown
	}
	for k, v := range h.Extra {
		if e.Extra == nil {
			e.Extra = map[string]any{}
		}
		if _, there := e.Extra[k]; !there {
			e.Extra[k] = v
		}
	}
	if e.MemoryKind == sampler.MemoryUnknown || e.namesNoDevice(h) {
		e.MemoryKind = h.MemoryKind
	}
}
