package nvml

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"nvpeak/sampler"
)

// Options of a Source.
type Options struct {
	// Library is a file or a name for dlopen. Empty: libnvidia-ml.so.1, also where WSL keeps it.
	Library string
	// Clock is that of the Loop; nil: the time of day.
	Clock sampler.Clock
}

// Source asks the NVIDIA driver. It implements sampler.Source.
type Source struct {
	setup
	now  func() time.Time // for how old a value is; never for a measurement
	turn chan struct{}    // held by the Open that is at work

	mu     sync.Mutex
	conn   *conn
	opened bool                   // an Open has succeeded before
	seen   map[int]sampler.Device // GPUs by index as they were last known

	describing map[int]*description // GPUs by index that did not describe themselves in time once
}

var _ sampler.Source = (*Source)(nil)

// New returns a Source that asks nothing before Open.
func New(o Options) *Source {
	s := &Source{
		setup: setup{library: o.Library, meminfo: "/proc/meminfo", timeout: describeTimeout},
		now:   time.Now,
		turn:  make(chan struct{}, 1),
		seen:  map[int]sampler.Device{},

		describing: map[int]*description{},
	}
	if o.Clock != nil {
		s.now = o.Clock.Now
	}
	return s
}

// Open loads the library, initializes NVML and lists the GPUs. Its errors wrap
// sampler.ErrNoLibrary, ErrDriverNotLoaded, ErrMismatch, ErrNoGPU, ErrNoPermission,
// ErrLost or ErrTransient and name the remedy. The first initialization may take
// seconds where the driver does not keep the GPUs awake; when ctx ends, Open returns
// and what it began is undone in the background.
func (s *Source) Open(ctx context.Context) (sampler.Inventory, error) {
	if ctx.Err() != nil { // the library may have crashed
		return sampler.Inventory{}, context.Cause(ctx)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return sampler.Inventory{}, fmt.Errorf("waiting for the NVIDIA driver: %w", context.Cause(ctx))
	}
	s.Close()
	type result struct {
		conn *conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		c, err := s.opener().connect()
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
		return sampler.Inventory{}, fmt.Errorf("waiting for the NVIDIA driver: %w", context.Cause(ctx))
	}
}

func (s *Source) opener() *opener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &opener{setup: s.setup, seen: maps.Clone(s.seen), reopened: s.opened, pending: maps.Clone(s.describing)}
}

func (s *Source) adopt(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.opened = c, true
	for _, d := range c.devices {
		if d.describing != nil {
			s.describing[d.info.Index] = d.describing
		}
		if d.info.MIG == nil && d.broken == nil {
			s.seen[d.info.Index] = d.info
		}
	}
}

// Close ends the connection. It waits up to a second for calls that are under way.
// Where one hangs, NVML is shut down when that call returns, and not before.
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
		err := d.retry(c.lib, s.now())
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
