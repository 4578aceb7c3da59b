package oomlog

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// holdLines is how long an event waits for repeats and recoveries.
const holdLines = 400

// relation between a held event and a new one.
type relation int

const (
	unrelated relation = iota
	sameFailure
	newIsVaguer // the new one repeats the old one in a vaguer wording
	oldIsVaguer
	newIsWarning // the old one is the failure that was warned of
	oldIsWarning
	newIsConsequence // the new one is what the old one led to
)

// clearer lists, for a kind, the kinds that tell the same failure better when they stand near it.
var clearer = map[string][]string{
	sampler.KindKilled:       {sampler.KindKernelKill, sampler.KindCgroupKill, sampler.KindWorkerKilled, sampler.KindKubernetes, sampler.KindRayMonitor, sampler.KindShm},
	sampler.KindWorkerKilled: {sampler.KindShm, sampler.KindCgroupKill},
	sampler.KindKernelKill:   {sampler.KindCgroupKill},
	sampler.KindKubernetes:   {sampler.KindKernelKill, sampler.KindCgroupKill},
	sampler.KindCUDA:         {sampler.KindWarmup, sampler.KindStaticPool, sampler.KindHIP, sampler.KindXPU},
	sampler.KindCUDAError:    {sampler.KindNCCL, sampler.KindGGML, sampler.KindTensorFlow, sampler.KindORT, sampler.KindTensorRT, sampler.KindCuPy, sampler.KindRMM, sampler.KindRMMPool, sampler.KindPaddle, sampler.KindMXNet, sampler.KindBitsAndBytes, sampler.KindJulia, sampler.KindNumba, sampler.KindXLA, sampler.KindWarmup},
	sampler.KindOtherGPU:     {sampler.KindNCCL, sampler.KindGGML, sampler.KindTensorFlow, sampler.KindORT, sampler.KindTensorRT, sampler.KindCuPy, sampler.KindRMM, sampler.KindRMMPool, sampler.KindPaddle, sampler.KindMXNet, sampler.KindBitsAndBytes, sampler.KindJulia, sampler.KindNumba, sampler.KindXLA, sampler.KindCUDA, sampler.KindCUDAError, sampler.KindCUDAAsync, sampler.KindHIP, sampler.KindXPU},
	sampler.KindRMM:          {sampler.KindRMMPool},
	sampler.KindHostAlloc:    {sampler.KindMmap},
}

func isVaguer(kind, than string) bool { return slices.Contains(clearer[kind], than) }

// relationOf says whether two wordings tell of one failure.
func relationOf(old, h *held) relation {
	if h.row.launcher && old.MemoryKind == sampler.MemoryGPU && !old.Recovered && h.Line-old.last <= apart {
		return newIsConsequence // of whatever rank
	}
	source := sameSource(old, h)
	if !source && !forwarded(old, h) {
		return unrelated // first, because most of a log full of failures are
	}
	if source && old.triesLess(h) {
		return sameFailure
	}
	if old.row.warning != h.row.warning && source && old.Framework == h.Framework && related(old, h) && h.Line-old.last <= holdLines {
		if h.row.warning {
			return newIsWarning
		}
		return oldIsWarning
	}
	if old.Contradicts(&h.OOMEvent) {
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
		return newIsVaguer
	case old.row.follows && related(h, old):
		return oldIsVaguer
	case isVaguer(h.Kind, old.Kind) || h.namesNoMemory(old):
		return newIsVaguer
	case isVaguer(old.Kind, h.Kind) || old.namesNoMemory(h):
		return oldIsVaguer
	}
	return unrelated
}

// namesNoMemory: it is the exception of C++ alone, as a title or the line before what() has it, and libraries throw the same
// for the memory of a GPU.
func (h *held) namesNoMemory(than *held) bool {
	return h.row.name == "bad_alloc" && than.MemoryKind == sampler.MemoryGPU && strings.Contains(than.Text, "bad_alloc")
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
	if a.Rank.Contradicts(b.Rank) || a.PID.Contradicts(b.PID) && !(a.sacrificed() && b.row.follows) {
		return false
	}
	return a.key == b.key || a.key == "" || b.key == "" || !distinct(a.key) || !distinct(b.key) || a.Rank == b.Rank && a.Rank.Known()
}

// sacrificed: older kernels choose one process and kill another, its child or the thread's leader.
func (h *held) sacrificed() bool {
	return h.MemoryKind == sampler.MemoryHost && strings.Contains(h.Text, "or sacrifice child")
}

// forwarded says whether one process printed what another had printed: the same kind with the same
// numbers, and nothing that tells the two apart.
func forwarded(a, b *held) bool {
	return a.Kind == b.Kind && !a.Rank.Contradicts(b.Rank) && !a.PID.Contradicts(b.PID) && !bare(&a.OOMEvent) &&
		a.GPUIndex == b.GPUIndex && a.Requested == b.Requested && a.GPUFree == b.GPUFree && a.Allocated == b.Allocated
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
