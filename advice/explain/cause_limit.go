package explain

import "nvpeak/sampler"

// rulesLimit: the card had the memory, or there is no such memory (R3's sibling R8).
var rulesLimit = []oomRule{
	{id: "R4", cause: "memory_limit", reason: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html",
		when: func(f *failure) bool { return !f.onHost() && f.limited() },
		sure: always(0.93),
		say: func(f *failure) string {
			return f.words.Say("why.limit", "allowed", gib(f.event.MemoryLimit.Allowed.Or(0)), "held", gib(f.held()), "need", printed(f.requested.Or(0)))
		}},
	{id: "R4", cause: "memory_limit", reason: "https://github.com/jhc13/taggui/issues/188",
		when: func(f *failure) bool { return f.refusedThoughFree() && !f.limited() },
		sure: always(0.5),
		say: func(f *failure) string {
			return f.words.Say("why.refused", "need", printed(f.requested.Or(0)), "free", f.amountOf(f.free.Or(0)))
		}},
	{id: "share", cause: "memory_limit", reason: sourceJAX,
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindXLA && f.environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] == "" && f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] == ""
		},
		sure: always(0.45),
		say:  func(f *failure) string { return f.words.Say("why.jax_share") }},
	{id: "R8", cause: "oversubscribed", reason: "https://github.com/pytorch/pytorch/issues/122057",
		when: func(f *failure) bool { return !f.onHost() && f.oversubscribed() },
		sure: always(0.92),
		say: func(f *failure) string {
			return f.words.Say("why.oversubscribed", "allocated", gib(f.allocated.Or(0)), "total", gib(f.total.Or(0)))
		}},
	{id: "kind", cause: "memory_limit", reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when: func(f *failure) bool { return f.class.cause == "memory_limit" },
		sure: func(f *failure) float64 { return f.class.confidence },
		say: func(f *failure) string {
			if f.event.Kind == sampler.KindKVCache {
				return f.cacheText()
			}
			return f.words.Say("why." + f.class.kind)
		}},
	{id: "kind", cause: "other_process", reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when: func(f *failure) bool { return f.class.cause == "other_process" },
		sure: func(f *failure) float64 { return f.class.confidence },
		say:  func(f *failure) string { return f.startupText() }},
	{id: "kind", cause: "preallocation", reason: "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",
		when: func(f *failure) bool {
			return f.class.cause == "preallocation" || f.isServing() && f.class.class == classAllocator
		},
		sure: func(f *failure) float64 { return max(f.class.confidence, 0.7) },
		say:  func(f *failure) string { return f.words.Say("why.warmup_oom") }},
}

// limited: a share or limit below the size of the card was in force and is what refused.
func (f *failure) limited() bool {
	l := f.event.MemoryLimit
	if l == nil || f.event.Kind == sampler.KindStartupFree {
		return false // there it is what the server wants, not what it may have
	}
	if f.event.Kind == sampler.KindMPS {
		return true // that allocator refuses only at its limit
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

// startupText is the arithmetic of a server that found its share taken.
func (f *failure) startupText() string {
	l := f.event.MemoryLimit
	if l == nil || !l.Allowed.Known() || !f.free.Known() || !f.total.Known() {
		return f.words.Say("why.startup_free_below_limit")
	}
	want := l.Allowed.Or(0)
	return f.words.Say("why.startup_numbers", "want", gib(want), "percent", percentOf(want, f.total.Or(0)), "free", gib(f.free.Or(0)),
		"short", gib(want.Less(f.free.Or(0))), "used", gib(f.total.Or(0).Less(f.free.Or(0))))
}

// cacheText is the arithmetic of a KV cache that does not hold one request.
func (f *failure) cacheText() string {
	need, left := f.requested, f.extra("available_kv_cache_bytes")
	tokens := f.count("max_seq_len")
	if !need.Known() || !left.Known() || tokens == 0 {
		return f.words.Say("why.kv_cache_no_memory")
	}
	fits := ""
	if n := f.count("estimated_max_model_len"); n > 0 {
		fits = f.words.Say("kv.fits", "tokens", grouped(n))
	}
	return f.words.Say("why.kv_numbers", "tokens", grouped(tokens), "need", gib(need.Or(0)), "left", gib(left.Or(0)),
		"short", gib(need.Or(0).Less(left.Or(0))), "fits", fits)
}

// count is a further number of the message that is no amount; 0: not printed.
func (f *failure) count(key string) uint64 { return uint64(f.extra(key).Or(0)) }

// refusedThoughFree is rule R4 without a limit in the text: clearly enough was free.
func (f *failure) refusedThoughFree() bool {
	m, known := f.missing()
	return !f.onHost() && known && m == 0 && f.total.Known() && !f.cardFull() && f.requested.Or(0) < partOf(f.free.Or(0), 0.9)
}

// held is what counts against a limit: the allocator's memory, on MPS also the other allocations.
func (f *failure) held() sampler.Bytes {
	return f.reserved() + f.extra("other_allocations_bytes").Or(0)
}

// extra is a further number of the message, if it is an amount. Recordings and tests bring it
// as JSON numbers, the parser as whole numbers.
func (f *failure) extra(key string) amount {
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
	if !(v > 0 && v < float64(sampler.Sane)) {
		return amount{}
	}
	return sampler.Some(sampler.Bytes(v))
}
