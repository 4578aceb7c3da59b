package prom

import (
	"net/http"
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
	Processes int  // most processes that have series; 0: none
	DCGM      bool // also under the names of dcgm-exporter
}

// Exporter answers scrapes with what it was told last. It is safe for several goroutines.
type Exporter struct {
	opt    Options
	clock  func() time.Time
	own    prometheus.Collector
	newest atomic.Pointer[observed]
	busy   chan struct{} // has room for those who are answered at a time

	mu     sync.Mutex // held for no longer than it takes to copy some numbers: the memory poller waits for it
	places []*place
	alerts *alerts
}

// mostScrapes are answered at a time. Others are told to come again, so that nobody can make the exporter hold any number of answers.
const mostScrapes = 16

// New makes one that knows nothing yet.
func New(o Options) *Exporter {
	return &Exporter{opt: o, busy: make(chan struct{}, mostScrapes), alerts: newAlerts(), own: collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
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

// ServeHTTP answers a scrape.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case e.busy <- struct{}{}:
		defer func() { <-e.busy }()
	default:
		http.Error(w, "too many scrapes at a time", http.StatusServiceUnavailable)
		return
	}
	now := e.clock()
	from, err := since(r, now)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	all := prometheus.NewRegistry()
	all.MustRegister(e.own, scrape{e, from, now}) // neither describes what the other has
	promhttp.HandlerFor(all, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
}
