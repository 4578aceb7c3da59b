package explain

import (
	"fmt"
	"strings"

	"nvpeak/sampler"
)

// bigRequest: one tensor of a size that stands out: half a GiB and 5 % of the GPU (nvpeak's own threshold).
func (f *facts) bigRequest() bool {
	return f.total.Known() && f.requested.Or(0) >= max(sampler.GiB/2, partOf(f.total.Or(0), 0.05))
}

// demandsMuch: one piece of a seventh of the GPU (own threshold: of 70 simulated deaths of fragmentation and of leaks none asked for more than 14 %). Where
// it finds no room the piece is what is large, whatever lies between and beside live tensors.
func (f *facts) demandsMuch() bool {
	return f.total.Known() && f.requested.Or(0) >= partOf(f.total.Or(0), 0.15)
}

// oneTensor: what was refused is several times all that the job holds, so that nothing that is kept of a step matters (own threshold: 4).
func (f *facts) oneTensor() bool {
	return f.allocated.Known() && f.numbers() && f.requested.Or(0) > 4*f.allocated.Or(0)
}

func (f *facts) shortfallOr0() sampler.Bytes { m, _ := f.shortfall(); return m }

// limited: a share or limit below the size of the GPU was in force and is what refused.
func (f *facts) limited() bool {
	l := f.event.MemoryLimit
	if l == nil || f.event.Kind == sampler.KindStartupFree {
		return false // there it is what the server wants, not what it may have
	}
	if f.event.Kind == sampler.KindMPS {
		return l.Allowed.Known() || l.Kind != "" // that allocator refuses only at its limit
	}
	if f.sliced() {
		return true
	}
	allowed, known := l.Allowed.Value()
	if !known {
		return l.Kind != "" && !f.numbers()
	}
	if allowed >= 1<<60 || f.total.Known() && float64(allowed) > 0.985*float64(f.total.Or(0)) {
		return false
	}
	return f.reserved()+f.requested.Or(0) > partOf(allowed, 0.9) || !f.allocated.Known()
}

// sliced: a slice of the GPU for a pod was full, which the program takes for the whole of it.
func (f *facts) sliced() bool {
	return f.event.MemoryLimit != nil && f.event.MemoryLimit.Kind == "slice"
}

// oneBuffer: OpenCL lets one buffer have no more than a part of the GPU, and what is needed as one is larger.
func (f *facts) oneBuffer() bool {
	return f.event.MemoryLimit != nil && f.event.MemoryLimit.Kind == "single_buffer"
}

// count is a further number of the message that is no amount; 0: not printed.
func (f *facts) count(key string) uint64 { return uint64(f.extra(key).Or(0)) }

// refusedThoughFree is rule R4 without a limit in the text: clearly enough was free, or something else than the size is said to decide.
func (f *facts) refusedThoughFree() bool {
	if f.saysFree() || f.workersDecide() {
		return true
	}
	m, known := f.shortfall()
	return !f.onHost() && known && m == 0 && f.total.Known() && !f.cardFull() && f.requested.Or(0) < partOf(f.free.Or(0), 0.9)
}

// roundShare: the request would have gone beyond a share of the GPU that people set, a multiple of 5 %,
// and nothing else explains why memory that was free was refused.
func (f *facts) roundShare() bool {
	total := float64(f.total.Or(0))
	if total == 0 || f.wideRequest() || f.only() {
		return false // or nobody could have set one
	}
	below, above := 20*float64(f.reserved())/total, 20*float64(f.reserved()+f.requested.Or(0))/total
	return int(above) > int(below) && int(above) < 20
}

// wideRequest: it spans so much of the GPU that some round share lies within it anyway.
func (f *facts) wideRequest() bool { return f.requested.Or(0) > partOf(f.total.Or(0), 0.04) }

// held is what counts against a limit: the allocator's memory, on MPS also the other allocations.
func (f *facts) held() sampler.Bytes {
	return f.reserved() + f.extra("other_allocations_bytes").Or(0)
}

// extra is a further number of the message, if it is an amount. Recordings and tests bring it
// as JSON numbers, the parser as whole numbers.
func (f *facts) extra(key string) amount {
	var v float64
	switch n := f.event.Extra[key].(type) {
	case float64:
		v = n
	case sampler.Bytes:
		v = float64(n)
	case uint64:
		v = float64(n)
	case int64:
		v = float64(n)
	case int:
		v = float64(n)
	default:
		return amount{}
	}
	if !(v > 0 && v < float64(sampler.MaxPlausible)) {
		return amount{}
	}
	return sampler.Some(sampler.Bytes(v))
}

// corrupt: the size asked for is no size ("more than 1EB"), so no memory setting can help.
func (f *facts) corrupt() bool {
	return f.absurd() || f.event.Requested.Or(0) >= sampler.MaxPlausible || !f.event.Requested.Known() && (indexOf(f.event.Text, "more than 1EB") >= 0 || negativeSize.Get().MatchString(f.event.Text)) || f.endless()
}

// endless: the number of bytes that was asked for is one that no machine has.
func (f *facts) endless() bool {
	return !f.event.Requested.Known() && endlessSize.Get().MatchString(f.event.Text)
}

// absurd: a size is printed that no program needs.
func (f *facts) absurd() bool {
	need := f.event.Requested.Or(0)
	return !f.doubles() && need >= absurdRequest && need < sampler.MaxPlausible
}

// beyondRAM: one array is asked for that no server with a GPU has the memory for (own threshold: the 32 TiB of the largest that
// are let, https://aws.amazon.com/ec2/instance-types/high-memory/).
func (f *facts) beyondRAM() bool {
	return !f.doubles() && f.onHost() && f.event.Kind == sampler.KindHostAlloc && f.event.Requested.Or(0) > 1<<45
}

// doubles: the state of qubits is twice as large with each more, so that no size of it is wrong.
func (f *facts) doubles() bool {
	w, is := f.work()
	return is && w.name == sampler.WorkQubits
}

// corruptText says that the size is wrong.
func (f *failure) corruptText() string {
	if f.beyondRAM() {
		return f.words.Say("note.beyond_ram", "need", printed(f.event.Requested.Or(0)))
	}
	if f.absurd() {
		return f.words.Say("note.absurd_size", "need", printed(f.event.Requested.Or(0)))
	}
	return f.words.Say("note.corrupt_size")
}

// absurdRequest is more than any array of a program has (own threshold: half a PiB; the distances between ten million points take two
// thirds of that): the size was computed wrongly.
const absurdRequest = sampler.Bytes(1 << 49)

// negativeSize is a size below zero, as an unsigned number prints it.
var negativeSize = sampler.Pattern{Source: `Tried to allocate 1717986918\d\.\d+ GiB`}

// endlessSize is a number of bytes that no machine has (17 digits: 9 PiB and more), as arithmetic leaves it that went beyond its type.
var endlessSize = sampler.Pattern{Source: `(?i)\b(?:size|allocat\w*|request\w*|bytes)\b[^\d\n]{0,12}\d{17,20}\b|\b\d{17,20} ?bytes\b`}

// noSplit: request and free memory are known, but not what this process held, so the rest of the
// GPU may be its own or anybody's.
func (f *facts) noSplit() bool {
	m, known := f.shortfall()
	return !f.onHost() && known && m > 0 && f.total.Known() && !f.allocated.Known() && !f.process.Known() && len(f.others) == 0
}

// ownUnknown: neither the GPU nor what this process held of it is known.
func (f *facts) ownUnknown() bool {
	return !f.total.Known() && !f.allocated.Known() && !f.process.Known()
}

// reserved is what the allocator holds: tensors and unallocated memory.
func (f *facts) reserved() sampler.Bytes { return f.allocated.Or(0) + f.unallocated.Or(0) }

// oversubscribed is rule R8: more allocated than the GPU has, which only a fall-back to
// system memory allows.
func (f *facts) oversubscribed() bool {
	total, known := f.total.Value()
	return known && f.allocated.Known() && f.allocated.Or(0) > total
}

// othersHold is a careful figure of what others hold: without the context of this process.
func (f *facts) othersHold() sampler.Bytes {
	e := f.elsewhere.Or(0)
	switch {
	case f.ownInside && (f.event.Reserved.Known() || indexOf(f.event.Text, " cached)") >= 0):
		e = e.Less(contextOld)
	case f.ownInside:
		e = e.Less(ContextTypical)
	}
	return e
}

// littleElsewhere: all that says that somebody else holds memory is a message, and it is 2.5 GiB and a third of the GPU at
// most. CUDA, its libraries and a desktop hold as much: of six public threads with so little, it was another program in none.
func (f *facts) littleElsewhere() bool {
	part := f.total.Or(0) / 3
	if !f.ownInside {
		part = f.total.Or(0) / 8 // what CUDA and its libraries hold is not in it
	}
	return f.history == nil && len(f.others) == 0 && f.othersHold() < min(part, 5*sampler.GiB/2)
}

// unseenElsewhere: a message alone says that memory is held elsewhere, it names no program, and it is less than three
// tenths of the GPU and 7 GiB. Of public threads with so much it was another program in none of five; with more, in all but one of sixteen.
func (f *facts) unseenElsewhere() bool {
	m := f.shortfallOr0()
	return m > 0 && f.othersHold() >= m && f.history == nil && len(f.others) == 0 && !f.onHost() && f.othersMatter() && !f.littleElsewhere() && !f.told(sampler.ToldShared) && !f.told(sampler.ToldHeld) && f.elsewhere.Or(0) < min(partOf(f.total.Or(0), 0.3), 7*sampler.GiB)
}

// othersMatter is the threshold of rule R1: more than 1 GiB and more than 5 % of the GPU. On a GPU of less than 8 GiB an eighth of it is
// enough (own threshold): with a context that is a third of a small one, more than CUDA and a desktop take. One of 6 GiB had 2.1 outside of a
// program that had trained there before: https://github.com/dbolya/yolact/issues/296
func (f *facts) othersMatter() bool {
	least := min(sampler.GiB, f.total.Or(0)/8)
	if f.told(sampler.ToldAlone) && len(f.others) == 0 {
		least = sampler.GiB // what the driver and the desktop take, also of a small GPU
	}
	return f.strangersHold() > max(least, partOf(f.total.Or(0), 0.05))
}

// shortfall is what the request lacked in free memory.
func (f *facts) shortfall() (sampler.Bytes, bool) {
	req, ok := f.requested.Value()
	free, known := f.free.Value()
	return req.Less(free), ok && known
}

// shortfallAfterReuse is what is missing even when the allocator could use all its unallocated memory (rule R6).
func (f *facts) shortfallAfterReuse() (sampler.Bytes, bool) {
	m, ok := f.shortfall()
	return m.Less(f.unallocated.Or(0)), ok
}

// fitsAfterReuse is rule R5: not in the free memory, but in free memory and unallocated memory together.
func (f *facts) fitsAfterReuse() bool {
	m, ok := f.shortfall()
	return ok && m > 0 && m <= f.unallocated.Or(0)
}

// unlikeFragmentation: what is free and unallocated is less than the request together, or the GPU is, so that no order of blocks would do.
func (f *facts) unlikeFragmentation() bool {
	s, known := f.shortfallAfterReuse()
	return known && s > 0 && f.unallocated.Known() || f.total.Known() && f.requested.Or(0) > f.total.Or(0)
}

// unallocatedShare is the unallocated share of what the allocator holds, 0..1 (rule R7); 0 when
// it is not known what that is.
func (f *facts) unallocatedShare() float64 {
	if f.reserved() == 0 || !f.allocated.Known() {
		return 0
	}
	return float64(f.unallocated.Or(0)) / float64(f.reserved())
}

// cardFull: the driver had the bytes by name, but next to nothing was left (rule R4).
func (f *facts) cardFull() bool {
	total, known := f.total.Value()
	return known && f.free.Known() && f.free.Or(0) < partOf(total, 0.05)
}

// tokensThatFit is the longest request that the cache of a server holds, as it says itself or by its
// numbers; 0: not known.
func (f *facts) tokensThatFit() uint64 {
	if n := f.count("estimated_max_model_len"); n > 0 {
		return n
	}
	if n := f.count("kv_cache_tokens"); n > 0 {
		return n
	}
	need, left, tokens := f.requested.Or(0), f.extra("available_kv_cache_bytes").Or(0), f.count("max_seq_len")
	if need == 0 || left >= need {
		return 0
	}
	return uint64(float64(tokens)*float64(left)/float64(need)) / 16 * 16
}

// freeShare is the share of the GPU that a server which found too little, or died beside others, could have, less a
// hundredth for what moves meanwhile.
func (f *facts) freeShare() (float64, bool) {
	total := f.total.Or(0)
	room, known := f.free.Value()
	if f.event.Kind != sampler.KindStartupFree {
		room, known = total.Less(f.elsewhere.Or(0)), f.othersHold() > partOf(total, 0.1)
	}
	if !known || total == 0 {
		return 0, false
	}
	share := float64(int(100*float64(room)/float64(total))-1) / 100
	return share, share >= 0.1
}

// nothingFreed: next to nothing is unallocated on a GPU that is full, and a small request was refused (own thresholds:
// 0.4 and 2 %). Each backward pass and each layer frees something that stays reserved; weights that are loaded do not.
// Where anything else tells what ran, that decides.
func (f *failure) nothingFreed() bool {
	if !f.program.is(undecided|inference) || f.program.name != "" || len(f.context.Functions) != 0 || f.phase() != "" && f.phase() != sampler.PhaseInference || f.batch() != 0 || !f.isPyTorch() || f.onHost() {
		return false
	}
	total := f.total.Or(0)
	unallocated := f.unallocated.Or(0)
	if !f.event.ReservedUnallocated.Known() {
		unallocated += sampler.GiB / 100 // the difference of two figures that were rounded
	}
	return f.unallocated.Known() && unallocated <= partOf(f.reserved(), 0.004) &&
		f.allocated.Or(0) > partOf(total, 0.8) && f.requested.Or(0) < partOf(total, 0.02)
}

// numbers: the arithmetic of request and free memory can be done.
func (f *facts) numbers() bool { _, ok := f.shortfall(); return ok && f.total.Known() }

// littleAlone is what programs of any size ask for: a request below it does not tell how full the GPU was. Of public threads with
// no other number and a larger one the job was too big in all.
const littleAlone = 400 * sampler.MiB

// pooledShape: TensorFlow names the shape of what found no room in its pool. That has nearly the whole GPU, so it was full of the
// program's own.
func (f *facts) pooledShape() bool {
	_, shape := f.event.Extra["shape"]
	return shape && !f.onHost()
}

// shape is that of a tensor that was refused, where the text has it and no type, and what it takes in 32 bits; 0: not known.
func (f *facts) shape() (string, sampler.Bytes) {
	sides, _ := f.event.Extra["shape"].([]int)
	need := 4.0
	for _, side := range sides {
		need *= float64(side)
	}
	if len(sides) == 0 || need <= 0 || need >= float64(sampler.MaxPlausible) {
		return "", 0
	}
	return strings.ReplaceAll(fmt.Sprint(sides), " ", ", "), sampler.Bytes(need)
}

// asksMuch: what it asks for in one piece is an eighth of the GPU or more. Whoever held the rest, of public threads with so much
// the job was too big in all.
func (f *facts) asksMuch() bool { return f.total.Known() && f.requested.Or(0) >= f.total.Or(0)/8 }

// beyondPool is by how much the request is more than what is left of TensorFlow's pool, as its statistics say; 0: not
// known, or it fits.
func (f *facts) beyondPool() sampler.Bytes {
	limit, known := f.extra("pool_limit_bytes").Value()
	if !known || f.onHost() || f.numbers() {
		return 0
	}
	return f.requested.Or(0).Less(limit.Less(f.extra("pool_used_bytes").Or(0)))
}

// requestAlone: a request that fits into any GPU is all that the text tells.
func (f *facts) requestAlone() bool {
	return !f.onHost() && !f.pooledShape() && f.class.class == classAllocator && f.class.cause == "" && f.requested.Known() && f.requested.Or(0) < littleAlone && !f.numbers() && !f.total.Known() &&
		!f.allocated.Known() && !f.corrupt() && !f.limited() && !f.oneHoldsAll() && f.snapshot == nil && f.history == nil && !f.extra("total_allocation_bytes").Known()
}

// impossible is rule R3: one tensor that is larger than the GPU, or than any GPU made.
func (f *facts) impossible() bool {
	need := f.requested.Or(0)
	return !f.onHost() && !f.corrupt() && (f.total.Known() && need > f.total.Or(0) || need > largestGPU)
}

// largestGPU is more than almost any GPU has, and more than any can give in one piece beside a model: a request above it needs no total to be judged.
const largestGPU = 200 * sampler.GiB

// newestGPU is the memory of the largest GPU there is (288 GB: B300, MI355X): what asks for more in one piece will fit none.
const newestGPU = 288 * sampler.GiB

// largestWorkspace is what XLA lets a convolution of cuDNN have beside the pool, unless
// TF_CUDNN_WORKSPACE_LIMIT_IN_MB says otherwise: what is larger is the program's own.
const largestWorkspace = 4 * sampler.GiB

// outsidePool: the driver refused what XLA asks for beside its pool (streams, libraries, a growing
// pool), so the pool must become smaller, not larger. Where larger and smaller shares were tried, neither helps.
func (f *facts) outsidePool() bool {
	return f.event.Kind == sampler.KindXLA && indexOf(f.event.Text, "on device ordinal") >= 0 && !f.triedShare() && f.requested.Or(0) <= largestWorkspace
}
