package sampler

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// poller is what the pollers of a Loop share: the fast one of the memory and the slow
// ones of everything else.
type poller struct {
	src      Source
	opt      Options
	c        *collector
	stale    chan int      // devices whose process list should be read again
	rounds   chan struct{} // the slow poller has asked all devices whose turn it was
	swept    chan struct{} // a sweep has ended, and what it saw is known
	sweepEnd atomic.Int64  // when the sweep of now ends, in nanoseconds since 1970; 0: there is none
	trips    chan error
	pick     []int        // device numbers of the source that are watched, by our numbers
	telling  sync.Mutex   // for reported
	reported []Opt[Bytes] // what Options.Readings was given last, by device

	mu       sync.Mutex
	interval time.Duration
}

func newPoller(src Source, o Options) poller {
	c := newCollector()
	c.asking, c.inside = o.Asking, o.Inside
	return poller{src: src, opt: o, c: c, stale: make(chan int, 256), rounds: make(chan struct{}, 1), swept: make(chan struct{}, 1), trips: make(chan error, 1), interval: o.Interval}
}

// milli cuts a time to the millisecond. Recordings keep no more, so what the live monitor
// says of a time and what a recording says of it agree to the byte.
func milli(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Nanosecond()) % time.Millisecond)
}

// now is the time of everything that is published.
func (p *poller) now() time.Time { return milli(p.opt.Clock.Now()) }

// timed makes times of the Go runtime those of the clock of everything that is published.
func (p *poller) timed() func(time.Time) time.Time {
	now, ours := time.Now(), p.opt.Clock.Now()
	return func(t time.Time) time.Time { return milli(ours.Add(t.Sub(now))) }
}

// report passes the used memory of a device on when it is another than before.
func (p *poller) report(dev int, at time.Time, used Opt[Bytes]) {
	if p.opt.Readings == nil {
		return
	}
	p.telling.Lock()
	defer p.telling.Unlock()
	for len(p.reported) <= dev {
		p.reported = append(p.reported, Opt[Bytes]{})
	}
	if v, ok := used.Value(); ok && !used.Equal(p.reported[dev]) {
		p.reported[dev] = used
		p.opt.Readings(dev, at, v)
	}
}

func (p *poller) currentInterval() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.interval
}

// trip ends the present connection.
func (p *poller) trip(err error) {
	select {
	case p.trips <- err:
	default:
	}
}

// leftovers forgets what the pollers of the last connection have still asked for; a panic
// among it counts more than why the connection ended.
func (p *poller) leftovers(reason error) error {
	for {
		select {
		case <-p.stale:
		case err := <-p.trips:
			if !errors.Is(err, ErrReconnect) {
				reason = err
			}
		default:
			return reason
		}
	}
}
