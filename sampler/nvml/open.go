package nvml

import (
	"errors"
	"fmt"
	"slices"
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
	// describeTimeout is how long the others wait for one GPU to describe itself; when it has done so later, the source is to be opened
	// again, and then they wait for twice as long as it took, describeMost at most. Waking a GPU takes up to 0.3 s
	// (https://github.com/NVIDIA/k8s-device-plugin/issues/774).
	describeTimeout = 2 * time.Second
	describeMost    = 20 * time.Second

	// maxDevices bounds what a driver may claim to have.
	maxDevices = 1024
)

// setup is what a Source is made with.
type setup struct {
	library string
	meminfo string        // a file like /proc/meminfo
	timeout time.Duration // for a GPU to describe itself
}

// opener does the work of one Open.
type opener struct {
	setup
	seen     map[int]sampler.Device // GPUs by index as they were last known
	reopened bool                   // an Open has succeeded before

	pending map[int]*description // GPUs by index that did not describe themselves in time for an Open before
}

func (o *opener) connect() (*conn, error) {
	path, symbols, err := load(o.library)
	if err != nil {
		return nil, err
	}
	lib := gonvml.New(gonvml.WithLibraryPath(path))
	if ret := initialize(lib); ret != gonvml.SUCCESS {
		return nil, callFailure("nvmlInit", ret, o.reopened)
	}
	c := newConn(lib, findFunctions(symbols))
	c.versions()
	if err := o.enumerate(c); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// load maps the library and finds out what it has. The library stays mapped: calls that
// hang may return into it, and the program's own bindings to it cannot be undone.
func load(library string) (string, symbolSet, error) {
	paths := defaultLibraries
	if library != "" {
		paths = []string{library}
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

// enumerate lists the GPUs, each followed by its MIG instances.
func (o *opener) enumerate(c *conn) error {
	count, ret := c.lib.DeviceGetCount()
	switch {
	case ret != gonvml.SUCCESS:
		return callFailure("nvmlDeviceGetCount", ret, o.reopened)
	case count <= 0:
		return openFailure(sampler.ErrNoGPU, "")
	}
	c.count = count
	for i := range min(count, maxDevices) {
		for _, d := range o.describeInTime(c, i) {
			d.place = len(c.devices)
			c.devices = append(c.devices, d)
		}
	}
	switch {
	case c.allBroken(errNoHandle):
		return openFailure(sampler.ErrNoGPU, "")
	case c.allBroken(sampler.ErrNoPermission):
		return callFailure("nvmlDeviceGetHandleByIndex", gonvml.ERROR_NO_PERMISSION, o.reopened)
	}
	return nil
}

// allBroken says whether no GPU was handed out, each for that reason.
func (c *conn) allBroken(why error) bool {
	return !slices.ContainsFunc(c.devices, func(d *device) bool { return !errors.Is(d.broken, why) })
}

// description is that of a GPU, at work.
type description struct {
	done  chan struct{}
	found []*device     // when it is done
	took  time.Duration // the same
}

func (d *description) isDone() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// describeInTime does not wait for a GPU whose description hangs, so that the others are seen, nor asks it while it still does.
func (o *opener) describeInTime(c *conn, index int) []*device {
	limit := o.timeout
	if before := o.pending[index]; before != nil {
		if !before.isDone() {
			return []*device{o.late(index, before)}
		}
		limit = min(max(limit, 2*before.took), describeMost)
	}
	d := &description{done: make(chan struct{})}
	c.enter()
	go func() {
		defer c.leave()
		defer close(d.done)
		began := time.Now()
		d.found = o.describe(c, index)
		d.took = time.Since(began)
	}()
	select {
	case <-d.done:
		return d.found
	case <-time.After(limit):
		return []*device{o.late(index, d)}
	}
}

// late stands for a GPU whose description is still at work.
func (o *opener) late(index int, at *description) *device {
	d := o.broken(index, fmt.Errorf("%w: %w", sampler.ErrNotAnswering, errNotAnswered))
	d.describing = at
	return d
}

// describe asks one GPU for what never changes.
func (o *opener) describe(c *conn, index int) []*device {
	gpu, ret := c.lib.DeviceGetHandleByIndex(index)
	switch {
	case ret == gonvml.ERROR_NOT_FOUND || ret == gonvml.ERROR_INVALID_ARGUMENT:
		return []*device{o.broken(index, fmt.Errorf("%w: %w: opening GPU %d (%s)", sampler.ErrNotAnswering, errNoHandle, index, react(ret).name))}
	case ret != gonvml.SUCCESS:
		return []*device{o.broken(index, failure("opening GPU "+strconv.Itoa(index), ret))}
	}
	d := newDevice(newHandle(gpu, c.symbols), &c.functions)
	d.info.Index = index
	d.info.Name = d.handle.name()
	d.info.UUID = d.handle.uuid()
	d.info.PCI = d.handle.bus()
	d.info.ComputeCapability = d.handle.capability()
	d.info.SharedWithHost = d.memory.choose(d.handle, &d.info, o.meminfo)
	return append([]*device{d}, d.instances(&c.functions)...)
}

// Why a GPU that the driver counts is not handed out: it did not describe itself at Open, or the driver does not know it by its number.
var (
	errNotAnswered = errors.New("it did not describe itself")
	errNoHandle    = errors.New("the driver has no handle for it")
)

// broken stands for a GPU that the driver counts but does not hand out. What was known of
// it when it worked is kept, so that it stays the same GPU on screen.
func (o *opener) broken(index int, err error) *device {
	info, ok := o.seen[index]
	if !ok {
		info = sampler.Device{Index: index, Name: fmt.Sprintf("GPU %d", index)}
	}
	return &device{info: info, broken: err}
}
