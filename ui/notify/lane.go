package notify

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
)

const (
	sendTimeout = 10 * time.Second // of one try
	waiting     = 32               // alerts that wait; more are lost
)

// pauses are those before the second try of an alert and the next ones. With the tries' own time an
// alert is held for a minute or two: later it would be no news.
var pauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second}

// lane is one way with what waits for it: a slow way does not hold up another.
type lane struct {
	way   Way
	opt   Options
	queue chan []byte
	last  chan struct{} // closed when nothing more comes: no more pauses
	done  chan struct{}

	mu      sync.Mutex
	count   sampler.Delivery
	failing bool // said so, and not yet that it works again
}

func newLane(w Way, o Options) *lane {
	return &lane{way: w, opt: o, queue: make(chan []byte, waiting), last: make(chan struct{}), done: make(chan struct{}),
		count: sampler.Delivery{Way: w.Name}}
}

func (l *lane) tell(body []byte) {
	l.add(func(d *sampler.Delivery) { d.Waiting++ })
	select {
	case l.queue <- body:
	default:
		l.lost(fmt.Errorf("%d alerts wait already", waiting))
	}
}

// run sends what is told, one after the other, until nothing more comes.
func (l *lane) run(ctx context.Context) {
	defer close(l.done)
	for body := range l.queue {
		if err := l.deliver(ctx, body); err != nil {
			l.lost(err)
			continue
		}
		now := time.Now()
		l.settle(func(d *sampler.Delivery) { d.Sent++; d.LastSent = sampler.Some(now) })
		l.works()
	}
}

// deliver tries until an alert is through, or there is no more point.
func (l *lane) deliver(ctx context.Context, body []byte) error {
	for try := 0; ; try++ {
		limit, cancel := context.WithTimeout(ctx, sendTimeout)
		err := l.way.Send(limit, body)
		if err != nil && limit.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("no end within %v", sendTimeout)
		}
		cancel()
		if err == nil || hopeless(err) || try == len(pauses) || l.over() {
			return err
		}
		l.add(func(d *sampler.Delivery) { d.Retries++; d.LastError = sampler.Some(sampler.Clean(err.Error())) })
		l.opt.Ledger.add(l.way.Name, func(d *sampler.Delivery) { d.Retries++ })
		l.trouble(fmt.Sprintf("--%s: %v; trying again", l.way.Name, err))
		select {
		case <-time.After(pauses[try]):
		case <-l.last:
		case <-ctx.Done():
			return err
		}
	}
}

func (l *lane) over() bool {
	select {
	case <-l.last:
		return true
	default:
		return false
	}
}

// lost counts an alert that was not passed on, and says so.
func (l *lane) lost(err error) {
	now := time.Now()
	l.settle(func(d *sampler.Delivery) {
		d.Failed++
		d.LastError, d.LastFailure = sampler.Some(sampler.Clean(err.Error())), sampler.Some(now)
	})
	l.say(fmt.Sprintf("--%s: %v; alerts not passed on: %d", l.way.Name, err, l.delivery().Failed))
}

// settle counts what became of an alert, here and in the ledger.
func (l *lane) settle(change func(*sampler.Delivery)) {
	l.add(func(d *sampler.Delivery) { d.Waiting--; change(d) })
	l.opt.Ledger.add(l.way.Name, change)
}

// trouble is said once until the way works again.
func (l *lane) trouble(text string) {
	l.mu.Lock()
	known := l.failing
	l.failing = true
	l.mu.Unlock()
	if !known {
		l.say(text)
	}
}

func (l *lane) works() {
	l.mu.Lock()
	known := l.failing
	l.failing = false
	l.mu.Unlock()
	if known {
		l.say("--" + l.way.Name + " works again")
	}
}

func (l *lane) say(text string) {
	if l.opt.Trouble != nil {
		l.opt.Trouble(redact.Text(sampler.Clean(text)))
	}
}

func (l *lane) add(change func(*sampler.Delivery)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.count)
}

func (l *lane) delivery() sampler.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}
