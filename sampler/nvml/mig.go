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

// instances lists the MIG instances of a card; none when MIG is off.
func (c *conn) instances(parent *device) []*device {
	if !c.symbols.has(symMigMode, symMigCount, symMigHandle) {
		return nil
	}
	mode, _, ret := parent.handle.GetMigMode()
	if ret != gonvml.SUCCESS || mode != gonvml.DEVICE_MIG_ENABLE {
		return nil
	}
	count, ret := parent.handle.GetMaxMigDeviceCount()
	if ret != gonvml.SUCCESS {
		return nil
	}
	var found []*device
	for i := range min(count, maxInstances) {
		// Indices without an instance answer NOT_FOUND; there may be more after them.
		if handle, ret := parent.handle.GetMigDeviceHandleByIndex(i); ret == gonvml.SUCCESS {
			found = append(found, c.instance(parent, handle, i))
		}
	}
	return found
}

func (c *conn) instance(parent *device, handle gonvml.Device, index int) *device {
	d := newDevice(c, handle)
	d.parent = parent
	d.memory.version = c.memoryVersion()
	mig := &sampler.MIG{Index: index, ParentUUID: parent.info.UUID}
	d.info = parent.info
	d.info.MIG = mig
	d.info.UUID = ""
	if c.symbols.has(symUUID) {
		if uuid, ret := handle.GetUUID(); ret == gonvml.SUCCESS {
			d.info.UUID = sampler.Clean(uuid)
		}
	}
	if name := c.name(handle); name != "" {
		d.info.Name = name
	}
	if c.symbols.has(symMigGI) {
		if id, ret := handle.GetGpuInstanceId(); ret == gonvml.SUCCESS {
			mig.GPUInstance = id
		}
	}
	if c.symbols.has(symMigCI) {
		if id, ret := handle.GetComputeInstanceId(); ret == gonvml.SUCCESS {
			mig.ComputeInstance = id
		}
	}
	mig.Profile = c.profile(handle, d.info.Name)
	return d
}

// profile is the shape of an instance, "1g.10gb": from its name, or from its attributes.
func (c *conn) profile(handle gonvml.Device, name string) string {
	if _, p, ok := strings.Cut(name, " MIG "); ok {
		return sampler.Clean(strings.TrimSpace(p))
	}
	if !c.symbols.has(symMigAttributes) {
		return ""
	}
	a, ret := handle.GetAttributes()
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
