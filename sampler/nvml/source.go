package nvml

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// Options of a Source.
type Options struct {
	// Library is a file or a name for dlopen. Empty: libnvidia-ml.so.1, also where WSL keeps it.
	Library string
}

// Source asks the NVIDIA driver. It implements sampler.Source.
type Source struct {
	library string
	meminfo string           // a file like /proc/meminfo
	patient time.Duration    // how long a GPU may take to describe itself
	now     func() time.Time // for how old a value is; never for a measurement
	turn    chan struct{}    // held by the Open that is at work

	mu     sync.Mutex
	conn   *conn
	opened bool                   // an Open has succeeded before
	seen   map[int]sampler.Device // cards by index as they were last known
}

var _ sampler.Source = (*Source)(nil)

// New returns a Source that asks nothing before Open.
func New(o Options) *Source {
	return &Source{
		library: o.Library,
		meminfo: "/proc/meminfo",
		patient: describeWait,
		now:     time.Now,
		turn:    make(chan struct{}, 1),
		seen:    map[int]sampler.Device{},
	}
}

// Open loads the library, initialises NVML and lists the GPUs. Its errors wrap
// sampler.ErrNoLibrary, ErrDriverNotLoaded, ErrMismatch, ErrNoGPU, ErrNoPermission,
// ErrLost or ErrTransient and name the remedy. The first initialisation may take
// seconds where the driver does not keep the GPUs awake; when ctx ends, Open returns
// and what it began is undone in the background.
func (s *Source) Open(ctx context.Context) (sampler.Inventory, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return sampler.Inventory{}, fmt.Errorf("waiting for the NVIDIA driver: %w", ctx.Err())
	}
	s.Close()
	type result struct {
		conn *conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		c, err := s.connect()
		done <- result{c, err}
	}()
	select {
	case r := <-done:
		if r.err == nil {
			s.adopt(r.conn)
		}
		<-s.turn
		if r.err != nil {
			return sampler.Inventory{}, r.err
		}
		return r.conn.inventory(), nil
	case <-ctx.Done():
		go func() {
			if r := <-done; r.conn != nil {
				r.conn.close()
			}
			<-s.turn
		}()
		return sampler.Inventory{}, fmt.Errorf("waiting for the NVIDIA driver: %w", ctx.Err())
	}
}

func (s *Source) adopt(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.opened = c, true
	for _, d := range c.devices {
		if d.info.MIG == nil && d.broken == nil {
			s.seen[d.info.Index] = d.info
		}
	}
}

// Close ends the connection. It waits up to a second for calls that are under way.
// Where one hangs, the driver is told when that call returns, and not before.
func (s *Source) Close() {
	s.mu.Lock()
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// begin finds a device for a call. end must be called when the call is over.
func (s *Source) begin(dev int) (*conn, *device, error) {
	c, err := s.connected()
	if err != nil {
		return nil, nil, err
	}
	if dev < 0 || dev >= len(c.devices) {
		c.leave()
		return nil, nil, fmt.Errorf("%w: no device %d", sampler.ErrReconnect, dev)
	}
	d := c.devices[dev]
	if d.broken != nil {
		err := d.retry(c)
		c.leave()
		return nil, nil, err
	}
	return c, d, nil
}

var errClosed = fmt.Errorf("%w: it is closed", sampler.ErrReconnect)

func (s *Source) connected() (*conn, error) {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c == nil || !c.enter() {
		return nil, errClosed
	}
	return c, nil
}

// conn is one connection, from Open to Close, with its handles.
type conn struct {
	source  *Source
	lib     gonvml.Interface
	symbols symbolSet
	lists   [len(listKinds)]function
	samples function
	rows    []metric // the metrics this library can answer
	driver  string
	cuda    string
	devices []*device
	xid     xidWatch
	closed  chan struct{}

	mu       sync.Mutex
	inFlight int
	idle     chan struct{} // closed when closing and no call is in flight
	closing  bool
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

func initialise(lib gonvml.Interface) gonvml.Return {
	libraryMutex.Lock()
	defer libraryMutex.Unlock()
	return lib.Init()
}

func shutdown(lib gonvml.Interface) {
	libraryMutex.Lock()
	defer libraryMutex.Unlock()
	lib.Shutdown() //nolint:errcheck // there is nothing left to do about it
}

// closeWait bounds each of the two waits of close: for calls under way, for the driver's goodbye.
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

	// A call that hangs still uses what the goodbye would free, so the goodbye waits for
	// it, however long that takes.
	gone := make(chan struct{})
	idle := make(chan struct{})
	go func() {
		<-c.idle
		close(idle)
		c.xid.free(c)
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

// errNotAnswered is given for a GPU that did not describe itself at Open.
var errNotAnswered = errors.New("it did not describe itself")
