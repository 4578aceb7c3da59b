package nvml

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// defaultLibraries are tried in turn. WSL keeps its library outside the loader's path
// (https://docs.nvidia.com/cuda/wsl-user-guide/index.html).
var defaultLibraries = []string{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}

const (
	// describeWait is how long one GPU may take to describe itself. Waking a GPU takes up to
	// 0.3 s (https://github.com/NVIDIA/k8s-device-plugin/issues/774).
	describeWait = 3 * time.Second

	// maxDevices bounds what a driver may claim to have.
	maxDevices = 1024
)

// connect does the work of Open.
func (s *Source) connect() (*conn, error) {
	path, symbols, err := s.load()
	if err != nil {
		return nil, err
	}
	lib := gonvml.New(gonvml.WithLibraryPath(path))
	if ret := initialise(lib); ret != gonvml.SUCCESS {
		return nil, s.opening("nvmlInit", ret)
	}
	c := &conn{
		source: s, lib: lib, symbols: symbols,
		closed: make(chan struct{}), idle: make(chan struct{}),
	}
	c.findFunctions()
	c.versions()
	if err := c.enumerate(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// load maps the library and finds out what it has. The library stays mapped: calls that
// hang may return into it, and the program's own bindings to it cannot be undone.
func (s *Source) load() (string, symbolSet, error) {
	paths := defaultLibraries
	if s.library != "" {
		paths = []string{s.library}
	}
	var first error
	for _, path := range paths {
		lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_GLOBAL|dl.RTLD_NODELETE)
		if err := lib.Open(); err != nil {
			if first == nil {
				first = notLoaded(err.Error())
			}
			continue
		}
		symbols := findSymbols(lib.Lookup)
		if !symbols.has(required...) {
			e := openFailure(sampler.ErrNoLibrary, path+" lacks NVML's functions")
			e.text = "this is not the NVIDIA driver library"
			return "", nil, e
		}
		return path, symbols, nil
	}
	return "", nil, first
}

// notLoaded is the error for what dlopen said.
func notLoaded(said string) error {
	e := openFailure(sampler.ErrNoLibrary, said)
	if !strings.Contains(said, "No such file") {
		e.text = "the NVIDIA driver library cannot be loaded"
	}
	return e
}

func (c *conn) findFunctions() {
	for i, k := range listKinds {
		c.lists[i] = findFunction([]string{k.symbol + "_v3", k.symbol + "_v2", k.symbol}, 24, 24, 16)
	}
	c.samples = findFunction([]string{"nvmlDeviceGetProcessUtilization"}, sampleSlot)
	for _, m := range metrics {
		if c.symbols.any(m.symbols) && !c.symbols.any(m.unless) {
			c.rows = append(c.rows, m)
		}
	}
}

func (c *conn) versions() {
	if c.symbols.has(symDriverVersion) {
		if v, ret := c.lib.SystemGetDriverVersion(); ret == gonvml.SUCCESS {
			c.driver = sampler.Clean(v)
		}
	}
	v, ret := 0, gonvml.ERROR_FUNCTION_NOT_FOUND
	switch {
	case c.symbols.has(symCUDA2):
		v, ret = c.lib.SystemGetCudaDriverVersion_v2()
	case c.symbols.has(symCUDA1):
		v, ret = c.lib.SystemGetCudaDriverVersion()
	}
	if ret == gonvml.SUCCESS && v >= 1000 && v < 1000000 {
		c.cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
}

// enumerate lists the GPUs, each followed by its MIG instances.
func (c *conn) enumerate() error {
	count, ret := c.lib.DeviceGetCount()
	switch {
	case ret != gonvml.SUCCESS:
		return c.source.opening("nvmlDeviceGetCount", ret)
	case count <= 0:
		return openFailure(sampler.ErrNoGPU, "")
	}
	refused := 0
	for i := range min(count, maxDevices) {
		found := c.describeInTime(i)
		if len(found) == 1 && errors.Is(found[0].broken, sampler.ErrNoPermission) {
			refused++
		}
		for _, d := range found {
			d.place = len(c.devices)
			c.devices = append(c.devices, d)
		}
	}
	switch {
	case len(c.devices) == 0:
		return openFailure(sampler.ErrNoGPU, "")
	case refused == len(c.devices):
		return c.source.opening("nvmlDeviceGetHandleByIndex", gonvml.ERROR_NO_PERMISSION)
	}
	return nil
}

// describeInTime gives up on a GPU whose description hangs, so that the others are seen.
func (c *conn) describeInTime(index int) []*device {
	done := make(chan []*device, 1)
	c.enter()
	go func() {
		defer c.leave()
		done <- c.describe(index)
	}()
	select {
	case found := <-done:
		return found
	case <-time.After(c.source.patient):
		return []*device{c.brokenDevice(index, fmt.Errorf("%w: %w", sampler.ErrNotAnswering, errNotAnswered))}
	}
}

// describe asks one GPU for what never changes. An empty list: there is no such GPU.
func (c *conn) describe(index int) []*device {
	handle, ret := c.lib.DeviceGetHandleByIndex(index)
	switch {
	case ret == gonvml.ERROR_NOT_FOUND || ret == gonvml.ERROR_INVALID_ARGUMENT:
		return nil
	case ret != gonvml.SUCCESS:
		return []*device{c.brokenDevice(index, failure("opening GPU "+strconv.Itoa(index), ret))}
	}
	d := newDevice(c, handle)
	d.info.Index = index
	d.info.Name = c.name(handle)
	if c.symbols.has(symUUID) {
		if uuid, ret := handle.GetUUID(); ret == gonvml.SUCCESS {
			d.info.UUID = sampler.Clean(uuid)
		}
	}
	if c.symbols.has(symPCI) {
		if pci, ret := handle.GetPciInfo(); ret == gonvml.SUCCESS {
			d.info.PCI = busID(pci, c.symbols[symPCI[0]])
		}
	}
	d.info.ComputeCapability = c.capability(handle)
	d.settle(c)
	return append([]*device{d}, c.instances(d)...)
}

func (c *conn) name(handle gonvml.Device) string {
	if c.symbols.has(symName) {
		if name, ret := handle.GetName(); ret == gonvml.SUCCESS {
			return name
		}
	}
	return ""
}

func (c *conn) capability(handle gonvml.Device) (none sampler.Opt[string]) {
	if c.symbols.has(symCapability) {
		major, minor, ret := handle.GetCudaComputeCapability()
		if ret == gonvml.SUCCESS && major > 0 && major < 1000 && minor >= 0 && minor < 1000 {
			return sampler.Some(fmt.Sprintf("%d.%d", major, minor))
		}
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
