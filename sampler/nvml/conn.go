package nvml

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// conn is one connection, from Open to Close, with its handles.
type conn struct {
	functions
	lib     gonvml.Interface
	driver  string
	cuda    string
	count   int // of GPUs, by the driver
	devices []*device
	xid     xidWatch
	overdue overdue
	closed  chan struct{}

	mu       sync.Mutex
	inFlight int
	idle     chan struct{} // closed when closing and no call is in flight
	closing  bool
}

func newConn(lib gonvml.Interface, f functions) *conn {
	return &conn{functions: f, lib: lib, overdue: newOverdue(), closed: make(chan struct{}), idle: make(chan struct{})}
}

// enter counts a call into the driver; false when the connection is closed.
func (c *conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.inFlight++
	return true
}

func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	if c.closing && c.inFlight == 0 {
		close(c.idle)
	}
}

// libraryMutex serialises go-nvml's loading and unloading, which change its package variables.
var libraryMutex sync.Mutex

func initialize(lib gonvml.Interface) gonvml.Return {
	libraryMutex.Lock()
	defer libraryMutex.Unlock()
	return lib.Init()
}

func shutdown(lib gonvml.Interface) {
	libraryMutex.Lock()
	defer libraryMutex.Unlock()
	lib.Shutdown() //nolint:errcheck // there is nothing left to do about it
}

// closeWait bounds each of the two waits of close: for calls under way, for the driver's shutdown.
const closeWait = 500 * time.Millisecond

func (c *conn) close() {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.closing = true
	close(c.closed)
	if c.inFlight == 0 {
		close(c.idle)
	}
	c.mu.Unlock()

	// A call that hangs still uses what the shutdown would free, so the shutdown waits
	// for it, however long that takes.
	gone := make(chan struct{})
	idle := make(chan struct{})
	go func() {
		<-c.idle
		close(idle)
		c.overdue.close() // not before: a call that hangs sets the alarm when it returns
		c.xid.free(c.lib)
		shutdown(c.lib)
		close(gone)
	}()
	select {
	case <-idle:
	case <-time.After(closeWait):
		return
	}
	select {
	case <-gone:
	case <-time.After(closeWait):
	}
}

func (c *conn) inventory() sampler.Inventory {
	inv := sampler.Inventory{Driver: c.driver, CUDA: c.cuda}
	for _, d := range c.devices {
		inv.Devices = append(inv.Devices, d.info)
	}
	return inv
}

// versions asks for the versions of the driver and of CUDA.
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
	if ret == gonvml.SUCCESS {
		c.cuda = cudaVersion(v)
	}
}

// cudaVersion of 12040 is "12.4"; of what cannot be one it is empty.
func cudaVersion(v int) string {
	if v < 1000 || v >= 1000000 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v/1000, v%1000/10)
}

// gone says whether no GPU answers, and one for that reason.
func (c *conn) gone() bool {
	gone := false
	for _, d := range c.devices {
		if d.broken != nil || d.info.SharedWithHost {
			continue
		}
		if d.memory.answers.Load() {
			return false
		}
		gone = gone || d.memory.gone.Load() >= goneInARow
	}
	return gone
}

// answers says whether a GPU does, so that the connection stands.
func (c *conn) answers() bool {
	return slices.ContainsFunc(c.devices, func(d *device) bool { return d.memory.answers.Load() })
}

// onItsOwn is the error of one GPU where others answer: what would be the end of the connection is its own then.
func (c *conn) onItsOwn(err error) error {
	if errors.Is(err, sampler.ErrReconnect) && c.answers() {
		return fmt.Errorf("%w: %v", sampler.ErrNotAnswering, err) //nolint:errorlint // no longer the end of the connection
	}
	return err
}

// surroundings are those of one device of a connection.
type surroundings struct {
	*conn
	*device
}

// void asks for the handle of a GPU anew. That of an instance cannot be asked for so.
func (s surroundings) void() bool {
	if s.parent != nil {
		return true
	}
	gpu, ret := s.lib.DeviceGetHandleByIndex(s.info.Index)
	return ret != gonvml.SUCCESS || handleOf(gpu) != s.handle.pointer
}
