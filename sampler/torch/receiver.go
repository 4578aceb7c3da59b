package torch

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"nvpeak/sampler"
)

// Options of a Receiver.
type Options struct {
	Host  sampler.Host  // knows the processes
	Clock sampler.Clock // of the snapshots
	Env   func(string) string
}

// Receiver is where reporters report to. It is a sampler.Inside.
type Receiver struct {
	host  sampler.Host
	clock sampler.Clock
	conn  *net.UnixConn
	bases []string
	base  string // of those: where the socket is
	name  string // of the socket
	over  sync.Once
	done  chan struct{} // nobody reads any more

	refused chan struct{}

	mu        sync.Mutex
	processes map[int]*process
	told      bool // lines
	lacks     Lack // why lines are not told
}

const (
	maxProcesses = 1024
	// maxLine is the longest line that is read whole; what is longer is no line of ours.
	maxLine = 64 << 10
)

// Listen begins to receive, until Close.
func Listen(o Options) (*Receiver, error) {
	r := newReceiver(o)
	r.bases = bases(o.Env)
	var err error
	if r.conn, r.base, r.name, err = listen(r.bases); err != nil {
		return nil, err
	}
	go r.read()
	return r, nil
}

func newReceiver(o Options) *Receiver {
	return &Receiver{host: o.Host, clock: o.Clock, done: make(chan struct{}), refused: make(chan struct{}, 1), processes: map[int]*process{}}
}

// Close stops it and removes its socket and its file.
func (r *Receiver) Close() {
	r.over.Do(func() {
		r.conn.Close() //nolint:errcheck // it is over
		<-r.done
		site, monitor := filepath.Join(r.base, sites), filepath.Join(r.base, monitors)
		os.Remove(filepath.Join(monitor, r.name+socket))
		for range 3 { // a Python that starts just now may put its translation there
			if os.RemoveAll(filepath.Join(site, r.name)) == nil {
				break
			}
		}
		for _, dir := range []string{site, monitor, r.base} { // if nobody else has anything there
			os.Remove(dir)
		}
	})
}

// Refused has something to receive when a tensor was refused.
func (r *Receiver) Refused() <-chan struct{} { return r.refused }

func (r *Receiver) read() {
	defer close(r.done)
	defer sampler.Guard(func(error) {}) // the monitor goes on without
	line, oob := make([]byte, maxLine+1), make([]byte, oobSize)
	for {
		n, m, _, _, err := r.conn.ReadMsgUnix(line, oob)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		if pid := sender(oob[:m]); pid > 0 && n <= maxLine {
			r.take(pid, line[:n])
		}
	}
}

// take notes a line of a process.
func (r *Receiver) take(pid int, line []byte) {
	m, err := parse(line)
	if err != nil {
		return
	}
	at := r.clock.Now().Round(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.process(pid)
	if p == nil {
		return
	}
	p.own = p.own || slices.Contains(strings.Split(m.Run, ","), r.name)
	r.told = r.told || p.own && m.Lines != nil
	if p.own && m.Lacks != "" {
		r.lacks = Lack{sampler.Clean(m.Torch), sampler.Clean(m.Lacks), sampler.Clean(m.Why)}
	}
	if m.Lines == nil {
		p.lack = Lack{sampler.Clean(m.Torch), sampler.Clean(m.Misses), sampler.Clean(m.Missed)}
	}
	if p.seat(int(m.Device.Or(0))).take(&m, at) {
		select {
		case r.refused <- struct{}{}:
		default: // one is enough
		}
	}
}

// process is the one of that pid, a new one if there is room for it.
func (r *Receiver) process(pid int) *process {
	p := r.processes[pid]
	if p == nil && len(r.processes) < maxProcesses {
		p = &process{seats: map[int]*seat{}}
		p.who = r.identify(pid) // at once, for it may not live long
		r.processes[pid] = p
	}
	return p
}

func (r *Receiver) identify(pid int) sampler.Process {
	who := []sampler.Process{{PID: pid}}
	r.host.Identify(who)
	return who[0]
}
