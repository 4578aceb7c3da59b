package nvml

import (
	"fmt"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// maxKBps is far above any link; larger answers are not traffic.
const maxKBps = 1 << 30

// throughputState remembers that a GPU does not count its traffic, which one that once did may do again.
type throughputState struct{ refused, good bool }

// read asks for both directions, in bytes per second. The driver counts for 20 ms in each
// of the two calls.
func (t *throughputState) read(h handle) (rx, tx sampler.Opt[uint64], err error) {
	if t.refused || !h.symbols.has(symThroughput) {
		return rx, tx, fmt.Errorf("%w: PCIe throughput", sampler.ErrNotSupported)
	}
	for _, direction := range []struct {
		counter gonvml.PcieUtilCounter
		value   *sampler.Opt[uint64]
	}{{gonvml.PCIE_UTIL_RX_BYTES, &rx}, {gonvml.PCIE_UTIL_TX_BYTES, &tx}} {
		kb, ret := h.GetPcieThroughput(direction.counter)
		if ret != gonvml.SUCCESS {
			t.refused = react(ret).forever && !t.good
			return rx, tx, failure("PCIe throughput", ret)
		}
		if kb < maxKBps {
			*direction.value = sampler.Some(uint64(kb) * 1024)
		}
	}
	t.good = true
	return rx, tx, nil
}
