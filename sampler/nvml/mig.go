package nvml

import (
	"fmt"
	"math"
	"strings"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// maxInstances bounds what a driver may claim; the hardware has 7 or 8 slices.
const maxInstances = 64

// instances lists the MIG instances of a GPU; none when MIG is off. It notes when that is on and
// there are none.
func (d *device) instances(f *functions) []*device {
	if !f.symbols.has(symMigMode, symMigCount, symMigHandle) {
		return nil
	}
	mode, _, ret := d.handle.GetMigMode()
	if ret != gonvml.SUCCESS || mode != gonvml.DEVICE_MIG_ENABLE {
		return nil
	}
	count, ret := d.handle.GetMaxMigDeviceCount()
	if ret != gonvml.SUCCESS {
		return nil
	}
	var found []*device
	refused := false
	for i := range min(count, maxInstances) {
		// Indices without an instance answer NOT_FOUND; there may be more after them.
		part, ret := d.handle.GetMigDeviceHandleByIndex(i)
		if ret == gonvml.SUCCESS {
			found = append(found, d.instance(newHandle(part, f.symbols), i, f))
		}
		refused = refused || ret != gonvml.SUCCESS && ret != gonvml.ERROR_NOT_FOUND
	}
	d.info.Unsplit = found == nil && !refused
	return found
}

func (d *device) instance(h handle, index int, f *functions) *device {
	part := newDevice(h, f)
	part.parent = d
	part.memory.version = memoryVersion(h.symbols)
	mig := &sampler.MIG{Index: index, ParentUUID: d.info.UUID}
	part.info = d.info
	part.info.MIG = mig
	part.info.UUID = h.uuid()
	if name := h.name(); name != "" {
		part.info.Name = name
	}
	if h.symbols.has(symMigGI) {
		if id, ret := h.GetGpuInstanceId(); ret == gonvml.SUCCESS {
			mig.GPUInstance = id
		}
	}
	if h.symbols.has(symMigCI) {
		if id, ret := h.GetComputeInstanceId(); ret == gonvml.SUCCESS {
			mig.ComputeInstance = id
		}
	}
	mig.Profile = profile(h, part.info.Name)
	return part
}

// profile is the shape of an instance, "1g.10gb": from its name, or from its attributes.
func profile(h handle, name string) string {
	if _, p, ok := strings.Cut(name, " MIG "); ok {
		return sampler.Clean(strings.TrimSpace(p))
	}
	if !h.symbols.has(symMigAttributes) {
		return ""
	}
	a, ret := h.GetAttributes()
	if ret != gonvml.SUCCESS || a.GpuInstanceSliceCount == 0 {
		return ""
	}
	return profileOf(a)
}

// profileOf spells attributes as nvidia-smi does. Profiles are named after the nominal
// memory of their slices, which is a little more than what is usable.
func profileOf(a gonvml.DeviceAttributes) string {
	p := fmt.Sprintf("%dg.%.0fgb", a.GpuInstanceSliceCount, math.Ceil(float64(a.MemorySizeMB)/1024))
	if a.ComputeInstanceSliceCount != 0 && a.ComputeInstanceSliceCount < a.GpuInstanceSliceCount {
		p = fmt.Sprintf("%dc.", a.ComputeInstanceSliceCount) + p
	}
	return p
}
