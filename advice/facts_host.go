package advice

import "nvpeak/sampler"

// host is the memory of the machine.
type host struct {
	known   bool
	memory  sampler.HostMemory // newest
	total   float64
	used    series // total less available
	swap    series
	growing growing
	most    float64 // MiB available at most since watching began
}

func (h *host) fold(m sampler.Opt[sampler.HostMemory], now float64, gap bool) {
	v, ok := m.Value()
	if !ok || v.Total == 0 || v.Total >= sampler.Sane || v.Available > v.Total || v.SwapUsed >= sampler.Sane {
		h.known = false
		return
	}
	if mib(v.Total) != h.total {
		*h = host{total: mib(v.Total)}
		h.used.start(now, true)
		h.swap.start(now, true)
	}
	if gap {
		h.used.forgetRecent()
		h.swap.forgetRecent()
	}
	h.known, h.memory = true, v
	used, swap := mib(v.Total-v.Available), mib(v.SwapUsed)
	h.most = max(h.most, mib(v.Available))
	h.used.add(now, used, used, used, h.total)
	h.swap.add(now, swap, swap, swap, h.total)
	h.growing.judge(&h.used, now, mib(v.Available), h.total)
}

// swapSeconds is how long ago swap in use is compared with.
const swapSeconds = 300

// swapped is how much more swap is in use than five minutes ago, in MiB.
func (h *host) swapped() float64 { return h.swap.risen(swapSeconds) }
