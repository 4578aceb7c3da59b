package notify

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
)

// Way is one way of passing alerts on.
type Way struct {
	Name string // "on-alert", "webhook"
	// Send passes one alert on, as redacted JSON. An error that is a Hopeless is not worth
	// another try.
	Send func(ctx context.Context, alert []byte) error
}

// Hopeless is an error that the same try will always get.
type Hopeless struct{ error }

func (h Hopeless) Unwrap() error { return h.error }

func hopeless(err error) bool {
	var h Hopeless
	return errors.As(err, &h)
}

// Messenger passes alerts on without keeping anybody waiting. The zero value and nil pass
// nothing on.
type Messenger struct {
	lanes []*lane
	stop  context.CancelFunc
}

// Options of a messenger.
type Options struct {
	Trouble func(text string) // is told, from a goroutine, what fails and what works again
	Ledger  *Ledger           // remembers how the ways fared; may be nil
}

// New begins to pass on by those ways. Close ends it.
func New(ways []Way, o Options) *Messenger {
	ctx, stop := context.WithCancel(context.Background()) // not the command's: what waits is sent at its end
	m := &Messenger{stop: stop}
	for _, w := range ways {
		l := newLane(w, o)
		m.lanes = append(m.lanes, l)
		go l.run(ctx)
	}
	return m
}

// Tell passes an alert on, in its turn.
func (m *Messenger) Tell(a sampler.Alert) {
	if m == nil || len(m.lanes) == 0 {
		return
	}
	body, err := json.Marshal(a)
	if err != nil {
		return // an alert is plain data
	}
	body = sampler.EscapeJSON(redact.JSON(body))
	for _, l := range m.lanes {
		l.tell(body)
	}
}

// Deliveries says how each way has fared so far.
func (m *Messenger) Deliveries() []sampler.Delivery {
	if m == nil {
		return nil
	}
	var list []sampler.Delivery
	for _, l := range m.lanes {
		list = append(list, l.delivery())
	}
	return list
}

// Close sends what waits, each alert with one more try at most, and gives up after the limit.
func (m *Messenger) Close(limit time.Duration) {
	if m == nil || m.stop == nil {
		return
	}
	timer := time.AfterFunc(limit, m.stop)
	defer timer.Stop()
	for _, l := range m.lanes {
		close(l.queue)
		close(l.last)
	}
	for _, l := range m.lanes {
		<-l.done
	}
	m.stop()
}
