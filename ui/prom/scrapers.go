package prom

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Whose scrape it is, is told by the connection: Prometheus, and what is made like it, keeps one for each target as long
// as it scrapes, and two servers never share one. An address would not do: replicas of Prometheus may come from
// one machine or through one gateway, and would take each other's peaks away; nor would a counter of buckets, of which a scrape
// that is lost takes its buckets along. Who comes over a new connection, for it is new, was restarted, could not read the last answer or
// keeps none, and who comes through a proxy, is told the peak of
// usualWindow: it may be one that he knows, and none is missing. With ?window=30s the scraper says itself how far back the answer goes.
const (
	usualWindow   = 5 * time.Minute // after which Prometheus calls a series stale: nobody scrapes less often
	longestWindow = 15 * time.Minute
)

// visit is the last scrape over a connection.
type visit struct {
	mu   sync.Mutex
	last time.Time // zero: there was none
}

type visitKey struct{}

// Connection goes into the ConnContext of the server.
func Connection(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, visitKey{}, &visit{})
}

// proxied are headers of those who pass on what others ask.
var proxied = []string{"Via", "Forwarded", "X-Forwarded-For", "X-Real-Ip"}

// asks are the keys of a query: how far back the answer goes, and, as with every exporter of Prometheus, the only metrics wanted.
const (
	asksWindow = "window"
	asksName   = "name[]"
)

// understood is nil if every part of the query has a meaning: who misspells window would be told another peak than he
// thinks. The error is for the one who asks.
func understood(r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errors.New("the query cannot be read: window=30s is one")
	}
	for key := range query {
		if key != asksWindow && key != asksName {
			return fmt.Errorf("there is no %.40q: window=30s and name[]=METRIC are what may be asked", key)
		}
	}
	list, asked := query[asksWindow]
	if !asked {
		return nil
	}
	if len(list) > 1 {
		return errors.New("window: one is enough")
	}
	if d, err := time.ParseDuration(list[0]); err != nil || d <= 0 || d > longestWindow {
		return errors.New("window: a duration above 0 and up to " + longestWindow.String() + ", such as window=30s")
	}
	return nil
}

// since is from when on a scrape that is understood wants the peak.
func since(r *http.Request, now time.Time) time.Time {
	query := r.URL.Query()
	if query.Has(asksWindow) {
		d, _ := time.ParseDuration(query.Get(asksWindow)) //nolint:errcheck // it is understood
		return now.Add(-d)
	}
	v, _ := r.Context().Value(visitKey{}).(*visit)
	for _, h := range proxied {
		if r.Header.Get(h) != "" {
			v = nil
		}
	}
	if v == nil || query.Has(asksName) { // the peak may not be among the metrics that are wanted
		return now.Add(-usualWindow)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	last := v.last
	v.last = now
	if last.IsZero() {
		return now.Add(-usualWindow)
	}
	return last
}
