package prom

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
)

var (
	alertOpen   = gauge("nvpeak_alert", "Alerts that are open: how many of that kind and level the GPU has; gpu is empty for those of the machine.", "gpu", "uuid", "kind", "level")
	alertsTotal = counter("nvpeak_alerts_total", "Alerts that were opened since the exporter began.", "gpu", "uuid", "kind", "level")
)

// alertSeries is where an alert counts.
type alertSeries struct{ gpu, uuid, kind, level string }

func seriesOf(a *sampler.Alert) alertSeries {
	s := alertSeries{kind: a.Kind, level: a.Level, uuid: a.Key.ID}
	if n, ok := a.GPU.Value(); ok {
		s.gpu = strconv.Itoa(n)
	}
	return s
}

// alerts counts what is open and what was opened.
type alerts struct {
	open  map[string]bool // ids
	now   map[alertSeries]int
	total map[alertSeries]int
}

func newAlerts() *alerts { return &alerts{total: map[alertSeries]int{}} }

// take takes those that are open now.
func (a *alerts) take(list []sampler.Alert) {
	before := a.open
	a.open, a.now = map[string]bool{}, map[alertSeries]int{}
	for i := range list {
		one := &list[i]
		if one.End.Known() {
			continue
		}
		s := seriesOf(one)
		a.now[s]++
		a.open[one.ID+" "+one.Level] = true
		if !before[one.ID+" "+one.Level] {
			a.total[s]++
		}
	}
}

func (a *alerts) send(ch chan<- prometheus.Metric) {
	for s, n := range a.total {
		alertsTotal.send(ch, float64(n), s.gpu, s.uuid, s.kind, s.level)
		alertOpen.send(ch, float64(a.now[s]), s.gpu, s.uuid, s.kind, s.level) // 0 where it is over: a series that ends at 1 would stay open
	}
}
