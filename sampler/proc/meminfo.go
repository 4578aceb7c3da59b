package proc

import (
	"bytes"

	"nvpeak/sampler"
)

// parseMeminfo reads /proc/meminfo, whose amounts are in KiB:
// https://man7.org/linux/man-pages/man5/proc_meminfo.5.html
func parseMeminfo(b []byte) sampler.Opt[sampler.HostMemory] {
	var total, available, swap, swapFree sampler.Opt[sampler.Bytes]
	rows := []struct {
		key string
		to  *sampler.Opt[sampler.Bytes]
	}{{"MemTotal:", &total}, {"MemAvailable:", &available}, {"SwapTotal:", &swap}, {"SwapFree:", &swapFree}}
	for line := range bytes.Lines(b) {
		for _, r := range rows {
			rest, ok := bytes.CutPrefix(line, []byte(r.key))
			if !ok {
				continue
			}
			kib, ok := number(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB"))))
			if ok && kib < uint64(sampler.MaxPlausible/sampler.KiB) {
				*r.to = sampler.Some(sampler.Bytes(kib) * sampler.KiB)
			}
		}
	}
	t, ok := total.Value()
	a, ok2 := available.Value()
	if !ok || !ok2 || t == 0 {
		return sampler.Opt[sampler.HostMemory]{}
	}
	return sampler.Some(sampler.HostMemory{
		Total: t, Available: min(a, t), SwapUsed: swap.Or(0).Less(swapFree.Or(0)),
	})
}
