package nvml

import (
	"fmt"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// handle is a GPU or MIG instance of the driver, with what may be asked of it.
type handle struct {
	gonvml.Device
	pointer uintptr // the driver's own, for lists.go and sweep.go
	symbols symbolSet
}

func newHandle(d gonvml.Device, symbols symbolSet) handle {
	return handle{Device: d, pointer: handleOf(d), symbols: symbols}
}

func (h handle) name() string {
	if h.symbols.has(symName) {
		if name, ret := h.GetName(); ret == gonvml.SUCCESS {
			return name
		}
	}
	return ""
}

func (h handle) uuid() string {
	if h.symbols.has(symUUID) {
		if uuid, ret := h.GetUUID(); ret == gonvml.SUCCESS {
			return sampler.Clean(uuid)
		}
	}
	return ""
}

func (h handle) bus() string {
	if h.symbols.has(symPCI) {
		if pci, ret := h.GetPciInfo(); ret == gonvml.SUCCESS {
			return busID(pci, h.symbols[symPCI[0]])
		}
	}
	return ""
}

func (h handle) capability() (none sampler.Opt[string]) {
	if h.symbols.has(symCapability) {
		major, minor, ret := h.GetCudaComputeCapability()
		if ret == gonvml.SUCCESS {
			return capabilityOf(major, minor)
		}
	}
	return none
}

func capabilityOf(major, minor int) (none sampler.Opt[string]) {
	if major > 0 && major < 1000 && minor >= 0 && minor < 1000 {
		return sampler.Some(fmt.Sprintf("%d.%d", major, minor))
	}
	return none
}

// busID is the PCI address as nvidia-smi prints it. Older calls fill only the short form,
// and have other things where the newer one has the long form.
func busID(pci gonvml.PciInfo, long bool) string {
	if s := text(pci.BusId[:]); long && s != "" {
		return s
	}
	return text(pci.BusIdLegacy[:])
}

func text(b []uint8) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
