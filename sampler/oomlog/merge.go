package oomlog

import (
	"sort"
	"strings"

	"nvpeak/sampler"
)

const (
	holdLines = 400 // an event waits this long for repeats and recoveries
	maxHeld   = 128
)

// held is an event that waits.
type held struct {
	sampler.OOMEvent
	row   *compiledRow
	key   string        // stream
	last  int           // line where it was last seen
	tried sampler.Bytes // the last request of a series
}

// holder keeps the events that are not complete yet, in the order of their first lines.
type holder struct {
	events []*held
}

// hold takes a new event: as a repeat of a held one, or as one of its own.
func (p *Parser) hold(f *findings, m *message, r *compiledRow, st *stream) {
	h := &held{OOMEvent: f.OOMEvent, row: r, key: st.key, last: m.first.number + len(m.lines) - 1, tried: f.Requested.Or(0)}
	for i := len(p.held.events) - 1; i >= 0; i-- {
		old := p.held.events[i]
		switch relationOf(old, h) {
		case sameFailure:
			old.repeat(h)
			return
		case oldIsLess:
			h.absorb(old)
			p.held.events = append(p.held.events[:i], p.held.events[i+1:]...)
			p.held.events = append(p.held.events, h)
			h.Context = old.Context
			p.held.sortLast()
			return
		case newIsLess:
			old.absorb(h)
			return
		}
	}
	h.Context = p.context(m, st)
	p.held.events = append(p.held.events, h)
	p.held.sortLast()
}

func (h *holder) sortLast() {
	sort.SliceStable(h.events, func(i, j int) bool { return h.events[i].Line < h.events[j].Line })
}

// latest is the event of a stream that was last seen at line from or later.
func (h *holder) latest(key string, from int) *held {
	for i := len(h.events) - 1; i >= 0; i-- {
		e := h.events[i]
		if e.last >= from && (e.key == key || e.key == "" || key == "") {
			return e
		}
	}
	return nil
}

// release returns the events that have waited long enough; all for now < 0.
func (h *holder) release(now int) []sampler.OOMEvent {
	var out []sampler.OOMEvent
	for len(h.events) > 0 {
		e := h.events[0]
		if now >= 0 && len(h.events) <= maxHeld && now-e.last < holdLines {
			break
		}
		out = append(out, e.OOMEvent)
		h.events = h.events[1:]
	}
	return out
}

// relation between a held event and a new one.
type relation int

const (
	unrelated relation = iota
	sameFailure
	newIsLess // the new one repeats the old one in a vaguer wording
	oldIsLess
)

// lesser lists, for a kind, the kinds that tell the same failure better when they stand near it.
var lesser = map[string][]string{
	sampler.KindKilled:       {sampler.KindKernelKill, sampler.KindCgroupKill, sampler.KindWorkerKilled, sampler.KindKubernetes, sampler.KindRayMonitor, sampler.KindShm},
	sampler.KindWorkerKilled: {sampler.KindShm},
	sampler.KindKernelKill:   {sampler.KindCgroupKill},
	sampler.KindKubernetes:   {sampler.KindKernelKill, sampler.KindCgroupKill},
	sampler.KindCUDA:         {sampler.KindWarmup, sampler.KindStaticPool},
	sampler.KindCUDAError:    {sampler.KindNCCL, sampler.KindGGML, sampler.KindTensorFlow, sampler.KindORT, sampler.KindTensorRT, sampler.KindCuPy, sampler.KindRMM, sampler.KindRMMPool, sampler.KindPaddle, sampler.KindMXNet, sampler.KindBitsAndBytes, sampler.KindJulia, sampler.KindNumba, sampler.KindXLA, sampler.KindWarmup},
	sampler.KindOtherGPU:     {sampler.KindNCCL, sampler.KindGGML, sampler.KindTensorFlow, sampler.KindORT, sampler.KindTensorRT, sampler.KindCuPy, sampler.KindRMM, sampler.KindRMMPool, sampler.KindPaddle, sampler.KindMXNet, sampler.KindBitsAndBytes, sampler.KindJulia, sampler.KindNumba, sampler.KindXLA, sampler.KindCUDA, sampler.KindCUDAError, sampler.KindCUDAAsync, sampler.KindHIP, sampler.KindXPU},
	sampler.KindRMM:          {sampler.KindRMMPool},
	sampler.KindHostAlloc:    {sampler.KindMmap},
}

func isLesser(kind, better string) bool {
	for _, b := range lesser[kind] {
		if b == better {
			return true
		}
	}
	return false
}

// relationOf says whether two wordings tell of one failure.
func relationOf(old, h *held) relation {
	if sameSource(old, h) && old.lessAndLess(h) {
		return sameFailure
	}
	if conflict(&old.OOMEvent, &h.OOMEvent) || !sameSource(old, h) && !forwarded(old, h) {
		return unrelated
	}
	near := h.Line-old.last <= holdLines
	switch {
	case old.Kind == h.Kind && !h.row.follows && !old.row.follows:
		if identical(&old.OOMEvent, &h.OOMEvent) || near && (old.Framework == h.Framework || bare(&h.OOMEvent) || bare(&old.OOMEvent)) {
			return sameFailure
		}
	case !near:
	case h.row.follows && related(old, h):
		return newIsLess
	case old.row.follows && related(h, old):
		return oldIsLess
	case isLesser(h.Kind, old.Kind):
		return newIsLess
	case isLesser(old.Kind, h.Kind):
		return oldIsLess
	}
	return unrelated
}

// lessAndLess says whether h is the next try of an allocator that asks for a tenth less each time, as
// TensorFlow does at start: https://github.com/tensorflow/tensorflow/issues/14231. All tries are one failure.
func (e *held) lessAndLess(h *held) bool {
	if e.Kind != sampler.KindTensorFlow && e.Kind != sampler.KindXLA || e.Kind != h.Kind || e.MemoryKind != h.MemoryKind || h.Line-e.last > 6 {
		return false
	}
	was, now := float64(e.tried), float64(h.Requested.Or(0))
	return was > 0 && (now > was*0.88 && now < was*0.92 || now == was)
}

// related says whether a wording that only follows another may follow this one.
func related(e, follower *held) bool {
	return e.MemoryKind == follower.MemoryKind || follower.MemoryKind == sampler.MemoryUnknown || e.MemoryKind == sampler.MemoryUnknown
}

// bare says that a text gave no numbers.
func bare(e *sampler.OOMEvent) bool {
	return !e.Requested.Known() && !e.Allocated.Known() && !e.GPUTotal.Known()
}

// sameSource says whether two events can come from one process.
func sameSource(a, b *held) bool {
	if clash(a.Rank, b.Rank) || clash(a.PID, b.PID) {
		return false
	}
	return a.key == b.key || a.key == "" || b.key == "" || !distinct(a.key) || !distinct(b.key) || a.Rank == b.Rank && a.Rank.Known()
}

// forwarded says whether one process printed what another had printed: the same kind with the same
// numbers, and nothing that tells the two apart.
func forwarded(a, b *held) bool {
	return a.Kind == b.Kind && !clash(a.Rank, b.Rank) && !clash(a.PID, b.PID) && !bare(&a.OOMEvent) &&
		a.GPUIndex == b.GPUIndex && a.Requested == b.Requested && a.GPUFree == b.GPUFree && a.Allocated == b.Allocated
}

// distinct says whether a stream's name tells processes apart: it has a number in it.
func distinct(key string) bool { return strings.ContainsAny(key, "0123456789") }

func clash[T comparable](a, b sampler.Opt[T]) bool {
	x, ok := a.Value()
	y, both := b.Value()
	return ok && both && x != y
}

// conflict says whether two events print different values for a field.
func conflict(a, b *sampler.OOMEvent) bool {
	return clash(a.GPUIndex, b.GPUIndex) || clashRequest(a, b) || clash(a.GPUTotal, b.GPUTotal) ||
		clash(a.GPUFree, b.GPUFree) || clash(a.ProcessInUse, b.ProcessInUse) || clash(a.Allocated, b.Allocated) ||
		clash(a.ReservedUnallocated, b.ReservedUnallocated) || clash(a.Reserved, b.Reserved) ||
		clash(a.PrivatePools, b.PrivatePools)
}

// clashRequest is clash for the request. TensorFlow, XLA and ggml print it once rounded ("1.13GiB") and once in bytes,
// NCCL its shared memory once with and once without its head.
func clashRequest(a, b *sampler.OOMEvent) bool {
	if !clash(a.Requested, b.Requested) {
		return false
	}
	x, y := float64(a.Requested.Or(0)), float64(b.Requested.Or(0))
	return a.Kind != sampler.KindXLA && a.Kind != sampler.KindTensorFlow && a.Kind != sampler.KindGGML && a.Kind != sampler.KindShm || x < y*0.995 || x > y*1.005
}

// repeat counts another printing of the same failure and takes what it adds. Whether the program went on
// is told by the last one.
func (e *held) repeat(h *held) {
	e.Occurrences++
	e.Recovered = h.Recovered || e.Recovered && h.Line-e.last < 8
	if e.lessAndLess(h) && h.tried < e.tried {
		e.Recovered, e.tried = true, h.tried // it asked again for less: it went on
	}
	e.fill(h)
	e.last = max(e.last, h.last)
}

// absorb takes the numbers of a vaguer wording of the same failure.
func (e *held) absorb(h *held) {
	e.Recovered = e.Recovered || h.Recovered
	e.Line = min(e.Line, h.Line)
	e.fill(h)
	e.last = max(e.last, h.last)
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
	if e.MemoryKind == sampler.MemoryUnknown {
		e.MemoryKind = h.MemoryKind
	}
}

// repeats joins equal failures of a whole text, whatever lies between them.
type repeats struct {
	events []sampler.OOMEvent
	index  map[identity]int
}

// identity is what makes two printings equal.
type identity struct {
	framework, kind                                                                string
	rank, gpu, pid                                                                 sampler.Opt[int]
	requested, total, free, process, allocated, unallocated, reserved, privatePool sampler.Opt[sampler.Bytes]
}

func identityOf(e *sampler.OOMEvent) identity {
	return identity{e.Framework, e.Kind, e.Rank, e.GPUIndex, e.PID, e.Requested, e.GPUTotal, e.GPUFree,
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated, e.Reserved, e.PrivatePools}
}

// identical says whether two events print the same numbers and come from the same rank.
func identical(a, b *sampler.OOMEvent) bool { return identityOf(a) == identityOf(b) }

func (r *repeats) add(events []sampler.OOMEvent) {
	for _, e := range events {
		id := identityOf(&e)
		if i, ok := r.index[id]; ok {
			r.events[i].Occurrences += e.Occurrences
			r.events[i].Recovered = e.Recovered
			continue
		}
		if r.index == nil {
			r.index = map[identity]int{}
		}
		r.index[id] = len(r.events)
		r.events = append(r.events, e)
	}
}
