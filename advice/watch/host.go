package watch

import (
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// host is the memory of the machine.
type host struct {
	known   bool
	memory  sampler.HostMemory // newest
	total   float64
	used    series.Series // total less available
	swap    series.Series
	growing series.Growth
	most    float64 // MiB available at most since watching began
}

func (h *host) fold(m sampler.Opt[sampler.HostMemory], now float64, gap bool) {
	v, ok := m.Value()
	if !ok || v.Total == 0 || v.Total >= sampler.MaxPlausible || v.Available > v.Total || v.SwapUsed >= sampler.MaxPlausible {
		h.known = false
		return
	}
	if v.Total.MiB() != h.total {
		*h = host{total: v.Total.MiB()}
		h.used.Start(now, true)
		h.swap.Start(now, true)
	}
	if gap {
		h.used.ForgetRecent()
		h.swap.ForgetRecent()
	}
	h.known, h.memory = true, v
	used, swap := (v.Total - v.Available).MiB(), v.SwapUsed.MiB()
	h.most = max(h.most, v.Available.MiB())
	h.used.Add(now, used, used, used, h.total)
	h.swap.Add(now, swap, swap, swap, h.total)
	h.growing.Judge(&h.used, now, v.Available.MiB(), h.total, hostAhead)
}

// hostAhead: growth of host memory counts when it has come half of the way.
const hostAhead = 1.0

// swapSeconds is how long ago swap in use is compared with.
const swapSeconds = 300

// swapped is how much more swap is in use than five minutes ago, in MiB.
func (h *host) swapped() float64 { return h.swap.Risen(swapSeconds) }
