package prom

import (
	"context"
	"errors"
	"net"
	"net/http"
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

// since is from when on a scrape wants the peak. The error is for the one who asks.
func since(r *http.Request, now time.Time) (time.Time, error) {
	if text := r.URL.Query().Get("window"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > longestWindow {
			return time.Time{}, errors.New("window: a duration above 0 and up to " + longestWindow.String() + ", such as window=30s")
		}
		return now.Add(-d), nil
	}
	v, _ := r.Context().Value(visitKey{}).(*visit)
	for _, h := range proxied {
		if r.Header.Get(h) != "" {
			v = nil
		}
	}
	if v == nil {
		return now.Add(-usualWindow), nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	last := v.last
	v.last = now
	if last.IsZero() {
		return now.Add(-usualWindow), nil
	}
	return last, nil
}
