package prom

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
)

var (
	alertOpen   = gauge("nvpeak_alert", "Alerts that are open: how many of that kind and level the GPU has; gpu is empty for those of the machine. While the driver is away they stay as they were.", "gpu", "uuid", "kind", "level")
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

// kept is an alert that is open, by the list of the newest snapshot or because nobody can tell that it is over.
type kept struct {
	series alertSeries
	gpu    sampler.GPUKey
	until  time.Time // when it is over unless it is listed again; zero: it is listed, or nothing is known of its GPU
	silent bool      // it is kept for that
}

// reopening is how long an alert of a GPU that is still lost when the driver is back is waited for: longer than any
// rule on the memory of a GPU must hold before it shows.
const reopening = 15 * time.Second

// alerts counts what is open and what was opened.
type alerts struct {
	open  map[string]kept // by id
	total map[alertSeries]int
}

func newAlerts() *alerts { return &alerts{total: map[alertSeries]int{}} }

// take takes those that are open by a snapshot. One that is missing there is over, unless nothing is known of its GPU: when the driver
// goes no GPU has recovered.
func (a *alerts) take(o *observed) {
	before := a.open
	a.open = map[string]kept{}
	fresh := map[alertSeries]int{} // those that were not listed before, and are not counted yet
	for i := range o.Alerts {
		one := &o.Alerts[i]
		if one.End.Known() || a.open[one.ID].series != (alertSeries{}) {
			continue
		}
		s := seriesOf(one)
		a.open[one.ID] = kept{series: s, gpu: one.Key}
		if before[one.ID].series != s {
			fresh[s]++
		}
	}
	for id, k := range before {
		if _, listed := a.open[id]; listed {
			continue
		}
		if k.silent && fresh[k.series] > 0 { // the same again, under another id
			fresh[k.series]--
			continue
		}
		if k, still := k.after(o); still {
			a.open[id] = k
		}
	}
	for s, n := range fresh {
		a.total[s] += n
	}
}

// after says whether an alert that is not listed in a snapshot may still be true.
func (k kept) after(o *observed) (kept, bool) {
	switch what := o.states[k.gpu]; {
	case what == silent:
		k.silent, k.until = true, time.Time{}
		return k, true
	case what == lost && k.silent:
		if k.until.IsZero() {
			k.until = o.Time.Add(reopening)
		}
		return k, o.Time.Before(k.until)
	}
	return k, false
}

func (a *alerts) send(ch chan<- prometheus.Metric) {
	now := map[alertSeries]int{}
	for _, k := range a.open {
		now[k.series]++
	}
	for s, n := range a.total {
		alertsTotal.send(ch, float64(n), s.gpu, s.uuid, s.kind, s.level)
		alertOpen.send(ch, float64(now[s]), s.gpu, s.uuid, s.kind, s.level) // 0 where it is over: a series that ends at 1 would stay open
	}
}
