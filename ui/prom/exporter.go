package prom

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"nvpeak/sampler"
)

// Options of an Exporter.
type Options struct {
	Version   string
	Processes int          // most processes that have series; 0: none
	DCGM      bool         // also under the names of dcgm-exporter
	Pods      Pods         // those that were given a GPU; nil: nobody knows
	Trouble   func(string) // is told, once a minute at most, that scrapes were refused; nil: nobody is
}

// Exporter answers scrapes with what it was told last. It is safe for several goroutines.
type Exporter struct {
	opt     Options
	clock   func() time.Time
	newest  atomic.Pointer[observed]
	busy    chan struct{} // has room for those who are answered at a time
	wait    time.Duration // for room
	refused atomic.Int64
	trouble *Seldom

	mu     sync.Mutex // held for no longer than it takes to copy some numbers: the memory poller waits for it
	places []*place
	alerts *alerts
}

// mostScrapes are answered at a time, so that nobody can make the exporter hold any number of answers. The next one waits for its turn, those
// who came first first: an answer takes milliseconds, and many who ask at once are no reason to refuse one. After scrapeWait, less than
// Prometheus waits (scrape_timeout, 10 s), it is told to come again. A connection that asks nothing takes no room.
const (
	mostScrapes = 16
	scrapeWait  = 5 * time.Second
)

// New makes one that knows nothing yet.
func New(o Options) *Exporter {
	return &Exporter{opt: o, busy: make(chan struct{}, mostScrapes), wait: scrapeWait, alerts: newAlerts(), trouble: NewSeldom(o.Trouble)}
}

// Clock sets the clock of the snapshots and readings, before the first scrape.
func (e *Exporter) Clock(now func() time.Time) { e.clock = now }

// Reading takes a reading of the memory of the GPU at a place of the snapshots.
func (e *Exporter) Reading(dev int, at time.Time, used sampler.Bytes) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.place(dev).read(at, used)
}

func (e *Exporter) place(i int) *place {
	for len(e.places) <= i {
		e.places = append(e.places, newPlace())
	}
	return e.places[i]
}

// Observe takes a snapshot with the alerts that are open.
func (e *Exporter) Observe(s *sampler.Snapshot) {
	o := observe(s, e.newest.Load())
	e.mu.Lock()
	for i := range s.GPUs {
		e.place(i).seen(&s.GPUs[i], s.Time)
	}
	e.alerts.take(o)
	e.mu.Unlock()
	e.newest.Store(o)
}

// room waits for a place among those who are answered.
func (e *Exporter) room(r *http.Request) bool {
	select {
	case e.busy <- struct{}{}:
		return true
	default:
	}
	limit := time.NewTimer(e.wait)
	defer limit.Stop()
	select {
	case e.busy <- struct{}{}:
		return true
	case <-limit.C:
	case <-r.Context().Done():
	}
	return false
}

// ServeHTTP answers a scrape.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := understood(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !e.room(r) {
		e.refused.Add(1)
		e.trouble.Say("too many scrapes at a time: some are answered with 503")
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many scrapes at a time", http.StatusServiceUnavailable)
		return
	}
	defer func() { <-e.busy }()
	now := e.clock()
	all := prometheus.NewRegistry()
	all.MustRegister(own, scrape{e, since(r, now), now}) // neither describes what the other has
	promhttp.HandlerFor(all, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
}

// own is what the exporter itself takes, without process_network_*: /proc/self/net is that of the machine, or of the container.
var own = without{collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), "process_network_"}

// without leaves out the metrics whose names have a prefix.
type without struct {
	prometheus.Collector
	prefix string
}

func (c without) left(d *prometheus.Desc) bool {
	return strings.HasPrefix(d.String(), `Desc{fqName: "`+c.prefix)
}

// Describe describes the others.
func (c without) Describe(ch chan<- *prometheus.Desc) {
	for d := range passed(c.Collector.Describe) {
		if !c.left(d) {
			ch <- d
		}
	}
}

// Collect sends the others.
func (c without) Collect(ch chan<- prometheus.Metric) {
	for m := range passed(c.Collector.Collect) {
		if !c.left(m.Desc()) {
			ch <- m
		}
	}
}

// passed is what a function sends, until it returns.
func passed[T any](send func(chan<- T)) <-chan T {
	ch := make(chan T)
	go func() {
		defer close(ch)
		send(ch)
	}()
	return ch
}
