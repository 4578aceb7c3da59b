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

// part is an instance as its GPU lists it.
type part struct {
	index int
	gonvml.Device
}

// parts are the MIG instances of a GPU; none when MIG is off, which split says. known is false where the driver refuses
// to tell of one.
func (d *device) parts(symbols symbolSet) (all []part, split, known bool) {
	if !symbols.has(symMigMode, symMigCount, symMigHandle) {
		return nil, false, true
	}
	mode, _, ret := d.handle.GetMigMode()
	if ret != gonvml.SUCCESS || mode != gonvml.DEVICE_MIG_ENABLE {
		return nil, false, ret == gonvml.SUCCESS || react(ret).forever
	}
	count, ret := d.handle.GetMaxMigDeviceCount()
	if ret != gonvml.SUCCESS {
		return nil, false, false
	}
	known = true
	for i := range min(count, maxInstances) {
		// Indices without an instance answer NOT_FOUND; there may be more after them.
		one, ret := d.handle.GetMigDeviceHandleByIndex(i)
		if ret == gonvml.SUCCESS {
			all = append(all, part{i, one})
		}
		known = known && (ret == gonvml.SUCCESS || ret == gonvml.ERROR_NOT_FOUND)
	}
	return all, true, known
}

// instances describes the MIG instances of a GPU. It notes when MIG is on and there are none.
func (d *device) instances(f *functions) (found []*device) {
	parts, split, known := d.parts(f.symbols)
	for _, p := range parts {
		found = append(found, d.instance(newHandle(p.Device, f.symbols), p.index, f))
	}
	d.info.Unsplit = split && known && found == nil
	d.shape.was = shapeOf(parts, split)
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
