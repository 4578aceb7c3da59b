package explain

import "nvpeak/sampler"

// detail is the arithmetic and what follows from it, in a sentence or two.
func (f *failure) detail(causes []sampler.Cause) string {
	_, shortfallKnown := f.shortfall()
	switch {
	case f.complains():
		return f.words.Say("detail.complaint")
	case f.onHost():
		return f.hostDetail()
	case f.corrupt():
		return f.corruptText()
	case f.event.Kind == sampler.KindStartupFree:
		return f.startupText()
	case f.event.Kind == sampler.KindKVCache:
		return f.cacheText()
	case f.class.class == classServing && f.words.Has("why."+f.class.kind):
		return f.words.Say("why." + f.class.kind)
	case f.limited() && f.event.MemoryLimit.Allowed.Known():
		return f.limitDetail()
	case shortfallKnown:
		text := f.arithmetic()
		if more := f.conclusion(TopCause(causes)); more != "" {
			text += f.words.Say("detail.space") + more
		}
		return text
	case f.event.Kind == sampler.KindRefused && !f.requested.Known() && !f.extra("piece_bytes").Known() && f.free.Known():
		return f.words.Say("detail.context", "free", f.rough(gib(f.free.Or(0))), "total", gib(f.total.Or(0)))
	case f.event.Kind == sampler.KindRefused && !f.requested.Known() && f.free.Known():
		return f.words.Say("detail.piece", "size", printed(f.extra("piece_bytes").Or(0)), "free", f.rough(gib(f.free.Or(0))), "total", gib(f.total.Or(0)))
	case f.requested.Known() && f.extra("total_allocation_bytes").Known() && f.reported():
		return f.words.Say("detail.program_alone", "need", printed(f.requested.Or(0)))
	case f.requested.Known() && f.extra("total_allocation_bytes").Known() && !f.extra("parameter_bytes").Known() && !f.extra("temp_bytes").Known():
		return f.words.Say("detail.program_total", "need", printed(f.requested.Or(0)), "all", gib(f.extra("total_allocation_bytes").Or(0)))
	case f.requested.Known() && f.extra("total_allocation_bytes").Known():
		return f.words.Say("detail.program", "need", printed(f.requested.Or(0)), "all", gib(f.extra("total_allocation_bytes").Or(0)),
			"arguments", gib(f.extra("parameter_bytes").Or(0)), "results", gib(f.extra("maybe_live_out_bytes").Or(0)), "temporary", gib(f.extra("temp_bytes").Or(0)))
	case f.impossible():
		if total, known := f.total.Value(); known {
			return f.words.Say("why.larger_than_gpu", "need", printed(f.requested.Or(0)), "total", gib(total))
		}
		return f.words.Say("why.larger_than_any", "need", printed(f.requested.Or(0)))
	case f.requested.Known() && f.extra("pool_limit_bytes").Known() && f.extra("pool_used_bytes").Known():
		return f.poolText()
	case f.requested.Known() && f.extra("planned_bytes").Known() && f.extra("planned_free_bytes").Known():
		return f.words.Say("detail.planned", "need", printed(f.requested.Or(0)), "planned", gib(f.extra("planned_bytes").Or(0)), "free", gib(f.extra("planned_free_bytes").Or(0)))
	case f.requested.Known() && f.allocated.Known() && f.total.Known():
		return f.words.Say("detail.request_beside.total", "need", printed(f.requested.Or(0)), "allocated", gib(f.allocated.Or(0)), "total", gib(f.total.Or(0)))
	case f.requested.Known() && f.allocated.Known():
		return f.words.Say("detail.request_beside", "need", printed(f.requested.Or(0)), "allocated", gib(f.allocated.Or(0)))
	case f.requested.Known() && f.event.Kind == sampler.KindRefused:
		text := f.words.Say("detail.refused_only", "need", printed(f.requested.Or(0)))
		if others := f.notOwn(); others > 0 {
			text += f.words.Say("detail.space") + f.words.Say("detail.other_process", "elsewhere", gib(others))
		}
		return text
	case f.requested.Known():
		id := "detail.request_only"
		if f.oneHoldsAll() {
			id += ".one_gpu"
		}
		return f.words.Say(id, "need", printed(f.requested.Or(0)))
	case f.total.Known() && f.history != nil:
		return f.words.Say("detail.recorded", "free", f.rough(gib(f.free.Or(0))), "total", gib(f.total.Or(0)))
	}
	if shape, need := f.shape(); need > 0 {
		return f.words.Say("detail.shape", "shape", shape, "need", printed(need))
	}
	if (f.reported() || f.copiesArray() || f.outweighs() || f.noBatchFits()) && len(causes) > 0 && causes[0].ID != CauseUnknown {
		return f.words.Say("detail.no_numbers_told")
	}
	if f.free.Known() && f.total.Known() {
		return f.words.Say("detail.free_alone", "free", f.rough(gib(f.free.Or(0))), "total", gib(f.total.Or(0)))
	}
	return f.words.Say("detail.no_numbers")
}

// poolText is the arithmetic of TensorFlow's pool.
func (f *failure) poolText() string {
	if f.beyondPool() == 0 {
		return f.words.Say("detail.pool_room", "need", printed(f.requested.Or(0)), "limit", gib(f.extra("pool_limit_bytes").Or(0)), "used", gib(f.extra("pool_used_bytes").Or(0)))
	}
	return f.words.Say("detail.pool", "need", printed(f.requested.Or(0)), "limit", gib(f.extra("pool_limit_bytes").Or(0)),
		"used", gib(f.extra("pool_used_bytes").Or(0)), "short", f.amountOf(f.beyondPool()))
}

func (f *failure) hostDetail() string {
	if f.beyondRAM() {
		return f.corruptText()
	}
	if wants, has, ok := f.hostWants(); ok {
		return f.words.Say("why.host_wants", "need", gib(wants), "free", gib(has), "short", gib(wants.Less(has)))
	}
	if f.refusedPin() {
		if need, known := f.requested.Value(); known {
			return f.words.Say("detail.host_request", "need", printed(need)) + f.words.Say("detail.space") + f.pinText()
		}
		return f.pinText()
	}
	if f.pinned() {
		return f.words.Say("why.pinned")
	}
	if f.sharesRAM() {
		return f.killedText() + f.words.Say("detail.soc")
	}
	if f.mapsFile() {
		return f.words.Say("why.mapped_file")
	}
	if f.roomyShm() {
		return f.words.Say("why.roomy_shm")
	}
	id := "detail." + f.class.kind
	if !f.words.Has(id) {
		id = "detail.host"
	}
	if need, known := f.requested.Value(); known && id == "detail.host" {
		return f.words.Say("detail.host_request", "need", printed(need)) + f.words.Say("detail.space") + f.words.Say(id)
	}
	return f.killedText() + f.words.Say(id)
}

// killedText says whom the kernel killed and how much it held; "" where the text does not.
func (f *failure) killedText() string {
	name, _ := f.event.Extra["process"].(string)
	held, known := f.extra("anon_rss_bytes").Value()
	if name == "" || !known || !f.event.PID.Known() {
		return ""
	}
	return f.words.Say("detail.killed", "name", sampler.Clip(name), "pid", f.event.PID.Or(0), "held", gib(held)) + f.words.Say("detail.space")
}

func (f *failure) limitDetail() string {
	id := "sum.limit"
	switch {
	case f.held() > 0:
	case f.requested.Known():
		id = "sum.limit_alone"
	default:
		id = "sum.limit_only"
	}
	refused := "detail.memory_limit"
	if f.beyondMachine() {
		refused = "detail.beyond_machine"
	}
	return f.words.Say(id, "need", printed(f.requested.Or(0)), "held", gib(f.held()), "allowed", gib(f.event.MemoryLimit.Allowed.Or(0))) +
		f.words.Say("detail.space") + f.words.Say(refused)
}

// conclusion is what the arithmetic means, given the surest cause; "" when it says all itself.
func (f *failure) conclusion(top string) string {
	switch {
	case f.noSplit():
		return f.words.Say("detail.no_split")
	case f.refusedThoughFree() && !f.limited():
		return ""
	case top == CauseTooBig && f.impossible() && f.requested.Or(0) > newestGPU:
		return f.words.Say("detail.too_big_any")
	case top == CauseTooBig && f.reloads():
		return f.words.Say("detail.reload")
	case top == CauseTooBig && f.graphUnsaid() && f.saysCached():
		return f.words.Say("detail.too_big_graph")
	case top == CauseTooBig && f.fitsAfterReuse() && f.unallocatedShare() < 0.05:
		return f.words.Say("detail.usual_holes", "percent", percentOf(f.unallocated.Or(0), f.reserved()))
	case top == CauseTooBig && f.noBatchHelps():
		return f.words.Say("detail.too_big_states")
	case top == CauseTooBig && f.footprint.known && f.allocated.Known():
		return f.words.Say("detail.too_big_activations", "percent", percentOf(f.footprint.activations.mid(), f.allocated.Or(0)))
	case top == CauseTooBig && f.fitsAfterReuse() && f.unallocatedShare() >= 0.05:
		return f.words.Say("detail.too_big_packed", "missing", f.rough(f.amountOf(f.shortfallOr0())))
	case top == CauseTooBig && f.sum() == "sum.barely":
		return f.barely()
	case top == CauseTooBig && f.ownUnknown():
		return f.words.Say("detail.no_split")
	case top == CauseValidationSpike && f.fitsAfterReuse():
		return f.words.Say("detail.validation_holes", "missing", f.rough(f.amountOf(f.shortfallOr0())))
	case top == CauseDataSpike && f.longSamples() && !f.late() && !f.told(sampler.ToldLate):
		return f.words.Say("why.told_long") // that any batch had fitted is not known
	case top == CausePreallocation && f.graphPools() > 0:
		return f.words.Say("why.graph_pools", "size", gib(f.graphPools()))
	case top == CausePreallocation && f.isServing():
		return f.words.Say("why.warmup_oom")
	case top == CauseOtherProcess && f.helper().PID > 0 && len(f.strangers()) == 0:
		return f.helperText()
	case top == CauseOtherProcess && f.workersShare():
		return f.words.Say("detail.workers_share")
	case top == CauseImbalance && f.gathersState():
		return f.words.Say("why.full_state")
	case top == CauseImbalance && !f.crowded():
		return f.words.Say("detail.ahead")
	case !f.unlikeFragmentation() && f.words.Has("detail."+top+".plain"):
		return f.words.Say("detail." + top + ".plain")
	case f.words.Has("detail." + top):
		return f.words.Say("detail."+top, "elsewhere", gib(f.notOwn()), "outside", gib(f.outside.Or(0)))
	}
	return ""
}

// barely says what of a request that was as large as what was free speaks for or against fragmentation.
func (f *failure) barely() string {
	if f.unallocated.Or(0) < sampler.GiB/20 {
		return f.words.Say("detail.barely")
	}
	return f.words.Say("detail.barely_holes", "holes", f.amountOf(f.unallocated.Or(0)))
}

// plainSum is the arithmetic of a request and what was free, where no more is known.
const plainSum = "sum.plain"

// sum is which of the rules R3 to R6 the arithmetic follows; "" where it has no numbers.
func (f *failure) sum() string {
	m, known := f.shortfall()
	s, _ := f.shortfallAfterReuse()
	switch {
	case !known:
		return ""
	case f.oversubscribed():
		return "sum.oversubscribed"
	case f.total.Known() && f.requested.Or(0) > f.total.Or(0):
		return "sum.impossible"
	case m == 0 && f.cardFull():
		return "sum.full"
	case m == 0 && !f.refusedThoughFree():
		return "sum.barely"
	case m == 0:
		return "sum.fits"
	case !f.unallocated.Known():
		return plainSum
	case s > 0:
		return "sum.short"
	}
	return "sum.holes"
}

// arithmetic is that in a sentence.
func (f *failure) arithmetic() string {
	m, _ := f.shortfall()
	s, _ := f.shortfallAfterReuse()
	return f.words.Say(f.sum(), "need", printed(f.requested.Or(0)), "free", f.rough(f.amountOf(f.free.Or(0))), "holes", f.amountOf(f.unallocated.Or(0)), "missing", f.rough(f.amountOf(m)),
		"short", f.rough(f.amountOf(s)), "sum", f.rough(f.amountOf(f.free.Or(0)+f.unallocated.Or(0))), "total", gib(f.total.Or(0)), "allocated", gib(f.allocated.Or(0)))
}
