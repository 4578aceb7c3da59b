package explain

import (
	"maps"
	"math"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

type amount = sampler.Opt[sampler.Bytes]

// failure is one event with everything derived from it: the facts that rules and fixes read.
// Amounts that cannot be are dropped (rule R0) before anything reads them.
type failure struct {
	event       sampler.OOMEvent
	context     sampler.LogContext
	command     command.Line
	environment map[string]string
	history     *History
	file        string // the log it is from; empty: the only one
	gpu         gpuModel
	siblings    []sampler.OOMEvent // all events of the run
	words       lang.Catalog
	notes       []string // sentinels and the like, in words

	requested, total, free, allocated, holes, process amount
	// outside is what this process holds beside its allocator; elsewhere what is neither free
	// nor of this process. ownInside: elsewhere includes the outside of this process.
	outside, elsewhere amount
	ownInside          bool
	others             []Neighbour
	class              kindRow
	footprint          footprint
}

// ContextTypical is what one process costs on a card before its first tensor. 0.3 to 0.6 GiB
// with CUDA 12, up to 1.8 GiB before. https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md
const ContextTypical = 600 * sampler.MiB

func NewFailure(in Incident, event sampler.OOMEvent, words lang.Catalog) *failure {
	f := &failure{event: event, history: in.History, words: words, class: classOf(event)}
	if event.Context != nil {
		f.context = *event.Context
	}
	text := in.Command
	if strings.TrimSpace(text) == "" {
		text = f.context.Command
	}
	f.command = command.Parse(text)
	f.environment = map[string]string{}
	maps.Copy(f.environment, f.context.Environment)
	maps.Copy(f.environment, in.Environment)
	if f.command.Known {
		maps.Copy(f.environment, f.command.Environment())
	}
	name := in.GPUName
	if name == "" {
		name = f.context.GPUName
	}
	f.gpu = modelOf(name, in.ComputeCapability)
	f.amounts()
	f.footprint = f.estimate()
	return f
}

// sane drops what is no amount: sentinels near 2^64 and above.
func (f *failure) sane(v amount) amount {
	if b, known := v.Value(); known && b >= sampler.Sane {
		f.note("note.sentinel")
		return amount{}
	}
	return v
}

func (f *failure) note(id string, pairs ...any) {
	text := f.words.Say(id, pairs...)
	for _, n := range f.notes {
		if n == text {
			return
		}
	}
	f.notes = append(f.notes, text)
}

// amounts does the arithmetic of the message (rules R0 to R2).
func (f *failure) amounts() {
	e := f.event
	f.requested, f.total, f.free = f.sane(e.Requested), f.sane(e.GPUTotal), f.sane(e.GPUFree)
	f.allocated, f.holes, f.process = f.sane(e.Allocated), f.sane(e.ReservedUnallocated), f.sane(e.ProcessInUse)
	f.requested = f.requested.Else(f.extra("derived_requested_bytes")) // TensorFlow prints the shape
	if b, known := e.Requested.Value(); known && b >= sampler.Sane {
		f.note("note.corrupt_size")
	}
	if r, known := f.sane(e.Reserved).Value(); known && !f.holes.Known() && f.allocated.Known() {
		f.holes = sampler.Some(r.Less(f.allocated.Or(0)))
	}
	if f.process.Known() && f.process.Or(0) == 0 && f.allocated.Or(0) > 0 {
		f.process = amount{}
		f.note("note.zero_process")
	}
	f.findOthers()
	f.fromHistory()
	if f.process.Known() && f.process.Or(0) < f.reserved() {
		f.process = amount{} // less than its own allocator holds: not of this process
	}
	if p, known := f.process.Value(); known && f.allocated.Known() && f.holes.Known() {
		f.outside = sampler.Some(p.Less(f.reserved()))
	}
	f.findElsewhere()
}

// reserved is what the allocator holds: tensors and holes.
func (f *failure) reserved() sampler.Bytes { return f.allocated.Or(0) + f.holes.Or(0) }

// findOthers sorts the "Process N" clauses. In a container the driver gives host pids, so the
// failing process can be among them: it is the one whose size fits its allocator.
func (f *failure) findOthers() {
	own := -1
	if !f.process.Known() && f.reserved() > 0 {
		for i, p := range f.event.OtherProcesses {
			low, high := f.reserved().Less(64*sampler.MiB), f.reserved()+5*sampler.GiB/2
			// More than what others can have beside this process' allocator: it is this process.
			sole := f.total.Known() && f.free.Known() && p.Bytes >= low && p.Bytes+f.reserved() > f.total.Or(0).Less(f.free.Or(0))+512*sampler.MiB
			if (sole || p.Bytes >= low && p.Bytes <= high) && p.Bytes < sampler.Sane && (own < 0 || p.Bytes > f.event.OtherProcesses[own].Bytes) {
				own = i
			}
		}
	}
	for i, p := range f.event.OtherProcesses {
		switch {
		case i == own:
			f.process = sampler.Some(p.Bytes)
			f.note("note.self_by_size", "pid", p.PID, "size", gib(p.Bytes))
		case p.Bytes >= sampler.Sane:
			f.note("note.sentinel")
		case p.Bytes > 0:
			f.others = append(f.others, Neighbour{PID: p.PID, Bytes: p.Bytes})
		}
	}
}

// fromHistory fills in what the message left out from the recording.
func (f *failure) fromHistory() {
	h := f.history
	if h == nil || f.event.MemoryKind == sampler.MemoryHost {
		return
	}
	if !f.total.Known() {
		f.total, f.free = f.sane(h.Total), f.sane(h.Free)
	}
	f.process = f.process.Else(f.sane(h.Process))
	if len(h.Others) > 0 && len(f.others) <= len(h.Others) {
		f.others = append([]Neighbour(nil), h.Others...)
	}
}

// findElsewhere is rule R1.
func (f *failure) findElsewhere() {
	total, known := f.total.Value()
	free, freeKnown := f.free.Value()
	named := sampler.Bytes(0)
	for _, p := range f.others {
		named += p.Bytes
	}
	switch {
	case f.oversubscribed() || !known || !freeKnown:
		if named > 0 {
			f.elsewhere = sampler.Some(named)
		}
	case f.process.Known():
		f.elsewhere = sampler.Some(total.Less(free).Less(f.process.Or(0)))
	case f.allocated.Known():
		f.elsewhere, f.ownInside = sampler.Some(total.Less(free).Less(f.reserved())), true
	}
}

// oversubscribed is rule R8: more allocated than the card has, which only a fall-back to
// system memory allows.
func (f *failure) oversubscribed() bool {
	total, known := f.total.Value()
	return known && f.allocated.Known() && f.allocated.Or(0) > total
}

// othersHold is a careful figure of what others hold: without the context of this process.
func (f *failure) othersHold() sampler.Bytes {
	e := f.elsewhere.Or(0)
	if f.ownInside {
		e = e.Less(ContextTypical)
	}
	return e
}

// othersMatter is the threshold of rule R1: more than 1 GiB and more than 5 % of the card.
func (f *failure) othersMatter() bool {
	return f.othersHold() > max(sampler.GiB, partOf(f.total.Or(0), 0.05))
}

// missing is what the request lacked in free memory.
func (f *failure) missing() (sampler.Bytes, bool) {
	req, ok := f.requested.Value()
	free, known := f.free.Value()
	return req.Less(free), ok && known
}

// short is what is missing even when the allocator could use all its holes (rule R6).
func (f *failure) short() (sampler.Bytes, bool) {
	m, ok := f.missing()
	return m.Less(f.holes.Or(0)), ok
}

// fitsInHoles is rule R5: not in the free memory, but in free memory and holes together.
func (f *failure) fitsInHoles() bool {
	m, ok := f.missing()
	return ok && m > 0 && m <= f.holes.Or(0)
}

// holesShare is the holes' share of what the allocator holds, 0..1 (rule R7).
func (f *failure) holesShare() float64 {
	if f.reserved() == 0 {
		return 0
	}
	return float64(f.holes.Or(0)) / float64(f.reserved())
}

// needed is what a cure must gain at the moment of the peak: what was missing, and a reserve for
// what would have come after. A first step dies on its way up, so its peak is still unseen.
func (f *failure) needed() sampler.Bytes {
	m, _ := f.missing()
	switch {
	case f.phase() == phaseLoading:
		return m + partOf(f.allocated.Or(0), 0.3)
	case f.inBackward():
		return m + partOf(f.total.Or(0), 0.03)
	case f.late() || f.phase() == PhaseValidation:
		return m + partOf(f.total.Or(0), 0.02)
	case f.phase() == phaseInference:
		return m + partOf(f.total.Or(0), 0.04)
	}
	return m + partOf(f.footprint.activations.mid(), 0.2)
}

// cardFull: the driver had the bytes by name, but next to nothing was left (rule R4).
func (f *failure) cardFull() bool {
	total, known := f.total.Value()
	return known && f.free.Known() && f.free.Or(0) < partOf(total, 0.01)
}

// partOf is a part of an amount.
func partOf(b sampler.Bytes, part float64) sampler.Bytes {
	return sampler.Bytes(math.Max(0, float64(b)*part))
}

// card is the picture of the GPU at the moment of failure.
func (f *failure) card() *Card {
	total, known := f.total.Value()
	free, freeKnown := f.free.Value()
	if !known || !freeKnown || f.oversubscribed() || free > total || total == 0 {
		return nil
	}
	c := Card{Total: total, Free: free, Need: f.requested.Or(0)}
	rest := total - free
	take := func(want sampler.Bytes) sampler.Bytes {
		got := min(want, rest)
		rest -= got
		return got
	}
	c.Allocated = take(f.allocated.Or(0))
	c.Holes = take(f.holes.Or(0))
	if p, ok := f.process.Value(); ok {
		c.OutsideKnown = true
		c.Outside = take(p.Less(f.reserved()))
	}
	c.Others = rest
	return &c
}
